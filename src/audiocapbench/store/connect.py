"""Opening the database behind a store: SQLite by default, PostgreSQL for a team."""

import os
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from shlex import quote
from typing import Any, Literal

from sqlalchemy import Connection, Engine, Row, Select, create_engine, event, func, select
from sqlalchemy import exc as sa_errors
from sqlalchemy.engine import URL, make_url

from audiocapbench.credentials import without
from audiocapbench.errors import StoreAwayError, StoreError
from audiocapbench.store.schema import DamagedCellError, read_json

DEFAULT_STORE = "audiocapbench.db"
STORE_VARIABLE = "AUDIOCAPBENCH_STORE"

# A thread that waits in the database's library hears of nothing: it waits there for moments only.
_BUSY_S = 0.5
_POOL_S = 2
_LOCK_WAIT_MS = 2000
_PAUSE_S = 0.2
_REFUSED_S = 5.0  # a server that is not there may be restarting, or never have been
_PATIENCE = ContextVar("patience_s", default=30.0)
_OF_DRIVERS = (sqlite3.Error, UnicodeDecodeError, MemoryError)
_MAGIC = b"SQLite format 3\0"
_IN_PATH = re.compile(r"(?<=:)[^:/@]+(?=@)")
_LOCK = 0x41434221  # any number that other users of the database are unlikely to lock

# A server that has gone without a word is noticed within seconds.
_POSTGRES = {
    "connect_timeout": 4,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}


def _url(store: str) -> URL:
    """What ``--store`` stands for: a database URL, or the path of a SQLite file."""
    if not store.strip() or "\0" in store:
        raise StoreError("`store` is empty or no text; name a file or a database URL")
    if store == ":memory:":
        raise StoreError("`store` is memory, which is gone when the command ends; name a file")
    if "://" not in store:
        return URL.create("sqlite", database=store)
    try:
        url = make_url(store)
    except (sa_errors.ArgumentError, ValueError):
        raise StoreError("`store` is neither a file nor a database URL") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        use = "use a file or postgresql+psycopg://"
        raise StoreError(f"`store`: {url.get_backend_name()} is not supported; {use}")
    return url


def shown(url: URL) -> str:
    """The store's name for people: a path, or a URL without its password and its options."""
    if url.get_backend_name() == "sqlite":
        return _IN_PATH.sub("***", url.database or "memory")
    return url.set(query={}).render_as_string(hide_password=True)


def _option(url: URL) -> str:
    """`` --store NAME`` for hints that name a command; nothing where that is the default."""
    name = shown(url)
    if name == DEFAULT_STORE and os.environ.get(STORE_VARIABLE, name) == name:
        return ""
    return f" --store {quote(name)}"


def connect(store: str, *, create: bool) -> Engine:
    """The engine for ``--store``, with a file to open or, where one may be made, an empty one."""
    url = _url(store)
    how: dict[str, Any] = {"json_deserializer": read_json, "pool_timeout": _POOL_S}
    if url.get_backend_name() != "sqlite":
        settings = {name: value for name, value in _POSTGRES.items() if name not in url.query}
        try:
            engine = create_engine(url, pool_pre_ping=True, connect_args=settings, **how)
        except (sa_errors.NoSuchModuleError, ModuleNotFoundError):
            raise StoreError(
                "a PostgreSQL store needs: pip install 'audiocapbench[postgres]', "
                "and a URL that begins with postgresql+psycopg://"
            ) from None
        event.listen(engine, "connect", _set_up_postgres)
        return engine
    if (file := store_file(url)) is None:
        del how["pool_timeout"]
    else:
        _check_path(file, url, create=create)
    engine = create_engine(url, connect_args={"timeout": _BUSY_S}, **how)
    if file is not None and not url.query:
        path = Path(os.path.abspath(file))

        def open_existing(
            _dialect: Any, _record: Any, args: list[Any], how: dict[str, Any]
        ) -> None:
            """Have SQLite refuse a file that is not there, in place of making an empty one."""
            args[0], how["uri"] = f"{path.as_uri()}?mode=rw", True

        event.listen(engine, "do_connect", open_existing)
        engine.update_execution_options(audiocapbench_file=(path, []))
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _check_path(file: Path, url: URL, *, create: bool) -> None:
    if not file.parent.is_dir():
        raise StoreError(f"{shown(url)}: the folder for the store does not exist")
    if file.is_dir():
        raise StoreError(f"{shown(url)}: is a folder; name a file in it")
    if not (exists := file.exists()) and not create:
        makes = f"'audiocapbench run{_option(url)}' makes one"
        raise StoreError(f"{file}: no such store; {makes}")
    with suppress(OSError):  # SQLite says what is wrong with it
        if not exists:
            file.touch(0o644)
        elif file.is_file():
            with file.open("rb") as stream:
                # What is shorter than a header SQLite would write over.
                if stream.read(len(_MAGIC)) not in (b"", _MAGIC):
                    raise StoreError(f"{shown(url)}: is not a store; choose another `store`")


