"""Runs: committed as they arrive, resumed where they stopped, interrupted without loss."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import Selection, open_benchmark
from audiocapbench.data.outcome import Status
from audiocapbench.engine import RateLimits, run_benchmark
from audiocapbench.errors import ModelError
from audiocapbench.models import create_model
from audiocapbench.store import Store
from command import run_command
from folders import write_folder, write_tone
from forks import Forked
from plugin import asked, environment, open_gate
from whole_run import interrupt, wait_until

CLIPS = 12
WORDS = ("run", "tones", "--json")


def start(place: Path, *more: str, **settings: str) -> Forked:
    words = (*WORDS, "--metrics", "rouge_l", "--model", "diary/slow", *more)
    return Forked(
        "-m",
        "audiocapbench",
        *words,
        cwd=place,
        env=environment(place, **settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def call(
    place: Path, *more: str, model: str = "diary/slow", metrics: str = "rouge_l", **settings: str
) -> subprocess.CompletedProcess[str]:
    chosen = ("--metrics", metrics) if metrics else ()
    words = (*WORDS, "--model", model, *chosen, *more)
    return run_command(*words, cwd=place, env=environment(place, DIARY_PAUSE="0", **settings))


def finish(place: Path, *more: str, **settings: str) -> dict[str, Any]:
    done = call(place, *more, **settings)
    assert done.returncode in (0, 1), done.stderr
    run: dict[str, Any] = json.loads(done.stdout)["runs"][0]
    return run


def committed(place: Path) -> set[str]:
    database = place / "audiocapbench.db"
    if not database.exists():
        return set()
    store = Store.open(str(database))
    found = {sample for run in store.runs() for sample in store.outcomes(run.id)}
    store.close()
    return found


def test_a_killed_run_resumes_without_asking_twice(place: Path, tmp_path: Path) -> None:
    process = start(place, DIARY_FREE="5")
    wait_until(lambda: len(committed(place)) >= 4)
    process.kill()
    process.communicate()
    safe = committed(place)
    before = asked(place)
    assert 4 <= len(safe) < CLIPS
    resumed = finish(place, metrics="rouge_l,cider_d")
    again = asked(place)[len(before) :]
    assert not safe & set(again)
    assert len(again) == CLIPS - len(safe)

    (tmp_path / "audiocapbench.db").rename(tmp_path / "killed.db")
    unbroken = finish(place, metrics="rouge_l,cider_d")
    assert set(unbroken["metrics"]) == {"rouge_l", "cider_d"}
    assert resumed["metrics"] == unbroken["metrics"]
    assert resumed["by_group"] == unbroken["by_group"]
    assert resumed["answered"] == unbroken["answered"] == CLIPS


def test_a_finished_run_asks_nothing_more(place: Path) -> None:
    first = finish(place)
    assert finish(place) == first
    assert len(asked(place)) == CLIPS


def test_a_fresh_run_asks_everything_again(place: Path) -> None:
    first = finish(place, DIARY_CACHE="yes")
    second = finish(place, "--fresh", DIARY_CACHE="yes")
    assert first["run"] != second["run"]
    assert len(asked(place)) == 2 * CLIPS


def test_ctrl_c_keeps_what_was_done_and_says_how_to_go_on(place: Path) -> None:
    process = start(place, DIARY_FREE="2")
    wait_until(lambda: len(committed(place)) == 2 and len(asked(place)) == 3)
    interrupt(process)
    open_gate(place)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    done = committed(place)
    assert f"Stopped after {len(done)} of {CLIPS}" in err
    assert "The same command goes on from here." in err
    assert "Traceback" not in err
    assert json.loads(out)["runs"][0]["answered"] == len(done)
    assert asked(place) == [f"tone_{index}" for index in range(len(done))]
    finish(place)
    assert sorted(asked(place)) == sorted(f"tone_{index}" for index in range(CLIPS))


def test_ctrl_c_at_the_last_answer_asks_no_other_model(place: Path) -> None:
    process = start(place, "--limit", "1", "--model", "diary/other", DIARY_FREE="0")
    wait_until(lambda: len(asked(place)) == 1)
    interrupt(process)
    open_gate(place)
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert asked(place) == ["tone_0"]


def test_ctrl_c_while_it_starts_is_no_traceback(place: Path) -> None:
    starting = (
        "import os, signal, sys, threading\n"
        "from audiocapbench.cli import main\n"
        "threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "main()\n"
    )
    told = [sys.executable, "-c", starting, "run", "tones", "--model", "diary/slow"]
    done = subprocess.run(
        told, cwd=place, env=environment(place), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith("audiocapbench: interrupted\n")
    assert "Traceback" not in done.stderr


def test_a_second_ctrl_c_drops_what_is_in_flight(place: Path) -> None:
    process = start(place, DIARY_PAUSE="60", DIARY_CONCURRENCY="3")
    wait_until(lambda: len(asked(place)) == 3)
    interrupt(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Stopped after 0 of 12" in err


def test_as_many_samples_are_in_flight_as_the_user_says(place: Path) -> None:
    at_once: list[int] = []

    def look() -> None:
        try:
            wait_until(lambda: len(asked(place)) >= 5)
            time.sleep(0.5)
            at_once.append(len(asked(place)))
        finally:
            open_gate(place)

    looking = threading.Thread(target=look)
    looking.start()
    finish(place, "--concurrency", "5", DIARY_FREE="0")
    looking.join()
    assert at_once == [5]


def test_a_filter_shares_answers_through_the_cache(place: Path) -> None:
    finish(place, "--limit", "5", DIARY_CACHE="yes")
    assert len(asked(place)) == 5
    whole = finish(place, DIARY_CACHE="yes")
    assert len(asked(place)) == CLIPS
    assert whole["n"] == CLIPS


def test_an_error_in_a_model_fails_its_sample_only(place: Path) -> None:
    done = call(place, model="diary/raises")
    assert done.returncode == 1
    run = json.loads(done.stdout)["runs"][0]
    assert run["statuses"] == {"ok": 10, "failed": 2}
    assert " ×2: failed: ValueError: no idea" in done.stderr
    assert run["metrics"]["rouge_l"]["coverage"] == pytest.approx(10 / 12)
    figure = run["metrics"]["rouge_l"]
    assert figure["as_zero"] == pytest.approx(figure["score"] * 10 / 12)
    assert figure["bounds"] == pytest.approx([figure["as_zero"], figure["as_zero"] + 2 / 12])
    before = len(asked(place))
    finish(place, model="diary/raises")
    assert asked(place)[before:] == ["tone_1", "tone_11"]


def test_blank_answers_are_empty_and_score_zero(place: Path) -> None:
    run = finish(place, model="diary/blank", metrics="")
    assert len(run["metrics"]) > 3
    assert run["statuses"] == {"empty": CLIPS}
    assert run["answered"] == 0
    assert {figure["score"] for figure in run["metrics"].values()} == {0.0}


def test_text_that_no_database_keeps_is_made_storable(place: Path) -> None:
    finish(place, model="diary/nul")
    store = Store.open(str(place / "audiocapbench.db"))
    assert store.outcomes(1)["tone_0"].reply.text == "a\ufffdb\ufffd"


def test_a_clip_past_the_contract_is_refused_with_its_reason(place: Path) -> None:
    write_tone(place / "tones" / "clips" / "0.wav", seconds=11)
    done = call(place, "--limit", "1")
    assert done.returncode == 1
    assert "is 11.0 s long; this model takes at most 10 s" in done.stderr
    assert json.loads(done.stdout)["runs"][0]["metrics"]["rouge_l"]["score"] is None


def test_a_run_inside_a_program_needs_no_command_line(tmp_path: Path) -> None:
    benchmark = open_benchmark(str(write_folder(tmp_path)))
    store = Store.open(str(tmp_path / "runs.db"))
    end = run_benchmark(
        benchmark, create_model("listener"), store, selection=Selection(("music",), 1)
    )
    assert end.total == 1
    assert end.stop is None
    outcome = store.outcomes(end.run.id)["tone_1"]
    assert outcome.reply.status is Status.OK
    assert outcome.audio_s == pytest.approx(0.25)
    with pytest.raises(ModelError, match="at least 1"):
        run_benchmark(
            benchmark, create_model("listener"), store, rate_limits=RateLimits(concurrency=0)
        )
