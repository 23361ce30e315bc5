"""A store that is damaged, or none at all, is one sentence in every command and no traceback."""

import os
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import JSON, Boolean, Float, Integer, Table, TypeDecorator

from audiocapbench.errors import AudioCapBenchError, StoreError
from audiocapbench.scores.summary import summarise
from audiocapbench.store import Store, schema
from command import run_command
from made_store import MadeRun, made_samples, put_run

COMMANDS = (
    "runs",
    "runs show 1",
    "runs rename 1 new",
    "leaderboard",
    "leaderboard --json",
    "compare 1 2",
    "score 1 --metrics rouge_l",
    "report 1 --out x.html",
    "figures 1 --out figures --format svg",
)
SAMPLES = made_samples(4)
GARBAGE = ("garbage", b"\xff\x00", 9e999, "[1e999]", '{"a": NaN}', "{", "[[]]", "null", 7)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("store") / "whole.db"
    scores = {one.id: 0.5 for one in SAMPLES}
    grades = {"gpt": {one.id: {"accuracy": 4.0} for one in SAMPLES}}
    with Store.open(str(path)) as kept:
        for model in ("first", "second"):
            made = MadeRun(model, {"rouge_l": scores}, grades, cost_usd=0.25)
            run = put_run(kept, made, SAMPLES)
        lines = {"b" * 64: (SAMPLES[0].id, 0)}
        row = {"mark": "a" * 32, "judge": "", "price": {"out": 5.0}}
        kept.batches.add(row, run.id, lines)
        kept.put_judge_check("gpt", "made", "judge-gpt", {"warning": "weak"})
        summarise(kept, run, ["rouge_l"], ["gpt"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, whole: bytes) -> Path:
    place = tmp_path / "damaged.db"
    place.write_bytes(whole)
    return place


def read_all(path: Path) -> None:
    with Store.open(str(path), create=False) as kept:
        read(kept)


def read(kept: Store) -> None:
    runs = kept.runs()
    kept.catalog.scorers([one.id for one in runs])
    kept.judge_checks([one.id for one in runs], ["gpt"])
    for line in runs[-1:]:  # all that is damaged is so in every row
        run = kept.run(line.id)
        kept.dataset(run.dataset, run.benchmark)
        kept.outcomes(run.id)
        kept.score_columns(run.id)
        kept.judgements(run.id)
        kept.estimates(run.id)
        kept.batches.of_run(run.id)
        kept.batches.awaited(run.id)
    kept.batches.lines("a" * 32)
    kept.ledger.entries()
    kept.ratings.projects()
    kept.ratings.person("votes", "token")
    kept.ratings.items("votes")
    kept.ratings.of("votes")
    kept.ratings.claim("votes", "ann", lambda _load: None, 1.0)
    kept.annotations.findings({"signal": "signal"}, ["clip"])
    kept.annotations.settings("recordings")


def said_by(path: Path, command: str) -> str:
    done = run_command(*command.split(), "--store", str(path), cwd=path.parent)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 2, done.stderr
    return done.stderr


TABLES = [
    table
    for table in schema.metadata.sorted_tables
    if table.name not in ("embeddings", "responses", "workers", "claims")
]
COLUMNS = {f"{table.name}.{column.name}": column for table in TABLES for column in table.columns}
EMPTY = ("annotations", "findings", "rating_", "run_tags")
# The first column of each type, one that has rows and is no part of a key if there is one.
_ORDER = sorted(COLUMNS, key=lambda name: (name.startswith(EMPTY), COLUMNS[name].primary_key))
FIRST = {repr(COLUMNS[name].type): name for name in reversed(_ORDER)}


def damages(name: str) -> Sequence[object]:
    """All garbage in one column of each type; else what the type lets through to its readers.

    What a type does not let through is refused in the same way in all of its columns.
    """
    if name in FIRST.values():
        return GARBAGE
    kind = COLUMNS[name].type
    holds = kind.impl if isinstance(kind, TypeDecorator) else kind
    if isinstance(holds, JSON):
        return ["null"]
    return [7] if isinstance(holds, Integer | Float | Boolean) else ["garbage"]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory, whole: bytes) -> Iterator[tuple[Store, Path]]:
    """A store that stays open while others damage its file, so that it knows its queries."""
    path = tmp_path_factory.mktemp("used") / "used.db"
    path.write_bytes(whole)
    with Store.open(str(path)) as kept:
        yield kept, path


@pytest.mark.slow
@pytest.mark.parametrize("column", COLUMNS)
def test_garbage_in_any_cell_is_read_as_it_is_or_refused(
    used: tuple[Store, Path], whole: bytes, column: str
) -> None:
    (kept, path), (table, name) = used, column.split(".")
    with closing(sqlite3.connect(":memory:")) as before, closing(sqlite3.connect(path)) as now:
        before.deserialize(whole)
        for garbage in damages(column):
            before.backup(now)
            with suppress(sqlite3.Error):
                now.execute(f'UPDATE {table} SET "{name}" = ?', (garbage,))
            now.commit()
            with suppress(AudioCapBenchError):
                read(kept)
            if table == schema.schema_version.name:
                with suppress(AudioCapBenchError):
                    read_all(path)
        with suppress(AudioCapBenchError):
            summarise(kept, kept.run(1), ["rouge_l"], ["gpt"])


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_a_missing_table_or_column_is_refused_with_what_to_do(path: Path, table: Table) -> None:
    whole, column = path.read_bytes(), table.columns[0].name
    for change in (f"DROP TABLE {table}", f'ALTER TABLE {table} RENAME COLUMN "{column}" TO gone'):
        path.write_bytes(whole)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(change)
        with pytest.raises(StoreError, match=r"`store`|choose another|not a store"):
            read_all(path)


