"""Trials made by a language model: asked once, read strictly, refused where they are no use."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.engine import Budget, RateLimits, RetryPolicy
from audiocapbench.errors import ModelError, StoppedError
from audiocapbench.meta.corrupt.by_model import (
    RejectedError,
    make_by_model,
    preview_by_model,
    read_caption,
    to_change,
)
from audiocapbench.meta.corrupt.captions import (
    CaptionSet,
    Corruption,
    ReferenceCaption,
    caption_set,
    tokens_of,
)
from audiocapbench.meta.corrupt.make import CorruptionResult, CorruptionSettings
from audiocapbench.meta.scorers.scorer import TrialSettings
from audiocapbench.models import create_model
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store
from fakes.faults import Plan, status
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from whole_run import write_prices

FAST = RateLimits(retry=RetryPolicy(first_s=0.01, longest_s=0.02))
NOUNS = CorruptionSettings(["noun"])
PLACES = ("in a hall", "near a road", "by a river", "on a stage", "at night", "in the rain")


CAPTIONS = 2 * len(PLACES)


@pytest.fixture
def captions() -> CaptionSet:
    return caption_set(
        [
            (f"clip {n}", f"{n}.wav", [f"A man speaks {place}", f"A man talks {place}"])
            for n, place in enumerate(PLACES)
        ]
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(str(tmp_path / "answers.db"))
    yield opened
    opened.close()


def answering(change: Callable[[str], Any]) -> OpenAIServer:
    """A server that answers with a change of the caption that it is asked about.

    Asked to check, it says of all but those that name a goat that they are good.
    """

    def reply(request: Request) -> dict[str, Any]:
        text = request.json["messages"][0]["content"]
        found = re.search("True caption: “(.*)”", text)
        if found is None:
            made = re.findall(r"^(\d+)\. “(.*)”$", text, re.MULTILINE)
            return completion(json.dumps({number: "goat" not in one for number, one in made}))
        answer = change(found[1])
        return completion(answer if isinstance(answer, str) else json.dumps(answer))

    return OpenAIServer(key=None, reply=reply)


def noun(caption: str) -> dict[str, str]:
    return {"caption": caption.replace("man", "woman")}


def make(server: OpenAIServer, captions: CaptionSet, store: Store, **more: Any) -> CorruptionResult:
    model = create_model(f"endpoint/gpt@{server.base_url}")
    settings = TrialSettings(store_url=store.name, rate_limits=FAST, **more)
    (made,) = make_by_model(captions, model, settings, NOUNS)
    return made


pytestmark = pytest.mark.slow  # servers and whole runs: seconds each


def test_a_model_makes_captions_wrong_and_is_asked_once(captions: CaptionSet, store: Store) -> None:
    with answering(noun) as server:
        made = make(server, captions, store)
        # Every caption is asked about once to make it wrong, and once to check what was made.
        assert len(server.requests) == 2 * CAPTIONS
        assert make(server, captions, store) == made
        assert len(server.requests) == 2 * CAPTIONS
    names = {line.benchmark.rpartition("/")[0] for line in store.runs()}
    assert names == {f"{TRIAL}corrupt", f"{TRIAL}corrupt-check"}
    assert made.pairs
    assert not made.rejected
    assert made.captions == CAPTIONS
    for pair in made.pairs:
        true, false = (pair.first, pair.second)[:: 1 if pair.answer == 0 else -1]
        assert true.startswith("A man ")
        assert false.strip(".") not in (true.strip("."), *pair.references_first)
        assert pair.references_first
        assert true.strip(".") not in pair.references_first


def test_what_the_second_pass_refuses_is_not_taken(captions: CaptionSet, store: Store) -> None:
    with answering(lambda text: {"caption": text.replace("man", "goat")}) as server:
        made = make(server, captions, store)
    assert not any("goat" in one.false for one in made.corruptions)


def test_of_several_captions_in_a_reply_any_may_be_taken(
    captions: CaptionSet, store: Store
) -> None:
    def several(text: str) -> str:
        people = ("woman", "child", "goat", "lady", "girl")
        return "\n".join(json.dumps({"caption": text.replace("man", one)}) for one in people)

    with answering(several) as server:
        made = make(server, captions, store)
    assert not made.rejected
    assert not any("goat" in one.false for one in made.corruptions)


def test_the_preview_counts_both_passes_and_asks_nothing(
    captions: CaptionSet, store: Store, tmp_path: Path
) -> None:
    with answering(noun) as server:
        name = f"endpoint/gpt@{server.base_url}"
        prices = write_prices(tmp_path / "prices.json", name)
        settings = TrialSettings(
            store_url=store.name, rate_limits=FAST, prices=partial(price_of, overrides=prices)
        )
        model = create_model(name)
        previews = preview_by_model(captions, model, settings, NOUNS)
        assert [one.questions for one in previews] == [CAPTIONS, CAPTIONS]
        assert not server.requests
        make_by_model(captions, model, settings, NOUNS)
        again = preview_by_model(captions, model, settings, NOUNS)
        assert [one.questions for one in again] == [0, 0]


def test_the_prompt_shows_the_other_captions_and_asks_for_one_kind(
    captions: CaptionSet, store: Store
) -> None:
    with answering(noun) as server:
        make(server, captions, store)
    text = server.requests[0].json["messages"][0]["content"]
    assert "Other captions of the clip:\n- “A man " in text
    assert "one noun" in text
    assert "{" not in text.split("Answer with")[0]


def test_what_is_no_use_is_refused_and_counted(captions: CaptionSet, store: Store) -> None:
    replies = iter(
        [
            "I would rather not.",
            {"caption": None},
            {"caption": "A man talks in a hall", "note": "more"},
            {"caption": "Naj bada ilu sekor opa tum"},
        ]
    )

    def change(caption: str) -> Any:
        return next(replies, noun(caption))

    with answering(change) as server:
        made = make(server, captions, store)
    assert sum(made.rejected.values()) == 4
    assert made.rejected["not objects with a caption"] == 2
    assert made.rejected["the model said that it cannot be done"] == 1
    assert made.rejected["another text or language"] == 1


def test_a_provider_that_fails_for_a_while_is_asked_again(
    captions: CaptionSet, store: Store
) -> None:
    with answering(noun) as server:
        server.plan = Plan([status(500), status(429)])
        made = make(server, captions, store)
    assert not made.rejected


def test_a_budget_stops_it_and_the_next_call_goes_on(
    captions: CaptionSet, store: Store, tmp_path: Path
) -> None:
    with answering(noun) as server:
        name = f"endpoint/gpt@{server.base_url}"
        with pytest.raises(ModelError, match="no price is known"):
            make(server, captions, store, budget=Budget(1.0))
        prices = write_prices(tmp_path / "prices.json", name)
        with pytest.raises(StoppedError, match=r"the budget is spent.*answers are kept"):
            make(
                server,
                captions,
                store,
                budget=Budget(0.5),
                prices=partial(price_of, overrides=prices),
            )
        asked = len(server.requests)
        assert 0 < asked < CAPTIONS
        make(server, captions, store)
        assert len(server.requests) == 2 * CAPTIONS


CASES: dict[Corruption, tuple[str, str]] = {
    "noun": ("A man speaks in a hall as it rains", "A woman speaks in a hall as it rains"),
    "attribute": ("A man speaks loudly in a hall", "A man speaks quietly in a hall"),
}
OTHERS = ("Male speech and rain in the background", "A dog barks after a man talks in a hall")


def read(kind: Corruption, made: str) -> str:
    true = CASES[kind][0]
    clip = caption_set([("clip", "clip", [true, *OTHERS])]).clips[0]
    caption = ReferenceCaption(clip, 0, tokens_of(true) or ())
    return read_caption(made, to_change(kind, caption)).false


@pytest.mark.parametrize("kind", CASES)
def test_a_good_reply_of_every_kind_is_taken(kind: Corruption) -> None:
    assert read(kind, f" {CASES[kind][1]} .") == f"{CASES[kind][1]}."


@pytest.mark.parametrize(
    ("kind", "made", "reason"),
    [
        ("noun", "a man speaks in a hall as it rains.", "nothing was changed"),
        ("noun", "A woman shouts on a hall as it rains", "more was changed than asked for"),
        ("noun", "A man speaks in a dog as it rains", "what was put in may be right"),
        ("noun", "A woman", "much longer or shorter"),
        ("attribute", "A man speaks loudly in a dog", "what was put in may be right"),
    ],
)
def test_a_reply_that_is_not_what_was_asked_for_is_refused(
    kind: Corruption, made: str, reason: str
) -> None:
    with pytest.raises(RejectedError, match=reason):
        read(kind, made)


@pytest.mark.parametrize("made", ["A man \0 speaks in a hall", "A woman speaks in a hall " * 4_000])
def test_a_hostile_reply_is_refused(made: str) -> None:
    with pytest.raises(RejectedError):
        read("noun", made)
