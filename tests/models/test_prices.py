"""Prices are dated and sourced, add up by hand, and stay unknown where nobody has said."""

import json
from dataclasses import FrozenInstanceError, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench.data.outcome import Reply
from audiocapbench.engine.budget import QuestionCost, question_cost
from audiocapbench.errors import ModelError
from audiocapbench.models import create_model, list_models
from audiocapbench.models.model import PAPER as PAPER_MODEL
from audiocapbench.models.price import Price, checked_usage, tokens_of
from audiocapbench.models.registry import price_of

PAPER = [model.name for model in list_models() if model.description == PAPER_MODEL]
JUDGE = "openai/gpt-4.1"


def known(model: str, overrides: Path | None = None) -> Price:
    price = price_of(model, overrides)
    assert price is not None
    return price


def entry(**changes: Any) -> dict[str, Any]:
    usual = {"text_in": 1, "audio_in": 2, "out": 3, "audio_tokens_per_s": 4}
    return {**usual, "source": "our contract", "as_of": "2026-11-01", **changes}


def write_prices(path: Path, models: dict[str, Any], **changes: Any) -> Path:
    table = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": models, **changes}
    path.write_text(json.dumps(table), encoding="utf-8")
    return path


def test_all_13_models_of_the_paper_have_a_price_for_audio() -> None:
    assert len(PAPER) == 13
    for name in PAPER:
        price = known(name)
        assert price.audio_in is not None
        assert price.audio_in >= price.text_in > 0
        assert price.out > price.text_in


def test_every_price_names_an_official_page_and_a_day_that_has_been() -> None:
    for name in [*PAPER, JUDGE]:
        price = known(name)
        assert price.source.startswith(("https://developers.openai.com/", "https://ai.google.dev/"))
        assert date(2025, 1, 1) < price.as_of <= date.today()


def used(read: int | None, written: int | None, heard: int | None) -> Reply:
    return Reply("", input_tokens=read, output_tokens=written, audio_tokens=heard)


def test_reported_tokens_are_priced_text_audio_and_answer_apart() -> None:
    price = known("openai/gpt-4o-audio-preview")
    cost = price.cost(used(160, 50, 100), 99.0)
    assert cost == pytest.approx((60 * 2.5 + 100 * 40 + 50 * 10) / 1e6, rel=1e-12)


def test_audio_tokens_that_are_not_reported_come_from_the_seconds() -> None:
    price = known("gemini/gemini-2.5-flash")
    cost = price.cost(used(380, 100, None), 10.0)
    assert cost == pytest.approx((60 * 0.3 + 320 * 1 + 100 * 2.5) / 1e6, rel=1e-12)


def test_text_never_costs_less_than_nothing() -> None:
    price = known("openai/gpt-audio")
    cost = price.cost(used(10, 0, 100), 10.0)
    assert cost == pytest.approx(100 * 32 / 1e6, rel=1e-12)


@pytest.mark.parametrize("tokens", [None, -5, 10**20, True, "700", float("nan")])
def test_without_usage_the_cost_is_counted_from_seconds_and_text(tokens: Any) -> None:
    price = known("openai/gpt-audio")
    reply = replace(used(tokens, tokens, tokens), text="A dog barks." * 100)
    cost = price.cost(reply, 10.0, "Describe the sound. " * 4, thoughts=50)
    assert cost == pytest.approx((20 * 2.5 + 100 * 32 + (300 + 50) * 10) / 1e6, rel=1e-12)


def test_what_is_reported_in_part_is_counted_as_reported_in_that_part() -> None:
    price = known("openai/gpt-audio")
    answer = Reply("A dog barks.", input_tokens=160, audio_tokens=100)
    assert price.cost(answer, 99.0) == pytest.approx((60 * 2.5 + 100 * 32 + 3 * 10) / 1e6)
    answer = Reply("A dog barks.", output_tokens=9)
    assert price.cost(answer, 1.0, "Why?") == pytest.approx((2.5 + 10 * 32 + 9 * 10) / 1e6)


@pytest.mark.parametrize(
    "given", [-1, 10**20, 2**63, True, "7", 7.5, float("nan"), float("inf"), b"7", [7]]
)
def test_usage_that_cannot_be_true_counts_as_not_reported(given: Any) -> None:
    reply = checked_usage(replace(used(given, given, given), cost_usd=given))
    found = (reply.input_tokens, reply.output_tokens, reply.audio_tokens)
    assert found == (None, None, None)
    assert reply.cost_usd == (7.5 if given == 7.5 else None)


def test_usage_in_numbers_of_other_libraries_is_read() -> None:
    count: Any = np.int64(7)
    cost: Any = np.float32(0.5)
    reply = checked_usage(replace(used(count, 0, None), cost_usd=cost))
    assert (reply.input_tokens, reply.output_tokens, reply.cost_usd) == (7, 0, 0.5)
    assert type(reply.input_tokens) is int


def test_a_negative_count_earns_nothing() -> None:
    price = known("openai/gpt-audio")
    cost = price.cost(used(-1_000_000, 7, 0), 10.0)
    assert cost == price.cost(used(None, None, None), 10.0) == pytest.approx(100 * 32 / 1e6)


