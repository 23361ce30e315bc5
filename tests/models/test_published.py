"""The published models: which they are, and the settings that the paper used."""

from typing import Any

import anyio
import pytest

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.models import (
    AudioContract,
    KnownModel,
    Model,
    ModelSettings,
    Question,
    SimpleModel,
    list_models,
)
from audiocapbench.models.model import AS_PUBLISHED, TOOL
from audiocapbench.models.model import PAPER as PAPER_MODEL
from audiocapbench.models.registry import PublishedModel, create_published
from audiocapbench.models.remote import RemoteModel
from audiocapbench.models.replies import completion_reply
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
        ("openai-realtime/gpt-realtime", "max_output_tokens", "inf"),
        ("gemini/gemini-2.0-flash", "max_output_tokens", 256),
        ("gemini/gemini-2.5-flash", "max_output_tokens", 8192),
        ("gemini/gemini-flash-latest", "max_output_tokens", 8192),
        ("dashscope/qwen-audio-turbo", "max_tokens", None),
        ("endpoint/any@http://127.0.0.1:1/v1", "max_tokens", 256),
    ],
)
def test_the_published_protocol_asks_for_answers_as_long_as_the_published_tool_does(
    name: str, key: str, limit: int | str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "realtime" in name:
        needs("websockets")
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.setenv(variable, "sk-test-0123456789")
    assert create_published(name).parameters.get(key) == limit
    longer = create_published(name, ModelSettings(max_tokens=1000))
    assert longer.parameters[key] == 1000


def test_what_takes_no_token_limit_is_asked_without_one_as_published() -> None:
    assert "max_tokens" not in create_published("control/safe").parameters
    assert "max_tokens" not in create_published("listener").parameters


REMOTE = RemoteModel("openai/x", "x", "http://h/v1", "h", "OPENAI_API_KEY", "the address")


class Completing(SimpleModel):
    """Answers with a completion of this message, which ended for this reason."""

    contract = AudioContract("none")

    def __init__(self, message: dict[str, Any], reason: str | None) -> None:
        super().__init__("openai/x")
        self.choice = {"index": 0, "message": message, "finish_reason": reason}

    async def answer(self, question: Question) -> Reply:
        return completion_reply({"choices": [self.choice]}, REMOTE)


def asked(model: Model) -> Reply:
    reply: Reply = anyio.run(model.answer, Question("a", "What is it?", None))
    return reply


@pytest.mark.parametrize("reason", [None, "content_filter", "length", "stop", "recitation", "odd"])
def test_text_counts_as_published_however_it_ended(reason: str | None) -> None:
    text = "<think>A cat?</think> A dog ba"
    model = Completing({"content": text}, reason)
    published = asked(PublishedModel(model))
    assert (published.text, published.status) == (text, Status.OK)
    assert not AS_PUBLISHED.get()
    assert (asked(model).status is Status.OK) == (reason == "stop"), "our way is as it was"


def test_no_text_is_an_empty_caption_as_published_and_null_a_failure() -> None:
    for reason in ("content_filter", "length", "stop", None):
        empty = asked(PublishedModel(Completing({"content": ""}, reason)))
        assert empty.status is Status.EMPTY, reason
        null = {"content": None, "refusal": None}
        failed = asked(PublishedModel(Completing(null, reason)))
        assert failed.status is Status.FAILED, reason


class CutOff(SimpleModel):
    """Ends its own answer before it is whole."""

    contract = AudioContract("none")

    async def answer(self, question: Question) -> Reply:
        return Reply("A dog ba", Status.TRUNCATED, "too long")


def test_a_models_own_cut_is_an_answer_as_published() -> None:
    reply = asked(PublishedModel(CutOff("own")))
    assert (reply.text, reply.status) == ("A dog ba", Status.OK)
