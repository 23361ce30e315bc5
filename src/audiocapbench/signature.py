"""Signatures say exactly how a number was made: two numbers may be compared if theirs are equal."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

_BY_GROUP = "by-group"
_UNSAFE = re.compile(r"[|%\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPED = re.compile(r"(?:%[0-9A-F]{2})+")
_PROTOCOL = re.compile(r"protocol:([0-9]{1,9})")
_OLD_VERSION = re.compile(r"v:([0-9]{1,9})((?:\.[0-9]+)+\S*)?")


@dataclass(frozen=True, slots=True)
class Signature:
    """How a number was made; prints as ``meteor|variant:nltk|tok:split|protocol:1``.

    Attributes:
        name: The metric, the judge's contract or the rule.
        fields: What decides the numbers, by name and value, in the order in which it is shown.
        protocol: Changed only when the same fields can give other numbers.
    """

    name: str
    fields: tuple[tuple[str, str], ...] = ()
    protocol: int = 1

    def __str__(self) -> str:
        """The text form, for tables, JSON and the database; ``parse`` reads it back."""
        if not self:
            return ""
        parts = [f"{_escape(key, ':')}:{_escape(value)}" for key, value in self.fields]
        return "|".join([_escape(self.name), *parts, f"protocol:{self.protocol}"])

    def __bool__(self) -> bool:
        """False for the signature of a number that nobody made or that does not say."""
        return self != UNSIGNED

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """Read the text form; a toolkit's version at the end, as 0.1 wrote it, is protocol 1."""
        return _parse(text)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        """In a pydantic model, and in its JSON, it is its text form."""
        from pydantic_core import core_schema

        of_text = core_schema.no_info_after_validator_function(cls.parse, core_schema.str_schema())
        return core_schema.json_or_python_schema(
            json_schema=of_text,
            python_schema=core_schema.is_instance_schema(cls),
            serialization=core_schema.to_string_ser_schema(),
        )

    def get(self, name: str, default: str = "") -> str:
        return dict(self.fields).get(name, default)

    def with_fields(self, **fields: str | float | bool) -> "Signature":
        """The same with more fields at the end; one that is there already is changed in place."""
        changed = dict(self.fields) | {name: _plain(value) for name, value in fields.items()}
        return replace(self, fields=tuple(changed.items()))

    @classmethod
    def join(cls, signatures: Iterable["Signature"]) -> "Signature":
        """One signature for a sum of numbers: the fields in which they differ are ``by-group``."""
        distinct = sorted({one for one in signatures if one}, key=str)
        if len(distinct) < 2:
            return distinct[0] if distinct else UNSIGNED
        fields = dict.fromkeys((name for one in distinct for name, _ in one.fields), _BY_GROUP)
        for name, value in distinct[0].fields:
            if all(dict(one.fields).get(name) == value for one in distinct):
                fields[name] = value
        protocols = {one.protocol for one in distinct}
        fields |= {"protocols": _BY_GROUP} if len(protocols) > 1 else {}
        name = "+".join(dict.fromkeys(one.name for one in distinct))
        return cls(name, tuple(fields.items()), max(protocols))


UNSIGNED = Signature("")
"""Of a number that was not made, or that does not say how."""


def sign(name: str, /, *, protocol: int = 1, **fields: str | float | bool) -> Signature:
    """Make a signature; fields keep the order in which they are given.

    Raise the protocol of a metric or a judge's contract in the commit after which the same fields
    can give other numbers, and at no other time: numbers of different protocols are not compared.
    A release of the toolkit changes no protocol. Its version is recorded beside scores and
    judgements (``made_by``) and never compared.
    """
    return Signature(name, tuple((key, _plain(one)) for key, one in fields.items()), protocol)


def _plain(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Signature:
    if not text:
        return UNSIGNED
    name, *parts = text.split("|")
    protocol = 1
    if parts and (found := _PROTOCOL.fullmatch(parts[-1])):
        protocol = int(found[1])
        parts.pop()
    elif parts and (found := _OLD_VERSION.fullmatch(parts[-1])):
        protocol = 1 if found[2] else int(found[1])
        parts.pop()
    fields: list[tuple[str, str]] = []
    for part in parts:
        key, colon, value = part.partition(":")
        if colon or not fields:
            fields.append((_unescape(key), _unescape(value)))
        else:  # 0.1 escaped nothing: this belongs to the value before it
            fields[-1] = (fields[-1][0], f"{fields[-1][1]}|{_unescape(part)}")
    return Signature(_unescape(name), tuple(fields), protocol)


def _escape(text: str, also: str = "") -> str:
    def quote(character: str) -> str:
        return "".join(f"%{one:02X}" for one in character.encode("utf-8", "surrogatepass"))

    escaped = _UNSAFE.sub(lambda found: quote(found[0]), text)
    return escaped.replace(also, quote(also)) if also else escaped


def _unescape(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogatepass")

    try:
        return _ESCAPED.sub(character, text)
    except UnicodeDecodeError:  # not ours: 0.1 escaped nothing
        return text