def test_a_run_is_estimated_from_seconds_instruction_and_answer() -> None:
    price = known("openai/gpt-audio")
    assert price.estimate(10.0) == pytest.approx((60 * 2.5 + 100 * 32 + 120 * 10) / 1e6, rel=1e-12)
    thinking = known("gemini/gemini-2.5-pro").estimate(10.0, answer_tokens=1144)
    assert thinking == pytest.approx((380 * 1.25 + 1144 * 10) / 1e6, rel=1e-12)


def test_a_text_model_is_priced_for_text_and_refuses_audio() -> None:
    judge = known(JUDGE)
    assert judge.estimate(0.0, 700, 100) == pytest.approx((700 * 2 + 100 * 8) / 1e6, rel=1e-12)
    assert judge.cost(used(700, 100, None), 0.0) == pytest.approx(0.0022, rel=1e-12)
    assert judge.cost(used(700, 100, None), 3.0) is None
    assert judge.cost(used(700, 100, 30), 0.0) is None
    with pytest.raises(ModelError, match="no price for 3 s of audio"):
        judge.estimate(3.0)


@pytest.mark.parametrize("name", ["listener", "control/right", "control/empty"])
def test_what_runs_here_costs_nothing_even_without_usage(name: str) -> None:
    price = known(name)
    assert price.cost(used(None, None, None), 10.0) == 0.0
    assert price.estimate(10.0) == 0.0


@pytest.mark.parametrize(
    "name",
    [
        "endpoint/qwen@http://127.0.0.1:8000/v1",
        "openai/never-heard-of",
        "listener/x",
        "control",
        "",
    ],
)
def test_a_model_that_nobody_priced_stays_unknown(name: str) -> None:
    assert price_of(name) is None


def test_a_file_overrides_its_models_and_leaves_the_others(tmp_path: Path) -> None:
    own = "endpoint/qwen@http://127.0.0.1:8000/v1"
    file = write_prices(
        tmp_path / "p.json", {own: entry(), "openai/gpt-audio": entry(), "listener": entry()}
    )
    assert known(own, file).estimate(1.0, 1, 1) == pytest.approx(12 / 1e6, rel=1e-12)
    assert known("openai/gpt-audio", file).source == "our contract"
    assert known("listener", file).text_in == 1
    assert known("openai/gpt-audio-mini", file) == known("openai/gpt-audio-mini")
    assert known("openai/gpt-audio").audio_in == 32


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text_in": -1}, "text_in"),
        ({"out": float("nan")}, "out"),
        ({"audio_in": float("inf")}, "audio_in"),
        ({"text_in": "2.5"}, "text_in"),
        ({"out": True}, "out"),
        ({"out": None}, "out"),
        ({"as_of": "2026-13-01"}, "as_of"),
        ({"source": ""}, "source"),
        ({"cached_in": 1}, "cached_in"),
        ({"audio_tokens_per_s": None}, "audio_in and audio_tokens_per_s"),
    ],
)
def test_a_wrong_price_is_named_by_model_and_field(
    tmp_path: Path, changes: dict[str, Any], field: str
) -> None:
    file = write_prices(tmp_path / "p.json", {"a/b": entry(**changes)})
    with pytest.raises(ModelError) as caught:
        price_of("openai/gpt-audio", file)
    assert str(file) in str(caught.value)
    assert "models.a/b" in str(caught.value)
    assert field in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "field"), [({"currency": "EUR"}, "currency"), ({"unit": "per token"}, "unit")]
)
def test_another_currency_or_unit_is_refused(
    tmp_path: Path, changes: dict[str, Any], field: str
) -> None:
    file = write_prices(tmp_path / "p.json", {"a/b": entry()}, **changes)
    with pytest.raises(ModelError, match=f": {field}: "):
        price_of("a/b", file)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\x00\xff", b"[" * 100_000])
def test_a_file_that_is_no_table_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "p.json"
    file.write_bytes(content)
    with pytest.raises(ModelError, match=r"price file .*: (invalid JSON|is not a JSON object)"):
        price_of("a/b", file)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read \\(No such file or directory\\)"):
        price_of("a/b", tmp_path / "none.json")


def test_the_price_file_that_the_documentation_shows_is_one(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "money.md"
    (tmp_path / "p.json").write_text(page.read_text().split("```json\n")[1].split("```")[0])
    assert known("openai/gpt-audio", tmp_path / "p.json").source == "our contract"


def test_a_price_cannot_be_changed() -> None:
    price = known("openai/gpt-audio")
    with pytest.raises(FrozenInstanceError):
        price.out = 0.0  # type: ignore[misc]


def test_a_judges_question_is_estimated_from_its_real_prompt() -> None:
    model = create_model("listener")
    price = known(JUDGE)
    texts = ("Why?", "why " * 3000)
    short, long = (question_cost(price, model, 0.0, text).likely_usd for text in texts)
    assert short == pytest.approx((1 * 2 + 120 * 8) / 1e6, rel=1e-12)
    assert long == pytest.approx((3000 * 2 + 120 * 8) / 1e6, rel=1e-12)
    assert question_cost(None, model, 0.0, "Why?") == QuestionCost()


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a b c d", 4), ("captions", 2), ("狗吠", 2), ("\ud800", 1)]
)
def test_text_becomes_tokens_by_its_letters_and_words(text: str, tokens: int) -> None:
    assert tokens_of(text) == tokens
