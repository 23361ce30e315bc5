"""A model as a judge of single captions on trial: kept, resumed, and paid for once."""

import json
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.engine import Budget
from audiocapbench.errors import StoppedError, TrialError
from audiocapbench.meta.pairs import CaptionPair, PairSet
from audiocapbench.meta.scorers.scorer import Choice, TrialSettings, create_scorer
from audiocapbench.meta.trial import try_scorer
from audiocapbench.models.registry import price_of
from fakes.faults import Plan, hang
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

REFERENCES = ("a dog barks loudly", "a dog is barking")


def pair(number: int, first: str, second: str, answer: Literal[0, 1]) -> CaptionPair:
    return CaptionPair(
        f"p{number}",
        "clip",
        first,
        second,
        answer,
        "HM",
        "HM_1",
        references_first=REFERENCES,
        references_second=REFERENCES,
    )


PAIRS = PairSet(
    "brace-main",
    (
        pair(0, "a dog barks", "rain falls", 0),
        pair(1, "rain falls", "a dog", 1),
        pair(2, "a dog", "a dog barks", 1),
    ),
)
SCORES = {"a dog barks": 9, "a dog": 6, "rain falls": 1}


def reply(request: Request) -> dict[str, object]:
    content = request.json["messages"][0]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    found = re.search("Model prediction: “(.*)”", text)
    assert found
    if found[1] not in SCORES:
        return completion("I would rather not say.")
    fields = dict.fromkeys(("accuracy", "completeness", "hallucination"), SCORES[found[1]])
    return completion(json.dumps(fields | {"reasoning": "Good."}))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None, reply=reply) as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[TrialSettings]:
    made = TrialSettings(store_url=str(tmp_path / "trial.db"))
    yield made
    made.store.close()


def name_at(server: OpenAIServer) -> str:
    return f"judge:endpoint/judge@{server.base_url}"


def test_the_caption_that_the_judge_scores_higher_is_chosen(
    server: OpenAIServer, settings: TrialSettings
) -> None:
    trial = try_scorer(create_scorer(name_at(server), settings), PAIRS)
    assert trial.choices == (Choice.FIRST, Choice.SECOND, Choice.SECOND)
    assert trial.diagnostics.failed == 0
    assert "trial:pointwise" in str(trial.signature)


def test_every_caption_is_asked_about_once_in_all_trials(
    server: OpenAIServer, settings: TrialSettings
) -> None:
    once = try_scorer(create_scorer(name_at(server), settings), PAIRS)
    assert len(server.requests) == 3
    again = try_scorer(create_scorer(name_at(server), settings), PAIRS)
    assert len(server.requests) == 3
    assert again.choices == once.choices


def test_the_run_of_a_trial_is_named_apart_from_benchmarks(
    server: OpenAIServer, settings: TrialSettings
) -> None:
    try_scorer(create_scorer(name_at(server), settings), PAIRS)
    (line,) = settings.store.runs()
    assert (line.benchmark, line.model) == (f"{TRIAL}judge/no-audio", f"{TRIAL}captions")


def test_a_caption_without_a_verdict_leaves_its_pairs_unknown(
    server: OpenAIServer, settings: TrialSettings
) -> None:
    made = PairSet("csv", (*PAIRS.pairs, pair(3, "broken", "a dog", 1)))
    trial = try_scorer(create_scorer(name_at(server), settings), made)
    assert trial.choices[3] is Choice.UNKNOWN
    assert trial.diagnostics.failed == 1


def test_progress_and_cost_are_told(server: OpenAIServer, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    settings = TrialSettings(
        store_url=str(tmp_path / "trial.db"),
        progress=lambda _name, done, total: steps.append((done, total)),
    )
    scorer = create_scorer(name_at(server), settings)
    [told] = scorer.preview(PAIRS.decided)
    assert told.questions == 3
    assert told.likely_usd is None
    assert server.requests == []
    try_scorer(scorer, PAIRS)
    assert steps[0] == (0, 3)
    assert steps[-1] == (3, 3)
    assert scorer.preview(PAIRS.decided)[0].questions == 0
    settings.store.close()


def test_a_spent_budget_stops_the_trial_and_says_how_to_go_on(
    server: OpenAIServer, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.json"
    model = f"endpoint/judge@{server.base_url}"
    dear = {"text_in": 1e6, "out": 1e6, "source": "a test", "as_of": "2026-01-01"}
    table = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": {model: dear}}
    prices.write_text(json.dumps(table))
    settings = TrialSettings(
        store_url=str(tmp_path / "trial.db"),
        budget=Budget(0.001),
        prices=partial(price_of, overrides=prices),
    )
    with pytest.raises(StoppedError, match="the same command with a larger budget goes on"):
        try_scorer(create_scorer(f"judge:{model}", settings), PAIRS)
    settings.store.close()


def test_a_judge_that_hears_needs_the_clips(server: OpenAIServer, settings: TrialSettings) -> None:
    scorer = create_scorer(f"{name_at(server)}[hears=yes]", settings)
    with pytest.raises(TrialError, match="say with `data` in which folder they are"):
        try_scorer(scorer, PAIRS)


def test_a_scorer_waits_no_longer_than_it_is_told(server: OpenAIServer, tmp_path: Path) -> None:
    server.plan = Plan([hang()])
    settings = TrialSettings(store_url=str(tmp_path / "trials.db"), timeout=1)
    began = time.monotonic()
    trial = try_scorer(create_scorer(name_at(server), settings), PAIRS)
    settings.store.close()
    assert trial.diagnostics.failed == 0
    assert time.monotonic() - began < 60  # two minutes without
