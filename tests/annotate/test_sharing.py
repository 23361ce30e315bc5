"""Stages of ``annotate`` in other processes: seen while they go on, and shared by several."""

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import expert_plugin
from annotations import good_fields, reply
from audiocapbench.store import Store
from audiocapbench.web.app import LiveFeed
from command import run_command
from forks import Forked

pytestmark = pytest.mark.slow

EXPERTS = ["--expert", "signal", "--expert", "diary"]


def begin(place: Path, *words: str, **settings: str) -> Forked:
    env = expert_plugin.environment(place, **settings)
    told = ("-m", "audiocapbench", "annotate", *words)
    return Forked(*told, cwd=place, env=env, stderr=subprocess.PIPE)


def ended(process: Forked) -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def until(feed: LiveFeed, stage: str, met: Callable[[Any], bool]) -> tuple[Any, Any]:
    """The task of a stage, and all that is told, once a condition is met."""
    deadline = time.monotonic() + 120
    while True:
        told = feed.look()
        for task in told["tasks"]:
            if task["stage"] == stage and met(task):
                return task, told
        assert time.monotonic() < deadline, told
        time.sleep(0.05)


def test_two_commands_that_hear_the_same_clips_share_them(place: Path) -> None:
    for number in range(12, 48):
        copy = (place / "clips" / f"{number % 12:02}.wav").read_bytes()
        (place / "clips" / f"{number:02}.wav").write_bytes(copy + bytes(number))
    go = place / "go"
    words = ("hear", "clips", *EXPERTS)
    failing = {"EXPERT_WAITS": str(go), "EXPERT_FAILS": "40.wav"}
    both = [begin(place, *words, **failing) for _ in range(2)]
    with Store.open(str(place / "audiocapbench.db")) as store:
        feed = LiveFeed(store)
        task, _ = until(feed, "hear", lambda task: task["workers"] == 2)
        assert (task["model"], task["done"], task["total"]) == ("experts", 0, 48)
        go.touch()
        ends = [process.communicate(timeout=120) for process in both]
        assert [one.returncode for one in both] == [1, 1], ends
        task, told = until(feed, "hear", lambda task: task["done"] == 48)
        assert (task["failed"], task["rate"] > 0) == (1, True)
        assert "calm" in told["newest"][0]["text"] + told["newest"][1]["text"]
        assert len(store.annotations.records(str((place / "clips").resolve()), "hear")) == 48
    heard = expert_plugin.heard(place)
    assert sorted(heard) == [f"{number:02}.wav" for number in range(48)], "each once"
    run_command("annotate", *words, cwd=place, env=expert_plugin.environment(place))
    assert expert_plugin.heard(place)[48:] == ["40.wav"], "what failed is heard again"


def test_what_a_killed_command_was_hearing_another_takes_over(place: Path) -> None:
    words, go = ("hear", "clips", *EXPERTS), place / "go"
    first = begin(place, *words, EXPERT_WAITS=str(go))
    with Store.open(str(place / "audiocapbench.db")) as store:
        until(LiveFeed(store), "hear", lambda task: task["workers"] == 1)
    second = begin(place, *words)
    first.kill()
    first.communicate()
    ended(second)
    assert len(set(expert_plugin.heard(place))) == 12


def test_merging_is_seen_while_it_goes_on(place: Path, merger: Any) -> None:
    assert begin(place, "hear", "clips", *EXPERTS).wait(120) == 0
    go = threading.Event()

    def late(number: int, domain: str, _again: bool) -> str:
        go.wait(120)
        return reply(good_fields(number, domain))

    merger.own = dict.fromkeys(range(6, 12), late)
    merging = begin(place, "merge", "clips", "--llm", merger.model, "--yes", "--concurrency", "12")
    with Store.open(str(place / "audiocapbench.db")) as store:
        feed = LiveFeed(store)
        task, told = until(feed, "merge", lambda task: task["done"] == 6)
        assert (task["model"], task["total"], task["workers"]) == (merger.model, 12, 1)
        assert told["newest"][0]["text"].startswith("A ")
        go.set()
        ended(merging)
