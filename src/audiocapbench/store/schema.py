"""The tables of the store, their version, and how an older store is brought up to date.

What a version added is marked with ``_since``, so that older tables can be told from today's. New
columns stand last in their table, and are nullable or have a server's default.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Column, Connection, Dialect, ForeignKey, Table, inspect, select
from sqlalchemy.schema import CreateColumn
from sqlalchemy.types import TypeEngine

from audiocapbench.errors import StoreError
from audiocapbench.store.cells import TYPES, DamagedCellError

VERSION = 6


class Timestamp(sa.TypeDecorator[str]):
    """A moment in UTC: an ISO 8601 text to Python and SQLite, a real timestamp to PostgreSQL."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Text where the database has no type for moments."""
        return dialect.type_descriptor(
            sa.Text() if dialect.name == "sqlite" else self.impl_instance
        )

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Into the database."""
        return value if value is None or dialect.name == "sqlite" else datetime.fromisoformat(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Out of the database."""
        if isinstance(value, datetime):
            return str(value.astimezone(UTC).isoformat(timespec="milliseconds"))
        try:
            if value is not None:
                datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise DamagedCellError(f"{value!r:.60} stands where a moment should") from None
        return None if value is None else str(value)


def now() -> str:
    """This moment, as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


metadata = sa.MetaData()

_TYPES = TYPES | {"time": Timestamp}


def _columns(**names: str) -> list[Column[Any]]:
    """Columns by type; a star marks part of the key, a question mark what may be absent."""
    columns: list[Column[Any]] = []
    for kind, name in ((kind, name) for kind, several in names.items() for name in several.split()):
        holds: Any = _TYPES[kind]()
        holds.required = name[-1] != "?"
        is_key = name[-1] == "*"
        column = Column(name.rstrip("*?"), holds, primary_key=is_key, nullable=not holds.required)
        columns.append(column)
    return columns


def _since(version: int, columns: list[Column[Any]]) -> list[Column[Any]]:
    """Mark columns that an older store has not."""
    for column in columns:
        column.info["since"] = version
    return columns


def _numbered() -> Column[int]:
    return Column("id", sa.Integer, primary_key=True, autoincrement=True)


def _of_run() -> Column[int]:
    return Column("run", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _of_run_sample() -> list[Column[Any] | sa.ForeignKeyConstraint]:
    """The two columns that say which sample of which run; they go when the run does."""
    chosen = ["run_samples.run", "run_samples.sample"]
    same = sa.ForeignKeyConstraint(["run", "sample"], chosen, ondelete="CASCADE")
    return [*_columns(integer="run*", text="sample*"), same]


def _signature() -> Column[int]:
    return Column("signature", ForeignKey("signatures.id"), nullable=False)


def _reply() -> list[Column[Any]]:
    """What outcomes and cached responses have in common."""
    return [
        *_columns(text="text", status="status", number="latency_s"),
        *_columns(integer="input_tokens? output_tokens? audio_tokens?", number="cost_usd?"),
        *_columns(text="raw?", time="answered_at"),
    ]


schema_version = Table("schema_version", metadata, *_columns(integer="version*"))

signatures = Table(
    "signatures", metadata, _numbered(), Column("text", sa.Text, nullable=False, unique=True)
)

datasets = Table(
    "datasets",
    metadata,
    # Traits by the benchmark's name: several may ask the same about the same clips.
    *_columns(hash="fingerprint*", text="benchmark root", list="missing", json="traits"),
)

samples = Table(
    "samples",
    metadata,
    Column("dataset", ForeignKey("datasets.fingerprint", ondelete="CASCADE"), primary_key=True),
    *_columns(text="id* category instruction file_name", list="references", object="details"),
    *_columns(integer="position rate channels", number="duration_s", hash="clip_sha256"),
)

runs = Table(
    "runs",
    metadata,
    _numbered(),
    *_columns(hash="identity", integer="generation sample_count", word="kind", time="created_at"),
    *_columns(text="name? benchmark model contract made_by", object="parameters"),
    Column("dataset", ForeignKey("datasets.fingerprint"), nullable=False, index=True),
    # Counts every change of its outcomes, scores and judgements.
    Column("revision", sa.Integer, nullable=False, default=0),
    *_since(3, _columns(object="source?")),
    sa.UniqueConstraint("identity", "generation"),
    sqlite_autoincrement=True,  # the number of a deleted run is never given again
)

run_samples = Table(
    "run_samples",
    metadata,
    _of_run(),
    *_columns(text="sample*", integer="position"),
    sqlite_with_rowid=False,
)

run_tags = Table("run_tags", metadata, _of_run(), *_columns(text="tag*"))

outcomes = Table(
    "outcomes",
    metadata,
    *_of_run_sample(),
    *_reply(),
    *_columns(text="error?", integer="withheld? attempts", flag="cached"),
    *_columns(hash="audio_sha256?", number="audio_s"),
    # All that a listing of runs reads of them.
    sa.Index("outcomes_counted", "run", "status", "cost_usd"),
)

scores = Table(
    "scores",
    metadata,
    *_of_run_sample(),
    *_columns(text="metric*", number="value", list="statistics"),
    _signature(),
    sqlite_with_rowid=False,
)

judgements = Table(
    "judgements",
    metadata,
    *_of_run_sample(),
    *_columns(text="judge* reasoning? error?", status="status", table="values", time="judged_at"),
    *_columns(integer="repeat* input_tokens? output_tokens?", number="latency_s cost_usd?"),
    _signature(),
)

scorings = Table("scorings", metadata, _of_run(), *_columns(text="scorer* made_by", time="made_at"))

estimates = Table(
    "estimates",
    metadata,
    _of_run(),
    *_columns(text="scorer* group* made_by", table="counts", list="lacks?"),
    *_columns(number="value? low? high? as_zero? worst? best?"),
    _signature(),
)

judge_checks = Table(
    "judge_checks",
    metadata,
    *_columns(text="judge* benchmark* contract*", object="document", time="checked_at"),
)

responses = Table(
    "responses",
    metadata,
    *_columns(hash="key*", text="model"),
    *_reply(),
    sa.Index("responses_by_model", "model"),
)

embeddings = Table(
    "embeddings",
    metadata,
    *_columns(text="model* setting*", hash="content*"),
    *_columns(integer="dimensions", bytes="vector", time="made_at"),
)

workers = Table(
    "workers",
    metadata,
    *_columns(hash="id*"),
    # Seconds since 1970 by the database's own clock; past it, the worker counts as gone.
    *_columns(text="owner process", time="started_at", number="until"),
    info={"since": 3},
)

claims = Table(
    "claims",
    metadata,
    *_of_run_sample(),
    # A judge's name and its round; an empty name for what the run's model is asked.
    *_columns(text="judge*", integer="repeat*"),
    Column("worker", ForeignKey("workers.id", ondelete="CASCADE"), nullable=False, index=True),
    info={"since": 3},
)


def _of_rating(*more: str) -> list[Column[Any] | sa.ForeignKeyConstraint]:
    """The columns that say whose project, and which person or item of it; they go with it."""
    tables = {"person": "rating_people", "item": "rating_items"}
    keys = [
        sa.ForeignKeyConstraint(
            ["project", one], [f"{tables[one]}.project", f"{tables[one]}.{one}"], ondelete="CASCADE"
        )
        for one in more
    ]
    whole = ForeignKey("rating_projects.name", ondelete="CASCADE")
    own = Column("project", *([] if more else [whole]), type_=sa.Text(), primary_key=True)
    return [own, *_columns(text=" ".join(f"{one}*" for one in more)), *keys]


rating_projects = Table(
    "rating_projects",
    metadata,
    # What tokens of items are derived from is secret: nobody can tell an item by its token.
    *_columns(text="name* made_by", word="kind", integer="seed", hash="secret", time="made_at"),
    info={"since": 4},
)

rating_people = Table(
    "rating_people",
    metadata,
    *_of_rating(),
    # An empty name is the administrator's. Of a token only its SHA-256 is kept.
    *_columns(text="person*", time="invited_at"),
    Column("token", sa.String(64), nullable=False, unique=True),
    info={"since": 4},
)

rating_items = Table(
    "rating_items",
    metadata,
    *_of_rating(),
    *_columns(text="item*", integer="position", flag="asked", object="content"),
    info={"since": 4},
)

rating_claims = Table(
    "rating_claims",
    metadata,
    *_of_rating("person", "item"),
    # Seconds since 1970 by the database's own clock; past ``until`` the item is free again.
    *_columns(number="shown_at until heard_at?"),
    info={"since": 4},
)

ratings = Table(
    "ratings",
    metadata,
    *_of_rating("person", "item"),
    # The page makes the key, so that what is sent twice counts once.
    *_columns(text="key", object="answer", number="took_s played_s", time="rated_at"),
    *_columns(list="earlier"),
    sa.UniqueConstraint("project", "key"),
    info={"since": 4},
)

findings = Table(
    "findings",
    metadata,
    *_columns(hash="clip*", text="expert* signature* error?", word="status"),
    *_columns(object="document", number="seconds", time="made_at"),
    info={"since": 5},
)

annotations = Table(
    "annotations",
    metadata,
    *_columns(text="project* clip* error?", word="stage* status"),
    *_columns(object="document", time="made_at"),
    info={"since": 5},
)

batches = Table(
    "batches",
    metadata,
    # The mark is sent along; the provider's own name for the batch is known once it was sent.
    *_columns(hash="mark*", text="judge remote?", integer="count", object="price?"),
    *_columns(time="made_at"),
    Column("run", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    info={"since": 6},
)

batch_lines = Table(
    "batch_lines",
    metadata,
    *_columns(hash="key*", text="sample judge", integer="repeat", flag="open"),
    Column("batch", ForeignKey("batches.mark", ondelete="CASCADE"), nullable=False, index=True),
    Column("run", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    info={"since": 6},
)

Upgrade = Callable[[Connection], None]


@cache
def as_of(version: int) -> sa.MetaData:
    """The tables as they were: those of an older version lack what later ones added."""
    older = sa.MetaData()
    for table in metadata.sorted_tables:
        if table.info.get("since", 1) > version:
            continue
        for column in table.to_metadata(older).columns:
            column.system = column.info.get("since", 1) > version  # CREATE leaves these out
    return older


def add_version(connection: Connection, version: int) -> None:
    """Add the tables and columns that came with a version."""
    tables = [one for one in metadata.sorted_tables if one.info.get("since") == version]
    metadata.create_all(connection, tables)
    for table in metadata.sorted_tables:
        for column in table.columns:
            if column.info.get("since") == version:
                words = CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {words}")


def version_of(connection: Connection) -> int | None:
    """The version of a store, found out without writing; None where there is none."""
    if "schema_version" not in inspect(connection).get_table_names():
        return None
    return connection.execute(select(schema_version.c.version)).scalar()


def bring_up_to_date(
    connection: Connection, upgrades: Mapping[int, Upgrade], version: int = VERSION
) -> None:
    """Make the tables of a new store, or upgrade an older one, within one transaction.

    Raises:
        StoreError: The store is newer than this program, or is some other database.
    """
    present = set(inspect(connection).get_table_names())
    if "schema_version" not in present:
        # A database server is shared; a file is its program's own.
        if present & set(metadata.tables) or (present and connection.dialect.name == "sqlite"):
            raise StoreError(
                "is not a store but another program's database; choose another `store`"
            )
        metadata.create_all(connection, checkfirst=False)
        connection.execute(schema_version.insert().values(version=version))
        return
    found = connection.execute(select(schema_version.c.version)).scalar()
    if found is None or found < 1:
        raise StoreError("this database has the store's tables but no version: it is not a store")
    if found > version:
        raise StoreError(
            f"the store has schema {found}, this program knows {version}: "
            "upgrade audiocapbench or choose another `store`"
        )
    for step in range(found, version):
        upgrades[step](connection)
    if found < version:
        connection.execute(schema_version.update().values(version=version))
