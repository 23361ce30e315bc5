"""Cells that hold several texts: lists as JSON, Python and NumPy write them, separators, numbers.

Of a column, one reading counts for all cells. Where two are possible none is taken.
"""

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from audiocapbench.data.columns import REFERENCES, fold_name, numbered
from audiocapbench.data.problems import Problem, parse_json
from audiocapbench.errors import DatasetError

_LONGEST = 1 << 20
_MATES = {"[": "]", "(": ")", "{": "}"}
_ITEM = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_LISTED = re.compile(
    rf"(?:array\()?[\[({{]?\s*{_ITEM}(?:(?:\s*,\s*|\s+){_ITEM})*\s*,?\s*[\])}}]?"
    r"(?:,\s*dtype=[^()]*\))?",
    re.DOTALL,
)
_MAKER = re.compile(r"(?:c|list|String|Any|Vector\{String\})(?=[(\[]\s*[\"'])")
"""What R and Julia write before a list."""

_PRINTED = re.compile(r"dtype: \w+\s*$|^\s*shape: \(\d+,")
_ADJACENT = re.compile(rf"{_ITEM}\s*(?={_ITEM})", re.DOTALL)
_PLAIN = r"""\w\s.,!?'"‘’“”()\[\]{}%:&°…–—\-"""
_MARK = re.compile(r"""[^\w ,.!?'"‘’“”()\]{}%:°…–—-]""")
_TWICE = re.compile(r"--|__|::|%%")
_TIGHT = re.compile(r",[^\W\d]")
_SEPARATOR = re.compile(
    r"(?<=\S)[ ]*(<(?:sep|s|/s|br|br/|br /|eos|bos)>|\[sep\]|\\n|\s*[\r\n]\s*|\t+|[\x1c-\x1f]+|--+"
    rf"|__+|&&+|::+|%%+|(?<=\S),(?=[^\W\d])|(?<= )/(?= )|//+|[^{_PLAIN}/<>]+)[ ]*(?=\S)",
    re.IGNORECASE,
)
"""What may stand between texts: signs that are no letters and no usual punctuation."""

_STRONG = re.compile(r"[|｜¦]+|[\r\n\t\x1c-\x1f]+|\\n|[<\[].+|([^;/&-])\1+")
_ITEMS = re.compile(r"\s*(?:</?(?:li|ul|ol)\b[^<>]*>\s*)+", re.IGNORECASE)
_NAMED = {"tab": "\t", "newline": "\n", "\\t": "\t", "\\n": "\n"}
_NUMBER = re.compile(
    r"(?:^|(?<=[\s;|,.]))(?:(?:caption|reference|ref)\s?#?(?=\d))?\(?"
    r"(?:([0-9]{1,2})[.):]|([a-t])\))(?=\s*\S)\s*",
    re.IGNORECASE,
)
SEVERAL = re.compile(r"\S\s*(?:\|+|<sep>|\[sep\])\s*\S", re.IGNORECASE)
"""What stands between several predictions, and in the words of none."""

_MISSING = frozenset(
    r"""na n/a #n/a #value! \n nat nan none null <na> (null) undefined - . ? '' "" """.split()
)
_BULLET = re.compile(r"[-*•–]\s+")


def is_missing(value: Any) -> bool:
    """Whether a text is nothing but what programs write where there is none."""
    return isinstance(value, str) and len(value) < 20 and value.strip().casefold() in _MISSING


