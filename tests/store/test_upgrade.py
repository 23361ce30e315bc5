"""A store of an older version opens, says the same, and is never half upgraded."""

import signal
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import old_store
from audiocapbench.cli import leaderboard, runs  # noqa: F401  (they add commands)
from audiocapbench.errors import StoreError
from audiocapbench.store import Store, schema, upgrades
from audiocapbench.store.ledger import Bill, line_id
from audiocapbench.store.records import StoredCheck
from forks import run_at_once
from made_store import MadeRun, made_samples, put_run, stored_scores


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return old_store.make_sqlite(tmp_path / "old.db")


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, list[str]]:
    """All that is in a store of each older version once nothing came between its upgrade."""
    place, found = tmp_path_factory.mktemp("upgraded"), {}
    for version in (1, 2, 3):
        old = old_store.make_sqlite(place / f"{version}.db", version)
        Store.open(str(old)).close()
        found[version] = _dump(old)
    return found


OPENING = "import sys; from audiocapbench.store import Store; Store.open(sys.argv[1])"
DYING = """
import os, sys
from audiocapbench.store import Store, upgrades
name = sys.argv[2]
whole = getattr(upgrades, name)
def dies(connection):
    whole(connection)
    os.kill(os.getpid(), 9)
setattr(upgrades, name, dies)
Store.open(sys.argv[1])
"""


def _dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as plain:
        return list(plain.iterdump())


def _shape(path: Path) -> Mapping[str, Any]:
    """Columns and foreign keys by table; the order of the keys says nothing."""
    with sqlite3.connect(path) as plain:
        rows = plain.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        names = [row[0] for row in rows if not row[0].startswith("sqlite_")]
        keys = {name: plain.execute(f"PRAGMA foreign_key_list({name})") for name in names}
        return {
            name: [
                plain.execute(f"PRAGMA table_info({name})").fetchall(),
                sorted(row[1:] for row in keys[name]),
            ]
            for name in names
        }


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_store_of_an_older_version_shows_the_same_leaderboard(
    tmp_path: Path, version: int
) -> None:
    old = old_store.make_sqlite(tmp_path / "old.db", version)
    old_store.check_upgraded(str(old))
    with sqlite3.connect(old) as plain:
        tables = {row[0] for row in plain.execute("SELECT tbl_name FROM sqlite_master")}
        assert not [name for name in tables if name.endswith("_1") or name == "signed"]
        assert plain.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_upgraded_store_has_the_tables_of_a_new_one(tmp_path: Path, version: int) -> None:
    old = old_store.make_sqlite(tmp_path / "old.db", version)
    Store.open(str(old)).close()
    Store.open(str(tmp_path / "new.db")).close()
    assert _shape(old) == _shape(tmp_path / "new.db")


def test_what_a_store_of_the_second_version_knew_beyond_the_first_is_kept(tmp_path: Path) -> None:
    with Store.open(str(old_store.make_sqlite(tmp_path / "old.db", 2))) as store:
        before = store.run(1)
    assert before.name == "the first"
    with Store.open(str(tmp_path / "old.db")) as store:
        assert store.run(1) == before
        assert store.runs(["paper"])[0].id == 1
        assert store.estimates(1) == [], "its intervals were made in another way"


@pytest.mark.parametrize(
    ("version", "step"), [(1, "_rebuild"), (1, "upgrade"), (2, "upgrade"), (3, "upgrade")]
)
def test_an_upgrade_that_is_killed_leaves_the_old_store(
    tmp_path: Path, upgraded: Mapping[int, list[str]], version: int, step: str
) -> None:
    old = old_store.make_sqlite(tmp_path / "old.db", version)
    before = _dump(old)
    assert run_at_once(DYING, [str(old), step]) == [-signal.SIGKILL]
    assert _dump(old) == before
    Store.open(str(old)).close()
    assert _dump(old) == upgraded[version]


def test_an_upgrade_that_fails_changes_nothing(old: Path) -> None:
    with sqlite3.connect(old) as plain:
        plain.execute("UPDATE judge_checks SET document = 'nonsense'")
    before = _dump(old)
    with pytest.raises(StoreError, match="damaged"):
        Store.open(str(old))
    assert _dump(old) == before


def test_processes_may_upgrade_at_once(old: Path) -> None:
    assert run_at_once(OPENING, *[[str(old)]] * 3) == [0] * 3
    old_store.check_upgraded(str(old))


