"""What other processes do on a store is told while they do it: a judge, and a trial of ``meta``."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.store import Store
from audiocapbench.web.app import LiveFeed
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from forks import Forked
from four_models import put_models

pytestmark = pytest.mark.slow

ANSWERED = 5


class HalfWay(OpenAIServer):
    """Answers a few questions with every score a judge may be asked for, and then waits."""

    def __init__(self) -> None:
        super().__init__(key=None, reply=self._reply)
        self.go, self._left = threading.Semaphore(ANSWERED), threading.Event()

    def _reply(self, _request: Request) -> dict[str, Any]:
        if not self._left.is_set():
            self.go.acquire(timeout=120)
        fields = dict.fromkeys(("accuracy", "completeness", "hallucination"), 7)
        return completion(json.dumps(fields | {"reasoning": "A first half.", "answer": "A"}))

    def go_on(self) -> None:
        self._left.set()
        self.go.release(100)


@pytest.fixture
def server() -> Iterator[HalfWay]:
    with HalfWay() as found:
        yield found


def shown(store: Store, met: Callable[[Any], bool]) -> tuple[Any, Any]:
    feed, deadline = LiveFeed(store), time.monotonic() + 120
    while True:
        told = feed.look()
        for task in told["tasks"]:
            if met(task):
                return task, told
        assert time.monotonic() < deadline, told
        time.sleep(0.05)


def begin(place: Path, *words: str) -> Forked:
    told = ("-m", "audiocapbench", *words, "--store", "runs.db", "--yes")
    return Forked(*told, cwd=place, stderr=subprocess.PIPE)


def test_a_judge_in_another_process_is_seen(tmp_path: Path, server: HalfWay) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        put_models(store)
        judge = f"endpoint/judge@{server.base_url}"
        process = begin(tmp_path, "score", "1", "--judge", judge)
        task, told = shown(store, lambda task: task["done"] == ANSWERED)
        assert (task["judge"], task["run"], task["total"]) == (judge, 1, 40)
        assert (task["workers"], task["failed"], task["trial"]) == (1, 0, False)
        assert told["newest"], "the answers that are judged"
        server.go_on()
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors


def test_a_trial_in_another_process_is_seen(tmp_path: Path, server: HalfWay) -> None:
    rows = ["audio,caption_a,caption_b,preferred"]
    rows += [f"{n}.wav,a dog barks {n},rain falls {n},a" for n in range(8)]
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n")
    with Store.open(str(tmp_path / "runs.db")) as store:
        name = f"model:endpoint/gpt@{server.base_url}[audio=no]"
        process = begin(tmp_path, "meta", "csv", "--pairs", "pairs.csv", "--scorer", name)
        task, told = shown(store, lambda task: task["done"] == ANSWERED)
        assert (task["trial"], task["stage"], task["workers"]) == (True, "", 1)
        assert "A first half." in told["newest"][0]["text"]
        server.go_on()
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
