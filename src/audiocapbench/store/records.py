"""What goes into the store and comes out of it, as plain frozen records, and their rows."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from importlib import import_module
from operator import attrgetter, itemgetter
from typing import Any, Literal, NamedTuple, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Row,
    Select,
    Table,
    bindparam,
    delete,
    insert,
    select,
)
from sqlalchemy.exc import StatementError

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.files import digest
from audiocapbench.signature import Signature
from audiocapbench.store import schema
from audiocapbench.version import VERSION

MADE_BY = f"audiocapbench {VERSION}"

Values = dict[str, Any]
Kind = TypeVar("Kind")

_AT_ONCE = 4096  # rows of a table, whose cells are held twice

Parameters = Mapping[str, str | int | float | bool]

RunKind = Literal["asked", "imported", "trial", "check"]
"""Answers of a model, or imported; made for a scorer on trial, or for the check of a judge."""

IMPORTED = "imported"
"""The name in the signature of judgements that came with predictions; nobody here can make them."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Who is asked about what; what it is for, and what a result file says, is no part of how."""

    benchmark: str
    dataset: str
    model: str
    parameters: Parameters
    contract: str
    kind: RunKind = field(default="asked", kw_only=True)
    source: Mapping[str, Any] | None = field(default=None, repr=False, kw_only=True)

    @property
    def is_trial(self) -> bool:
        """Whether it serves a trial or a check, and is no model's result."""
        return self.kind in ("trial", "check")

    @property
    def races(self) -> Mapping[str, Mapping[str, Any]]:
        """Races that asked it, by metric or judge: where it comes from, and no part of how."""
        return (self.source or {}).get("race", {}) if self.kind == "asked" else {}


@dataclass(frozen=True, slots=True)
class RunSpec(RunConfig):
    """What makes two runs the same run."""

    sample_ids: tuple[str, ...] = field(repr=False)

    @property
    def identity(self) -> str:
        """Equal for equal runs, so that the same command goes on where it stopped."""
        settings = [self.model, dict(sorted(self.parameters.items())), self.contract]
        content = [self.benchmark, self.dataset, *settings, sorted(self.sample_ids)]
        return digest(json.dumps(content))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead(RunConfig):
    id: int
    created_at: str
    made_by: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(RunHead):
    sample_ids: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine(RunHead):
    """A run in a listing, with how far it got; its samples are counted and not read."""

    sample_count: int
    statuses: Mapping[str, int]
    cost_usd: float | None
    tags: tuple[str, ...]

    @property
    def asked(self) -> int:
        return sum(self.statuses.values())


@dataclass(frozen=True, slots=True)
class Dataset:
    """The samples that a run was about when it began; ``traits`` say how answers are scored."""

    fingerprint: str
    benchmark: str
    root: str
    samples: tuple[Sample, ...] = field(repr=False)
    missing: tuple[Mapping[str, str], ...] = field(repr=False)
    traits: Mapping[str, Any] = field(default_factory=dict, repr=False)


class ScoreColumns(NamedTuple):
    samples: Sequence[str]
    values: Sequence[float]
    statistics: Sequence[tuple[float, ...]]
    signatures: Sequence[Signature]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, float, tuple[float, ...], Signature]]) -> "ScoreColumns":
        """Scores of one metric as they come out of the store again."""
        ordered = sorted(rows, key=itemgetter(0))
        *cells, made = zip(*ordered, strict=True) if ordered else ((),) * 4
        again = {number: Signature.parse(str(one)) for number, one in by_identity(made).items()}
        return cls._make([*cells, list(map(again.__getitem__, map(id, made)))])


def by_identity(signatures: Iterable[Signature]) -> dict[int, Signature]:
    """Thousands of samples share a handful, told by identity first."""
    return {id(one): one for one in signatures}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge (as the user wrote it) said about one answer in one round, from 0."""

    judge: str
    sample_id: str
    repeat: int
    signature: Signature
    status: Status
    scores: Mapping[str, float] = field(default_factory=dict)  # by dimension; only if it is judged
    reasoning: str | None = None
    error: str | None = None  # also what was odd of one that is ok
    latency_s: float = 0.0  # of the last question; tokens and cost are of all that it took
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def overall(self) -> float | None:
        return overall_of(self.scores, self.signature) if self.scores else None


def overall_of(scores: Mapping[str, float], signature: Signature | None = None) -> float:
    """The mean of an answer's dimensions: unrounded and unweighted, unless a judge's signature
    says otherwise, as in ``overall:accuracy*2+detail*1``."""
    how = signature.get("overall") if signature else ""
    if "*" in how:
        parts = (one.rpartition("*") for one in how.split("+"))
        weights = {name: float(weight) for name, _, weight in parts}
        return sum(weights[name] * one for name, one in scores.items()) / sum(weights.values())
    value = sum(scores.values()) / len(scores)
    return round(value, 2) if how == "rounded" else value


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A judge's reply to keep in the cache: its key, the model that gave it, and the outcome."""

    key: str
    model: str
    outcome: Outcome


