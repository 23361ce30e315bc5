"""Library calls with what they cannot take say so before anything is done."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import audiocapbench
from audiocapbench.engine import RateLimits, RetryPolicy
from audiocapbench.errors import AudioCapBenchError

acb: Any = audiocapbench  # what is wrong here is wrong on purpose
TEXTS, KNOWN = ["a dog"], [["a dog barks"]]
CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "limit": (
        lambda: acb.run("demo", "control/safe", limit="3"),
        "limit is '3'; it must be a whole",
    ),
    "models": (lambda: acb.run("demo", ["listener", "control/safe"]), "it must be one model"),
    "no model": (lambda: acb.run("demo", None), "it must be one model"),
    "benchmarks": (lambda: acb.run(["demo"], "control/safe"), "benchmark is ['demo']"),
    "truth": (lambda: acb.run("demo", "control/safe", limit=True), "limit is True"),
    "budget": (lambda: acb.run("demo", "control/safe", budget="1"), "budget is '1'"),
    "no requests": (lambda: acb.run("demo", "control/safe", rpm=0), "number of at least 0.01 or"),
    "no tokens": (lambda: acb.run("demo", "control/safe", tpm=float("nan")), "tpm is nan; it must"),
    "no answer": (
        lambda: acb.ModelSettings(max_tokens=0),
        "max_tokens is 0; it must be a whole number of at least 1",
    ),
    "half a token": (lambda: acb.ModelSettings(max_tokens=1.5), "max_tokens is 1.5; it must be"),
    "no time": (lambda: acb.ModelSettings(timeout=0), "timeout is 0; it must be a number above 0"),
    "no heat": (lambda: acb.ModelSettings(temperature=float("nan")), "temperature is nan; it must"),
    "no places": (lambda: RateLimits(concurrency=0), "concurrency is 0; it must be a whole"),
    "no rate": (lambda: RateLimits(requests_per_minute=0), "it must be a number above 0"),
    "no size": (lambda: RateLimits(tokens_per_minute=float("nan")), "tokens_per_minute is nan"),
    "no tries": (lambda: RetryPolicy(attempts=0), "attempts is 0; it must be a whole number of"),
    "back in time": (lambda: RetryPolicy(first_s=-1), "first_s is -1; it must be a number of at"),
    "no rounds": (lambda: acb.run("demo", "control/safe", repeats=0), "number of at least 1"),
    "fresh": (lambda: acb.run("demo", "control/safe", fresh="no"), "fresh is 'no'"),
    "categories": (lambda: acb.run("demo", "control/safe", categories="music"), "a list of texts"),
    "slip": (lambda: acb.run("demo", "control/safe", limits=3), "did you mean 'limit'"),
    "no metrics": (lambda: acb.run("demo", "control/safe", metrics=[]), "must be names in a list"),
    "store": (lambda: acb.run("demo", "control/safe", store=7), "store is 7"),
    "none": (lambda: acb.score(TEXTS, KNOWN, None), "metrics is None"),
    "empty": (lambda: acb.score(TEXTS, KNOWN, []), "must be names in a list"),
    "numbers": (lambda: acb.score(TEXTS, KNOWN, [1]), "must be names in a list"),
    "group": (lambda: acb.score(TEXTS, KNOWN, "rouge_l", groups={"7": "x"}), "no sample's id"),
    "groups": (
        lambda: acb.score(TEXTS, KNOWN, "rouge_l", groups=["x", "y"]),
        "2 groups for 1 sample",
    ),
    "grouped": (lambda: acb.score(TEXTS, KNOWN, "rouge_l", groups=[3]), "which is no text"),
    "text": (lambda: acb.score(TEXTS, KNOWN, "rouge_l", groups="x"), "groups is 'x'"),
    "run": (lambda: acb.compare("1", 2), "'1' is no run"),
    "runs": (lambda: acb.leaderboard(runs=1), "it must be a list of whole numbers"),
    "large": (lambda: acb.costs(10**70), "is no run; give its number"),
    "correction": (
        lambda: acb.compare(1, 2, correction="foo"),
        "no correction 'foo'; there are holm, bh",
    ),
    "clips": (lambda: acb.compare(1, 2, clips=1.5), "clips is 1.5"),
    "board": (lambda: acb.leaderboard(correction="hom"), "did you mean 'holm'"),
    "metric": (lambda: acb.leaderboard(metric=3), "metric is 3; it must be text or None"),
    "judge": (lambda: acb.judge("1", "elements"), "'1' is no run"),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_another_kind_is_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    acb.Store.open("audiocapbench.db").close()
    call, words = CALLS[name]
    with pytest.raises(AudioCapBenchError) as refused:
        call()
    assert words in str(refused.value)


def test_metrics_of_a_comparison_may_be_one_text(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    for model in ("control/safe", "control/wrong"):
        acb.run("demo", model, metrics="rouge_l,bleu_1", limit=12, store=store)
    found = acb.compare(1, 2, metrics="rouge_l", store=store)
    assert {row["scorer"] for row in found.records()} == {"rouge_l"}