def store_file(url: URL) -> Path | None:
    """The file of a SQLite store; None for a server, or what is in memory alone."""
    is_sqlite = url.get_backend_name() == "sqlite"
    return Path(url.database) if is_sqlite and url.database not in (None, "", ":memory:") else None


def _check_file(engine: Engine) -> None:
    """Refuse to go on with a file that nobody will find again; StoreError says so."""
    path, first = engine.get_execution_options().get("audiocapbench_file", (None, []))
    try:
        status = path and path.stat()
        now = [(status.st_dev, status.st_ino)] if status else []
        first.extend(now[len(first) :])  # what lay there at the first look
    except FileNotFoundError:
        now = []
    except OSError:
        return  # SQLite says what is wrong with it
    if now != first:
        engine.dispose()
        raise StoreError(
            f"{shown(engine.url)}: was removed or replaced while in use; put it back and run the "
            "same command to go on, or begin anew"
        )


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """How long calls within wait for a store that is away, in place of half a minute."""
    token = _PATIENCE.set(seconds)
    try:
        yield
    finally:
        _PATIENCE.reset(token)


def reading(engine: Engine) -> AbstractContextManager[Connection]:
    """A connection that only reads; a row that makes no record is a StoreError within it."""
    odd = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
    return _begun(engine, "reading", (*odd, sa_errors.NoResultFound))


@contextmanager
def writing(engine: Engine, *, alone: bool = False) -> Iterator[Connection]:
    """One transaction that writes; ``alone`` lets no other process do what it looks up before.

    SQLite lets one writer in at a time anyway; PostgreSQL has to be asked.
    """
    with _begun(engine, "alone" if alone else "writing") as connection:
        yield connection
        connection.commit()
    _check_file(engine)


class StoreRepository:
    """The store, or a part of it that has tables of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reading, self._writing = partial(reading, engine), partial(writing, engine)

    @property
    def name(self) -> str:
        """Where it is, for people; never with a password."""
        return shown(self._engine.url)

    @property
    def option(self) -> str:
        return _option(self._engine.url)

    def _no_such_run(self, run_id: int) -> StoreError:
        lists = f"'audiocapbench runs{self.option}' lists them"
        return StoreError(f"{self.name} has no run {run_id}; {lists}")

    def _fetch(self, query: Select[Any]) -> Sequence[Row[Any]]:
        with self._reading() as connection:
            return connection.execute(query).all()


@contextmanager
def _begun(
    engine: Engine,
    how: Literal["reading", "writing", "alone"],
    damage: tuple[type[Exception], ...] = (DamagedCellError, JSONDecodeError),
) -> Iterator[Connection]:
    """A connection within a transaction; only its beginning is tried again while it may help."""
    began, longest = time.monotonic(), _PATIENCE.get()
    while True:
        try:
            with _explained(engine, (ValueError, TypeError)), ExitStack() as failing:
                _check_file(engine)
                connection = engine.connect()
                failing.callback(_close, connection)
                is_sqlite = connection.dialect.name == "sqlite"
                if how != "reading":
                    connection.begin()
                    if how == "alone" and not is_sqlite:
                        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
                else:
                    connection.execution_options(audiocapbench_reads=True)
                    if is_sqlite:
                        connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")
                failing.pop_all()
            break
        except StoreAwayError as error:
            most = min(longest, _REFUSED_S) if "refused" in str(error) else longest
            if time.monotonic() - began + _PAUSE_S >= most:
                raise
            time.sleep(_PAUSE_S)
    try:
        with _explained(engine, damage):
            yield connection
    except AssertionError as error:
        # psycopg asserts that its pipeline has ended, in place of what ended the connection.
        if is_sqlite:
            raise
        connection.invalidate()
        subject = f"{shown(engine.url)}:"
        raise StoreAwayError("the connection was lost", subject=subject) from error
    finally:
        _close(connection)


def _close(connection: Connection) -> None:
    # A server that has gone has nothing left to roll back.
    with suppress(sa_errors.DBAPIError, *_OF_DRIVERS):
        connection.close()


@contextmanager
def _explained(engine: Engine, damage: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn whatever comes out of the database into a StoreError: where SQLite quotes damaged bytes
    it is a UnicodeDecodeError, where it believes a damaged length a MemoryError."""
    url, subject, damage = engine.url, f"{shown(engine.url)}:", (*damage, *_OF_DRIVERS)
    try:
        yield
    except sa_errors.StatementError as error:
        _check_file(engine)
        kind = StoreAwayError if _is_away(error) else StoreError
        options = [one for values in url.normalized_query.values() for one in values]
        secrets = [url.password or "", *(one for one in options if len(one) > 3)]
        raise kind(without(_reason(error), secrets), subject=subject) from error
    except sa_errors.TimeoutError as error:
        raise StoreAwayError("all connections are in use", subject=subject) from error
    except damage as error:
        reason = _DAMAGED.format(f"{error!s:.200}" or type(error).__name__)
        raise StoreError(reason, subject=subject) from error
    except (OverflowError, UnicodeEncodeError) as error:
        words = f"cannot keep what it was given ({error!s:.200})"
        raise StoreError(words, subject=subject) from error


