"""Makes the tables of a new store, and brings an older one up to date, in one transaction."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from importlib.resources import files
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, MetaData, Table

from audiocapbench.errors import StoreError
from audiocapbench.files import digest
from audiocapbench.grouping import grouped
from audiocapbench.signature import Signature
from audiocapbench.store import schema
from audiocapbench.store.connect import patience, reading, shown, writing
from audiocapbench.store.ledger import line_id
from audiocapbench.store.records import insert_all, signature_numbers

_REBUILT = ("datasets", "samples", "runs", "outcomes", "scores", "judgements", "judge_checks")
_KEPT = {"responses": "answered_at", "embeddings": "made_at"}
_CHECK = "trial/check/"
_FOREIGN = "is not a store but another program's database; choose another `store`"
_AT_ONCE = 10_000
_UPGRADE_S = 600
_LEDGER = 7  # the first version that has one
_NOBODY = dict.fromkeys(("worker", "start", "command", "owner"), "")
_FREE = dict.fromkeys(("text_in", "out", "audio_in", "audio_tokens_per_s"), 0.0)


def bring_up_to_date(engine: Engine) -> None:
    with reading(engine) as connection:
        version = _version_of(connection)
    if version == schema.VERSION:
        return
    # An older store may be busy being upgraded by another process.
    longer = nullcontext() if version is None else patience(_UPGRADE_S)
    with longer, writing(engine, alone=True) as connection:
        upgrade(connection)


def _version_of(connection: Connection) -> int | None:
    if "schema_version" not in sa.inspect(connection).get_table_names():
        return None
    return connection.execute(sa.select(schema.schema_version.c.version)).scalar() or 0


def upgrade(connection: Connection) -> None:
    """Whatever a store lacks of today's tables; StoreError where it is none, or newer."""
    subject, version = f"{shown(connection.engine.url)}:", _version_of(connection)
    present = set(sa.inspect(connection).get_table_names())
    if version is None:
        # A database server is shared; a file is its program's own.
        known = schema.metadata.tables if connection.dialect.name == "postgresql" else present
        if present & set(known):
            raise StoreError(_FOREIGN, subject=subject)
        schema.metadata.create_all(connection, checkfirst=False)
        connection.execute(schema.schema_version.insert().values(version=schema.VERSION))
        return
    if version < 1:
        raise StoreError(_FOREIGN, subject=subject)
    if version > schema.VERSION:
        what = f"the store has schema {version}, this program knows {schema.VERSION}"
        to_do = "upgrade audiocapbench or choose another `store`"
        raise StoreError(f"{what}: {to_do}", subject=subject)
    if version == 1:
        _rebuild(connection)
    schema.metadata.create_all(connection)
    if version == 2:
        connection.execute(sa.text("ALTER TABLE runs ADD COLUMN source JSON"))
    if version < _LEDGER:
        _open_ledger(connection)
    connection.execute(schema.schema_version.update().values(version=schema.VERSION))


def _open_ledger(connection: Connection) -> None:
    """What answers of old cost, and those that batches bring may cost, is on no command."""
    runs, asked, judged = schema.runs.c, schema.outcomes, schema.judgements
    for table, judge, repeat, at, paid in (
        (asked, sa.literal(""), sa.literal(0), asked.c.answered_at, ~asked.c.cached),
        (judged, judged.c.judge, judged.c.repeat, judged.c.judged_at, sa.true()),
    ):
        own = (table.c.run, table.c.sample, table.c.input_tokens, table.c.output_tokens)
        named = (judge.label("judge"), repeat.label("repeat"), at.label("made_at"))
        query = sa.select(*own, *named, table.c.cost_usd.label("usd"), runs.model)
        query = query.where(runs.id == table.c.run, table.c.cost_usd > 0, paid)
        for part in connection.execute(query).partitions(_AT_ONCE):
            insert_all(connection, schema.ledger, [_old_entry(row._mapping) for row in part])
    lines, sent, heard = schema.batch_lines.c, schema.batches.c, schema.samples.c
    same = (lines.open, sent.mark == lines.batch, runs.id == lines.run, heard.id == lines.sample)
    more = (sent.price, sent.made_at, heard.duration_s, runs.model, runs.parameters)
    out = sa.select(schema.batch_lines, *more).where(*same, heard.dataset == runs.dataset)
    insert_all(connection, schema.ledger, list(map(_open_entry, connection.execute(out))))


def _old_entry(row: Mapping[Any, Any]) -> dict[str, Any]:
    task = json.dumps([row["run"], row["judge"], row["sample"], row["repeat"]])
    is_told = None not in (row["input_tokens"], row["output_tokens"])
    return {
        **row,
        **_NOBODY,
        **dict.fromkeys(("held_usd", "likely_usd"), row["usd"]),
        "id": digest(task),
        "kind": "billed" if is_told else "estimated",
        "model": row["judge"] or row["model"],
        "settled_at": row["made_at"],
    }


def _open_entry(row: Any) -> dict[str, Any]:
    """A line of a batch that is out, likely and at most, at the price that its batch had."""
    usd = _FREE | {name: value for name, value in (row.price or {}).items() if value}
    told = ({} if row.judge else row.parameters).items()
    limits = (value for name, value in told if name.endswith("_tokens") and value)
    longest = next(limits, usd.get("longest_answer", 32_768))
    asked = 512 * usd["text_in"] + row.duration_s * usd["audio_tokens_per_s"] * usd["audio_in"]
    likely, most = ((asked + count * usd["out"]) / 1e6 for count in (min(120, longest), longest))
    own = {name: value for name, value in row._mapping.items() if name in schema.ledger.c}
    own |= {"id": line_id(row.batch, row.key), "model": row.judge or row.model, "kind": "held"}
    return {**_NOBODY, **own, "held_usd": most, "likely_usd": likely}


