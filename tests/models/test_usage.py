"""Usage that contradicts itself is no usage: it is left out with a note, and the cost estimated."""

from pathlib import Path
from typing import Any

import pytest

import audiocapbench as acb
from audiocapbench.data.outcome import Reply
from audiocapbench.models.price import PRICED, Price, checked_usage
from audiocapbench.models.registry import price_of
from audiocapbench.models.remote import RemoteModel
from audiocapbench.models.replies import metered, used_by
from audiocapbench.store import Store
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from whole_run import write_prices

REMOTE = RemoteModel("endpoint/x", "x", "http://127.0.0.1:1/v1", "127.0.0.1", "KEY", "the address")
OPENAI = {"prompt_tokens": 130, "completion_tokens": 40, "total_tokens": 170}
HEARD = {"prompt_tokens_details": {"audio_tokens": 100, "cached_tokens": 0, "text_tokens": 30}}
THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 30, "audio_tokens": 0}}
GEMINI = {"promptTokenCount": 330, "candidatesTokenCount": 40, "totalTokenCount": 400}
GEMINI |= {"thoughtsTokenCount": 30}
GEMINI |= {"promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 320}]}  # type: ignore[dict-item]
# Thoughts beside the answer, as xAI counts them, and as Gemini does for OpenAI's clients.
BESIDE = {"prompt_tokens": 60, "completion_tokens": 7, "total_tokens": 960}
COUNTED = {"completion_tokens_details": {"reasoning_tokens": 893}}
DASHSCOPE = {"input_tokens": 33, "output_tokens": 26, "audio_tokens": 325}
REALTIME = {"input_tokens": 130, "output_tokens": 40, "total_tokens": 170}
REALTIME |= {"input_token_details": {"audio_tokens": 100, "cached_tokens_details": {}}}  # type: ignore[dict-item]


def read(usage: dict[str, Any], text: str = "A dog barks.") -> Reply:
    name = "usageMetadata" if "promptTokenCount" in usage else "usage"
    return metered({name: usage}, REMOTE, Reply(text))


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (OPENAI, (130, 40, None)),
        (OPENAI | HEARD | THOUGHT, (130, 40, 100)),
        (OPENAI | {"prompt_tokens_details": None, "completion_tokens_details": None}, None),
        (GEMINI, (330, 70, 320)),
        ({"promptTokenCount": 330, "totalTokenCount": 330}, (330, None, None)),
        (REALTIME, (130, 40, 100)),
        # DashScope's older models count the audio beside the input.
        (DASHSCOPE, (358, 26, 325)),
        (DASHSCOPE | {"total_tokens": 59}, (358, 26, 325)),
        (DASHSCOPE | {"total_tokens": 384}, (358, 26, 325)),
        (DASHSCOPE | {"input_tokens": 400, "total_tokens": 426}, (400, 26, 325)),
        (DASHSCOPE | {"input_tokens": 400, "total_tokens": 751}, (725, 26, 325)),
        (DASHSCOPE | {"total_tokens": 1384}, (358, 1026, 325)),
        (BESIDE, (60, 900, None)),
        (BESIDE | COUNTED, (60, 900, None)),
        (BESIDE | COUNTED | {"completion_tokens": 0}, (60, 900, None)),
        (OPENAI | HEARD | THOUGHT | {"total_tokens": 200}, (130, 70, 100)),
        ({"promptTokenCount": 330, "totalTokenCount": 360}, (330, 30, None)),
        ({}, (None, None, None)),
    ],
)
def test_usage_as_providers_report_it_is_believed(
    usage: dict[str, Any], tokens: tuple[int | None, ...] | None
) -> None:
    reply = checked_usage(read(usage), 10.0)
    found = (reply.input_tokens, reply.output_tokens, reply.audio_tokens)
    assert found == (tokens or (130, 40, None))
    assert reply.usage_note is None


