"""``run --repeats``: each repeat is a run of its own, and nothing is asked or paid twice."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.models import Model, Question, create_model
from audiocapbench.models.model import RepeatedModel
from audiocapbench.models.registry import create_published
from audiocapbench.scores.table import repeats
from audiocapbench.store import Store
from fakes.http_server import Request
from fakes.openai_batches import OpenAIBatchServer, completion
from fakes.openai_server import OpenAIServer
from folders import write_folder
from whole_run import STORE, clip_of, finish, start, wait_until, write_prices

CLIPS, REPEATS = 4, 3
AGAIN = ("--repeats", str(REPEATS), "--temperature", "0.7")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_folder(tmp_path / "tones", CLIPS)
    return tmp_path


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None) as running:
        running.reply = lambda _: completion(f"Tone {len(running.requests)} sounds.")
        yield running


def endpoint(server: OpenAIServer) -> str:
    return f"endpoint/fake@{server.base_url}"


def asked(server: OpenAIServer) -> Counter[tuple[str, Any]]:
    return Counter((clip_of(one), one.json.get("seed")) for one in server.requests)


def test_repeats_are_asked_with_seeds_and_never_answered_from_the_cache(
    place: Path, server: OpenAIServer
) -> None:
    first = finish(place, endpoint(server), "--temperature", "0.7")
    end = finish(place, endpoint(server), *AGAIN)
    assert end.code == 0, end.err
    assert "alike" not in end.err
    questions = asked(server)
    assert set(questions.values()) == {1}
    assert Counter(seed for _, seed in questions) == {None: CLIPS, 1: CLIPS, 2: CLIPS}
    with Store.open(str(place / STORE)) as store:
        runs = [store.run(line.id) for line in store.runs()]
        texts = [{one.reply.text for one in store.outcomes(run.id).values()} for run in runs]
    assert [run.parameters.get("repeat") for run in runs] == [None, 1, 2]
    assert not set.intersection(*texts)
    assert [[one.id for one in group] for group in repeats(runs)] == [[1, 2, 3]]
    assert json.loads(first.out)["runs"][0]["run"] == json.loads(end.out)["runs"][0]["run"] == 1
    again = finish(place, endpoint(server), *AGAIN)
    assert (again.code, len(server.requests)) == (0, CLIPS * REPEATS)


def test_a_budget_is_over_all_repeats_and_the_same_command_goes_on(
    place: Path, server: OpenAIServer
) -> None:
    model = endpoint(server)
    prices = str(write_prices(place / "prices.json", model))
    words = (*AGAIN, "--limit", "3", "--prices", prices, "--concurrency", "1")
    end = finish(place, model, *words, "--budget", "0.65")  # a question costs 0.127
    assert "the budget is spent" in end.err
    assert Counter(seed for _, seed in asked(server)) == {None: 2, 1: 1, 2: 1}
    assert finish(place, model, *words, "--budget", "9").code == 0
    assert list(asked(server).values()) == [1] * 9


def test_models_that_draw_nothing_are_said_to_be_alike(place: Path, server: OpenAIServer) -> None:
    end = finish(place, "control/right", "--repeats", "2")
    assert end.code == 0, end.err
    assert "control/right: asked at temperature 0, or without one" in " ".join(end.err.split())
    assert "alike" in finish(place, endpoint(server), "--repeats", "2", "--temperature", "0").err


@pytest.mark.parametrize("make", [create_model, create_published])
@pytest.mark.parametrize("name", ["gemini/gemini-2.5-flash", "dashscope/qwen-audio-turbo"])
def test_every_provider_with_a_seed_is_given_one(
    name: str, make: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("GEMINI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.setenv(key, "k")
    model = make(name)
    again: Any = RepeatedModel(model, 2)
    assert again.parameters == {**model.parameters, "repeat": 2}
    while hasattr(again, "_model"):
        again = again._model
    body = again.body(Question("s", "What is heard?", None), "")
    assert {**body.get("generationConfig", {}), **body.get("parameters", {})}["seed"] == 2
    assert make(name).parameters == model.parameters


@pytest.mark.slow
def test_a_killed_command_asks_no_repeat_twice(place: Path) -> None:
    left, ended = threading.Semaphore(CLIPS + 2), threading.Event()

    def reply(_request: Request) -> dict[str, Any]:
        if not left.acquire(blocking=False):
            ended.wait()
        return completion()

    with OpenAIServer(key=None, reply=reply) as server:
        words = (endpoint(server), *AGAIN, "--concurrency", "1")
        process = start(place, *words)
        wait_until(lambda: len(server.requests) == CLIPS + 3 or process.poll() is not None)
        process.kill()
        process.communicate()
        ended.set()
        assert finish(place, *words).code == 0
        counts = asked(server)
    assert sorted(counts.values()) == [1] * (CLIPS * REPEATS - 1) + [2]  # one was in flight


@pytest.mark.slow
def test_repeats_are_asked_in_batches(place: Path) -> None:
    with OpenAIBatchServer(reply=lambda one: completion(f"Sound {one.json.get('seed')}")) as server:
        ask = partial(finish, place, "openai/gpt-audio", "--batch", "--repeats", "2")
        end = ask(**server.settings)
        assert end.code == 0, end.err
        assert list(server.billed.values()) == [1] * (2 * CLIPS)
    with Store.open(str(place / STORE)) as store:
        said = [{one.reply.text for one in store.outcomes(run).values()} for run in (1, 2)]
    assert said == [{"Sound None"}, {"Sound 1"}]