class StoredCheck(NamedTuple):
    """A judge's reliability study, if any, on a benchmark of runs that it judged, and elsewhere."""

    judge: str
    benchmark: str
    document: Mapping[str, Any] | None
    elsewhere: dict[str, Mapping[str, Any]]  # by benchmark, the newest last

    @property
    def warning(self) -> str | None:
        """What to say wherever its scores are shown: of this benchmark, or else of another one."""
        if self.document is not None:
            return self.document.get("warning")
        for name, document in reversed(self.elsewhere.items()):
            if document.get("warning"):
                return f"{document['warning']} (checked on {name})"
        return None


@dataclass(frozen=True, slots=True)
class StoredEstimate:
    """One scorer on one group of a run's samples, as it was computed once."""

    scorer: str
    group: str
    value: float | None
    low: float | None
    high: float | None
    as_zero: float | None  # with every failure as zero
    worst: float | None  # what failures could make of it
    best: float | None
    counts: Mapping[str, int]  # samples by what became of them
    lacks: tuple[str, ...] | None  # what a total cannot be formed for
    signature: Signature


@dataclass(frozen=True, slots=True)
class ScorerLine:
    """One metric or judge of a run in a listing; ``made_by`` is of its newest score."""

    scorer: str
    is_judge: bool
    count: int
    cost_usd: float | None
    signatures: tuple[Signature, ...]
    made_by: str


_COLUMNS = {"sample_id": "sample", "scores": "values", "sha256": "clip_sha256"}
"""Columns that have another name than the field; what cells hold is checked by ``schema.py``."""


