"""The tables of the store, and what their cells may hold.

Cells are checked when they are read: SQLite keeps anything anywhere. A new column stands last in
its table, and is nullable or has a server's default, so that an older store can be given it.
"""

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Column, Dialect, ForeignKey, Table
from sqlalchemy.types import TypeEngine

from audiocapbench.data.outcome import Status

VERSION = 7


class DamagedCellError(ValueError):
    """A cell holds what this program never writes there."""


_AS_THEY_STAND: Mapping[Any, set[type]] = {list: {list, tuple}, dict: {dict}}
"""What becomes a JSON array or object without being made a list or dict before."""


class _Checked(sa.TypeDecorator[Any]):
    """A type whose cells are what they should be, or absent.

    What ``fits`` is of that type, or passes that test; ``write`` makes what the database keeps of a
    value, and ``read`` the value again. Nothing is absent where the column is ``required``: JSON
    has a null that no database refuses.
    """

    cache_ok = True
    impl: Any = sa.Text
    required = False

    def __init__(
        self, impl: TypeEngine[Any], what: str, fits: Any, write: Any = None, read: Any = None
    ) -> None:
        super().__init__()
        self.impl, self.what, self.fits, self.write, self.read = impl, what, fits, write, read

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """None for numbers: as many cells are written as are read."""
        encode, write = self.impl_instance.bind_processor(dialect), self.write
        if self.fits in (int, _is_number):
            return encode

        def process(value: Any) -> Any:
            if write is not None and value is not None:
                value = write(value)
            if isinstance(value, str) and not value.isascii():
                value.encode("utf-8")  # no database keeps half of a surrogate pair
            return value if encode is None else encode(value)

        return process

    def written(self, cells: Sequence[Any], dialect: Dialect) -> Sequence[Any]:
        write, plain = self.bind_processor(dialect), self.impl_instance.bind_processor(dialect)
        if write is None:
            return cells
        if plain is None and self.write is None:
            with suppress(TypeError, UnicodeEncodeError):
                "".join(filter(None, cells)).encode("utf-8")
                return cells
        kinds, shapes = {*map(type, cells)}, _AS_THEY_STAND.get(self.write, set())
        if kinds <= shapes and dialect.name == "sqlite":
            # One text for all, cut where one cell ends and another begins, if nowhere else.
            empty = json.dumps(self.write())
            parts = json.dumps(cells)[2:-2].split(f"{empty[1]}, {empty[0]}")
            if len(parts) == len(cells):
                return [f"{empty[0]}{one}{empty[1]}" for one in parts]
        if kinds <= {str, Status}:
            known = {one: write(one) for one in set(cells)}
            return list(map(known.__getitem__, cells))
        return list(map(write, cells))

    def check(self, value: Any) -> Any:
        """What a cell holds, if it may."""
        if value is None and not self.required:
            return None
        is_kind = type(value) is self.fits
        if not (is_kind if isinstance(self.fits, type) else self.fits(value)):
            raise DamagedCellError(f"{value!r:.60} stands where {self.what} should")
        return value if self.read is None else self.read(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """As few calls as can be: millions of cells are read for a board."""
        decode = self.impl_instance.result_processor(dialect, coltype)
        check, kind = self.check, self.fits
        if decode is not None:
            return lambda value: check(decode(value))
        if self.read is not None or not isinstance(kind, type):
            return check
        return lambda value: value if type(value) is kind else check(value)


class Timestamp(sa.TypeDecorator[str]):
    """A moment in UTC: an ISO 8601 text to Python and SQLite, a real timestamp to PostgreSQL."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        is_text = dialect.name == "sqlite"
        return dialect.type_descriptor(sa.Text() if is_text else self.impl_instance)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        return value if value is None or dialect.name == "sqlite" else datetime.fromisoformat(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        if isinstance(value, datetime):
            return str(value.astimezone(UTC).isoformat(timespec="milliseconds"))
        try:
            if value is not None:
                datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise DamagedCellError(f"{value!r:.60} stands where a moment should") from None
        return None if value is None else str(value)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_list(value: Any) -> bool:
    return type(value) is list and {*map(type, value)} <= {str, int, float, dict}


def _is_table(value: Any) -> bool:
    return type(value) is dict and all(map(_is_number, value.values()))


_TYPES: dict[str, Callable[[], TypeEngine[Any]]] = {
    "text": partial(_Checked, sa.Text(), "text", str),
    "word": partial(_Checked, sa.String(16), "a word", str),
    "status": partial(_Checked, sa.String(16), "a status", str, str, Status),
    "hash": partial(_Checked, sa.String(64), "a hash", str),
    "integer": partial(_Checked, sa.Integer(), "an integer", int),
    "number": partial(_Checked, sa.Float(), "a number", _is_number),
    "flag": sa.Boolean,
    "json": sa.JSON,
    "list": partial(_Checked, sa.JSON(), "a list", _is_list, list, tuple),
    "object": partial(_Checked, sa.JSON(), "an object", dict, dict),
    "table": partial(_Checked, sa.JSON(), "a table of numbers", _is_table, dict),
    "bytes": partial(_Checked, sa.LargeBinary(), "bytes", bytes),
    "time": Timestamp,
}


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise DamagedCellError(f"{text[:40]} is not a JSON number")
    return value


_DECODER = json.JSONDecoder(parse_constant=_finite, parse_float=_finite)


def read_json(text: Any) -> Any:
    """The value of a JSON cell; ``NaN`` and numbers that no computer holds are none."""
    if isinstance(text, bytes):  # as PostgreSQL's library gives it
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        raise DamagedCellError(f"{text!r:.60} stands where JSON should")
    return _DECODER.decode(text)


_PLAIN = json.JSONDecoder(parse_constant=_finite)


def _are_numbers(values: Collection[Any]) -> bool:
    return {*map(type, values)} <= {int, float} and all(map(math.isfinite, values))


def plain(column: Column[Any]) -> sa.ColumnElement[Any]:
    """A column as ``checked`` takes its cells."""
    is_json = isinstance(getattr(column.type, "impl", None), sa.JSON)
    return sa.cast(column, sa.Text) if is_json else column


def written(column: Column[Any], cells: Sequence[Any], dialect: Dialect) -> Sequence[Any]:
    """Very many cells as the driver takes them, looked at one by one only where one is odd."""
    kind: Any = column.type.dialect_impl(dialect)
    if isinstance(kind, _Checked):
        return kind.written(cells, dialect)
    write = kind.bind_processor(dialect)
    return cells if write is None else list(map(write, cells))


def checked(column: Column[Any], cells: Sequence[Any]) -> Sequence[Any]:
    """Very many cells as the driver has them, looked at one by one only where one is odd."""
    kind = column.type
    if not isinstance(kind, _Checked):
        return list(map(bool, cells)) if isinstance(kind, sa.Boolean) else cells
    if kind.fits is _is_list:
        with suppress(TypeError, ValueError):
            found = _PLAIN.decode(f"[{','.join(cells)}]")
            are_lists = len(found) == len(cells) and {*map(type, found)} == {list}
            if are_lists and _are_numbers(list(chain.from_iterable(found))):
                return list(map(tuple, found))
    is_json = isinstance(kind.impl, sa.JSON)
    if is_json or kind.read is not None:
        known = {
            one: kind.check(read_json(one) if is_json and one is not None else one)
            for one in set(cells)
        }
        return list(map(known.__getitem__, cells))
    some = cells if kind.required else [one for one in cells if one is not None]
    if not (_are_numbers(some) if kind.fits is _is_number else {*map(type, some)} <= {kind.fits}):
        for one in cells:
            kind.check(one)
    return cells


metadata = sa.MetaData()


def _table(name: str, *parts: Any, **options: Any) -> Table:
    return Table(name, metadata, *parts, **options)


def _columns(**names: str) -> list[Column[Any]]:
    """Columns by type; a star marks part of the key, a question mark what may be absent."""
    columns: list[Column[Any]] = []
    for kind, name in ((kind, name) for kind, several in names.items() for name in several.split()):
        holds: Any = _TYPES[kind]()
        holds.required = name[-1] != "?"
        how: dict[str, Any] = {"primary_key": name[-1] == "*", "nullable": not holds.required}
        columns.append(Column(name.rstrip("*?"), holds, **how))
    return columns


def _numbered() -> Column[int]:
    return Column("id", sa.Integer, primary_key=True, autoincrement=True)


def _refers(name: str, to: str, **how: Any) -> Column[Any]:
    """A column whose row goes when that goes which it refers to."""
    key = ForeignKey(to, ondelete="CASCADE")
    return Column(name, key, **({"nullable": False, "index": True} | how))


def _of_run() -> Column[int]:
    return _refers("run", "runs.id", primary_key=True, index=None)


def _belongs(table: str, *names: str) -> sa.ForeignKeyConstraint:
    """The row goes with that of another table which has the same in these columns."""
    there = [f"{table}.{name}" for name in names]
    return sa.ForeignKeyConstraint(names, there, ondelete="CASCADE")


def _of_run_sample() -> list[Column[Any] | sa.ForeignKeyConstraint]:
    return [*_columns(integer="run*", text="sample*"), _belongs("run_samples", "run", "sample")]


def _signature() -> Column[int]:
    return Column("signature", ForeignKey("signatures.id"), nullable=False)


def _reply() -> list[Column[Any]]:
    return [
        *_columns(text="text", status="status", number="latency_s"),
        *_columns(integer="input_tokens? output_tokens? audio_tokens?", number="cost_usd?"),
        *_columns(text="raw?", time="answered_at"),
    ]


schema_version = _table("schema_version", *_columns(integer="version*"))

signatures = _table("signatures", _numbered(), Column("text", sa.Text, nullable=False, unique=True))

datasets = _table(
    "datasets",
    # Traits by the benchmark's name: several may ask the same about the same clips.
    *_columns(hash="fingerprint*", text="benchmark root", list="missing", json="traits"),
)

samples = _table(
    "samples",
    _refers("dataset", "datasets.fingerprint", primary_key=True, index=None),
    *_columns(text="id* category instruction file_name", list="references", object="details"),
    *_columns(integer="position rate channels", number="duration_s", hash="clip_sha256"),
)

runs = _table(
    "runs",
    _numbered(),
    *_columns(hash="identity", integer="generation sample_count", word="kind", time="created_at"),
    *_columns(text="name? benchmark model contract made_by", object="parameters"),
    Column("dataset", ForeignKey("datasets.fingerprint"), nullable=False, index=True),
    # Counts every change of its outcomes, scores and judgements.
    Column("revision", sa.Integer, nullable=False, default=0),
    *_columns(object="source?"),
    sa.UniqueConstraint("identity", "generation"),
    sqlite_autoincrement=True,  # the number of a deleted run is never given again
)

run_samples = _table(
    "run_samples", _of_run(), *_columns(text="sample*", integer="position"), sqlite_with_rowid=False
)

run_tags = _table("run_tags", _of_run(), *_columns(text="tag*"))

outcomes = _table(
    "outcomes",
    *_of_run_sample(),
    *_reply(),
    *_columns(text="error?", integer="withheld? attempts", flag="cached"),
    *_columns(hash="audio_sha256?", number="audio_s"),
    # All that a listing of runs reads of them.
    sa.Index("outcomes_counted", "run", "status", "cost_usd"),
)

scores = _table(
    "scores",
    *_of_run_sample(),
    *_columns(text="metric*", number="value", list="statistics"),
    _signature(),
    sqlite_with_rowid=False,
)

judgements = _table(
    "judgements",
    *_of_run_sample(),
    *_columns(text="judge* reasoning? error?", status="status", table="values", time="judged_at"),
    *_columns(integer="repeat* input_tokens? output_tokens?", number="latency_s cost_usd?"),
    _signature(),
)

scorings = _table("scorings", _of_run(), *_columns(text="scorer* made_by", time="made_at"))

estimates = _table(
    "estimates",
    _of_run(),
    *_columns(text="scorer* group* made_by", table="counts", list="lacks?"),
    *_columns(number="value? low? high? as_zero? worst? best?"),
    _signature(),
)

judge_checks = _table(
    "judge_checks",
    *_columns(text="judge* benchmark* contract*", object="document", time="checked_at"),
)

responses = _table(
    "responses",
    *_columns(hash="key*", text="model"),
    *_reply(),
    sa.Index("responses_by_model", "model"),
)

embeddings = _table(
    "embeddings",
    *_columns(text="model* setting*", hash="content*"),
    *_columns(integer="dimensions", bytes="vector", time="made_at"),
)

workers = _table(
    "workers",
    # PostgreSQL: seconds since 1970 by the server's clock, past which the worker counts as gone;
    # SQLite: a count whose change is the sign of life.
    *_columns(hash="id*", text="owner process", time="started_at", number="until"),
)

claims = _table(
    "claims",
    *_of_run_sample(),
    # A judge's name and its round; an empty name for what the run's model is asked.
    *_columns(text="judge*", integer="repeat*"),
    _refers("worker", "workers.id"),
)


def _of_rating() -> list[Column[Any] | sa.ForeignKeyConstraint]:
    person = _belongs("rating_people", "project", "person")
    item = _belongs("rating_items", "project", "item")
    return [*_columns(text="project* person* item*"), person, item]


rating_projects = _table(
    "rating_projects",
    # What tokens of items are derived from is secret: nobody can tell an item by its token.
    *_columns(text="name* made_by", word="kind", integer="seed", hash="secret", time="made_at"),
)

rating_people = _table(
    "rating_people",
    _refers("project", "rating_projects.name", primary_key=True, index=None),
    # An empty name is the administrator's. Of a token only its SHA-256 is kept.
    *_columns(text="person*", time="invited_at"),
    Column("token", sa.String(64), nullable=False, unique=True),
)

rating_items = _table(
    "rating_items",
    _refers("project", "rating_projects.name", primary_key=True, index=None),
    *_columns(text="item*", integer="position", flag="asked", object="content"),
)

rating_claims = _table(
    "rating_claims",
    *_of_rating(),
    # Seconds since 1970 by the database's own clock; past ``until`` the item is free again.
    *_columns(number="shown_at until heard_at?"),
)

ratings = _table(
    "ratings",
    *_of_rating(),
    # The page makes the key, so that what is sent twice counts once.
    *_columns(text="key", object="answer", number="took_s played_s", time="rated_at"),
    *_columns(list="earlier"),
    sa.UniqueConstraint("project", "key"),
)

findings = _table(
    "findings",
    *_columns(hash="clip*", text="expert* signature* error?", word="status"),
    *_columns(object="document", number="seconds", time="made_at"),
)

annotations = _table(
    "annotations",
    *_columns(text="project* clip* error?", word="stage* status"),
    *_columns(object="document", time="made_at"),
)

batches = _table(
    "batches",
    # The mark is sent along; the provider's own name for the batch is known once it was sent.
    *_columns(hash="mark*", text="judge remote?", integer="count", object="price?"),
    *_columns(time="made_at"),
    _refers("run", "runs.id"),
)

batch_lines = _table(
    "batch_lines",
    *_columns(hash="key*", text="sample judge", integer="repeat", flag="open"),
    _refers("batch", "batches.mark"),
    _refers("run", "runs.id"),
)

ledger = _table(
    "ledger",
    # An attempt that costs money: what it may cost at most and will likely cost; what it did cost
    # once that is known. It refers to no run: what was paid stays on record when a run is deleted.
    *_columns(hash="id* worker start batch?", text="command project? owner model judge sample"),
    *_columns(integer="run repeat input_tokens? output_tokens?", word="kind", text="why?"),
    *_columns(number="held_usd likely_usd usd?", time="made_at settled_at?"),
    *(sa.Index(f"ledger_by_{name}", name) for name in ("run", "batch")),
    # All that a budget reads of what is settled.
    *(sa.Index(f"ledger_by_{name}", name, "usd", "start") for name in ("command", "project")),
)
