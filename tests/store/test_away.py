"""A store that is locked is waited for; then there is a clear error, and never a traceback."""

import gc
import threading
import time
from pathlib import Path

import pytest

from audiocapbench.errors import StoreAwayError
from audiocapbench.store import Store
from audiocapbench.store.connect import patience
from command import run_command
from forks import run_at_once
from locking import EVERYBODY_OUT, locked
from made_store import MadeRun, made_samples, put_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    samples = made_samples(3)
    with Store.open(str(tmp_path / "runs.db")) as store:
        put_run(store, MadeRun("one", {"meteor": {one.id: 0.5 for one in samples}}), samples)
    return tmp_path / "runs.db"


def test_a_locked_store_is_waited_for(path: Path) -> None:
    with Store.open(str(path)) as store, locked(path) as holder:
        threading.Timer(0.8, holder.kill).start()
        store.catalog.tag(1, ["paper"])
        assert store.runs(["paper"])[0].id == 1


def test_a_store_that_stays_locked_is_away_and_not_broken(path: Path) -> None:
    with Store.open(str(path)) as store, locked(path), patience(0.1):
        with pytest.raises(StoreAwayError, match=r"runs\.db: is locked by another process"):
            store.catalog.tag(1, ["paper"])
        assert store.runs()[0].id == 1  # reading goes on


def test_the_longest_wait_at_a_time_is_short(path: Path) -> None:
    with Store.open(str(path)) as store, locked(path), patience(0):
        began = time.monotonic()
        with pytest.raises(StoreAwayError):
            store.catalog.tag(1, ["paper"])
        assert time.monotonic() - began < 20


@pytest.mark.parametrize("words", [["leaderboard"], ["runs"], ["score", "1"]])
def test_reading_a_locked_store_ends_in_one_sentence(path: Path, words: list[str]) -> None:
    run_command(*words, "--store", str(path))  # its estimates are made now
    gc.collect()  # a command leaves its store to the end of its process
    with locked(path, EVERYBODY_OUT), patience(0.1):
        done = run_command(*words, "--store", str(path))
    assert done.returncode == 2
    assert "is locked by another process" in done.stderr
    assert "Traceback" not in done.stderr


def test_as_many_threads_as_like_wait_for_a_locked_store(path: Path) -> None:
    said: list[str] = []

    def write(store: Store) -> None:
        with patience(1):
            try:
                store.catalog.tag(1, ["paper"])
            except StoreAwayError as error:
                said.append(str(error))

    with Store.open(str(path)) as store, locked(path):
        threads = [threading.Thread(target=write, args=[store]) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert len(said) == 40


def test_processes_may_make_a_new_store_at_once(tmp_path: Path) -> None:
    opening = "import sys; from audiocapbench.store import Store; Store.open(sys.argv[1])"
    assert run_at_once(opening, *[[str(tmp_path / "new.db")]] * 4) == [0] * 4
    with Store.open(str(tmp_path / "new.db")) as store:
        assert store.runs() == []
