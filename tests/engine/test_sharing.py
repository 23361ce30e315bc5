"""The same command more than once at a time: nothing is asked twice, and all see the same end."""

import json
import shutil
import signal
import sqlite3
import subprocess
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.engine import Progress, RateLimits, Stop, run_benchmark
from audiocapbench.engine.workers import Lease
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.store import Store
from audiocapbench.store.claims import TaskKey, Worker
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from forks import Forked
from whole_run import clip_of, outcomes, said, start, wait_until

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 32


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of clips and a store with a run that answered them all; to be copied."""
    place = tmp_path_factory.mktemp("answered")
    benchmark = open_benchmark(str(write_folder(place / "tones", CLIPS)))
    with Store.open(str(place / "audiocapbench.db")) as store:
        run_benchmark(benchmark, create_model("control/right"), store)
    return place


@pytest.fixture
def place(answered: Path, tmp_path: Path) -> Path:
    """A folder with the clips and no store."""
    shutil.copytree(answered / "tones", tmp_path / "tones")
    return tmp_path


@pytest.fixture
def store(answered: Path, tmp_path: Path) -> Iterator[Store]:
    """A store of its own with one run, whose answers are all there."""
    with Store.open(str(shutil.copy(answered / "audiocapbench.db", tmp_path))) as opened:
        yield opened


def slowly(_request: Request) -> dict[str, Any]:
    time.sleep(0.2)  # so that one process alone takes a second or two, and another finds it at work
    return completion()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None, reply=slowly) as running:
        yield running


def options(server: OpenAIServer, *more: str) -> list[str]:
    return [f"endpoint/fake@{server.base_url}", "--concurrency", "4", *more]


def test_the_same_command_twice_at_once_pays_once(place: Path, server: OpenAIServer) -> None:
    both = [start(place, *options(server)) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert Counter(map(clip_of, server.requests)).most_common(1)[0][1] == 1
    first, second = (json.loads(out)["runs"][0] for out, _ in told)
    assert first["answered"] == second["answered"] == CLIPS
    assert first["metrics"] == second["metrics"]
    assert "Traceback" not in told[0][1] + told[1][1]


def test_a_second_process_takes_others_and_says_whom_it_waits_for(
    place: Path, server: OpenAIServer
) -> None:
    held = threading.Event()

    def reply(_request: Request) -> dict[str, Any]:
        held.wait(120)
        return completion()

    server.reply = reply
    holder = start(place, *options(server))
    wait_until(lambda: len(server.requests) == 4)
    first = {clip_of(one) for one in server.requests}
    other = start(place, *options(server))
    wait_until(lambda: len(server.requests) == 8)
    assert not first & {clip_of(one) for one in server.requests[4:]}
    server.reply = slowly
    # What the first has in flight is all that is left for the second to wait for.
    held.set()
    told = [one.communicate(timeout=120) for one in (holder, other)]
    assert (holder.returncode, other.returncode) == (0, 0), told
    assert len(server.requests) == CLIPS


def test_ctrl_c_ends_the_waiting_for_another_process(place: Path, server: OpenAIServer) -> None:
    held = threading.Event()

    def reply(_request: Request) -> dict[str, Any]:
        held.wait(120)
        return completion()

    server.reply = reply
    few = options(server, "--limit", "3")
    holder = start(place, *few)
    wait_until(lambda: len(server.requests) == 3)
    other = start(place, *few)
    said(other, f"waiting for 3 that are being asked: 3 by pid {holder.pid} on ")
    other.send_signal(signal.SIGINT)
    other.communicate(timeout=120)
    assert other.returncode == 130
    held.set()
    holder.communicate(timeout=120)
    assert holder.returncode == 0
    assert len(server.requests) == 3


@pytest.mark.slow
def test_the_survivor_takes_over_from_a_killed_process(place: Path, server: OpenAIServer) -> None:
    both = [start(place, *options(server)) for _ in range(2)]
    wait_until(lambda: len(outcomes(place)) >= 8)
    both[0].kill()
    both[0].communicate()
    _, err = both[1].communicate(timeout=120)
    assert both[1].returncode == 0, err
    assert len(outcomes(place)) == CLIPS
    asked = Counter(map(clip_of, server.requests))
    assert len(asked) == CLIPS
    assert sum(asked.values()) <= CLIPS + 4


@pytest.mark.slow
def test_fresh_runs_at_once_share_nothing(place: Path, server: OpenAIServer) -> None:
    few = options(server, "--limit", "6", "--fresh")
    both = [start(place, *few) for _ in range(2)]
    for process in both:
        process.communicate(timeout=120)
    assert [process.returncode for process in both] == [0, 0]
    with Store.open(str(place / "audiocapbench.db")) as store:
        assert [line.asked for line in store.runs()] == [6, 6]


def test_what_is_refused_by_all_is_asked_once_by_all(store: Store) -> None:
    """A failure that another process has just met is not asked again in the same breath."""
    run = store.run(1)
    key = TaskKey("", run.sample_ids[0])
    before = store.claims.states(run.id)
    late, early = Worker(30), Worker(30)
    assert store.claims.take(run.id, early, [key], before).taken == [key]
    reply = store.claims.take(run.id, late, [key], before)
    assert (reply.taken, reply.done, reply.owners) == ([], [], {early.owner: 1})
    store.claims.release(early)
    assert store.claims.take(run.id, late, [key], {}).done == [key]  # it changed since it was seen


def lives_until(place: Path) -> float:
    with closing(sqlite3.connect(place / "audiocapbench.db", timeout=60)) as store:
        return float(store.execute("SELECT until FROM workers").fetchone()[0])


def test_signs_of_life_keep_a_lease(tmp_path: Path, store: Store) -> None:
    run = store.run(1)
    seen, key = store.claims.states(run.id), TaskKey("", run.sample_ids[0])
    lease = Lease(store)
    lease.worker = Worker(5.0, process="another machine:1.1")
    lease.claim(run.id, [key], seen)
    claimed = lives_until(tmp_path)
    wait_until(lambda: lives_until(tmp_path) > claimed)
    assert store.claims.take(run.id, Worker(30), [key], seen).taken == []
    lease._ended.set()


def test_a_run_that_ends_leaves_no_claim(store: Store) -> None:
    run = store.run(1)
    keys = [TaskKey("", one) for one in run.sample_ids]
    assert store.claims.take(run.id, Worker(30), keys, store.claims.states(run.id)).taken == keys


JUDGING = textwrap.dedent(
    """
    import sys
    from audiocapbench.judges import create_judge, judge_run
    from audiocapbench.engine import RateLimits
    from audiocapbench.store import Store
    with Store.open(sys.argv[1]) as store:
        end = judge_run(
            store, store.run(1), [create_judge(sys.argv[2])], repeats=2,
            rate_limits=RateLimits(concurrency=4),
        )
        print(end.stop, dict(end.judges[0].statuses))
    """
)


def test_the_same_judging_twice_at_once_pays_once(store: Store, server: OpenAIServer) -> None:
    scores = {"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "Good."}

    def reply(_request: Request) -> dict[str, Any]:
        time.sleep(0.1)
        return completion(json.dumps(scores))

    server.reply = reply
    told = ("-c", JUDGING, store.name, f"endpoint/gpt@{server.base_url}")
    pipe = subprocess.PIPE
    both = [Forked(*told, stdout=pipe, stderr=pipe) for _ in range(2)]
    ends = [process.communicate(timeout=120) for process in both]
    assert [out for out, _ in ends] == [f"None {{'ok': {2 * CLIPS}}}\n"] * 2, ends
    assert len(server.requests) == 2 * CLIPS


def test_two_calls_in_one_process_share_too(place: Path, server: OpenAIServer) -> None:
    benchmark = open_benchmark(str(place / "tones"))
    ends: list[Stop | None] = []
    notes: list[int] = []

    def ask() -> None:
        with Store.open(str(place / "audiocapbench.db")) as store:
            model = create_model(f"endpoint/fake@{server.base_url}")
            watch = Progress(elsewhere=notes.append)
            limits = RateLimits(concurrency=4)
            ends.append(
                run_benchmark(benchmark, model, store, rate_limits=limits, progress=watch).stop
            )

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert ends == [None] * 3
    assert len(server.requests) == CLIPS
    assert sum(notes) > 0


def test_a_judge_is_not_kept_waiting_by_the_model(store: Store) -> None:
    """Claims of a judge and of the run's model on the same sample are two things."""
    run = store.run(1)
    keys = [TaskKey("", one) for one in run.sample_ids]
    other = Worker(30)
    assert store.claims.take(run.id, other, keys, store.claims.states(run.id)).taken == keys
    assert judge_run(store, run, [create_judge("elements")]).stop is None
    store.claims.release(other)
