"""A store that is locked while a run goes on: waited for, and nothing that was paid for is lost."""

import json
import resource
import shutil
import signal
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.signature import sign
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement, JudgeReply
from audiocapbench.store.unsaved import AnswerRecord, JudgementRecord
from command import run_command
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from locking import locked
from made_store import MadeRun, made_samples, put_run
from whole_run import (
    clip_of,
    finish,
    interrupt,
    outcomes,
    run_words,
    said,
    start,
    start_patient,
    wait_until,
)

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 12


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", CLIPS)
    return tmp_path


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None) as running:
        yield running


def held_back(server: OpenAIServer) -> threading.Event:
    """No answers until the event is set."""
    go = threading.Event()

    def reply(_request: Request) -> dict[str, Any]:
        go.wait(120)
        return completion()

    server.reply = reply
    return go


def options(server: OpenAIServer) -> list[str]:
    return [f"endpoint/fake@{server.base_url}", "--concurrency", "4"]


def test_a_run_goes_on_when_a_locked_store_is_back(place: Path, server: OpenAIServer) -> None:
    go = held_back(server)
    process = start(place, *options(server))
    wait_until(lambda: len(server.requests) == 4)
    with locked(place / "audiocapbench.db"):
        go.set()
        line = said(process, "waiting for the store")
        assert "is locked by another process" in line
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "the store is back" in err
    assert json.loads(out)["runs"][0]["answered"] == CLIPS
    assert len(server.requests) == CLIPS


def test_ctrl_c_twice_ends_at_once_and_answers_are_kept_beside_a_locked_store(
    place: Path, server: OpenAIServer
) -> None:
    go = held_back(server)
    model, *more = options(server)
    process = start_patient(place, *run_words(model, more))
    wait_until(lambda: len(server.requests) == 4)
    with locked(place / "audiocapbench.db"):
        go.set()
        said(process, "waiting for the store")
        interrupt(process)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        assert time.monotonic() - began < 100, "one Ctrl-C alone is not the end"
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "4 answers could not be stored and are kept in" in err
    (kept,) = place.glob("audiocapbench.db.unsaved-run1-*.jsonl")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert outcomes(place) == {}

    end = finish(place, *options(server))
    assert end.code == 0, end.err
    assert "4 answers that could not be stored were taken in from" in end.err
    assert not list(place.glob("*unsaved*"))
    assert len(server.requests) == len(set(map(clip_of, server.requests))) == CLIPS
    assert {one.reply.status for one in outcomes(place).values()} == {Status.OK}


def test_ctrl_c_once_while_a_locked_store_is_waited_for_keeps_all(
    place: Path, server: OpenAIServer
) -> None:
    go = held_back(server)
    model, *more = options(server)
    process = start_patient(place, *run_words(model, more))
    wait_until(lambda: len(server.requests) == 4)
    with locked(place / "audiocapbench.db"):
        go.set()
        said(process, "waiting for the store")
        interrupt(process)
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert len(outcomes(place)) == len(server.requests) == 4


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no limit can be set from outside")
def test_ctrl_c_once_with_a_full_disk_ends_soon_and_keeps_all_in_a_file(
    place: Path, server: OpenAIServer
) -> None:
    go = held_back(server)
    process = start(place, *options(server))
    wait_until(lambda: len(server.requests) == 4)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (8192, 8192))
    go.set()
    said(process, "waiting for the store")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "4 answers could not be stored and are kept in" in err
    assert finish(place, *options(server)).code == 0
    assert len(server.requests) == len(outcomes(place)) == CLIPS


@pytest.mark.parametrize("whole_folder", [False, True])
def test_a_store_that_is_removed_while_in_use_is_said_to_be_gone_and_answers_are_kept(
    place: Path, server: OpenAIServer, *, whole_folder: bool
) -> None:
    (place / "stores").mkdir()
    given = [*options(server), "--store", str(place / "stores" / "my.db")]
    go = held_back(server)
    process = start(place, *given)
    wait_until(lambda: len(server.requests) == 4)
    (place / "stores").rename(place / "moved")
    if not whole_folder:
        (place / "stores").mkdir()
    go.set()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2, err
    assert "my.db: was removed or replaced while in use" in err
    assert "4 answers could not be stored and are kept in" in err
    assert len(server.requests) == 4  # what was in flight was waited for, and nothing else asked
    assert not (place / "stores" / "my.db").exists()
    assert (place / "stores").exists() is not whole_folder
    (kept,) = [*place.glob("stores/my.db.unsaved-*"), *place.glob("state/*/*.unsaved-*")]

    (place / "stores").mkdir(exist_ok=True)
    new = finish(place, *given)
    assert f"{kept} holds answers of a run that this store does not have" in new.err
    assert kept.exists()
    assert len(server.requests) == 4 + CLIPS

    for name in ("my.db", "my.db-wal", "my.db-shm"):
        (place / "stores" / name).unlink(missing_ok=True)
    for file in (place / "moved").iterdir():
        shutil.move(file, place / "stores" / file.name)
    end = finish(place, *given)
    assert end.code == 0, end.err
    assert "4 answers that could not be stored were taken in from" in end.err
    assert len(server.requests) == 4 + CLIPS + CLIPS - 4


