"""What several tables of the store are written with, within somebody's transaction."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select

from audiocapbench.signature import Signature
from audiocapbench.store import schema
from audiocapbench.version import VERSION

MADE_BY = f"audiocapbench {VERSION}"


def insert_all(connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, if there are any."""
    if values:
        connection.execute(insert(table), values)


def insert_new(connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows whose key is not there yet; what is there stays."""
    if not values:
        return
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
        insert_all(connection, table, values)


def note_change(connection: Connection, run_id: int, scorers: Iterable[str] = ()) -> str:
    """Whatever was estimated of a run holds no more, and these scorers were at work just now.

    To be called before the change itself: it makes writers of the same run wait for each other.
    Returns the run's model; where there is no such run, an empty text.
    """
    runs = schema.runs
    raised = runs.update().where(runs.c.id == run_id).values(revision=runs.c.revision + 1)
    model = connection.execute(raised.returning(runs.c.model)).scalar()
    connection.execute(delete(schema.estimates).where(schema.estimates.c.run == run_id))
    head = {"run": run_id, "made_by": MADE_BY, "made_at": schema.now()}
    replace_rows(
        connection,
        schema.scorings,
        ("run", "scorer"),
        [head | {"scorer": name} for name in scorers],
    )
    return model or ""


def signature_numbers(
    connection: Connection, signatures: Iterable[Signature]
) -> dict[Signature, int]:
    """The numbers that signatures are kept under; new ones are added."""
    table, found = schema.signatures, {}
    for one in sorted(set(signatures), key=str):
        query = select(table.c.id).where(table.c.text == str(one))
        number = connection.execute(query).scalar()
        if number is None:
            insert_new(connection, table, [{"text": str(one)}])
            number = connection.execute(query).scalar_one()
        found[one] = number
    return found


def signatures_by_number(connection: Connection) -> dict[int, Signature]:
    """All signatures in the store; there are few."""
    found = connection.execute(select(schema.signatures))
    return {row.id: Signature.parse(row.text) for row in found}
