"""A store of 0.1 opens, says the same, and is never half upgraded."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import old_store
from audiocapbench.cli import leaderboard, runs  # noqa: F401  (they add commands)
from audiocapbench.store import Store, schema
from audiocapbench.store.judgements import StoredCheck


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return old_store.make_sqlite(tmp_path / "old.db")


def test_a_store_of_the_first_version_shows_the_same_leaderboard(old: Path) -> None:
    old_store.check_upgraded(str(old))
    with sqlite3.connect(old) as plain:
        tables = {row[0] for row in plain.execute("SELECT tbl_name FROM sqlite_master")}
        assert not [name for name in tables if name.endswith("_1") or name == "signed"]
        assert plain.execute("PRAGMA foreign_key_check").fetchall() == []


def test_an_upgraded_store_has_the_tables_of_a_new_one(old: Path, tmp_path: Path) -> None:
    Store.open(str(old)).close()
    Store.open(str(tmp_path / "new.db")).close()

    def shape(path: Path) -> Mapping[str, Any]:
        with sqlite3.connect(path) as plain:
            rows = plain.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            names = [row[0] for row in rows if not row[0].startswith("sqlite_")]
            return {
                name: [
                    plain.execute(f"PRAGMA {about}({name})").fetchall()
                    for about in ("table_info", "foreign_key_list")
                ]
                for name in names
            }

    assert shape(old) == shape(tmp_path / "new.db")


def test_an_upgrade_that_is_killed_leaves_the_old_store(old: Path) -> None:
    before = list(sqlite3.connect(old).iterdump())
    dying = (
        "import os, sys\n"
        "from audiocapbench.store import Store, upgrades\n"
        "whole = upgrades.UPGRADES[1]\n"
        "def dies(connection):\n"
        "    whole(connection)\n"
        "    os.kill(os.getpid(), 9)\n"
        "upgrades.UPGRADES[1] = dies\n"
        "Store.open(sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", dying, str(old)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert list(sqlite3.connect(old).iterdump()) == before
    old_store.check_upgraded(str(old))


def test_processes_may_upgrade_at_once(old: Path) -> None:
    opening = "import sys; from audiocapbench.store import Store; Store.open(sys.argv[1])"
    told = [sys.executable, "-c", opening, str(old)]
    openers = [subprocess.Popen(told) for _ in range(3)]
    assert [opener.wait(120) for opener in openers] == [0] * 3
    old_store.check_upgraded(str(old))


def test_a_store_of_twenty_thousand_samples_is_upgraded_whole(old: Path) -> None:
    old_store.grow(old, 20_000)
    with Store.open(str(old)) as store:
        assert len(store.run(1).sample_ids) == len(store.outcomes(1)) == 20_005


def test_odd_signatures_of_old_are_read_and_kept_apart(old: Path) -> None:
    with sqlite3.connect(old) as plain:
        plain.execute("UPDATE scores SET signature = 'odd' WHERE run = 1 AND metric = 'meteor'")
        strange = "rouge_l|model:a|b%7Cc|v:0.1.0"
        plain.execute(
            "UPDATE scores SET signature = ? WHERE run = 1 AND metric = 'rouge_l'", [strange]
        )
    with Store.open(str(old)) as store:
        scores = store.scores(1)
        assert {str(one.signature) for one in scores["meteor"]} == {"odd|protocol:1"}
        assert {one.signature.get("model") for one in scores["rouge_l"]} == {"a|b|c"}
        assert store.scores(2)["rouge_l"][0].signature.get("variant") == "rouge-score"


def test_a_check_of_old_belongs_to_the_benchmark_that_it_was_made_on(old: Path) -> None:
    with Store.open(str(old)) as store:
        (elsewhere,) = store.judge_checks([3], ["elements"])
        assert isinstance(elsewhere, StoredCheck)
        assert store.judge_checks([10], ["elements"]) == []
    assert schema.VERSION == 2
