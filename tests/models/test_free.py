"""``--free``: a server of one's own costs nothing, without a price file, beside models that do."""

import json
from pathlib import Path
from typing import Any

import pytest

import audiocapbench as acb
from audiocapbench.data.outcome import Reply
from audiocapbench.engine import Budget
from audiocapbench.errors import ModelError
from audiocapbench.models.registry import price_of
from command import run_command
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder

OWN = "endpoint/qwen@http://127.0.0.1:8000/v1"
VERDICT = {"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "Good."}


@pytest.mark.parametrize("name", [OWN, "somebody/elses", "one-of-a-script"])
def test_what_nobody_priced_is_free_where_the_user_says_so(name: str) -> None:
    assert price_of(name) is None
    price = price_of(name, free=True)
    assert price is not None
    assert price.source == "free, as was said with --free"
    assert price.estimate(10.0) == price.cost(Reply("A dog."), 10.0) == 0.0


def test_nothing_else_becomes_free(tmp_path: Path) -> None:
    assert price_of("openai/gpt-audio", free=True) == price_of("openai/gpt-audio")
    for paid in ("openai/never-heard-of", "dashscope/qwen-audio-turbo", "gemini/gemini-99"):
        assert price_of(paid, free=True) is None
    own = {"text_in": 1, "out": 3, "source": "our contract", "as_of": "2026-11-01"}
    table = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": {OWN: own}}
    (tmp_path / "prices.json").write_text(json.dumps(table))
    price = price_of(OWN, tmp_path / "prices.json", free=True)
    assert price is not None
    assert price.out == 3


def test_a_budget_names_the_switch_and_its_example_invents_no_price(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        Budget(1.0).check(f"judge {OWN}[hears=yes]", None)
    said = str(caught.value)
    assert "`free`" in said
    file = tmp_path / "prices.json"
    file.write_text(said[said.index("{") :])
    with pytest.raises(ModelError, match="invalid JSON"):  # until it is filled in
        price_of(OWN, file)
    file.write_text(said[said.index("{") :].replace("…", "0.5"))
    with pytest.raises(ModelError, match="as_of"):
        price_of(OWN, file)
    file.write_text(file.read_text().replace("YYYY-MM-DD", "2026-11-01"))
    price = price_of(OWN, file)
    assert price is not None
    assert price.audio_in == price.text_in == price.out == 0.5


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_folder(tmp_path / "tones", 2)
    return tmp_path


def reply(request: Request) -> dict[str, Any]:
    return completion("A tone." if b"input_audio" in request.body else json.dumps(VERDICT))


def test_an_endpoint_with_a_judge_there_needs_no_price_file_under_a_budget(place: Path) -> None:
    with OpenAIServer(key=None, reply=reply) as server:
        name = f"endpoint/any@{server.base_url}"
        words = ("run", "tones", "--metrics", "rouge_l", "--model", name, "--judge", name)
        refused = run_command(*words, "--budget", "0.01", cwd=place)
        assert refused.returncode == 2
        assert "no price is known for endpoint/any@" in refused.stderr
        done = run_command(*words, "--budget", "0.01", "--free", "--json", cwd=place)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert (told["budget"]["spent_usd"], told["budget"]["estimated"]) == (0.0, 0)
        again = acb.run(
            place / "tones", name, metrics="rouge_l", store=place / "s.db", budget=0.01, free=True
        )
        assert again.to_dict()["cost_usd"] == 0.0
    study = f'name = "s"\nbenchmark = "tones"\nmodels = ["{name}"]\nbudget = 0.01\n'
    (place / "s.toml").write_text(study + "free = true\n")
    checked = run_command("study", "check", "s.toml", cwd=place)
    assert "Nothing in it costs money." in checked.stdout, checked.stderr
