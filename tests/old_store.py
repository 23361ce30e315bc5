"""Stores of older schemas: ``schema_N.sql`` is a dump of one, ``schema_1.json`` what it said.

They hold runs of the demo and of MECAT with metrics and a judge, a check of that judge, a trial,
and what a check left behind before its runs had names of their own.
"""

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, create_engine, insert, select, text
from sqlalchemy.types import BLOB, LargeBinary

from audiocapbench.signature import Signature
from audiocapbench.store import RunSpec, Store, schema
from command import run_command
from forks import Forked

PLACE = Path(__file__).parent / "store"
SAID = json.loads((PLACE / "schema_1.json").read_text(encoding="utf-8"))


def make_sqlite(path: Path, version: int = 1) -> Path:
    """The old store as a file."""
    with sqlite3.connect(path) as connection:
        connection.executescript((PLACE / f"schema_{version}.sql").read_text(encoding="utf-8"))
    connection.close()
    return path


def grow(path: Path, count: int) -> None:
    """So many more samples of its first run, each with an outcome and a score."""
    ids = [f"sample-{place:06}" for place in range(count)]
    with sqlite3.connect(path) as plain:
        plain.execute("CREATE TEMP TABLE grown (id TEXT)")
        plain.executemany("INSERT INTO grown VALUES (?)", [(one,) for one in ids])
        for table, key in (("samples", "id"), ("outcomes", "sample"), ("scores", "sample")):
            names = [row[1] for row in plain.execute(f"PRAGMA table_info({table})")]
            values = ", ".join("grown.id" if name == key else f'first."{name}"' for name in names)
            first = f"(SELECT * FROM {table} LIMIT 1) AS first"
            plain.execute(f"INSERT INTO {table} SELECT {values} FROM {first}, grown")
        chosen = json.loads(plain.execute("SELECT selected FROM runs WHERE id = 1").fetchone()[0])
        plain.execute("UPDATE runs SET selected = ? WHERE id = 1", [json.dumps(chosen + ids)])
    plain.close()


def make_postgres(url: str, scratch: Path, version: int = 1) -> None:
    """The old store in an empty database: the same tables, the same rows."""
    source = create_engine(f"sqlite:///{make_sqlite(scratch, version)}")
    tables = MetaData()
    tables.reflect(source)
    for table in tables.tables.values():
        for column in table.columns:
            if isinstance(column.type, BLOB):
                column.type = LargeBinary()
    target = create_engine(url)
    with source.connect() as old, target.begin() as new:
        there = tables.sorted_tables
        if version > 1:  # the first had no type for moments
            there = [one for one in schema.metadata.sorted_tables if one.name in tables.tables]
        schema.metadata.create_all(new, there) if version > 1 else tables.create_all(new)
        for table in there:
            columns = tables.tables[table.name].columns.keys()
            names = [column for column in table.columns if column.name in columns]
            values = [dict(row) for row in old.execute(select(*names)).mappings()]
            if values:
                new.execute(insert(table), values)
        if version == 2:
            new.execute(text("ALTER TABLE runs DROP COLUMN source"))
        if version > 1:
            last = "SELECT setval(pg_get_serial_sequence('{0}', 'id'), max(id)) FROM {0}"
            for name in ("runs", "signatures"):
                new.execute(text(last.format(name)))
    source.dispose()
    target.dispose()


def ask(*words: str) -> Any:
    if "://" in words[-1]:  # only the end of a process closes what a command has open there
        asked = Forked("-m", "audiocapbench", *words, "--json", stdout=subprocess.PIPE)
        said, _ = asked.communicate()
        assert asked.returncode == 0
        return json.loads(said)
    shown = run_command(*words, "--json")
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def signed_anew(document: Any) -> Any:
    """The same with every signature as it is written today."""
    if isinstance(document, list):
        return [signed_anew(one) for one in document]
    if not isinstance(document, dict):
        return document
    changed = {name: signed_anew(value) for name, value in document.items()}
    if isinstance(changed.get("signature"), str):
        changed["signature"] = str(Signature.parse(changed["signature"]))
    return changed


def assert_says_the_same(now: Any, before: Any, where: str = "") -> None:
    """Whatever was said is said; more may be said. Intervals are made in today's way, and what
    was never scored is no zero any more."""
    if isinstance(before, dict):
        unjudged = before.get("score", 0) is None
        for name, value in before.items():
            if name == "notes":  # the same may be said in other words
                continue
            # A pair is compared over what both have settled, by one test.
            if "p_common" in before and name not in ("runs", "tested"):
                continue
            if name in ("rank_ci", "tied"):
                continue
            if name in ("ci", "interval") or (unjudged and name in ("as_zero", "bounds")):
                assert name in now, where
            else:
                assert_says_the_same(now[name], value, f"{where}.{name}")
    elif isinstance(before, list):
        assert len(now) == len(before), where
        for place, value in enumerate(before):
            assert_says_the_same(now[place], value, f"{where}[{place}]")
    elif isinstance(before, float):
        assert now == pytest.approx(before, rel=1e-9, abs=1e-12), where
    else:
        assert now == before, where


def check_upgraded(url: str) -> None:
    """The leaderboard, the runs and the judge's check are those that 0.1 printed."""
    found = ask("leaderboard", "--by-category", "--store", url)
    assert_says_the_same(found, signed_anew(SAID["leaderboard"]))
    listed = ask("runs", "--trials", "--store", url)["runs"]
    assert_says_the_same(listed, SAID["runs"])
    kinds = {line["id"]: line["kind"] for line in listed if line["kind"] != "asked"}
    assert kinds == {**dict.fromkeys((4, 5, 6, 7, 8, 9, 14), "check"), 13: "trial"}
    with Store.open(url) as store:
        (check,) = store.judge_checks([1], ["elements"])
        assert (check.benchmark, check.elsewhere) == ("demo", {})
        assert check.document is not None
        assert check.document["ordered"] is True
        assert {line.made_by for line in store.catalog.scorers([1])} == {"audiocapbench 0.1.0"}
        assert store.dataset("data of 66").traits["headline"] == "date"
        assert store.dataset("data of 48").traits["judge"] == "mecat-qa"
        demo = store.run(1)
        assert store.dataset(demo.dataset, "demo").traits["headline"] == "meteor"
        first = store.dataset(demo.dataset).samples[0]
        again = store.begin_run(_as_spec(store, 1), store.dataset(demo.dataset, "demo"))
        assert again == demo
        assert first.id in again.sample_ids
        assert store.cache.embeddings("tiny@1", "text", ["ab" * 32], 2)["ab" * 32].tolist() == [
            1,
            -0.5,
        ]
        fresh = store.begin_run(_as_spec(store, 1), store.dataset(demo.dataset, "demo"), fresh=True)
        assert fresh.id == 15


def _as_spec(store: Store, run_id: int) -> RunSpec:
    run = store.run(run_id)
    return RunSpec(
        run.benchmark, run.dataset, run.model, run.parameters, run.contract, run.sample_ids
    )
