"""Who counts as gone: whoever has ended, or was silent for a lease; no clock need agree."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import event

from audiocapbench.engine import workers
from audiocapbench.engine.workers import Lease
from audiocapbench.errors import StoreError
from audiocapbench.store import Store, schema
from audiocapbench.store.claims import LEASE_S, TaskKey, Worker
from audiocapbench.store.connect import writing
from audiocapbench.store.ratings import Rating
from made_store import MadeRun, begin_run, made_samples

BEAT_S = LEASE_S / 5
SAMPLES = made_samples(2)
FIRST, SECOND = ([TaskKey("", one.id)] for one in SAMPLES)


class Clock:
    """A monotonic clock that tests move on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def go(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("audiocapbench.store.claims.time", SimpleNamespace(monotonic=clock))
    monkeypatch.setattr("audiocapbench.store.catalog.time", SimpleNamespace(sleep=clock.go))
    monkeypatch.setattr(workers, "_now", clock)
    return clock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with one run of which nothing is answered."""
    with Store.open(str(tmp_path / "runs.db")) as opened:
        begin_run(opened, MadeRun("some/model"), SAMPLES)
        yield opened


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    """The same store as another process sees it."""
    with closing(Store.open(store.name)) as opened:
        yield opened


def elsewhere() -> Worker:
    return Worker(LEASE_S, process="another machine:1.1")


def move_here(store: Store, worker: Worker, process: str) -> None:
    """Have a worker be a process of this machine."""
    table, machine = schema.workers, Worker(LEASE_S).process.rpartition(":")[0]
    change = table.update().where(table.c.id == worker.id)
    with writing(store._engine) as connection:
        connection.execute(change.values(process=f"{machine}:{process}"))


def can_take(store: Store, worker: Worker, keys: list[TaskKey] = FIRST) -> bool:
    return store.claims.take(1, worker, keys, {}).taken == keys


def watch(store: Store, worker: Worker, clock: Clock, seconds: float, step: float = 1.0) -> bool:
    """Whether the first task becomes free while it is looked at now and then for so long."""
    for _ in range(round(seconds / step)):
        clock.go(step)
        if can_take(store, worker):
            return True
    return False


def shift_clock(store: Store, seconds: Callable[[], float]) -> None:
    """Have SQLite's own clock go wrong in one process."""

    def connected(connection: object, _record: object) -> None:
        plain = connection.cursor().connection  # type: ignore[attr-defined]
        day = plain.execute("SELECT julianday('now')").fetchone()[0]
        plain.create_function("julianday", 1, lambda _now: day + seconds() / 86400)

    store._engine.dispose()
    event.listen(store._engine, "connect", connected)


@pytest.mark.parametrize("step_s", [60.0, 3600.0, -3600.0])
def test_clocks_that_disagree_play_no_part_with_sqlite(
    store: Store, other: Store, clock: Clock, step_s: float
) -> None:
    worker, waiting, steps = elsewhere(), elsewhere(), iter(range(1000))
    shift_clock(other, lambda: step_s * next(steps))  # and it goes on going wrong
    assert can_take(store, worker)
    for _ in range(20):
        clock.go(BEAT_S)
        assert store.claims.renew(worker)
        assert not can_take(other, waiting)
    assert not watch(other, waiting, clock, LEASE_S)
    assert watch(other, waiting, clock, 2)
    assert store.claims.take(1, worker, FIRST, {}).lost


def test_a_store_that_was_locked_for_long_makes_nobody_dead(
    store: Store, other: Store, clock: Clock
) -> None:
    worker, waiting = elsewhere(), elsewhere()
    assert can_take(store, worker)
    assert not can_take(other, waiting)
    for _ in range(10):
        clock.go(BEAT_S - 1)  # a sign was due
        assert not can_take(other, waiting)
        clock.go(600)
        assert not can_take(other, waiting)
        assert store.claims.renew(worker)
    assert not can_take(other, waiting)
    clock.go(600 - 1)
    assert not watch(other, waiting, clock, LEASE_S - BEAT_S)
    assert watch(other, waiting, clock, 2)


def test_whoever_comes_new_to_a_store_listens_for_as_long_as_a_lease(
    store: Store, other: Store, clock: Clock
) -> None:
    worker, waiting = elsewhere(), elsewhere()
    assert can_take(store, worker)
    clock.go(100 * LEASE_S)
    assert not can_take(other, waiting)
    assert not watch(other, waiting, clock, LEASE_S)
    assert watch(other, waiting, clock, 2)


def test_a_hidden_process_of_another_user_is_alive_until_its_lease_ends(
    store: Store, other: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden, waiting = elsewhere(), elsewhere()
    ends: list[type[OSError]] = [PermissionError]

    def kill(number: int, signal: int) -> None:
        assert (number, signal) == (2**22, 0)  # one that /proc never shows
        raise ends[-1]

    assert can_take(store, hidden)
    move_here(store, hidden, f"{2**22}.1")
    monkeypatch.setattr(os, "kill", kill)
    assert not can_take(other, waiting)
    for _ in range(20):
        clock.go(BEAT_S)
        assert store.claims.renew(hidden)
        assert not can_take(other, waiting)
    assert not watch(other, waiting, clock, LEASE_S)
    ends.append(ProcessLookupError)
    assert can_take(other, waiting)


def test_an_ended_process_of_this_machine_is_replaced_at_once(store: Store, clock: Clock) -> None:
    first, second, third, last = (elsewhere() for _ in range(4))
    with subprocess.Popen([sys.executable, "-Sc", "input()"], stdin=subprocess.PIPE) as child:
        began = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19]
        assert can_take(store, first)
        move_here(store, first, f"{child.pid}.{began}")
        assert not can_take(store, second)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert can_take(store, second)
    move_here(store, second, f"{child.pid}.{began}")
    assert can_take(store, third)
    move_here(store, third, f"{os.getpid()}.1")  # the number was given anew
    assert can_take(store, last)


def test_a_process_that_is_seen_to_live_may_be_silent_for_longer(
    store: Store, other: Store, clock: Clock
) -> None:
    late, waiting = Worker(LEASE_S), elsewhere()
    assert can_take(store, late)
    assert not watch(other, waiting, clock, 600 + LEASE_S, BEAT_S)
    assert store.claims.renew(late)
    assert not can_take(other, waiting)
    assert watch(other, waiting, clock, 610 + LEASE_S, BEAT_S)


def test_what_nobody_could_renew_is_claimed_anew_before_it_is_asked(
    store: Store, other: Store, clock: Clock
) -> None:
    lease, waiting = Lease(store), elsewhere()
    lease._begun = True  # this test gives the signs of life
    lease.worker = elsewhere()
    lease.claim(1, [*FIRST, *SECOND], {})
    epoch = lease.epoch
    clock.go(LEASE_S)
    assert lease.epoch == epoch
    assert not watch(other, waiting, clock, LEASE_S)
    assert lease.epoch != epoch, "before anybody else may take it"
    assert lease.epoch == (epoch := lease.epoch)
    assert watch(other, waiting, clock, 2)
    assert lease.claim(1, [*FIRST, *SECOND], {}).taken == SECOND
    assert lease.epoch == (epoch := lease.epoch)
    clock.go(LEASE_S)
    assert lease.epoch == epoch


def test_a_rating_is_taken_though_the_clock_was_set_back(store: Store, other: Store) -> None:
    store.ratings.begin("trial", "rel", 0, {"item": {"audio": "a", "captions": ["x"]}}, ["ana"])
    assert store.ratings.claim("trial", "ana", lambda _load: "item", 60) == "item"
    store.ratings.note_heard("trial", "ana", "item")
    passed = iter(range(1000))
    shift_clock(other, lambda: 2.0 * next(passed) - 3600)
    rating = Rating("ana", "item", "key", {"rel": 3}, 0.0, 9.0, "")
    assert other.ratings.put("trial", rating, None, 1.0) == "unheard"
    other.ratings.note_heard("trial", "ana", "item")
    assert other.ratings.put("trial", rating, None, 1.0) == "kept"
    assert other.ratings.of("trial")[0].took_s == 0.0


def test_a_run_is_deleted_once_its_silent_worker_counts_as_gone(store: Store, clock: Clock) -> None:
    assert can_take(store, elsewhere())
    began = clock.now
    store.catalog.delete([1])
    assert LEASE_S < clock.now - began < LEASE_S + 3
    assert store.runs() == []


def test_a_run_whose_worker_gives_a_sign_is_not_deleted(
    store: Store, other: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = elsewhere()

    def sleep(seconds: float) -> None:
        clock.go(seconds)
        assert store.claims.renew(worker)

    monkeypatch.setattr("audiocapbench.store.catalog.time", SimpleNamespace(sleep=sleep))
    assert can_take(store, worker)
    with pytest.raises(StoreError, match="is at work on run 1; end that first"):
        other.catalog.delete([1])
