"""Reads JSON that a language model wrote: the one place where it is decided what is forgiven.

``find_objects`` forgives most, for flat objects: prose around them, fences, trailing commas and
other quotes, in one pass. ``find_document`` takes strict JSON with anything inside, anywhere in a
text. ``whole_object`` takes a reply that is nothing but strict JSON, in a fence or not.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from audiocapbench.errors import ReplyError

Scalar = str | float | bool | None  # as written: text, a number, or one of JSON's three words

# A string is closed by a quote of the family that opened it.
_QUOTES = ('"', "“”„‟«»＂", "'", "‘’‚‛", "`")


def _string(quotes: str) -> str:
    # A quote ends a string only where JSON would go on, so that quotes inside a sentence survive;
    # possessive repetition keeps an unclosed string from being tried twice.
    inner = rf"(?:[^\\{quotes}]++|\\.|[{quotes}](?!\s*+[,:}}\]]))*+"
    return rf"[{quotes}]{inner}[{quotes}]"


_ANY_QUOTE = "".join(_QUOTES)
_OPENING = re.compile(rf"\s*+[{_ANY_QUOTE}]")
_STRING = re.compile("|".join(_string(quotes) for quotes in _QUOTES), re.DOTALL)
_BEGINNING = re.compile(rf"\{{\s*+(?=[}}{_ANY_QUOTE}])")
_COLON, _COMMA, _END = (re.compile(rf"\s*+{mark}") for mark in ":,}")
_PLAIN = re.compile(
    r"\s*+(?:([-+]?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,3})?(?![\w.]))"
    r"|(?:true|false|null)\b)"
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def find_objects(text: str) -> list[dict[str, Scalar]]:
    """Every flat object in the text, in order, with keys in lower case; other braces are prose."""
    found, place = [], 0
    # What was read is never read again, so a hostile reply costs one pass.
    while beginning := _BEGINNING.search(text, place):
        values, place = _object_at(text, beginning.end())
        if values is not None:
            found.append(values)
    return found


def _object_at(text: str, place: int) -> tuple[dict[str, Scalar] | None, int]:
    """The object whose brace was just passed, None if it is none, and where it ends."""
    values: dict[str, Scalar] = {}
    while not (end := _END.match(text, place)):
        name, place = _string_at(text, place)
        colon = _COLON.match(text, place)
        if name is None or colon is None:
            if values:
                raise ReplyError("the JSON object is broken or cut off")
            return None, place
        key = name.strip().lower()
        if key in values:
            raise ReplyError(f"the field {shown(key)} is given twice")
        values[key], place = _string_at(text, colon.end())
        if values[key] is None:
            plain = _PLAIN.match(text, place)
            if plain is None:
                raise ReplyError(f"the value of {shown(key)} is neither a number nor a string")
            values[key] = float(plain[1]) if plain[1] else _WORDS[plain[0].strip()]
            place = plain.end()
        if comma := _COMMA.match(text, place):
            place = comma.end()
        elif not _END.match(text, place):
            raise ReplyError(f"the JSON object is broken after the value of {shown(key)}")
    return values, end.end()


def _string_at(text: str, place: int) -> tuple[str | None, int]:
    """The string that comes next, None if none does, and where it ends."""
    opening = _OPENING.match(text, place)
    if opening is None:
        return None, place
    found = _STRING.match(text, opening.end() - 1)
    if found is None:
        raise ReplyError("the JSON object is broken or cut off: a string is not closed")
    return _plain(found[0][1:-1]), found.end()


def shown(key: str) -> str:
    """A key for a message: short, and of letters that cannot be taken for anything else."""
    return re.sub(r"[^\w .-]", "?", key)[:40] or "without a name"


def _plain(text: str) -> str:
    """Text without escapes; half of a surrogate pair and NUL become a mark."""
    if "\\" in text:
        text = _ESCAPE.sub(
            lambda one: chr(int(one[1], 16)) if one[1] else _LETTERS.get(one[2], one[2]), text
        )
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


_MOST_TRIES = 20  # braces that begin no such object; each costs a look at the rest of the text


def find_document(text: str, field: str, what: str, key_of: Callable[[str], str]) -> dict[str, Any]:
    """The object of strict JSON that has a field, anywhere in a text or in another object.

    ``what`` it is to hold is for the error; ``key_of`` makes two ways to write a key the same.
    """

    def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in pairs:
            if (key := key_of(name)) in values:
                raise ReplyError(f"{shown(name)}: is given twice")
            values[key] = value
        return values

    decoder, place, reason = json.JSONDecoder(object_pairs_hook=each_key_once), -1, ""
    document: dict[str, Any] | None = None
    for _ in range(_MOST_TRIES):
        place = text.find("{", place + 1)
        if place < 0:
            break
        try:
            values, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            reason = reason or f" ({shown(str(error))})"
            continue
        if field in values:
            if document not in (None, values):
                raise ReplyError("the reply holds two objects that differ; give one")
            document, place = values, end - 1
    if document is None:
        raise ReplyError(f"the reply holds no JSON object with {what}{reason}")
    return document


def whole_object(text: str) -> dict[str, Any]:
    """The object that a reply is, once a fence around it is taken away."""
    inner = text.strip()
    if inner.startswith("```"):
        inner = inner.partition("\n")[2].rpartition("```")[0].strip()
    try:
        values = json.loads(inner)
    except (ValueError, RecursionError):
        raise ReplyError("the reply is no JSON") from None
    if not isinstance(values, dict):
        raise ReplyError("the reply is JSON, but no object")
    return values
