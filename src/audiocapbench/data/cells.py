"""Cells that hold several texts: lists as JSON, Python and NumPy write them, separators, numbers.

Of a column, one reading counts for all cells. Where two are possible none is taken.
"""

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from audiocapbench.data.columns import PREDICTIONS, REFERENCES, fold_name, numbered
from audiocapbench.data.problems import Problem, parse_json
from audiocapbench.errors import DatasetError
from audiocapbench.files import patterns

_LONGEST = 1 << 20
_TEXTS = frozenset((*REFERENCES, *PREDICTIONS))
_MATES = {"[": "]", "(": ")", "{": "}"}
_OPENING = "[({'\""
_P = patterns("audiocapbench.data", "cells.toml")
_ITEM, _TAGS = _P["item"].pattern, _P["tags"].pattern
_PATTERNS = {
    "\n": _P["lines"],
    "\t": _P["tabs"],
    ",": _P["comma"],
    "/": _P["slash"],
    **{sign: re.compile(_P["ended"].pattern.replace("SIGN", sign)) for sign in "–—:&_-"},
}
"""Separators that are written in several ways, or also stand within texts."""

_NAMED = {"tab": "\t", "newline": "\n", "\\t": "\t", "\\n": "\n"}
_NAMES = {"\n": "newline", "\t": "tab"}
SERIALISED, SEVERAL = _P["serialised"], _P["several"]
"""How an object begins that is no text, or a list; what stands between several predictions."""

_MISSING = frozenset(r"na n/a n.a n.a. \n nat nan -nan none null nil undefined value! ref!".split())
LONGEST_MARK = 19
"""Longer texts are no marks of nothing, and need not be looked at."""
_AROUND = "<>()[]{}#'\"`"
_SIGNS = "-–—−.…?!,;:_*/|" + _AROUND


def is_missing(value: Any) -> bool:
    """Whether a text is nothing but signs, or what programs write where there is none."""
    if not isinstance(value, str) or len(value) > LONGEST_MARK or not (text := value.strip()):
        return False
    return not text.strip(_SIGNS) or text.casefold().strip(_AROUND) in _MISSING


