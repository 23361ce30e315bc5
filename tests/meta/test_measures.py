"""The measures of a trial: by hand, against scikit-like counting, and where they say nothing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audiocapbench.errors import TrialError
from audiocapbench.meta.pairs import CaptionPair, PairSet, preferred
from audiocapbench.meta.scorers.scorer import Choice, PairScorer, PointwiseScorer, higher
from audiocapbench.meta.trial import (
    NAMES,
    ScorerTrial,
    agreement,
    count,
    measure,
    measure_pairs,
    try_scorer,
)
from audiocapbench.signature import sign

FIRST, SECOND, TIE, UNKNOWN = Choice


def pair(number: int, answer: int | None, kind: str = "HH", clip: str = "") -> CaptionPair:
    return CaptionPair(f"p{number}", clip or f"c{number}", "one", "two", answer, kind, kind)  # type: ignore[arg-type]


def pairs(*answers: int) -> PairSet:
    return PairSet("brace-main", tuple(pair(n, answer) for n, answer in enumerate(answers)))


def judged(pairs: PairSet, choices: list[Choice], scorer: str) -> ScorerTrial:
    return ScorerTrial(scorer, sign("x"), pairs.headline, pairs.decided, tuple(choices))


def figures(answers: list[int], choices: list[Choice]) -> dict[str, float]:
    counted = count([pair(n, answer) for n, answer in enumerate(answers)], choices)
    return dict(zip(NAMES, measure(counted.sum(axis=0)).tolist(), strict=True))


def test_a_tie_is_a_miss_where_the_answer_is_1_and_a_false_alarm_where_it_is_0() -> None:
    found = figures([1, 1, 1, 0, 0, 0], [SECOND, TIE, FIRST, FIRST, UNKNOWN, SECOND])
    tp, fn, fp = 1, 2, 2
    assert found["f1"] == pytest.approx(100 * 2 * tp / (2 * tp + fn + fp))
    assert found["accuracy"] == pytest.approx(100 * 2 / 6)
    assert found["balanced_accuracy"] == pytest.approx(100 / 3)
    assert found["macro_f1"] == pytest.approx(found["f1"])


def test_constant_answers_gain_nothing_on_balanced_accuracy() -> None:
    for choice, f1 in ((FIRST, 0.0), (SECOND, 50.0)):
        found = figures([n % 3 == 0 for n in range(9)], [choice] * 9)
        assert found["balanced_accuracy"] == pytest.approx(50.0)
        assert found["f1"] == pytest.approx(f1)


def test_a_class_without_answers_is_left_out_of_means() -> None:
    found = figures([0, 0], [FIRST, FIRST])
    assert found["balanced_accuracy"] == 100.0
    assert np.isnan(found["f1"])
    trial = judged(pairs(0, 0), [FIRST, FIRST], "x")
    assert trial.whole["f1"].value is None


def test_both_means_over_classes_leave_out_the_same_class() -> None:
    absent_1, absent_0 = np.array([0.0, 0, 1, 9]), np.array([9.0, 1, 0, 0])
    for counts in (absent_1, absent_0):
        found = dict(zip(NAMES, measure(counts).tolist(), strict=True))
        assert found["balanced_accuracy"] == pytest.approx(90.0)
        assert found["macro_f1"] == pytest.approx(100 * 18 / 19)
    assert measure(absent_1)[NAMES.index("f1")] == 0.0


def test_groups_add_up_and_are_named() -> None:
    answers = [(0, "HH"), (1, "HM"), (1, "HM"), (0, "MM")]
    made = PairSet("brace-main", tuple(pair(n, *one) for n, one in enumerate(answers)))
    trial = judged(made, [FIRST, SECOND, FIRST, FIRST], "x")
    assert {name: one["f1"].n for name, one in trial.groups["type"].items()} == {
        "HH": 1,
        "HM": 2,
        "MM": 1,
    }
    assert trial.groups["type"]["HM"]["accuracy"].value == 50.0
    assert trial.whole["accuracy"].value == 75.0
    assert trial.answers == {"first": 3, "second": 1, "tie": 0, "unknown": 0}


def test_intervals_draw_clips_and_not_pairs() -> None:
    rng = np.random.default_rng(1)
    right = rng.random(40) < 0.6
    alone = count([pair(n, 0) for n in range(40)], [FIRST if one else SECOND for one in right])
    clips = [f"c{n}" for n in range(40)]
    narrow = measure_pairs(clips, alone)["accuracy"].interval
    tenfold = measure_pairs(clips * 10, np.tile(alone, (10, 1)))["accuracy"].interval
    as_if_apart = measure_pairs([f"{n}" for n in range(400)], np.tile(alone, (10, 1)))
    assert narrow is not None
    assert tenfold is not None
    # The same clips are drawn; rounding alone may move an end by a step.
    assert tenfold.low == pytest.approx(narrow.low, abs=2.5)
    assert tenfold.high == pytest.approx(narrow.high, abs=2.5)
    apart = as_if_apart["accuracy"].interval
    assert apart is not None
    assert apart.high - apart.low < 0.5 * (narrow.high - narrow.low)


def test_intervals_are_the_same_every_time_and_hold_the_value() -> None:
    counted = count([pair(n, n % 2) for n in range(60)], [FIRST, SECOND, SECOND] * 20)
    clips = [f"c{n // 3}" for n in range(60)]
    once, again = measure_pairs(clips, counted), measure_pairs(clips, counted)
    assert once == again
    for name, value in zip(NAMES, measure(counted.sum(axis=0)), strict=True):
        interval = once[name].interval
        assert interval is not None
        assert interval.low <= value <= interval.high


def test_few_clips_have_no_interval() -> None:
    counted = count([pair(n, 1) for n in range(8)], [SECOND] * 8)
    assert {one.interval for one in measure_pairs(["a", "b"] * 4, counted).values()} == {None}


def test_a_scorer_below_a_constant_answer_is_warned_about() -> None:
    made = pairs(1, 1, 0, 0)
    poor = judged(made, [SECOND, FIRST, FIRST, SECOND], "metric:x")
    assert poor.warning is not None
    assert "always answering 1 scores 66.67" in poor.warning
    assert judged(made, [SECOND] * 4, "x").warning is None
    assert judged(made, [SECOND, SECOND, FIRST, FIRST], "x").whole


def test_scores_equal_to_single_precision_are_a_tie() -> None:
    first = np.array([0.1 + 0.2, 1.0, 0.5, np.nan])
    second = np.array([0.3, 0.5, 1.0, 1.0])
    assert higher(first, second) == [TIE, FIRST, SECOND, UNKNOWN]


def test_a_scorer_that_loses_pairs_is_refused() -> None:
    class Short(PairScorer):
        name, signature = "short", sign("short")

        def choose(self, pairs: object) -> list[Choice]:
            return [FIRST]

    scorer: PairScorer = Short()
    with pytest.raises(TrialError, match="gave 1 choices for 2 pairs"):
        try_scorer(scorer, pairs(0, 1))


def test_only_a_scorer_that_needs_the_corpus_is_shown_undecided_pairs() -> None:
    seen: list[int] = []

    class Counting(PointwiseScorer):
        name, signature = "counting", sign("counting")

        def score(self, pairs: object) -> tuple[np.ndarray, np.ndarray]:
            seen.append(len(pairs))  # type: ignore[arg-type]
            return np.ones(seen[-1]), np.zeros(seen[-1])

    class Corpus(Counting):
        needs_corpus = True

    made = PairSet("human", (pair(0, 0), pair(1, None), pair(2, 1)))
    assert try_scorer(Counting(), made).n == 2
    assert try_scorer(Corpus(), made).answers["first"] == 2
    assert seen == [2, 3]


def test_votes_prefer_by_their_sum() -> None:
    assert [preferred(votes, 2) for votes in ([1, 1, 0], [-1, -1, 1], [-1, -1, -1])] == [0, None, 1]
    assert preferred([1, -1]) is None


def test_agreement_leaves_out_pairs_whose_answer_was_set() -> None:
    def voted(number: int, subtype: str, *votes: int) -> CaptionPair:
        was_set = subtype == "HM_2"
        pair = CaptionPair(f"{number}", "c", "a", "b", 0, subtype[:2], subtype, votes=votes)
        return replace(pair, answer_set=was_set)

    split = [voted(0, "HH", 1, -1, 0), voted(1, "HH", 1, 1, 1), voted(2, "HH", -1, -1, -1)]
    made = [voted(n, "HM_2", 1, 1, 1) for n in range(3, 50)]
    assert agreement(split) == agreement(split + made)
    assert agreement(split).after.value == pytest.approx(1.0)
    assert agreement([]).before.value is None
    assert agreement([voted(0, "HH", 1, 1), voted(1, "HH", 1, 1, 1)]).before.value is None


def test_both_orders_are_shown_and_their_mean_and_what_they_agree_on() -> None:
    made = pairs(*[number % 2 for number in range(10)])

    def in_orders(given: list[Choice], swapped: list[Choice]) -> Mapping[str, Any]:
        orders = replace(judged(made, given, "x"), swapped=tuple(swapped)).orders
        assert orders is not None
        return orders

    orders = in_orders([FIRST] * 10, [SECOND] * 10)
    assert {order: row["accuracy"] for order, row in orders.items()} == {
        "as given": 50.0,
        "swapped": 50.0,
        "mean": 50.0,
        "agreed": 0.0,
    }
    assert orders["as given"]["f1"] == 0.0
    assert orders["swapped"]["f1"] == pytest.approx(200 / 3)
    steady = in_orders([SECOND, FIRST] * 5, [SECOND, FIRST] * 5)
    assert len({row["f1"] for row in steady.values()}) == 1


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ([FIRST, SECOND] * 14 + [TIE, UNKNOWN] * 6, "no caption of 30.0 %"),
        (([SECOND] * 10 + [FIRST, SECOND] * 5 + [FIRST] * 20), "HM and of HH pairs differ by -"),
    ],
)
def test_the_signs_of_failure_that_brace_names_are_said(choices: list[Choice], words: str) -> None:
    kinds = ["HH", "HM"] * 20
    answers = [1] * 20 + [0] * 20
    if "HM" in words:
        kinds = ["HH"] * 10 + ["HM"] * 10 + ["HH"] * 10 + ["HM"] * 10
    rows = enumerate(zip(answers, kinds, strict=True))
    made = PairSet("csv", tuple(pair(number, one, kind) for number, (one, kind) in rows))
    trial = judged(made, choices, "model:m")
    assert any(words in one for one in trial.warnings), trial.warnings
    control = judged(made, choices, "control:m")
    assert not any(words in one for one in control.warnings)
