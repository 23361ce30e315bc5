"""Opening the database behind a store: SQLite by default, PostgreSQL for a team."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, create_engine, event, func, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from audiocapbench.errors import StoreError

DEFAULT_STORE = "audiocapbench.db"

_WAIT_S = 60
_LOCK = 0x41434221  # any number that other users of the database are unlikely to lock


def store_url(store: str) -> URL:
    """Read ``--store``: a database URL, or the path of a SQLite file."""
    if not store.strip():
        raise StoreError("--store is empty; name a file or a database URL")
    if "://" not in store:
        return URL.create("sqlite", database=store)
    try:
        url = make_url(store)
    except (ArgumentError, ValueError):
        raise StoreError("--store is neither a file nor a database URL") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise StoreError(
            f"--store: {url.get_backend_name()} is not supported; use a file or postgresql+psycopg://"
        )
    return url


def shown(url: URL) -> str:
    """The store's name for people: a path, or a URL without its password."""
    if url.get_backend_name() == "sqlite":
        return url.database or "memory"
    return url.render_as_string(hide_password=True)


def connect(url: URL) -> Engine:
    """Make the engine for a store; nothing is opened yet."""
    if url.get_backend_name() == "sqlite":
        if url.database and not Path(url.database).parent.is_dir():
            raise StoreError(f"{url.database}: the folder for the store does not exist")
        engine = create_engine(url, connect_args={"timeout": _WAIT_S})
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        return create_engine(url, pool_pre_ping=True)
    except (NoSuchModuleError, ModuleNotFoundError):
        raise StoreError(
            "a PostgreSQL store needs: pip install 'audiocapbench[postgres]', "
            "and a URL that begins with postgresql+psycopg://"
        ) from None


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that only reads and never holds up a writer."""
    with _explained(engine), engine.connect() as connection:
        yield connection.execution_options(audiocapbench_reads=True)


def fetch(engine: Engine, query: Select[Any]) -> Sequence[Row[Any]]:
    """All rows of one query."""
    with reading(engine) as connection:
        return connection.execute(query).all()


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes; it waits its turn among processes."""
    with _explained(engine), engine.begin() as connection:
        yield connection


def take_turns(connection: Connection) -> None:
    """Until the transaction ends, let no other process do what it looks up before it writes.

    SQLite lets one writer in at a time anyway; PostgreSQL has to be asked.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


@contextmanager
def _explained(engine: Engine) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"{shown(engine.url)}: {_reason(error)}") from error


_WRITABLE = "check that the file and its folder can be written"
_REASONS = {
    "file is not a database": "is not a store; choose another --store",
    "database or disk is full": "the disk is full; make room and run the same command to go on",
    "database is locked": f"is locked by another process for more than {_WAIT_S} s; try again",
    "unable to open database file": f"unable to open database file; {_WRITABLE}",
    "attempt to write a readonly database": f"attempt to write a readonly database; {_WRITABLE}",
}


def _reason(error: DBAPIError) -> str:
    reason = str(error.orig).strip().splitlines()[0] if error.orig else "cannot be used"
    if "foreign key" in reason.lower():
        return f"the run is no longer there, or has no such sample ({reason})"
    return _REASONS.get(reason, reason)


def _set_up_sqlite(connection: object, _record: object) -> None:
    # Transactions are begun by _begin_sqlite; the driver's own BEGIN would come too late.
    connection.isolation_level = None  # type: ignore[attr-defined]
    cursor = connection.cursor()  # type: ignore[attr-defined]
    with suppress(sqlite3.OperationalError):
        # A store that may only be read stays as it is, and can still be listed.
        cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer that starts as a reader can fail at its first write; take the lock at once.
    reads = connection.get_execution_options().get("audiocapbench_reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