@pytest.mark.parametrize(
    "usage",
    [
        OPENAI | {"prompt_tokens_details": {"audio_tokens": 10**7}},
        OPENAI | {"prompt_tokens_details": {"audio_tokens": 131}},
        OPENAI | {"prompt_tokens_details": {"cached_tokens": 131}},
        OPENAI | {"completion_tokens_details": {"reasoning_tokens": 41}},
        BESIDE | COUNTED | {"total_tokens": 67},
        BESIDE | COUNTED | {"total_tokens": 952},
        BESIDE | COUNTED | {"total_tokens": None},
        OPENAI | {"total_tokens": 169},
        OPENAI | {"prompt_tokens": -130},
        OPENAI | {"completion_tokens": 40.5},
        OPENAI | {"completion_tokens": True},
        OPENAI | {"prompt_tokens": "130"},
        OPENAI | {"audio_tokens": -1},
        OPENAI | {"prompt_tokens": 10**12, "total_tokens": 10**13},
        GEMINI | {"totalTokenCount": 399},
        GEMINI | {"cachedContentTokenCount": 331},
        GEMINI | {"promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 331}]},
        GEMINI | {"thoughtsTokenCount": -1},
        REALTIME | {"output_token_details": {"text_tokens": 41}},
        # More than the clip of ten seconds can have at any rate.
        {"prompt_tokens": 10, "completion_tokens": 40, "audio_tokens": 10**7},
    ],
)
def test_usage_that_contradicts_itself_is_left_out_with_a_note(usage: dict[str, Any]) -> None:
    reply = checked_usage(read(usage), 10.0)
    assert (reply.input_tokens, reply.output_tokens, reply.audio_tokens) == (None, None, None)
    assert reply.usage_note == "its usage contradicts itself"
    price = price_of("openai/gpt-audio")
    assert price is not None
    estimate = price.cost(Reply("A dog barks."), 10.0, "Describe the sound.")
    assert price.cost(read(usage), 10.0, "Describe the sound.") == estimate
    assert used_by({"usage": OPENAI | {"total_tokens": 1}}) is None


def test_a_model_of_ones_own_that_contradicts_itself_is_estimated_too() -> None:
    reply = checked_usage(Reply("A dog.", input_tokens=10, output_tokens=5, audio_tokens=11))
    assert (reply.input_tokens, reply.output_tokens, reply.audio_tokens) == (None, None, None)
    assert reply.usage_note


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_thoughts_that_nobody_counted_cost_as_much_as_the_limit_allows(key: str) -> None:
    price = Price(0, 1_000_000, "a dollar for a token written", PRICED, 0, 0)

    def cost(thought: str | None, **how: Any) -> float | None:
        body = {"choices": [{"message": {key: thought, "content": "A dog."}}]}
        return price.cost(metered(body, REMOTE, Reply("A dog barks.")), 1.0, **how)

    assert cost("Hmm, a dog?", limit=1_024) == 1_024
    assert cost("", limit=1_024) == cost(None, limit=1_024) == 3
    assert cost("Hmm, a dog?") == 3
    assert cost("Hmm, a dog?", limit=2) == 3
    # A budget of thoughts says more than the limit.
    assert cost("Hmm, a dog?", limit=2_048, thoughts=1_024) == 1_027


@pytest.mark.parametrize("usage", [BESIDE | COUNTED, GEMINI | {"thoughtsTokenCount": 893}])
def test_thoughts_counted_against_the_total_cost_as_much_as_the_limit_allows(
    usage: dict[str, Any],
) -> None:
    price = Price(0, 1_000_000, "a dollar for a token written", PRICED, 0, 0)
    assert price.cost(read(usage | {"total_tokens": 67}), 1.0, limit=1_024) == 1_024
    assert price.cost(read(OPENAI | {"total_tokens": 1}), 1.0, limit=1_024) == 3


@pytest.mark.parametrize("usage", [BESIDE, BESIDE | COUNTED])
def test_the_ledger_of_a_run_is_the_bill_for_all_tokens(
    tmp_path: Path, usage: dict[str, Any]
) -> None:
    write_folder(tmp_path / "tones", 4)
    bill = list[float]()

    def reply(_: Any) -> dict[str, Any]:
        bill.append(usage["total_tokens"] / 1_000)
        return completion("A tone.") | {"usage": usage}

    with OpenAIServer(key=None, reply=reply) as server:
        name, store = f"endpoint/any@{server.base_url}", tmp_path / "s.db"
        prices = write_prices(tmp_path / "prices.json", name)
        acb.run(tmp_path / "tones", name, metrics="rouge_l", store=store, prices=prices, budget=99)
    with Store.open(str(store)) as kept:
        booked = [(one.kind, one.usd) for one in kept.ledger.entries()]
    assert booked == [("billed", pytest.approx(usd)) for usd in bill]
    assert len(bill) == 4


def test_a_run_books_such_usage_as_an_estimate_and_says_why(tmp_path: Path) -> None:
    write_folder(tmp_path / "tones", 2)
    usage = {"prompt_tokens": 10, "completion_tokens": 4, "audio_tokens": 10**7}
    with OpenAIServer(key=None, reply=lambda _: completion("A tone.") | {"usage": usage}) as server:
        name, store = f"endpoint/any@{server.base_url}", tmp_path / "s.db"
        prices = write_prices(tmp_path / "prices.json", name)
        acb.run(tmp_path / "tones", name, metrics="rouge_l", store=store, prices=prices, budget=9)
    with Store.open(str(store)) as kept:
        for one in kept.outcomes(1).values():
            assert (one.reply.input_tokens, one.reply.audio_tokens) == (None, None)
            assert 0 < (one.reply.cost_usd or 0) < 0.05
        booked = {(one.kind, one.why) for one in kept.ledger.entries()}
        assert booked == {("estimated", "its usage contradicts itself")}