_AWAY_SQLITE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL", "SQLITE_FULL", "SQLITE_IOERR")
# Connection lost, out of resources, shut down or starting; locks, deadlocks and serialization.
_AWAY_POSTGRES = ("08", "53", "57P", "55P03", "40")
_NEVER = re.compile(
    "authentication failed|does not exist|no password supplied|pg_hba|role|translate host name"
    "|resolve host|certificate|invalid"
)


def _is_away(error: sa_errors.StatementError) -> bool:
    """Whether the same may work later, as it is the store's state and not what was asked of it."""
    if not isinstance(error, sa_errors.DBAPIError):
        return False
    states = (sa_errors.OperationalError, sa_errors.InterfaceError)
    if error.orig is None or not isinstance(error, states):
        return bool(error.connection_invalidated)
    for name, away in (("sqlite_errorname", _AWAY_SQLITE), ("sqlstate", _AWAY_POSTGRES)):
        code = getattr(error.orig, name, None)
        if code is not None:
            return str(code).startswith(away)
    return error.connection_invalidated or not _NEVER.search(str(error.orig))


_WRITABLE = "check that the file and its folder can be written"
_REASONS = {
    "file is not a database": "is not a store; choose another `store`",
    "database or disk is full": "the disk is full; make room and run the same command to go on",
    "database is locked": "is locked by another process; try again when that has ended",
    "unable to open database file": f"unable to open database file; {_WRITABLE}",
    "attempt to write a readonly database": f"attempt to write a readonly database; {_WRITABLE}",
}
_DAMAGED = "is damaged or not a store ({}); restore a copy, or choose another `store`"
_DAMAGE = re.compile(
    r"malformed|no such (?:table|column)|(?:relation|column) .* does not exist|not decode"
)


def _reason(error: sa_errors.StatementError) -> str:
    reason = (str(error.orig).strip() or "cannot be used").splitlines()[0]
    if not isinstance(error, sa_errors.DBAPIError):
        return f"cannot keep what it was given ({reason})"
    if _DAMAGE.search(reason):
        return _DAMAGED.format(reason)
    if "foreign key" in reason.lower():
        return f"the run is no longer there, or has no such sample ({reason})"
    return _REASONS.get(reason, reason)


def _says(text: Any, word: str) -> bool:
    """Whether a cell has a word in any case, of whatever letters."""
    return text is not None and word in str(text).lower()


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # Transactions are begun by _begin_sqlite; the driver's own BEGIN would come too late.
    connection.isolation_level = None
    connection.create_function("says", 2, _says, deterministic=True)
    cursor = connection.cursor()
    with suppress(sqlite3.OperationalError):
        # A store that may only be read stays as it is, and can still be listed.
        cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _set_up_postgres(connection: Any, _record: object) -> None:
    # No reader or writer waits in the server for longer, whatever others hold there.
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {_LOCK_WAIT_MS}")
    connection.commit()


def _begin_sqlite(connection: Connection) -> None:
    # A writer that starts as a reader can fail at its first write; take the lock at once.
    reads = connection.get_execution_options().get("audiocapbench_reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
