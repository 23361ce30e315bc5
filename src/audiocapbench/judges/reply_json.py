"""Reads JSON that a language model wrote: the one place where it is decided what is forgiven.

``find_objects`` takes objects out of a text in one pass. It forgives prose and fences around them,
comments, trailing commas, other quotes or none, quotes inside of sentences, and an end that is
missing; what could mean two things is a ReplyError. ``published_object`` forgives a fence.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, NamedTuple

from audiocapbench.errors import ReplyError

# A string is closed by a quote of the family that opened it.
_QUOTES = ('"', "“”„‟«»＂", "'", "‘’‚‛", "`")
_ANY_QUOTE = "".join(_QUOTES)
_DEEPEST = 50

# A quote ends a string only where JSON would go on, so that quotes inside a sentence survive.
_END = r"//|/\*|\#|```|\Z"
_KEY = rf"[{_ANY_QUOTE}][^{_ANY_QUOTE}]*+[{_ANY_QUOTE}]\s*+:|[\w-]++\s*+:"
_AFTER_ITEM = rf"\s*+(?:[,:}}\]]|{_END})"
_AFTER_FIELD = rf"\s*+(?:}}|,\s*+(?:}}|{_KEY}|{_END})|{_END})"


def _string(after: str) -> re.Pattern[str]:
    # Possessive repetition keeps an unclosed string from being tried twice.
    inner = rf"(?:[^\\{{0}}]++|\\.|[{{0}}](?!{after.replace('{', '{{').replace('}', '}}')}))*+"
    return re.compile("|".join(f"[{one}]{inner.format(one)}[{one}]" for one in _QUOTES), re.DOTALL)


_ITEM_STRING, _FIELD_STRING = _string(_AFTER_ITEM), _string(_AFTER_FIELD)
_BLANK = re.compile(r"(?:[\s\ufeff\u200b]++|(?://|\#)[^\n]*+|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_COMMENT = r"(?://|\#)[^\n{}]*+\n|/\*[^{}]*?\*/"
_BEGINNING = re.compile(rf"\{{(?=[\s\ufeff\u200b]*+(?:[}}{_ANY_QUOTE}]|[\w-]++\s*+:|{_COMMENT}))")
_BARE_NAME = re.compile(r"[\w-]*+")
_PIECE = rf"(?:[^\s,:{{}}\[\]{_ANY_QUOTE}/\#]|/(?![/*]))++"
_BARE = re.compile(rf"(?:{_PIECE}[ \t]*+)*+")
_NUMBER = re.compile(r"[-+]?[0-9]{1,20}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "none": None}
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_FENCED = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)


class FoundObjects(NamedTuple):
    """The outermost objects of a text, in order; of one that is cut off, what came before."""

    objects: list[dict[str, Any]]
    is_cut: bool

    def having(self, names: Collection[str], but: Collection[str] = ()) -> list[dict[str, Any]]:
        """Those, outermost first, that have a field of these; ``but`` are not looked into."""

        def within(value: Any) -> Iterator[dict[str, Any]]:
            if isinstance(value, dict) and any(name in value for name in names):
                yield value
            elif isinstance(value, dict | list):
                inner = value.items() if isinstance(value, dict) else ((None, x) for x in value)
                for name, one in inner:
                    yield from () if name in but else within(one)

        return list(within(self.objects))


class _CutError(Exception):
    """The text ends within an object."""


class _Reader:
    """A text, and the place up to which it was read: a hostile reply costs one pass."""

    def __init__(self, text: str, key_of: Callable[[str], str]) -> None:
        self.text, self.place, self._key_of = text, 0, key_of

    def fill_object(self, values: dict[str, Any], depth: int = 0) -> bool:
        """Put in what the object says whose brace was just passed; False where it is prose."""
        while (mark := self._next()) != "}":
            bare = mark not in _ANY_QUOTE
            name = self._take(_BARE_NAME) if bare else _unquoted(self._take(_ITEM_STRING))
            if self._next() != ":":
                if values or depth:
                    raise ReplyError("the JSON object is broken or cut off")
                return False
            self.place += 1
            key, told, new = self._key_of(name), shown(name), object()
            known = values.get(key, new)
            self._value(partial(values.__setitem__, key), told, depth, _FIELD_STRING)
            if known is not new and known != values[key]:
                raise ReplyError(f"the field {told} is given twice")
            self._go_on("}", told)
        self.place += 1
        return True

    def _value(
        self, keep: Callable[[Any], object], name: str, depth: int, string: re.Pattern[str]
    ) -> None:
        mark = self._next()
        if mark in "{[":
            self.place += 1
            if depth == _DEEPEST:
                raise ReplyError(f"the value of {name} is nested too deep")
        if mark == "{":
            keep(inner := dict[str, Any]())  # before it is read: it may be cut off
            self.fill_object(inner, depth + 1)
        elif mark == "[":
            keep(items := list[Any]())
            while self._next() != "]":
                self._value(items.append, name, depth + 1, _ITEM_STRING)
                self._go_on("]", name)
            self.place += 1
        elif mark in _ANY_QUOTE:
            keep(_unquoted(self._take(string)))
        elif not (bare := self._take(_BARE).rstrip()):
            raise ReplyError(f"the value of {name} is neither a number nor a string")
        elif self.place == len(self.text):
            raise _CutError  # within a number, for all that is known
        else:
            number = _NUMBER.fullmatch(bare)
            parsed = float if number and (number[1] or number[2]) else int
            keep(parsed(bare) if number else _WORDS.get(bare.lower(), bare))

    def _go_on(self, end: str, name: str) -> None:
        if (mark := self._next()) == ",":
            self.place += 1
        elif mark != end:
            raise ReplyError(f"the JSON object is broken after the value of {name}")

    def _next(self) -> str:
        """The character that comes next, after blanks and comments."""
        self._take(_BLANK)
        if self.place == len(self.text) or self.text.startswith("```", self.place):
            raise _CutError
        return self.text[self.place]

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.place)
        self.place = found.end() if found else len(self.text)
        if found is None:
            raise _CutError
        return found[0]


def find_objects(text: str, key_of: Callable[[str], str] | None = None) -> FoundObjects:
    """Every object in the text; ``key_of`` makes ways to write a key the same: case and blanks."""
    reader, found, is_cut = _Reader(text, key_of or _key), list[dict[str, Any]](), False
    while beginning := _BEGINNING.search(text, reader.place):
        values, reader.place = dict[str, Any](), beginning.end()
        try:
            is_object = reader.fill_object(values)
        except _CutError:
            is_cut, is_object = True, bool(values)
        found += [values] if is_object else []
    return FoundObjects(found, is_cut)


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def shown(key: str) -> str:
    """A key for a message: short, and of letters that cannot be taken for anything else."""
    return re.sub(r"[^\w .-]", "?", key)[:40] or "without a name"


def _unquoted(text: str) -> str:
    """Text without quotes and escapes; half of a surrogate pair and NUL become a mark."""
    text = text[1:-1]
    if "\\" in text:
        text = _ESCAPE.sub(
            lambda one: chr(int(one[1], 16)) if one[1] else _LETTERS.get(one[2], one[2]), text
        )
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def published_object(text: str) -> dict[str, Any]:
    """The object of a reply as the published tool reads it: the first fence or all, plain JSON."""
    fenced = _FENCED.search(text)
    try:
        values = json.loads((fenced[1] if fenced else text).strip())
    except (ValueError, RecursionError):
        raise ReplyError("the reply is no JSON") from None
    if not isinstance(values, dict):
        raise ReplyError("the reply is JSON, but no object")
    return values
