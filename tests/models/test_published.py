"""The published models: which they are, and the settings that the paper used."""

import pytest

from audiocapbench.models import KnownModel, ModelSettings, list_models
from audiocapbench.models.model import PAPER as PAPER_MODEL
from audiocapbench.models.model import TOOL
from audiocapbench.models.registry import create_published
from needs import needs

PUBLISHED = [one for one in list_models() if one.description in (PAPER_MODEL, TOOL)]


def published(name: str) -> KnownModel | None:
    return next((model for model in PUBLISHED if model.name == name), None)


def test_the_thirteen_models_of_the_paper_are_known() -> None:
    papers = [model for model in PUBLISHED if model.description == PAPER_MODEL]
    names = [model.name for model in papers]
    assert len(names) == len(set(names)) == 13
    by_provider = [model.name.partition("/")[0] for model in papers]
    counts = {one: by_provider.count(one) for one in by_provider}
    assert counts == {"openai": 4, "openai-realtime": 3, "gemini": 6}


def test_settings_are_those_of_the_paper() -> None:
    for model in PUBLISHED:
        thinks = model.name.partition("/")[0] == "gemini" and model.model_id != "gemini-2.0-flash"
        assert model.thinking_budget == (1024 if thinks else None), model.name
        assert model.max_output_tokens == (8192 if thinks else None), model.name
        expected = {"openai": 0.0, "openai-realtime": 0.6, "gemini": 0.0, "dashscope": None}
        assert model.temperature == expected[model.name.partition("/")[0]], model.name


def test_a_model_is_found_by_its_whole_name_alone() -> None:
    found = published("openai/gpt-audio")
    assert found is not None
    assert (found.name.partition("/")[0], found.model_id) == ("openai", "gpt-audio")
    assert published("gpt-audio") is None
    assert published("openai/gpt-audio-2") is None
    assert published("") is None


def test_what_only_the_tool_offers_is_not_counted_as_the_papers() -> None:
    found = published("dashscope/qwen-audio-turbo")
    assert found is not None
    assert found.description != PAPER_MODEL


@pytest.mark.parametrize(
    ("name", "key", "limit"),
    [
        ("openai/gpt-audio", "max_completion_tokens", 256),
        ("openai-realtime/gpt-realtime", "max_output_tokens", 256),
        ("gemini/gemini-2.0-flash", "max_output_tokens", 256),
        ("gemini/gemini-2.5-flash", "max_output_tokens", 8192),
        ("gemini/gemini-flash-latest", "max_output_tokens", 8192),
        ("dashscope/qwen-audio-turbo", "max_tokens", 256),
        ("endpoint/any@http://127.0.0.1:1/v1", "max_tokens", 256),
    ],
)
def test_the_published_protocol_asks_for_answers_as_long_as_the_published_tool_does(
    name: str, key: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "realtime" in name:
        needs("websockets")
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.setenv(variable, "sk-test-0123456789")
    assert create_published(name).parameters[key] == limit
    longer = create_published(name, ModelSettings(max_tokens=1000))
    assert longer.parameters[key] == 1000


def test_what_takes_no_token_limit_is_asked_without_one_as_published() -> None:
    assert "max_tokens" not in create_published("control/safe").parameters
    assert "max_tokens" not in create_published("listener").parameters
