"""The tables of the store, their version, and how an older store is brought up to date."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    inspect,
    select,
)
from sqlalchemy.types import TypeEngine

from audiocapbench.errors import StoreError

VERSION = 2


class Timestamp(TypeDecorator[str]):
    """A moment in UTC: an ISO 8601 text to Python and SQLite, a real timestamp to PostgreSQL."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Text where the database has no type for moments."""
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else self.impl_instance)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Into the database."""
        return value if value is None or dialect.name == "sqlite" else datetime.fromisoformat(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Out of the database."""
        if value is None or isinstance(value, str):
            return value
        return str(value.astimezone(UTC).isoformat(timespec="milliseconds"))


def now() -> str:
    """This moment, as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


metadata = MetaData()

schema_version = Table("schema_version", metadata, Column("version", Integer, primary_key=True))


def _of_run() -> Column[int]:
    return Column("run", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _of_run_sample() -> tuple[Column[Any], Column[Any], ForeignKeyConstraint]:
    """The two columns that say which sample of which run; they go when the run does."""
    return (
        Column("run", Integer, primary_key=True),
        Column("sample", Text, primary_key=True),
        ForeignKeyConstraint(
            ["run", "sample"], ["run_samples.run", "run_samples.sample"], ondelete="CASCADE"
        ),
    )


def _signature() -> Column[int]:
    return Column("signature", ForeignKey("signatures.id"), nullable=False)


signatures = Table(
    "signatures",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("text", Text, nullable=False, unique=True),
)

datasets = Table(
    "datasets",
    metadata,
    Column("fingerprint", String(64), primary_key=True),
    Column("benchmark", Text, nullable=False),
    Column("root", Text, nullable=False),
    Column("missing", JSON, nullable=False),
    # By the benchmark's name: several may ask the same about the same clips.
    Column("traits", JSON, nullable=False),
)

samples = Table(
    "samples",
    metadata,
    Column("dataset", ForeignKey("datasets.fingerprint", ondelete="CASCADE"), primary_key=True),
    Column("id", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("category", Text, nullable=False),
    Column("instruction", Text, nullable=False),
    Column("references", JSON, nullable=False),
    Column("details", JSON, nullable=False),
    Column("file_name", Text, nullable=False),
    Column("clip_sha256", String(64), nullable=False),
    Column("duration_s", Float, nullable=False),
    Column("rate", Integer, nullable=False),
    Column("channels", Integer, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("identity", String(64), nullable=False),
    Column("generation", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("name", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("benchmark", Text, nullable=False),
    Column("dataset", ForeignKey("datasets.fingerprint"), nullable=False, index=True),
    Column("model", Text, nullable=False),
    Column("parameters", JSON, nullable=False),
    Column("contract", Text, nullable=False),
    Column("sample_count", Integer, nullable=False),
    Column("made_by", Text, nullable=False),
    # Counts every change of its outcomes, scores and judgements.
    Column("revision", Integer, nullable=False, default=0),
    UniqueConstraint("identity", "generation"),
    sqlite_autoincrement=True,  # the number of a deleted run is never given again
)

run_samples = Table(
    "run_samples",
    metadata,
    _of_run(),
    Column("sample", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    sqlite_with_rowid=False,
)

run_tags = Table(
    "run_tags",
    metadata,
    _of_run(),
    Column("tag", Text, primary_key=True),
)

outcomes = Table(
    "outcomes",
    metadata,
    *_of_run_sample(),
    Column("status", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("error", Text),
    Column("withheld", Integer),
    Column("attempts", Integer, nullable=False),
    Column("audio_sha256", String(64)),
    Column("audio_s", Float, nullable=False),
    Column("latency_s", Float, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("audio_tokens", Integer),
    Column("cost_usd", Float),
    Column("raw", Text),
    Column("cached", Boolean, nullable=False),
    Column("answered_at", Timestamp, nullable=False),
    # All that a listing of runs reads of them.
    Index("outcomes_counted", "run", "status", "cost_usd"),
)

scores = Table(
    "scores",
    metadata,
    *_of_run_sample(),
    Column("metric", Text, primary_key=True),
    _signature(),
    Column("value", Float, nullable=False),
    Column("statistics", JSON, nullable=False),
    sqlite_with_rowid=False,
)

judgements = Table(
    "judgements",
    metadata,
    *_of_run_sample(),
    Column("judge", Text, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    _signature(),
    Column("status", String(16), nullable=False),
    Column("values", JSON, nullable=False),
    Column("reasoning", Text),
    Column("error", Text),
    Column("latency_s", Float, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cost_usd", Float),
    Column("judged_at", Timestamp, nullable=False),
)

scorings = Table(
    "scorings",
    metadata,
    _of_run(),
    Column("scorer", Text, primary_key=True),
    Column("made_by", Text, nullable=False),
    Column("made_at", Timestamp, nullable=False),
)

estimates = Table(
    "estimates",
    metadata,
    _of_run(),
    Column("scorer", Text, primary_key=True),
    Column("group", Text, primary_key=True),
    Column("value", Float),
    Column("low", Float),
    Column("high", Float),
    Column("as_zero", Float),
    Column("worst", Float),
    Column("best", Float),
    Column("counts", JSON, nullable=False),
    Column("lacks", JSON),
    _signature(),
    Column("made_by", Text, nullable=False),
)

judge_checks = Table(
    "judge_checks",
    metadata,
    Column("judge", Text, primary_key=True),
    Column("benchmark", Text, primary_key=True),
    Column("contract", Text, primary_key=True),
    Column("document", JSON, nullable=False),
    Column("checked_at", Timestamp, nullable=False),
)

responses = Table(
    "responses",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("model", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("latency_s", Float, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("audio_tokens", Integer),
    Column("cost_usd", Float),
    Column("raw", Text),
    Column("answered_at", Timestamp, nullable=False),
    Index("responses_by_model", "model"),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("model", Text, primary_key=True),
    Column("setting", Text, primary_key=True),
    Column("content", String(64), primary_key=True),
    Column("dimensions", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("made_at", Timestamp, nullable=False),
)

Upgrade = Callable[[Connection], None]


def is_up_to_date(connection: Connection) -> bool:
    """Whether this is a store of today's version, found out without writing."""
    if "schema_version" not in inspect(connection).get_table_names():
        return False
    return connection.execute(select(schema_version.c.version)).scalar() == VERSION


def bring_up_to_date(
    connection: Connection, upgrades: Mapping[int, Upgrade], version: int = VERSION
) -> None:
    """Make the tables of a new store, or upgrade an older one, within one transaction.

    Args:
        connection: Its transaction.
        upgrades: From version to the step that leads to the next one.
        version: Where to.

    Raises:
        StoreError: The store is newer than this program, or is some other database.
    """
    present = set(inspect(connection).get_table_names())
    if "schema_version" not in present:
        if present & set(metadata.tables):
            raise StoreError("this database has tables of the store's names but is not a store")
        metadata.create_all(connection)
        connection.execute(schema_version.insert().values(version=version))
        return
    found = connection.execute(select(schema_version.c.version)).scalar()
    if found is None:
        raise StoreError("this database has the store's tables but no version: it is not a store")
    if found > version:
        raise StoreError(
            f"the store has schema {found}, this program knows {version}: "
            "upgrade audiocapbench or choose another --store"
        )
    for step in range(found, version):
        upgrades[step](connection)
    if found < version:
        connection.execute(schema_version.update().values(version=version))
