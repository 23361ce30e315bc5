"""Between rows and records: a field is the column of its name, or the one that ``_COLUMNS`` says.

What a cell holds is made and checked by its type (``schema.py``); signatures are kept by number.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Table, bindparam, delete, insert, select

from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.signature import Signature
from audiocapbench.store import schema
from audiocapbench.version import VERSION

MADE_BY = f"audiocapbench {VERSION}"

Values = dict[str, Any]
Kind = TypeVar("Kind")

_COLUMNS = {"sample_id": "sample", "scores": "values", "sha256": "clip_sha256"}


@cache  # mypy takes a class of unknown kind for what has no hash
def _shared(kind: Any, columns: tuple[str, ...]) -> list[tuple[str, int]]:
    """The fields of a kind of record that have a column, each with the column's place."""
    names = {one.name: _COLUMNS.get(one.name, one.name) for one in fields(kind)}
    return [(name, columns.index(own)) for name, own in names.items() if own in columns]


@cache
def _columns(table: Table) -> tuple[str, ...]:
    return tuple(table.c.keys())


def row_of(table: Table, *records: Any, **more: Any) -> Values:
    """A row of a table: what records have for its columns, and what is said besides."""
    columns = _columns(table)
    values = {
        columns[place]: getattr(record, name)
        for record in records
        for name, place in _shared(type(record), columns)  # type: ignore[arg-type]
    }
    return values | more


def record_of(kind: type[Kind], row: Row[Any], table: Table | None = None, **more: Any) -> Kind:
    """A record from the columns of a row, and what is said besides; faster of a whole ``table``."""
    columns = row._fields if table is None else _columns(table)
    shared = _shared(kind, columns)  # type: ignore[arg-type]
    return kind(**{name: row[place] for name, place in shared} | more)


def outcome_of(row: Row[Any]) -> Outcome:
    return record_of(Outcome, row, schema.outcomes, reply=record_of(Reply, row, schema.outcomes))


def matching(table: Table, **wanted: Any) -> list[ColumnElement[bool]]:
    """That columns have a value, or one of several; any where it is None."""
    return [
        table.c[name] == value if isinstance(value, str | int) else table.c[name].in_(set(value))
        for name, value in wanted.items()
        if value is not None
    ]


def insert_all(connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    if values:
        connection.execute(insert(table), values)


def insert_new(connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows whose key is not there yet; what is there stays."""
    if values:
        dialect = import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
        connection.execute(dialect.insert(table).on_conflict_do_nothing(), values)


def replace_rows(
    connection: Connection, table: Table, keys: Collection[str], values: Sequence[Mapping[str, Any]]
) -> None:
    """Put rows in the place of those with the same keys."""
    if values:
        alike = (table.c[name] == bindparam(f"old_{name}") for name in keys)
        old = [{f"old_{name}": row[name] for name in keys} for row in values]
        connection.execute(delete(table).where(*alike), old)
        connection.execute(insert(table), values)


def note_change(connection: Connection, run_id: int, scorers: Iterable[str] = ()) -> str:
    """Whatever was estimated of a run holds no more, and these scorers were at work just now.

    Called before the change: it makes writers of one run wait for each other. Returns its model.
    """
    runs, estimates = schema.runs, schema.estimates
    raised = runs.update().where(runs.c.id == run_id).values(revision=runs.c.revision + 1)
    model = connection.execute(raised.returning(runs.c.model)).scalar()
    connection.execute(delete(estimates).where(estimates.c.run == run_id))
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
            insert_new(connection, table, [{"text": str(signature)}])
            number = connection.execute(query).scalar_one()
        numbers[signature] = number
    return numbers


def signed_rows(
    connection: Connection, table: Table, records: Sequence[Any], **more: Any
) -> list[Values]:
    numbers = signature_numbers(connection, {one.signature for one in records})
    return [row_of(table, one, signature=numbers[one.signature], **more) for one in records]


def signatures_by_number(connection: Connection) -> dict[int, Signature]:
    """All signatures in the store; there are few."""
    rows = connection.execute(select(schema.signatures))
    return {row.id: Signature.parse(row.text) for row in rows}
