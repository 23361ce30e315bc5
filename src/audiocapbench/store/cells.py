"""What a cell of the store may hold, checked when it is read: SQLite keeps anything anywhere."""

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

import sqlalchemy as sa
from sqlalchemy import Dialect
from sqlalchemy.types import TypeEngine

from audiocapbench.data.outcome import Status

Convert = Callable[[Any], Any]


class DamagedCellError(ValueError):
    """A cell holds what this program never writes there."""


class _Checked(sa.TypeDecorator[Any]):
    """A type whose cells are what they should be, or absent; subclasses say what.

    ``write`` makes what the database keeps of a value, and ``read`` the value again. Nothing is
    absent where the column is ``required``: JSON has a null that no database refuses.
    """

    cache_ok = True
    impl = sa.Text
    what: str
    fits: Callable[[Any], bool]
    write: Convert | None
    read: Convert | None
    required = False

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Into the database: no half of a surrogate pair, which no database keeps."""
        if self.write is not None and value is not None:
            value = self.write(value)
        if isinstance(value, str) and not value.isascii():
            value.encode("utf-8")
        return value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Out of the database."""
        if value is None and not self.required:
            return None
        if not self.fits(value):
            raise DamagedCellError(f"{value!r:.60} stands where {self.what} should")
        return value if self.read is None else self.read(value)


def _type(
    impl: type[TypeEngine[Any]] | TypeEngine[Any],
    what: str,
    fits: Callable[[Any], bool],
    write: Convert | None = None,
    read: Convert | None = None,
) -> Any:
    name = f"Checked{what.title().replace(' ', '')}"
    parts = {"fits": fits, "write": write, "read": read}
    static = {name: one and staticmethod(one) for name, one in parts.items()}
    return type(name, (_Checked,), {"impl": impl, "what": what, "cache_ok": True} | static)


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


TYPES: dict[str, Callable[[], TypeEngine[Any]]] = {
    "text": _type(sa.Text, "text", _is_text),
    "word": _type(sa.String(16), "a word", _is_text),
    "status": _type(sa.String(16), "a status", _is_text, str, Status),
    "hash": _type(sa.String(64), "a hash", _is_text),
    "integer": _type(sa.Integer, "an integer", lambda value: type(value) is int),
    "number": _type(sa.Float, "a number", _is_number),
    "flag": sa.Boolean,
    "json": sa.JSON,
    "list": _type(
        sa.JSON,
        "a list",
        lambda value: type(value) is list and {*map(type, value)} <= {str, int, float, dict},
        list,
        tuple,
    ),
    "object": _type(sa.JSON, "an object", lambda value: type(value) is dict, dict),
    "table": _type(
        sa.JSON,
        "a table of numbers",
        lambda value: type(value) is dict and all(map(_is_number, value.values())),
        dict,
    ),
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
