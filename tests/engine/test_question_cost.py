"""The most that a question may cost covers what is sent: prompt, clip, and the longest answer."""

from dataclasses import replace

import pytest

from audiocapbench.engine.budget import question_cost
from audiocapbench.models import ModelSettings, create_model
from audiocapbench.models.price import PRICED, Price
from audiocapbench.models.registry import price_of
from needs import needs

OWN = "endpoint/qwen@http://127.0.0.1:8000/v1"
ANSWERS_ALONE = Price(0, 1_000_000, "a dollar for a token written", PRICED, 0, 0)
READING_ALONE = Price(1_000_000, 0, "a dollar a token read or heard", PRICED, 1_000_000, 10)


@pytest.mark.parametrize(
    ("name", "limit", "tokens"),
    [
        ("openai/gpt-audio", 300, 300),
        ("openai/gpt-audio", None, 16_384),
        ("openai/gpt-4.1", None, 32_768),
        ("openai-realtime/gpt-realtime", None, 4_096),
        ("openai-realtime/gpt-realtime", 300, 300),
        ("gemini/gemini-2.5-flash", None, 8_192 + 1_024),
        ("gemini/gemini-2.5-flash", 300, 300 + 1_024),
        ("gemini/gemini-2.0-flash", None, 8_192),
        ("dashscope/qwen-audio-turbo", 300, 300),
        (OWN, 300, 300),
        (OWN, None, 32_768),
    ],
)
def test_the_longest_answer_is_what_the_request_or_else_the_price_allows(
    monkeypatch: pytest.MonkeyPatch, name: str, limit: int | None, tokens: int
) -> None:
    if "realtime" in name:
        needs("websockets")
    for key in ("OPENAI_API_KEY", "GEMINI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.setenv(key, "a-key-of-a-test")
    model = create_model(name, ModelSettings(max_tokens=limit))
    known = price_of(name)
    longest = known.longest_answer if known else None
    price = replace(ANSWERS_ALONE, longest_answer=longest)
    assert question_cost(price, model, 0.0, "").most_usd == tokens


@pytest.mark.parametrize(
    "text", ["", "Describe the sound.", "狗在叫", "🐕‍🦺" * 50, "x" * 9_000, "\ud800"]
)
def test_no_tokenizer_makes_more_of_a_prompt_than_is_set_aside(text: str) -> None:
    model = create_model("listener")
    cost = question_cost(READING_ALONE, model, 1.5, text)
    assert cost.most_usd >= len(text.encode("utf-8", "replace")) + 15
    assert cost.likely_usd <= cost.most_usd


def test_what_a_system_prompt_says_is_part_of_every_question() -> None:
    long = create_model(OWN, ModelSettings(system="Be brief. " * 200))
    costs = [question_cost(READING_ALONE, one, 0.0, "Why?") for one in (create_model(OWN), long)]
    assert costs[1].likely_usd - costs[0].likely_usd == 500
    assert costs[1].most_usd - costs[0].most_usd == 2_000