@cache  # mypy takes a class of unknown kind for what has no hash
def _shared(kind: Any, source: Table | tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    """The fields of a kind of record that have a column, and what takes those out of a row."""
    columns = tuple(source.c.keys()) if isinstance(source, Table) else source
    names = {one.name: _COLUMNS.get(one.name, one.name) for one in fields(kind)}
    shared = {name: columns.index(own) for name, own in names.items() if own in columns}
    return tuple(shared), itemgetter(*shared.values(), 0)  # one more: of one alone it is no tuple


def row_of(table: Table, *records: Any, **more: Any) -> Values:
    """A row of a table: what records have for its columns, and what is said besides."""
    values = {
        _COLUMNS.get(name, name): getattr(record, name)
        for record in records
        for name in _shared(type(record), table)[0]  # type: ignore[arg-type]
    }
    return values | more


def record_of(kind: type[Kind], row: Row[Any], table: Table | None = None, **more: Any) -> Kind:
    """A record from the columns of a row, and what is said besides; faster of a whole ``table``."""
    names, cells = _shared(kind, row._fields if table is None else table)  # type: ignore[arg-type]
    return kind(**(dict(zip(names, cells(row), strict=False)) | more))


def matching(table: Table, **wanted: Any) -> list[ColumnElement[bool]]:
    """That columns have a value, or one of several; any where it is None."""
    return [
        table.c[name] == value if isinstance(value, str | int) else table.c[name].in_(set(value))
        for name, value in wanted.items()
        if value is not None
    ]


def plain_rows(connection: Connection, query: Select[Any]) -> list[Any]:
    """Very many rows as the driver has them; who reads them checks their cells together."""
    result: Any = connection.execute(query)
    rows: list[Any] = result.cursor.fetchall()
    return rows


def columns_of(
    connection: Connection, columns: Sequence[Any], same: Iterable[Any], *order: Any
) -> list[Sequence[Any]]:
    """Columns of the rows that are the ``same``, very many; each is checked as a whole."""
    query = _plain_select(*columns).where(*same).order_by(*order)
    rows = plain_rows(connection, query)
    cells = zip(*rows, strict=True) if rows else ((),) * len(columns)
    return [schema.checked(*pair) for pair in zip(columns, cells, strict=True)]


@lru_cache(maxsize=64)  # to make it takes as long as to run it
def _plain_select(*columns: Any) -> Select[Any]:
    return select(*map(schema.plain, columns))


def columns_for(kind: Any, table: Table) -> list[Any]:
    """The columns of the fields of a kind of record, in their order."""
    return [table.c[_COLUMNS.get(name, name)] for name in _shared(kind, table)[0]]


def outcomes_by(key: str, connection: Connection, **wanted: Any) -> dict[Any, Outcome]:
    """Outcomes by their sample, or by another column, that ``matching`` has."""
    table = schema.outcomes
    of_reply, of_outcome = (columns_for(kind, table) for kind in (Reply, Outcome))
    columns = [table.c[key], *of_reply, *of_outcome]
    keys, *cells = columns_of(connection, columns, matching(table, **wanted))
    replies, (samples, *how) = map(Reply, *cells[: len(of_reply)]), cells[len(of_reply) :]
    return dict(zip(keys, map(Outcome, samples, replies, *how), strict=True))


def insert_all(
    connection: Connection, table: Table, values: Sequence[Mapping[str, Any]], *, new: bool = False
) -> None:
    """Insert rows that have the same columns; of ``new`` ones those whose key is not there yet."""
    if values:
        columns = {name: [row[name] for row in values] for name in values[0]}
        insert_columns(connection, table, columns, new=new)


def insert_records(
    connection: Connection, table: Table, *records: Sequence[Any], new: bool = False, **same: Any
) -> None:
    """Insert very many rows, each of the records that stand at its place, and of what is the same
    in all; see ``insert_all``."""
    for start in range(0, len(records[0]), _AT_ONCE):
        parts = [own[start : start + _AT_ONCE] for own in records]
        columns = {
            _COLUMNS.get(name, name): list(map(attrgetter(name), part))
            for part in parts
            for name in _shared(type(part[0]), table)[0]  # type: ignore[arg-type]
        }
        insert_columns(connection, table, columns, new=new, **same)


def insert_columns(
    connection: Connection,
    table: Table,
    columns: Mapping[str, Sequence[Any]],
    *,
    new: bool = False,
    **same: Any,
) -> None:
    """The same of columns; each is written as a whole."""
    names = (*columns, *same)
    text, writers, as_tuples = _insertion(table, connection.dialect, names, new=new)
    count = len(next(iter(columns.values())))
    for start in range(0, count, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        try:
            cells = [
                [same[name] if write is None else write(same[name])] * len(range(count)[part])
                if name in same
                else schema.written(table.c[name], columns[name][part], connection.dialect)
                for name, write in writers
            ]
        except (TypeError, ValueError) as error:
            raise StatementError(str(error), text, None, error) from error
        rows: list[Any] = list(zip(*cells, strict=True))
        if not as_tuples:
            rows = [dict(zip([name for name, _ in writers], row, strict=True)) for row in rows]
        connection.exec_driver_sql(text, rows)


@lru_cache(maxsize=256)  # some for each table
def _insertion(
    table: Table, dialect: Dialect, names: tuple[str, ...], *, new: bool
) -> tuple[str, list[tuple[str, Any]], bool]:
    """The text of an insert, what writes the cells of a row, and whether that is a tuple.

    What SQLAlchemy does for each of very many rows takes twice as long as the database.
    """
    library = import_module(f"sqlalchemy.dialects.{dialect.name}")
    statement = library.insert(table).on_conflict_do_nothing() if new else insert(table)
    compiled = statement.compile(dialect=dialect, column_keys=names)
    order = compiled.positiontup or names  # of a library that takes rows by place, or by name
    kinds = ((name, table.c[name].type.dialect_impl(dialect)) for name in order)
    writers = [(name, kind.bind_processor(dialect)) for name, kind in kinds]
    return str(compiled), writers, compiled.positional


def replace_rows(
    connection: Connection, table: Table, keys: Collection[str], values: Sequence[Mapping[str, Any]]
) -> None:
    """Put rows in the place of those with the same keys."""
    if values:
        alike = (table.c[name] == bindparam(f"old_{name}") for name in keys)
        old = [{f"old_{name}": row[name] for name in keys} for row in values]
        connection.execute(delete(table).where(*alike), old)
        insert_all(connection, table, values)


SEARCHED = ("over blind", "above blind", "blind", "person")
"""Groups of estimates that hang on the answers and one scorer, and took a search."""


def note_change(connection: Connection, run_id: int, scorers: Collection[str] = ()) -> str:
    """Whatever was estimated of a run holds no more, and these scorers were at work just now.

    What took a search stays where only other scorers were. Called before the change: it makes
    writers of one run wait for each other. Returns its model.
    """
    runs, estimates = schema.runs, schema.estimates
    raised = runs.update().where(runs.c.id == run_id).values(revision=runs.c.revision + 1)
    model = connection.execute(raised.returning(runs.c.model)).scalar()
    gone = [estimates.c.run == run_id]
    if scorers:
        labels = [*scorers, *(f"{name}: overall" for name in scorers)]
        gone.append(estimates.c.group.not_in(SEARCHED) | estimates.c.scorer.in_(labels))
    connection.execute(delete(estimates).where(*gone))
    head = {"run": run_id, "made_by": MADE_BY, "made_at": schema.now()}
    scorings = [head | {"scorer": name} for name in scorers]
    replace_rows(connection, schema.scorings, ("run", "scorer"), scorings)
    return model or ""


def signature_numbers(
    connection: Connection, signatures: Iterable[Signature]
) -> dict[Signature, int]:
    """The numbers that signatures are kept under; new ones are added."""
    table, numbers = schema.signatures, {}
    for signature in sorted(set(signatures), key=str):
        query = select(table.c.id).where(table.c.text == str(signature))
        number = connection.execute(query).scalar()
        if number is None:
            insert_all(connection, table, [{"text": str(signature)}], new=True)
            number = connection.execute(query).scalar_one()
        numbers[signature] = number
    return numbers


def signed_rows(
    connection: Connection, table: Table, records: Sequence[Any], **more: Any
) -> list[Values]:
    numbers = signature_numbers(connection, {one.signature for one in records})
    return [row_of(table, one, signature=numbers[one.signature], **more) for one in records]


def signatures_by_number(connection: Connection) -> dict[int, Signature]:
    rows = connection.execute(select(schema.signatures))
    return {row.id: Signature.parse(row.text) for row in rows}