def test_a_locked_judging_waits_and_keeps_its_judgements(place: Path, server: OpenAIServer) -> None:
    finish(place, "control/right")
    go = threading.Event()
    scores = {"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "Good."}

    def reply(_request: Request) -> dict[str, Any]:
        go.wait(120)
        return completion(json.dumps(scores))

    server.reply = reply
    told = ["score", "1", "--judge", f"endpoint/gpt@{server.base_url}", "--yes"]
    process = start_patient(place, *told)
    wait_until(lambda: len(server.requests) >= 4)
    with locked(place / "audiocapbench.db"):
        go.set()
        said(process, "waiting for the store")
        interrupt(process)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        assert time.monotonic() - began < 100, "one Ctrl-C alone is not the end"
    assert process.returncode == 130
    assert "Traceback" not in err
    asked = len(server.requests)
    again = run_command(*told, cwd=place)
    assert again.returncode == 0, again.stderr
    assert f"{asked} answers that could not be stored were taken in" in again.stderr
    assert len(server.requests) == CLIPS


@pytest.fixture
def run(store: Store) -> Run:
    put_run(store, MadeRun("one"), made_samples(3))
    with sqlite3.connect(store.name) as plain:
        plain.execute("DELETE FROM outcomes")
    plain.close()
    return store.run(1)


def answer(run: Run, number: int = 0, text: str = "A tone.") -> AnswerRecord:
    reply = Reply(text, cost_usd=0.25, raw='{"a": 1}')
    return AnswerRecord(Outcome(run.sample_ids[number], reply, "ab" * 32, 1.5, 0.2), "cd" * 32)


def judgement(run: Run, number: int = 0) -> JudgementRecord:
    signature = sign("judge-x", option="a|b")
    sample = run.sample_ids[number]
    own = Judgement("x", sample, 0, signature, Status.OK, {"accuracy": -0.5}, "Good.")
    return JudgementRecord(own, JudgeReply("ef" * 32, "m", answer(run, number).outcome))


def test_what_is_kept_in_a_file_comes_back_as_it_was(store: Store, run: Run) -> None:
    store.keep_unsaved(run, [answer(run), judgement(run, 1)])
    ((_, records, _),) = store.take_in(run)
    assert records == [answer(run), judgement(run, 1)]
    assert store.outcomes(run.id)[run.sample_ids[0]] == answer(run).outcome
    assert store.judgements(run.id, "x") == [judgement(run, 1).judgement]
    assert store.cache.replies(["cd" * 32]).get("cd" * 32) is not None
    assert store.take_in(run) == []


def test_an_answer_that_came_since_stays(store: Store, run: Run) -> None:
    store.keep_unsaved(run, [answer(run, text="old"), judgement(run)])
    store.add_records(run.id, [answer(run, text="new"), judgement(run)])
    made_at = store.claims.states(run.id, "x")
    store.take_in(run)
    assert store.outcomes(run.id)[run.sample_ids[0]].reply.text == "new"
    assert store.claims.states(run.id, "x") == made_at


HOSTILE = [
    "",
    "[]",
    "{}",
    '"text"',
    "{" * 5000,
    '{"outcome": 1, "cache_key": null}',
    '{"outcome": {}, "cache_key": null}',
    '{"judgement": null, "reply": null}',
]


def test_only_answers_of_the_run_are_taken_from_a_file(store: Store, run: Run) -> None:
    path = store.keep_unsaved(run, [answer(run)])
    good = json.loads(path.read_text().splitlines()[1])

    def changed(**values: Any) -> str:
        return json.dumps(good | {"outcome": good["outcome"] | values})

    def replied(**values: Any) -> str:
        return changed(reply=good["outcome"]["reply"] | values)

    odd = [
        changed(sample_id="no such sample"),
        changed(latency_s="1"),
        changed(attempts=10**20),
        changed(audio_s=float("inf")),
        changed(audio_s=float("nan")),
        changed(more=1),
        replied(text="a\0b"),
        replied(text="\ud800"),
        replied(status="splendid"),
        replied(cost_usd=-1),
        replied(input_tokens=True),
        json.dumps(good | {"cache_key": "short"}),
    ]
    with path.open("a") as file:
        file.write("\n".join([*HOSTILE, *odd, "half a li"]))
    ((_, records, rejected),) = store.take_in(run)
    assert [one.outcome.sample_id for one in records if isinstance(one, AnswerRecord)] == [
        run.sample_ids[0]
    ]
    assert rejected == len(HOSTILE) - 1 + len(odd) + 1
    assert path.with_suffix(".rejected").exists()
    assert store.take_in(run) == []


def test_of_two_answers_about_a_clip_in_a_file_the_first_is_taken(store: Store, run: Run) -> None:
    twice = [answer(run, text="first"), answer(run, text="second")]
    path = store.keep_unsaved(run, [*twice, judgement(run), judgement(run)])
    notes: list[str] = []
    ((_, records, _),) = store.take_in(run, notes.append)
    assert records == [twice[0], judgement(run)]
    assert store.outcomes(run.id)[run.sample_ids[0]].reply.text == "first"
    assert notes[1].startswith("2 lines of it are no answers of this run, or second ones")
    assert path.with_suffix(".rejected").exists()


def test_a_file_of_another_store_or_behind_a_link_is_left_alone(
    store: Store, run: Run, tmp_path: Path
) -> None:
    path = store.keep_unsaved(run, [answer(run)])
    elsewhere = tmp_path / "elsewhere.jsonl"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert store.take_in(run) == []
    path.unlink()
    head, line = elsewhere.read_text().splitlines()
    path.write_text(head.replace('"one"', '"two"') + "\n" + line)
    assert store.take_in(run) == []
    assert store.outcomes(run.id) == {}


def test_the_state_folder_is_used_where_nothing_can_be_written_beside_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Store.open(str(tmp_path / ("long" * 60))) as store:  # no longer name fits beside it
        put_run(store, MadeRun("one"), made_samples(3))
        run = store.run(1)
        path = store.keep_unsaved(run, [answer(run)])
        assert path.parent == tmp_path / "state" / "audiocapbench"
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert len(store.take_in(run)) == 1
