"""What a cell of the store may hold, checked when it is read: SQLite keeps anything anywhere."""

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

import sqlalchemy as sa
from sqlalchemy import Dialect
from sqlalchemy.types import TypeEngine

Check = Callable[[Any], bool]


class DamagedCellError(ValueError):
    """A cell holds what this program never writes there."""


class _Checked(sa.TypeDecorator[Any]):
    """A type whose cells are what they should be, or absent; subclasses say what."""

    cache_ok = True
    impl = sa.Text
    what = "text"
    fits: Check

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Into the database: no half of a surrogate pair, which no database keeps."""
        if isinstance(value, str) and not value.isascii():
            value.encode("utf-8")
        return value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Out of the database."""
        if value is None or self.fits(value):
            return value
        raise DamagedCellError(f"{value!r:.60} stands where {self.what} should")


def _type(impl: type[TypeEngine[Any]] | TypeEngine[Any], what: str, fits: Check) -> Any:
    name = f"Checked{what.title().replace(' ', '')}"
    parts = {"impl": impl, "what": what, "fits": staticmethod(fits), "cache_ok": True}
    return type(name, (_Checked,), parts)


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_list(value: Any) -> bool:
    return type(value) is list and all(type(one) in (str, int, float, dict) for one in value)


def _is_table(value: Any) -> bool:
    return type(value) is dict and all(map(_is_number, value.values()))


TYPES: dict[str, Callable[[], TypeEngine[Any]]] = {
    "text": _type(sa.Text, "text", _is_text),
    "word": _type(sa.String(16), "a word", _is_text),
    "hash": _type(sa.String(64), "a hash", _is_text),
    "integer": _type(sa.Integer, "an integer", lambda value: type(value) is int),
    "number": _type(sa.Float, "a number", _is_number),
    "flag": sa.Boolean,
    "json": sa.JSON,
    "list": _type(sa.JSON, "a list", _is_list),
    "object": _type(sa.JSON, "an object", lambda value: type(value) is dict),
    "table": _type(sa.JSON, "a table of numbers", _is_table),
    "bytes": _type(sa.LargeBinary, "bytes", lambda value: type(value) is bytes),
}


def _refuse(name: str) -> NoReturn:
    raise DamagedCellError(f"{name[:40]} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def read_json(text: Any) -> Any:
    """The value of a JSON cell; ``NaN`` and numbers that no computer holds are none."""
    if isinstance(text, bytes):  # as PostgreSQL's library gives it
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        raise DamagedCellError(f"{text!r:.60} stands where JSON should")
    return _DECODER.decode(text)