@pytest.mark.parametrize("seed", range(10))
def test_a_file_with_flipped_bytes_or_a_cut_is_read_or_refused(path: Path, seed: int) -> None:
    draw, content = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(draw.choice((1, 20, 400))):
        content[draw.randrange(len(content))] = draw.randrange(256)
    path.write_bytes(content[: draw.choice((len(content), draw.randrange(len(content))))])
    with suppress(AudioCapBenchError):
        read_all(path)


def damaged(whole: bytes, seed: int) -> bytes:
    """A file of which a stretch is overwritten, pages are blank, the end is cut or bytes differ."""
    draw, content = random.Random(seed), bytearray(whole)
    match seed % 4:
        case 0:
            length = draw.choice((900, 1500))
            place = draw.randrange(len(content) - length)
            content[place : place + length] = draw.randbytes(length)
        case 1:
            del content[draw.randrange(len(content)) :]
        case 2:
            for _ in range(draw.choice((1, 3, 10))):
                page = draw.randrange(len(content) // 4096) * 4096
                content[page : page + 4096] = bytes(4096)
        case _:
            for _ in range(draw.choice((900, 1500))):
                content[draw.randrange(16, len(content))] = draw.randrange(256)
    return bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "first"),
    [("runs", 0), ("leaderboard --json", 20), ("report 1 --out x", 40), ("score 1", 60)],
)
def test_no_damage_of_the_file_is_a_traceback(
    path: Path, whole: bytes, command: str, first: int
) -> None:
    for seed in range(first, first + 20):
        for file in path.parent.glob("damaged.db*"):
            file.unlink()
        path.write_bytes(damaged(whole, seed))
        done = run_command(*command.split(), "--store", str(path), cwd=path.parent)
        assert done.returncode in (0, 1, 2), (seed, done.stderr)
        assert "Traceback" not in done.stderr, (seed, done.stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_is_wrong_in_one_sentence(path: Path, command: str) -> None:
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE runs")
    assert "is damaged or not a store (no such table: runs)" in said_by(path, command)
    for content in (os.urandom(4096), b"notes " * 2000, whole[: len(whole) // 2]):
        path.write_bytes(content)
        assert "choose another --store" in said_by(path, command)
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE moz_places (id INTEGER)")
        connection.commit()
    assert "another program's" in said_by(path, command)
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master").fetchall()
    assert found == [("moz_places",)]
    path.unlink()
    path.mkdir()
    assert "is a folder" in said_by(path, command)


@pytest.mark.parametrize("version", ["'abc'", "NULL", "0", "-1", "99", "9e999"])
def test_a_version_that_is_none_is_refused(path: Path, version: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE schema_version")
        connection.execute("CREATE TABLE schema_version (version)")
        connection.execute(f"INSERT INTO schema_version VALUES ({version})")
        connection.commit()
    with pytest.raises(StoreError):
        read_all(path)
    said_by(path, "runs")


@pytest.mark.parametrize("content", [b"x", b"my notes\n", b"SQLite format", b"\0" * 40])
def test_a_short_file_of_another_kind_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is not a store; choose another"):
        Store.open(str(path))
    assert path.read_bytes() == content


def test_a_store_that_is_gone_is_not_made_anew(path: Path, whole: bytes) -> None:
    with Store.open(str(path)) as kept:
        path.rename(path.with_name("moved.db"))
        for use in (kept.runs, lambda: kept.catalog.tag(1, ["paper"])):
            with pytest.raises(StoreError, match="was removed or replaced while in use"):
                use()
        assert not path.exists()
        path.write_bytes(whole)  # another file of the same name
        with pytest.raises(StoreError, match="was removed or replaced while in use"):
            kept.catalog.tag(1, ["paper"])
        assert path.read_bytes() == whole
    odd = path.with_name("100%25 ?mode=ro #1.db")
    with Store.open(str(odd)) as new:
        assert new.runs() == []
    assert odd.exists()


def test_an_empty_file_is_an_empty_store(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with Store.open(str(tmp_path / "empty.db"), create=False) as kept:
        assert kept.runs() == []


@pytest.mark.parametrize("text", ["\ud800", "a\udc80b"])
def test_what_is_no_text_is_refused_and_not_kept(path: Path, text: str) -> None:
    with Store.open(str(path)) as kept:
        with pytest.raises(StoreError, match="cannot keep what it was given"):
            put_run(kept, MadeRun(f"endpoint/{text}"), SAMPLES)
        assert len(kept.runs()) == 2
    done = run_command("run", "demo", "--model", f"endpoint/{text}@http://127.0.0.1:9/v1", "--yes",
                       cwd=path.parent)  # fmt: skip
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