def _rebuild(connection: Connection) -> None:
    """The tables of version 1 as today's, with kinds, traits, names and tags."""
    for name in _REBUILT:
        connection.execute(sa.text(f"ALTER TABLE {name} RENAME TO {name}_1"))
    if connection.dialect.name == "postgresql":
        for name, column in _KEPT.items():
            change = f"ALTER COLUMN {column} TYPE timestamptz USING {column}::timestamptz"
            connection.execute(sa.text(f"ALTER TABLE {name} {change}"))
    before = MetaData()
    old = {name: Table(f"{name}_1", before, autoload_with=connection) for name in _REBUILT}
    schema.metadata.create_all(connection)
    _copy_runs(connection, old)
    _copy(connection, old["samples"], schema.samples)
    _copy(connection, old["outcomes"], schema.outcomes)
    runs = schema.runs.c
    for name, scorer in (("scores", "metric"), ("judgements", "judge")):
        _copy(connection, old[name], schema.metadata.tables[name])
        made = sa.select(runs.id, old[name].c[scorer], runs.made_by, runs.created_at).distinct()
        made = made.join_from(old[name], schema.runs, old[name].c.run == runs.id)
        names = ["run", "scorer", "made_by", "made_at"]
        connection.execute(sa.insert(schema.scorings).from_select(names, made))
    _copy_checks(connection, old["judge_checks"])
    for name in reversed(_REBUILT):
        old[name].drop(connection)


def _copy_runs(connection: Connection, old: Mapping[str, Table]) -> None:
    """Datasets with the traits that 0.1 knew by name, runs with their kinds, and their samples."""
    runs = old["runs"]
    named = sa.select(runs.c.dataset, runs.c.benchmark).distinct()
    names = grouped((row.dataset, row.benchmark) for row in connection.execute(named))
    for row in connection.execute(sa.select(old["datasets"])).mappings().all():
        known = {row["benchmark"], *names[row["fingerprint"]]}
        traits = {name: traits_of_0_1(name) for name in sorted(known)}
        connection.execute(sa.insert(schema.datasets), dict(row) | {"traits": traits})
    for number in connection.execute(sa.select(runs.c.id).order_by(runs.c.id)).scalars().all():
        row = connection.execute(sa.select(runs).where(runs.c.id == number)).mappings().one()
        values = dict(row) | {"kind": _kind(row["benchmark"], row["model"])}
        chosen = [
            {"run": number, "sample": sample, "position": place}
            for place, sample in enumerate(values.pop("selected"))
        ]
        connection.execute(sa.insert(schema.runs), values)
        for start in range(0, len(chosen), _AT_ONCE):
            connection.execute(sa.insert(schema.run_samples), chosen[start : start + _AT_ONCE])
    if connection.dialect.name == "postgresql":
        last = "SELECT setval(pg_get_serial_sequence('runs', 'id'), max(id)) FROM runs"
        connection.execute(sa.text(last))


def traits_of_0_1(benchmark: str) -> dict[str, Any]:
    """The traits that 0.1 knew a benchmark's name to stand for."""
    text = files("audiocapbench.store").joinpath("traits_0_1.json").read_text("utf-8")
    facts: dict[str, dict[str, Any]] = json.loads(text)
    return facts.get(benchmark.removeprefix(_CHECK).partition("[")[0], facts[""])


def _kind(benchmark: str, model: str) -> str:
    styled = model.removeprefix("control/right+") in ("padded", "reordered", "shortened")
    if benchmark.startswith(_CHECK) or styled:
        return "check"
    return "trial" if benchmark.startswith("trial/") else "asked"


def _copy(connection: Connection, old: Table, new: Table) -> None:
    """All rows of a table; what is about no sample of its run was never shown and is left out."""
    query, chosen, numbers = sa.select(old), schema.run_samples.c, dict[str, int]()
    if "sample" in new.c:
        same = (chosen.run == old.c.run) & (chosen.sample == old.c.sample)
        query = query.join(schema.run_samples, same)
    if "signature" in new.c:  # kept once, without the toolkit's version
        texts = connection.execute(sa.select(old.c.signature).distinct()).scalars()
        signatures = {text: Signature.parse(text) for text in texts}
        known = signature_numbers(connection, signatures.values())
        numbers = {text: known[signature] for text, signature in signatures.items()}
    for part in connection.execute(query).mappings().partitions(_AT_ONCE):
        rows = [dict(row) for row in part]
        for row in rows if numbers else ():
            row["signature"] = numbers[row["signature"]]
        connection.execute(sa.insert(new), rows)


def _copy_checks(connection: Connection, old: Table) -> None:
    """A check said neither where nor by which contract; its runs and its signature do."""
    runs, judged = schema.runs.c, schema.judgements.c
    where = sa.select(runs.benchmark).join_from(
        schema.judgements, schema.runs, runs.id == judged.run
    )
    where = where.where(runs.kind == "check").order_by(judged.judged_at.desc()).limit(1)
    for row in connection.execute(sa.select(old)).mappings().all():
        own = where.where(judged.judge == row["judge"])
        found = connection.execute(own).scalar() or "demo"
        document: Mapping[str, Any] = row["document"]
        signature = Signature.parse(str(document.get("signature", "")))
        values = dict(row) | {
            "benchmark": found.removeprefix(_CHECK),
            "contract": signature.name,
            "document": dict(document) | {"signature": str(signature)},
        }
        connection.execute(sa.insert(schema.judge_checks), values)
