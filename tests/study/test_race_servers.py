"""Races against real servers that are slow, cost money, or judge only half of what they see."""

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from audiocapbench.models.price import PRICED, Price
from audiocapbench.study.race import BATCHES
from command import run_command
from fakes.http_server import Request
from fakes.openai_batches import OpenAIBatchServer
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from forks import Forked
from whole_run import wait_until

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 60
VERDICT = '{"accuracy": %d, "completeness": %d, "hallucination": %d, "reasoning": "So."}'


class Servers:
    """A server of two models and a judge: one captions well, one badly, and the judge sees it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.verdicts = 0
        self.half = False
        self.pause_s = 0.0
        self.server = OpenAIServer(key=None, reply=self._reply)

    def _reply(self, request: Request) -> dict[str, Any]:
        time.sleep(self.pause_s)
        if request.json["model"] != "judge":
            return completion(
                "A steady tone sounds." if request.json["model"] == "good" else "A dog barks."
            )
        self.verdicts += 1
        if self.half and self.verdicts % 2:
            return completion("I would rather not say.")
        score = 3 if "dog" in json.dumps(request.json["messages"]) else 8
        return completion(VERDICT % (score, score, score))

    def words(self, *more: str) -> list[str]:
        models = [f"endpoint/{name}@{self.server.base_url}" for name in ("good", "bad")]
        named = [word for one in models for word in ("--model", one)]
        return ["race", "tones", *named, "--concurrency", "2", "--yes", "--json", *more]

    @property
    def judge(self) -> tuple[str, str]:
        return "--judge", f"endpoint/judge@{self.server.base_url}"

    def asked(self) -> Counter[tuple[str, str]]:
        """How often each clip was sent to each model."""
        return Counter(
            (one.json["model"], json.dumps(one.json["messages"]))
            for one in self.server.requests
            if one.json["model"] != "judge"
        )

    def has_asked(self, count: int) -> bool:
        return len(self.server.requests) >= count

    def race(self, *more: str, store: str) -> tuple[int, dict[str, Any], str]:
        done = run_command(*self.words(*more, "--store", store), cwd=self.place)
        return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    write_folder(tmp_path / "tones", CLIPS)
    made = Servers(tmp_path)
    with made.server:
        yield made


def outcome(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key != "models"}


@pytest.mark.slow
def test_a_race_that_is_killed_and_stopped_goes_on_and_decides_the_same(servers: Servers) -> None:
    servers.pause_s = 0.05
    for number, with_signal in enumerate((signal.SIGKILL, signal.SIGINT)):
        words = ("-m", "audiocapbench", *servers.words("--store", "stopped.db"))
        pipe = subprocess.PIPE
        process = Forked(*words, cwd=servers.place, stdout=pipe, stderr=pipe)
        wait_until(partial(servers.has_asked, 8 + 8 * number))
        process.send_signal(with_signal)
        _, told = process.communicate(timeout=120)
        assert process.returncode in (-signal.SIGKILL, 130), told
    servers.pause_s = 0.0
    code, found, _ = servers.race("--resume", store="stopped.db")
    assert code == 0
    assert found["best"][0].startswith("endpoint/good")
    # What was in flight when it was stopped, two at a time, may be asked again.
    assert sum(servers.asked().values()) <= found["asked"] + 4
    calm, alone, _ = servers.race("--seed", "0", store="calm.db")
    assert (calm, outcome(alone)) == (0, outcome(found))


def test_a_race_stops_at_its_budget_and_goes_on_with_another(servers: Servers) -> None:
    price = Price(2.5, 10, "made up", PRICED, 40, 10)
    entry = TypeAdapter(Price).dump_python(price, mode="json")
    names = [word for word in servers.words() if word.startswith("endpoint/")]
    table = {"currency": "USD", "unit": "per 1,000,000 tokens"}
    prices = servers.place / "prices.json"
    prices.write_text(json.dumps(table | {"models": dict.fromkeys(names, entry)}))
    priced = ("--prices", str(prices))
    code, found, told = servers.race(*priced, "--budget", "0.005", store="paid.db")
    assert (code, found["decided"], found["stopped"]) == (1, False, "budget")
    assert "Stopped:" in told
    assert found["cost_usd"] <= 0.005
    before = sum(servers.asked().values())
    words = servers.words("--resume", *priced, "--store", "paid.db", "--temperature", "0.5")
    other = run_command(*words, cwd=servers.place)
    assert other.returncode == 2
    assert "was asked in another way in that race" in other.stderr
    code, found, told = servers.race("--resume", *priced, "--budget", "1", store="paid.db")
    assert (code, found["decided"]) == (0, True)
    assert max(servers.asked().values()) == 1
    assert found["asked"] > before


def test_verdicts_that_cannot_be_read_may_be_anything_and_decide_nothing(servers: Servers) -> None:
    servers.half = True
    code, found, _ = servers.race(*servers.judge, store="half.db")
    assert code in (0, 1)
    if found["decided"]:
        assert found["best"][0].startswith("endpoint/good")
    whole = servers.verdicts
    servers.half = False
    code, found, _ = servers.race(*servers.judge, store="half.db")
    assert (code, found["decided"]) == (0, True)
    assert found["best"][0].startswith("endpoint/good")
    assert servers.verdicts >= whole


def test_a_race_by_batch_sends_few_of_them_and_bills_nothing_twice(tmp_path: Path) -> None:
    def reply(request: Request) -> dict[str, Any]:
        is_good = request.json["model"] == "gpt-audio"
        return completion("A steady tone sounds." if is_good else "A dog barks.")

    write_folder(tmp_path / "tones", CLIPS)
    models = ("--model", "openai/gpt-audio", "--model", "openai/gpt-audio-mini")
    with OpenAIBatchServer(reply=reply) as server:
        env = dict(os.environ) | server.settings
        words = ("race", "tones", *models, "--metric", "rouge_l", "--batch", "--yes", "--json")
        first, again = (run_command(*words, cwd=tmp_path, env=env) for _ in range(2))
        assert first.returncode == 0, first.stderr
        assert json.loads(first.stdout)["best"] == ["openai/gpt-audio"]
        assert json.loads(again.stdout) == json.loads(first.stdout)
        assert len(server.batches) < 2 * BATCHES
        assert set(server.billed.values()) == {1}
