"""Reads JSON that a language model wrote: the one place where it is decided what is forgiven.

``find_objects`` takes objects out of a text in one pass. It forgives prose and fences around them,
comments, trailing commas, other quotes or none, quotes inside of sentences, and an end that is
missing; what could mean two things is a ReplyError.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from audiocapbench.errors import ReplyError
from audiocapbench.files import storable

# A string is closed by a quote of the family that opened it.
_QUOTES = ('"', "“”„‟«»＂", "'", "‘’‚‛", "`")
_ANY_QUOTE = "".join(_QUOTES)
_MARKS = {"{": ["}"], "[": ["]"], "}": [], "]": [], ",": [], ":": []}  # and what ends them

_NAME = r"\s*+[{0}](?:[^{0}\\{1}]|\\.)*+[{0}]\s*+:"
_KEY = rf"(?:{'|'.join(_NAME.format(one, '') for one in _QUOTES)}|\s*+[\w-]++\s*+:)"
_COMMENT = r"(?://|\#)[^\n{}]*+\n|/\*[^{}]*?\*/"
_BEGINNING = re.compile(rf"\{{(?=[\s\ufeff\u200b]*+(?:{_KEY}|{_COMMENT}))", re.DOTALL)
_END = r"//|/\*|\#|```|\Z"


@cache  # and compiled when a reply is mended, which most need not be
def _string(after: str) -> re.Pattern[str]:
    # A quote ends a string only where JSON would go on, so that quotes inside a sentence survive,
    # and no object begins in one; possessive repetition keeps it from being tried twice.
    every = (
        rf"[{q}](?:[^\\{{{q}]++|\\.|\{{(?!{_NAME.format(q, ',')})|[{q}](?!{after}))*+([{q}])?"
        for q in _QUOTES
    )
    return re.compile("|".join(every), re.DOTALL)


_AFTER_ITEM = rf"\s*+(?:[,:}}\]]|{_END})"
_AFTER_FIELD = rf"\s*+(?:}}|,\s*+(?:}}|{_KEY}|{_END})|{_END})"
_BLANK = re.compile(r"(?:[\s\ufeff\u200b]++|(?://|\#)[^\n]*+|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_PIECE = rf"(?:[^\s,:{{}}\[\]{_ANY_QUOTE}/\#]|/(?![/*]))++"
_BARE = re.compile(rf"(?:{_PIECE}[ \t]*+)++\s*+")
_NUMBER = re.compile(r"[-+]?[0-9]{1,20}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "none": None}
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class FoundObjects(NamedTuple):
    """The outermost objects of a text, in order; of one that is cut off, what came before."""

    objects: list[dict[str, Any]]
    is_cut: bool

    def having(self, names: Collection[str]) -> list[dict[str, Any]]:
        """The outermost objects that have a field of these."""

        def within(value: Any) -> Iterator[dict[str, Any]]:
            if isinstance(value, dict) and any(name in value for name in names):
                yield value
            elif isinstance(value, dict | list):
                for one in value.values() if isinstance(value, dict) else value:
                    yield from within(one)

        return list(within(self.objects))


def fold_key(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def find_objects(text: str, key_of: Callable[[str], str] = fold_key) -> FoundObjects:
    """Every object in the text; ``key_of`` makes ways to write a key the same: case and blanks."""
    found, place, is_cut = list[dict[str, Any]](), 0, False
    decoder = json.JSONDecoder(object_pairs_hook=partial(_each_once, key_of))
    # What was read is never read again, so a hostile reply costs one pass.
    while beginning := _BEGINNING.search(text, place):
        strict, place, cut = _strict(text, beginning.start())
        is_cut |= cut
        try:
            found.append(decoder.decode(strict))
        except (ValueError, RecursionError) as error:
            why = getattr(error, "msg", "nested too deep")
            raise ReplyError(f"the JSON object is broken ({why})") from None
    return FoundObjects(found, is_cut)


def _strict(text: str, place: int) -> tuple[str, int, bool]:
    """The object that begins here as strict JSON, where it ends, and whether it is cut off."""
    made, ends = list[str](), list[str]()
    while not made or ends:
        blank = _BLANK.match(text, place)
        place = blank.end() if blank else place
        mark = text[place : place + 1]
        if not mark or text.startswith("```", place):
            break
        if mark in _MARKS:
            ends[len(ends) - (mark in "}]") :] = _MARKS[mark]
            made.append(mark)
            place += 1
            continue
        quoted, is_name = mark in _ANY_QUOTE, made[-1] in "{," and ends[-1] == "}"
        string = _string(_AFTER_FIELD if made[-1] == ":" else _AFTER_ITEM)
        token = (string if quoted else _BARE).match(text, place)
        place = token.end() if token else len(text)
        if token is None or (not token.lastindex if quoted else place == len(text)):
            if text.startswith("{", place) and quoted:
                raise ReplyError("an object begins inside of a text that is not closed")
            break  # within a string, or for all that is known a number
        value = _unquoted(token[0]) if quoted else token[0].rstrip()
        made.append(json.dumps(value if quoted or is_name else _plain(value)))
    if ends and made[-1] not in _MARKS and made[-2] in "{," and ends[-1] == "}":
        del made[-1:]  # a name without a value
    closed = [*made, *["null"] * (made[-1] == ":"), *ends[::-1], ""]
    strict = [one for one, after in pairwise(closed) if one != "," or after not in ("}", "]")]
    return "".join(strict), place, bool(ends)


def _each_once(key_of: Callable[[str], str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if values.setdefault(key := key_of(name), value) != value:
            raise ReplyError(f"the field {shown(key)} is given twice")
    return values


def shown(key: str) -> str:
    """A key for a message: short, and of letters that cannot be taken for anything else."""
    return re.sub(r"[^\w .-]", "?", key)[:40] or "without a name"


def _plain(text: str) -> str | float | bool | None:
    """What stands without quotes: a number, a word of JSON's or Python's, or text."""
    if number := _NUMBER.fullmatch(text):
        return float(text) if number[1] or number[2] else int(text)
    return _WORDS.get(text.lower(), text)


def _unquoted(text: str) -> str:
    """Text without quotes and escapes; half of a surrogate pair and NUL become a mark."""
    text = text[1:-1]
    if "\\" in text:
        text = _ESCAPE.sub(
            lambda one: chr(int(one[1], 16)) if one[1] else _LETTERS.get(one[2], one[2]), text
        )
    return storable(text)