def texts_of(value: Any) -> list[str] | None:
    """The texts of a list, however they are wrapped; None where it is not plain what they are."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        named = [one for key, one in value.items() if fold_name(str(key)) in _TEXTS]
        by_number = all(str(key).isdecimal() for key in value) or value.keys() == {
            *numbered(tuple(map(str, value)))
        }
        value = list(value.values()) if by_number else named if len(named) == 1 else [None]
        return value if all(isinstance(one, str) for one in value) else None
    if not isinstance(value, list | tuple | set):
        return None
    if {*map(type, value)} <= {str}:
        return list(value)
    if len(value) == 1 and isinstance(inside := next(iter(value)), list | tuple):
        found = texts_of(inside) or []  # words of one text would be a list too
        return found if len(found) == 1 or any(" " in one for one in found) else None
    inner = [[one] if isinstance(one, str) else texts_of(one) for one in value if one is not None]
    if not all(one is not None and len(one) == 1 for one in inner):
        return None
    return [one[0] for one in inner if one]


def _without_maker(cell: str) -> str:
    text = cell.strip()
    if made := _P["maker"].match(text):
        text = text[made.end() :]
        text = inside[1] if (inside := _P["made"].fullmatch(text)) else text
    return _P["str"].sub(r"\1", text) if ".str_(" in text else text


def parsed(cell: str) -> list[str] | None:
    """The texts of a cell that is written as a list; None where it is not."""
    text = _without_maker(cell)
    if text[:1] not in _OPENING or len(text) > _LONGEST or not text:
        return None
    if text[0] in "[{" and not isinstance(value := parse_json(text, ""), Problem):
        return texts_of(value)
    if text[0] == '"' and isinstance(value := parse_json(text, ""), str) and value != text:
        return parsed(value)  # written as JSON twice
    bare = text[0] in "'\""
    if _P["listed"].fullmatch(text) and (bare or text[-1] in "])}"):
        items = re.findall(_ITEM, text, re.DOTALL)
        if bare and len(items) < 2:
            return None
        try:
            return [str(ast.literal_eval(one)) for one in items]
        except (ValueError, SyntaxError):
            return None
    if _MATES.get(text[0]) != text[-1] or _P["adjacent"].search(text):
        return None
    try:
        return texts_of(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _looks_listed(cell: str) -> bool:
    """Whether a cell is written like a list, whatever is wrong with it."""
    text = _without_maker(cell)
    if text[:1] not in _MATES:
        return False
    opened = text[1:].lstrip()[:1] in ("'", '"', "[", "{")
    return opened or (text.endswith(_MATES[text[0]]) and "," in text)


def _by_number(cell: str) -> list[str]:
    """The texts of ``1. … 2. …``; one where there are no such numbers."""
    starts = list(_P["number"].finditer(cell.strip())) if _P["number"].match(cell.strip()) else []
    numbers = [int(one[1]) if one[1] else ord(one[2].lower()) - 96 for one in starts]
    first = numbers[0] if numbers else 2
    if first > 1 or numbers != [*range(first, first + len(starts))]:
        return [cell]
    ends = [*(one.start() for one in starts[1:]), None]
    parts = (cell.strip()[one.end() : end] for one, end in zip(starts, ends, strict=True))
    return [part.strip(" \t\r\n;|,") for part in parts]


def _separators(cell: str) -> set[str]:
    """What stands between parts of a cell and may separate texts, each in one spelling."""
    if not (_P["mark"].search(cell) or _P["twice"].search(cell)):
        return set()
    found = set()
    for one in _P["separator"].findall(cell):
        tag = re.search(r"<[^<>]+>\s*$", one)
        named = (name for name in "\n\t" if re.search(_PATTERNS[name], one))
        found.add(tag[0].strip() if tag else next(named, one.strip(" ")))
    return found


def _split(cell: str, separator: str, *, everywhere: bool = False) -> list[str]:
    plain = _TAGS if re.fullmatch(_TAGS, separator) else re.escape(separator)
    parts = re.split(plain if everywhere else _PATTERNS.get(separator, plain), cell)
    parts = [part.strip() for part in parts if part.strip()]
    if separator == "\n" and len(parts) > 1 and all(map(_P["bullet"].match, parts[1:])):
        parts = [_P["bullet"].sub("", part, count=1) for part in parts]
    bare = (
        one[one.lastindex or 0] if (one := _P["quoted"].fullmatch(part)) else "" for part in parts
    )
    return [
        re.sub(r"""\\(["'])|(["'])\2""", r"\1\2", text).strip() or part
        for text, part in zip(bare, parts, strict=True)
    ]


def _begin_alike(parts: Sequence[str], separator: str) -> bool:
    """Whether parts begin alike, as texts do and those of a sentence do not."""
    lower = {part[:1].islower() for part in parts}
    return len(lower) < 2 and not (separator == "," and True in lower)


def _are_texts(cell: str, separator: str, least: int = 2) -> bool:
    """Whether what stands between separators of one cell are surely texts of their own."""
    if _P["strong"].fullmatch(separator):
        return True
    parts = _split(cell, separator)
    words = median(len(part.split()) for part in parts)
    return len(parts) >= least and words >= 2 and _begin_alike(parts, separator)


def _holds_several(cell: str) -> bool:
    """Whether a cell alone, in whatever form, holds several texts."""
    forms = (parsed(cell) or (), _by_number(cell))
    return any(len(one) > 1 for one in forms) or any(
        _are_texts(cell, one) for one in _separators(cell)
    )


def split_column(
    cells: Sequence[str], column: str, form: str = "", *, several: bool = False
) -> tuple[list[list[str]], str]:
    """The texts of each cell of a column, and a note on how they were read.

    ``form`` says how: text, list, numbered, or the separator. A DatasetError shows both readings
    where two are possible. With ``several`` texts a sample, a semicolon is more likely a text's.
    """
    its = f"its {column!r}" if column else "its references"

    def refuse(cell: str, parts: Sequence[str], how: str) -> DatasetError:
        shown = " and ".join(repr(part[:60]) for part in parts[:3])
        return DatasetError(
            f"{column!r} may hold one text a cell or several: {cell!r:.120} is one, or is "
            f"{shown}{' …' * (len(parts) > 3)}; say which: `columns` "
            f"'references={column}[text]' or `columns` 'references={column}[{how}]'"
        )

    if form == "text" or not cells:
        return [[cell] for cell in cells], ""
    if printed := next((cell for cell in cells if _P["printed"].search(cell)), None):
        raise DatasetError(
            f"{column!r} holds tables as they are printed, such as {printed!r:.120}; write lists "
            "(in pandas, column.map(list)) before saving"
        )
    found, name, how = _read_cells(cells, form, several=several)
    changed = [cell for one, cell in zip(found, cells, strict=True) if one != [cell.strip()]]
    listed = [one[0] for one in found if len(one) == 1 and _looks_listed(one[0])]
    if listed and name == "list":
        raise DatasetError(
            f"{column!r} holds lists, but {listed[0]!r:.120} is none that can be read"
        )
    if not form and 2 * len(listed) > len(cells):
        raise refuse(listed[0], [one.strip() for one in listed[0][1:-1].split(",")], ",")
    if not name:
        return found, how
    if not form and not _is_plain(found, len(changed), name):
        at = next(at for at, one in enumerate(found) if len(one) > 1)
        raise refuse(cells[at], found[at], _NAMES.get(name, name))
    odd = [one[0] for one in found if len(one) == 1 and _holds_several(one[0])]
    if form and (not changed or len(odd) > len(changed)):
        raise DatasetError(
            f"{its} are not written so that [{form}] splits them, such as {cells[0]!r:.120}; say "
            "how they are, or leave out the brackets"
        )
    if odd and not form:
        raise DatasetError(
            f"{its} {how}, but {odd[0]!r:.120} holds several texts in another way; write it as the "
            f"others, or say that it is one: `columns` "
            f"'references={column}[{_NAMES.get(name, name)}]'"
        )
    left = f"; {len(odd):,} more, such as {odd[0]!r:.60}, count as one text each" if odd else ""
    return found, f"{its} {how}{left}"


def _read_cells(
    cells: Sequence[str], form: str, *, several: bool
) -> tuple[list[list[str]], str, str]:
    """The texts of each cell, the form in which they stand, if any, and words about it."""
    lists = [parsed(cell) if form in ("", "list", "json") else None for cell in cells]
    if form in ("list", "json") or any(one is not None for one in lists):
        found = [one if one is not None else [cell] for one, cell in zip(lists, cells, strict=True)]
        count, total = sum(one is not None for one in lists), len(cells)
        of = "" if count == total else f" in {count:,} of {total:,} cells"
        return found, "list", f"hold lists{of}, and were read as such"
    if form == "numbered" or (not form and any(map(_P["number"].match, map(str.lstrip, cells)))):
        found = [_by_number(cell) for cell in cells]
        if form or max(map(len, found)) > 1:
            return found, "numbered", "were split at their numbers (1. … 2. …)"
    separator, how = (_NAMED.get(form, form), "") if form else _separator(cells, several=several)
    if not separator:
        return [[cell] for cell in cells], "", how
    bare = [one[1] if (one := _P["brackets"].fullmatch(cell.strip())) else cell for cell in cells]
    found = [_split(cell, separator) or [cell] for cell in bare]
    if form and max(map(len, found)) < 2:
        found = [_split(cell, separator, everywhere=True) or [cell] for cell in bare]
    return found, separator, f"were split at {separator!r}"


def _separator(cells: Sequence[str], *, several: bool) -> tuple[str, str]:
    """What separates texts in a part of the cells, surely or in many; or a note on what may."""
    counts, sure = Counter[str](), Counter[str]()
    for cell in cells:
        found = _separators(cell)
        counts.update(found)
        sure.update(one for one in found if _are_texts(cell, one, 3))
    few = 0.01 * len(cells)
    among = [one for one in sure if sure[one] >= few]
    among = among or [one for one in counts if counts[one] >= 10 * few and not several]
    if among or not sure:
        return max(among, key=counts.__getitem__, default=""), ""
    one, count = sure.most_common(1)[0]
    where = f"{one!r} stands in {count:,} of {len(cells):,} texts"
    return "", f"{where}, and is taken for a part of them"


def _is_plain(found: Sequence[Sequence[str]], changed: int, name: str) -> bool:
    """Whether all cells are several texts, and none may be one."""
    parts = [part for one in found for part in one]
    if name == "list":
        return len(parts) <= 2 * changed or any(" " in part.strip() for part in parts)
    words = median(len(part.split()) for part in parts)
    if changed < 0.9 * len(found) or name == "numbered" or _P["strong"].fullmatch(name):
        return changed >= 0.9 * len(found) and (words >= 2 or name == "numbered")
    usual, count = Counter(map(len, found)).most_common(1)[0]
    lengths = median(min(map(len, one)) / max(map(len, one)) for one in found)
    alike = count >= 0.8 * len(found) or lengths >= 0.3
    return (
        min(words, len(found)) >= 3
        and alike
        and all(_begin_alike(one, name) or (name != "," and len(one) == usual) for one in found)
    )
