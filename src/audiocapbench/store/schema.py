"""The tables of the store, their version, and how an older store is brought up to date."""

from collections.abc import Callable, Mapping

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
)

from audiocapbench.errors import StoreError

VERSION = 1

metadata = MetaData()

schema_version = Table("schema_version", metadata, Column("version", Integer, primary_key=True))

datasets = Table(
    "datasets",
    metadata,
    Column("fingerprint", String(64), primary_key=True),
    Column("benchmark", Text, nullable=False),
    Column("root", Text, nullable=False),
    Column("missing", JSON, nullable=False),
)

samples = Table(
    "samples",
    metadata,
    Column("dataset", ForeignKey("datasets.fingerprint"), primary_key=True),
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
    Column("created_at", Text, nullable=False),
    Column("benchmark", Text, nullable=False),
    Column("dataset", ForeignKey("datasets.fingerprint"), nullable=False),
    Column("model", Text, nullable=False),
    Column("parameters", JSON, nullable=False),
    Column("contract", Text, nullable=False),
    Column("selected", JSON, nullable=False),
    Column("sample_count", Integer, nullable=False),
    Column("made_by", Text, nullable=False),
    UniqueConstraint("identity", "generation"),
)

outcomes = Table(
    "outcomes",
    metadata,
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("sample", Text, primary_key=True),
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
    Column("answered_at", Text, nullable=False),
)

scores = Table(
    "scores",
    metadata,
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("sample", Text, primary_key=True),
    Column("signature", Text, nullable=False),
    Column("value", Float, nullable=False),
    Column("statistics", JSON, nullable=False),
)

judgements = Table(
    "judgements",
    metadata,
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("judge", Text, primary_key=True),
    Column("sample", Text, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("signature", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("values", JSON, nullable=False),
    Column("reasoning", Text),
    Column("error", Text),
    Column("latency_s", Float, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cost_usd", Float),
    Column("judged_at", Text, nullable=False),
)

judge_checks = Table(
    "judge_checks",
    metadata,
    Column("judge", Text, primary_key=True),
    Column("document", JSON, nullable=False),
    Column("checked_at", Text, nullable=False),
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
    Column("answered_at", Text, nullable=False),
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
    Column("made_at", Text, nullable=False),
)

Upgrade = Callable[[Connection], None]

UPGRADES: Mapping[int, Upgrade] = {}
"""From version to the step that leads to the next one."""


def is_up_to_date(connection: Connection) -> bool:
    """Whether this is a store of today's version, found out without writing."""
    if "schema_version" not in inspect(connection).get_table_names():
        return False
    return connection.execute(select(schema_version.c.version)).scalar() == VERSION


def bring_up_to_date(
    connection: Connection, upgrades: Mapping[int, Upgrade] = UPGRADES, version: int = VERSION
) -> None:
    """Make the tables of a new store, or upgrade an older one, within one transaction.

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