def test_a_store_of_more_samples_than_are_copied_at_once_is_upgraded_whole(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrades, "_AT_ONCE", 200)
    old_store.grow(old, 500)
    with Store.open(str(old)) as store:
        (first,) = [one for one in store.runs() if one.id == 1]
        assert len(store.run(1).sample_ids) == first.asked == 505


def test_odd_signatures_of_old_are_read_and_kept_apart(old: Path) -> None:
    with sqlite3.connect(old) as plain:
        plain.execute("UPDATE scores SET signature = 'odd' WHERE run = 1 AND metric = 'meteor'")
        strange = "rouge_l|model:a|b%7Cc|v:0.1.0"
        plain.execute(
            "UPDATE scores SET signature = ? WHERE run = 1 AND metric = 'rouge_l'", [strange]
        )
    with Store.open(str(old)) as store:
        scores = stored_scores(store, 1)
        assert {str(one.signature) for one in scores["meteor"]} == {"odd|protocol:1"}
        assert {one.signature.get("model") for one in scores["rouge_l"]} == {"a|b|c"}
        assert stored_scores(store, 2)["rouge_l"][0].signature.get("variant") == "rouge-score"


def test_a_check_of_old_belongs_to_the_benchmark_that_it_was_made_on(old: Path) -> None:
    with Store.open(str(old)) as store:
        (elsewhere,) = store.judge_checks([3], ["elements"])
        assert isinstance(elsewhere, StoredCheck)
        assert store.judge_checks([10], ["elements"]) == []
    assert schema.VERSION == 7


def test_what_answers_of_old_cost_is_in_the_ledger(old: Path) -> None:
    with Store.open(str(old)) as store:
        answers = [one.reply for run in store.runs() for one in store.outcomes(run.id).values()]
        booked = store.ledger.entries()
        paid = sum(one.cost_usd or 0.0 for one in answers)
        paid += sum(one.cost_usd or 0.0 for run in store.runs() for one in store.judgements(run.id))
        assert sum(one.counted for one in booked) == pytest.approx(paid)
        assert {one.state for one in booked} <= {"billed", "estimated"}


def test_what_a_batch_brings_that_was_out_during_the_upgrade_is_in_the_ledger(
    tmp_path: Path,
) -> None:
    path, keys = str(tmp_path / "six.db"), [letter * 64 for letter in "abcd"]
    price = {"text_in": 1.0, "out": 10.0, "audio_in": 20.0, "audio_tokens_per_s": 10.0}
    samples, told = made_samples(2), {"max_tokens": 1_000}
    lines = zip((1, 1, 1, 2), ("", "", "j", ""), keys, (price, price, price, None), strict=True)
    with Store.open(path) as store:
        known = MadeRun("m", cost_usd=0.002, parameters=told)
        put_run(store, known, samples, asked=[samples[0].id])
        put_run(store, MadeRun("own"), samples, asked=[])
        for run, judge, key, cost in lines:
            row = {"mark": key[::2], "judge": judge, "price": cost}
            store.batches.add(row, run, {key: (samples[1].id, 0)})
        store.batches.close_lines(keys[1][::2], [keys[1]])
    with closing(sqlite3.connect(path)) as plain:
        plain.executescript("DROP TABLE ledger; UPDATE schema_version SET version = 6")
    with Store.open(path) as store:
        ids = {line_id(key[::2], key): key[0] for key in keys}
        rows = {ids.get(one.id, ""): one for one in store.ledger.entries()}
        assert rows.keys() == {"", "a", "c", "d"}, "the second line brought no answer"
        assert {rows[one].state for one in "acd"} == {"in a batch"}
        assert [(rows[one].model, rows[one].judge) for one in "acd"] == [
            ("m", ""),
            ("j", "j"),
            ("own", ""),
        ]
        asked = 512 * 1.0 + 5 * 10 * 20.0
        most = [asked + 1_000 * 10.0, asked + 32_768 * 10.0, 0.0]
        assert [1e6 * rows[one].held_usd for one in "acd"] == pytest.approx(most)
        likely = [asked + 120 * 10.0, asked + 120 * 10.0, 0.0]
        assert [1e6 * rows[one].likely_usd for one in "acd"] == pytest.approx(likely)
        store.ledger.settle([Bill(rows["a"].id, 0.004, "billed")], [])
        (total,) = store.ledger.sums()
        assert total["spent_usd"] == pytest.approx(0.002 + 0.004)