def texts_of(value: Any) -> list[str] | None:
    """The texts of a list, however they are wrapped; None where it is not plain what they are."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        named = [one for key, one in value.items() if fold_name(str(key)) in REFERENCES]
        by_number = all(str(key).isdecimal() for key in value) or value.keys() == {
            *numbered(tuple(map(str, value)))
        }
        value = list(value.values()) if by_number else named if len(named) == 1 else [None]
        return value if all(isinstance(one, str) for one in value) else None
    if not isinstance(value, list | tuple | set):
        return None
    if len(value) == 1 and isinstance(inside := next(iter(value)), list | tuple):
        found = texts_of(inside) or []  # words of one text would be a list too
        return found if len(found) == 1 or any(" " in one for one in found) else None
    inner = [[one] if isinstance(one, str) else texts_of(one) for one in value if one is not None]
    if not all(one is not None and len(one) == 1 for one in inner):
        return None
    return [one[0] for one in inner if one]


def parsed(cell: str) -> list[str] | None:
    """The texts of a cell that is written as a list; None where it is not."""
    text = _MAKER.sub("", cell.strip(), count=1) if cell[:1].isalpha() else cell.strip()
    if text[:1] not in "[({'\"" and not text.startswith("array("):
        return None
    if len(text) > _LONGEST or not text:
        return None
    if text[0] in "[{" and not isinstance(value := parse_json(text, ""), Problem):
        return texts_of(value)
    if text[0] == '"' and isinstance(value := parse_json(text, ""), str) and value != text:
        return parsed(value)  # written as JSON twice
    bare = text[0] in "'\""
    if _LISTED.fullmatch(text) and (bare or text[-1] in "])}"):
        items = re.findall(_ITEM, text, re.DOTALL)
        if bare and len(items) < 2:
            return None
        try:
            return [str(ast.literal_eval(one)) for one in items]
        except (ValueError, SyntaxError):
            return None
    if _MATES.get(text[0]) != text[-1] or _ADJACENT.search(text):
        return None
    try:
        return texts_of(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _looks_listed(cell: str) -> bool:
    """Whether a cell is written like a list, whatever is wrong with it."""
    text = cell.strip()
    if text[:1] not in _MATES:
        return False
    opened = text[1:].lstrip()[:1] in ("'", '"', "[", "{")
    return opened or (text.endswith(_MATES[text[0]]) and "," in text)


def _by_number(cell: str) -> list[str]:
    """The texts of ``1. … 2. …``; one where there are no such numbers."""
    starts = list(_NUMBER.finditer(cell.strip())) if _NUMBER.match(cell.strip()) else []
    numbers = [int(one[1]) if one[1] else ord(one[2].lower()) - 96 for one in starts]
    first = numbers[0] if numbers else 2
    if first > 1 or numbers != [*range(first, first + len(starts))]:
        return [cell]
    ends = [*(one.start() for one in starts[1:]), None]
    parts = (cell.strip()[one.end() : end] for one, end in zip(starts, ends, strict=True))
    return [part.strip(" \t\r\n;|,") for part in parts]


def _split(cell: str, separator: str) -> list[str]:
    parts = re.split(r"[\r\n]+", cell) if separator == "\n" else cell.split(separator)
    if separator == "\n" and all(_BULLET.match(part.strip()) for part in parts if part.strip()):
        parts = [_BULLET.sub("", part.strip(), count=1) for part in parts]
        parts = [part[1:-1] if re.fullmatch(_ITEM, part) else part for part in parts]
    return [part.strip() for part in parts if part.strip()]


def _its(column: str) -> str:
    return f"its {column!r}" if column else "its references"


def split_column(
    cells: Sequence[str], column: str, form: str = "", *, several: bool = False
) -> tuple[list[list[str]], str]:
    """The texts of each cell of a column, and a note on how they were read.

    ``form`` says how: text, list, numbered, or the separator. A DatasetError shows both readings
    where two are possible. With ``several`` texts a sample, a semicolon is more likely a text's.
    """

    def refuse(cell: str, parts: Sequence[str], how: str) -> DatasetError:
        shown = " and ".join(repr(part[:60]) for part in parts[:3])
        return DatasetError(
            f"{column!r} may hold one text a cell or several: {cell!r:.120} is one, or is "
            f"{shown}{' …' * (len(parts) > 3)}; say which: `columns` "
            f"'references={column}[text]' or `columns` 'references={column}[{how}]'"
        )

    whole = [[cell] for cell in cells]
    if form == "text" or not cells:
        return whole, ""
    if printed := next((cell for cell in cells if _PRINTED.search(cell)), None):
        raise DatasetError(
            f"{column!r} holds tables as they are printed, such as {printed!r:.120}; write lists "
            "(in pandas, column.map(list)) before saving"
        )
    cells = [_ITEMS.sub("\n", cell).strip() if "<li" in cell else cell for cell in cells]
    lists = [parsed(cell) if form in ("", "list", "json") else None for cell in cells]
    count, total = sum(one is not None for one in lists), len(cells)
    if form in ("list", "json") or count:
        odd = [cell for cell, one in zip(cells, lists, strict=True) if one is None]
        if bad := [cell for cell in odd if _looks_listed(cell)]:
            raise DatasetError(
                f"{column!r} holds lists, but {bad[0]!r:.120} is none that can be read"
            )
        parts = [part for one in lists for part in one or ()]
        if not form and len(parts) > 2 * count and all(" " not in part.strip() for part in parts):
            at = next(at for at, one in enumerate(lists) if one)
            raise refuse(cells[at], lists[at] or (), "list")
        found = [one if one is not None else [cell] for one, cell in zip(lists, cells, strict=True)]
        of = "" if count == total else f" in {count:,} of {total:,} cells"
        return found, f"{_its(column)} hold lists{of}, and were read as such"
    if not form and 2 * sum(map(_looks_listed, cells)) > total:
        cell = next(filter(_looks_listed, cells))
        raise refuse(cell, [one.strip() for one in cell.strip()[1:-1].split(",")], ",")
    if form == "numbered" or (not form and any(map(_NUMBER.match, map(str.lstrip, cells)))):
        by_number = [_by_number(cell) for cell in cells]
        changed = sum(one != [cell] for one, cell in zip(by_number, cells, strict=True))
        most = max(map(len, by_number))
        if form or (most > 1 and changed >= 0.9 * total):
            return by_number, f"{_its(column)} were split at their numbers (1. … 2. …)"
        if most > 1:
            at = next(at for at, one in enumerate(by_number) if len(one) > 1)
            raise refuse(cells[at], by_number[at], "numbered")
    if form:
        separator = _NAMED.get(form, form)
        split = [_split(cell, separator) or [cell] for cell in cells]
        return split, f"{_its(column)} were split at {separator!r}"
    return _separated(cells, column, refuse, several=several)


def _separated(
    cells: Sequence[str], column: str, refuse: Any, *, several: bool
) -> tuple[list[list[str]], str]:
    whole, total = [[cell] for cell in cells], len(cells)
    counts: Counter[str] = Counter()
    for cell in cells:
        if _MARK.search(cell) or _TWICE.search(cell) or _TIGHT.search(cell):
            found = {one.strip(" ") for one in _SEPARATOR.findall(cell)}
            counts.update({"\n" if set(one) & {"\r", "\n"} else one for one in found})
    if not counts:
        return whole, ""
    strong = {one: count for one, count in counts.items() if _STRONG.fullmatch(one)}
    weak = max(strong.values(), default=0) < 0.01 * total
    among = counts if weak else strong
    separator, count = max(among.items(), key=lambda one: one[1])
    weak = separator not in strong
    if (weak and several) or count < total * (0.1 if weak else 0.01):
        some = f"{separator!r} stands in {count:,} of {total:,} texts of {column!r}"
        return whole, "" if weak else f"{some}, and is taken for a part of them"
    split = [_split(cell, separator) for cell in cells]
    first = next(one for one in split if len(one) > 1)
    sizes = Counter(map(len, split))
    lengths = [min(map(len, one)) / max(map(len, one)) for one in split if one]
    words = median(len(part.split()) for one in split for part in one)
    alike = sizes.most_common(1)[0][1] >= 0.8 * total or median(lengths) >= 0.3
    plain = words >= 3 and alike and total > 2 if weak else words >= 2
    if not plain or count < 0.9 * total:
        at = split.index(first)
        raise refuse(cells[at], first, {"\n": "newline", "\t": "tab"}.get(separator, separator))
    return split, f"{_its(column)} were split at {separator!r}"
