"""Answers have a limit: the user's, the published protocol's, or else the benchmark's own."""

from pathlib import Path

import pytest

import audiocapbench as acb
from audiocapbench.benchmarks import Benchmark, Traits, open_benchmark
from audiocapbench.engine.budget import question_cost
from audiocapbench.errors import BenchmarkError
from audiocapbench.judges import create_judge
from audiocapbench.models import Model, ModelSettings, create_models
from audiocapbench.models.registry import price_of
from audiocapbench.models.replies import ending_as
from audiocapbench.store import Store
from command import run_command
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from needs import needs

OWN = "endpoint/any@http://127.0.0.1:1/v1"
NAMES: dict[str, tuple[str, int, int | str | None]] = {
    "openai/gpt-audio": ("max_completion_tokens", 1_024, 256),
    "openai-realtime/gpt-realtime": ("max_output_tokens", 1_024, "inf"),
    "gemini/gemini-2.0-flash": ("max_output_tokens", 1_024, 256),
    "gemini/gemini-2.5-flash": ("max_output_tokens", 2_048, 8_192),
    "gemini/gemini-flash-latest": ("max_output_tokens", 2_048, 8_192),
    "dashscope/qwen-audio-turbo": ("max_tokens", 1_024, None),
    OWN: ("max_tokens", 1_024, 256),
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("OPENAI_API_KEY", "GEMINI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.setenv(key, "a-key-of-a-test")


def made(name: str, given: int | None = None, *, published: bool = False) -> Model:
    settings, limit = ModelSettings(max_tokens=given), Traits().max_tokens
    [model] = create_models([name], settings, published=published, max_tokens=limit)
    return model


@pytest.mark.parametrize("name", NAMES)
def test_the_benchmarks_limit_holds_where_neither_the_user_nor_the_paper_decides(name: str) -> None:
    if "realtime" in name:
        needs("websockets")
    key, ours, published = NAMES[name]
    assert made(name).parameters[key] == ours
    assert made(name, 99).parameters[key] == 99
    assert made(name, published=True).parameters.get(key) == published


@pytest.mark.parametrize("name", ["listener", "control/safe"])
def test_what_answers_here_is_given_no_limit(name: str) -> None:
    assert not any("token" in key for key in made(name).parameters)


def test_a_judge_that_thinks_has_room_for_its_verdict() -> None:
    assert create_judge("openai/gpt-4.1").model.parameters["max_completion_tokens"] == 300  # type: ignore[union-attr]
    assert create_judge("gemini/gemini-2.5-pro").model.parameters["max_output_tokens"] == 1_324  # type: ignore[union-attr]


def test_the_most_that_a_caption_may_cost_is_near_what_it_likely_costs() -> None:
    model = made("openai/gpt-audio")
    cost = question_cost(price_of(model.name), model, 10.0, "Describe the sound.")
    assert 1 < cost.most_usd / cost.likely_usd < 6


def test_a_benchmark_has_a_limit_of_its_own_which_is_stored(tmp_path: Path) -> None:
    own = Benchmark("own", tmp_path, (), max_tokens=64)
    assert own.traits.to_dict()["max_tokens"] == 64
    assert Traits.from_dict(own.traits.to_dict()) == own.traits
    assert Traits.from_dict({}).max_tokens == 1_024  # as stored before there were limits
    assert own.fingerprint == Benchmark("own", tmp_path, ()).fingerprint
    for wrong in (1.5, "9", None):
        with pytest.raises(BenchmarkError, match="max_tokens: give a int, not"):
            Traits(max_tokens=wrong)  # type: ignore[arg-type]


def test_an_answer_at_its_limit_says_what_allows_more() -> None:
    assert "--max-tokens allows more" in str(ending_as("length", "A do", "x: y").error)


def test_the_limit_is_sent_recorded_and_shown(tmp_path: Path) -> None:
    write_folder(tmp_path / "tones", 2)
    store = tmp_path / "s.db"
    with OpenAIServer(key=None, reply=lambda _: completion("A tone.")) as server:
        name = f"endpoint/any@{server.base_url}"
        words = ("run", "tones", "--metrics", "rouge_l", "--model", name, "--store", str(store))
        shown = run_command(*words, "--yes", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "of audio, answers up to 1,024 tokens, " in shown.stderr
        sent = [one.json["max_tokens"] for one in server.requests]
        assert sent == [1_024, 1_024]
        # The library asks alike, and so finds all of it answered.
        acb.run(open_benchmark(str(tmp_path / "tones")), name, metrics="rouge_l", store=str(store))
        assert len(server.requests) == 2
    with Store.open(str(store)) as kept:
        assert kept.run(1).parameters["max_tokens"] == 1_024
