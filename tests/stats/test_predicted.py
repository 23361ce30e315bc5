"""Prediction-powered means equal the authors' own, and their intervals cover what they promise."""

import numpy as np
import pytest
from numpy.typing import NDArray

from audiocapbench.stats.predicted import calibrated_mean, ratings_needed, tuning_weight
from needs import needs

FloatArray = NDArray[np.float64]


def drawn(
    kind: str, generator: np.random.Generator, count: int = 1000
) -> tuple[FloatArray, FloatArray]:
    """What people and a judge give the same answers."""
    quality = generator.normal(5, 1.5, count)
    people = quality + generator.normal(0, 0.7, count)
    judge = {
        "good": quality + generator.normal(0, 0.7, count),
        "biased": 0.6 * quality + 3.5 + generator.normal(0, 0.7, count),
        "useless": generator.normal(5, 2, count),
        "opposite": 10 - quality,
    }[kind]
    return people, judge


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["good", "biased", "useless", "opposite"])
@pytest.mark.parametrize("rated", [20, 100])
def test_intervals_cover_the_truth_whatever_the_judge_is_worth(kind: str, rated: int) -> None:
    generator = np.random.default_rng(3)
    covered, rounds = 0, 1000
    for _ in range(rounds):
        people, judge = drawn(kind, generator, 400)
        found = calibrated_mean(people[:rated], judge[:rated], judge[rated:])
        assert found.interval is not None
        covered += found.interval.low <= 5 <= found.interval.high
    assert 0.93 <= covered / rounds <= 0.97


@pytest.mark.parametrize("kind", ["good", "biased"])
def test_the_estimate_is_that_of_the_authors_package(kind: str) -> None:
    ppi = needs("ppi_py")
    people, judge = drawn(kind, np.random.default_rng(4))
    y, f, others = people[:120], judge[:120], judge[120:]
    found = calibrated_mean(y, f, others)
    ours = ppi.ppi_mean_pointestimate(y, f, others, lam=found.weight)
    assert found.value == pytest.approx(float(np.ravel(ours)[0]), abs=1e-9)
    low, high = ppi.ppi_mean_ci(y, f, others, alpha=0.05, lam=found.weight)
    assert found.interval is not None
    # Theirs is by the normal distribution, ours by Student's with the weight's degree taken off.
    assert found.interval.low == pytest.approx(float(np.ravel(low)[0]), abs=0.02)
    assert found.interval.high == pytest.approx(float(np.ravel(high)[0]), abs=0.02)
    theirs = ppi.ppi_mean_pointestimate(y, f, others)
    assert found.value == pytest.approx(float(np.ravel(theirs)[0]), abs=0.01)


def test_a_judge_that_says_nothing_or_the_opposite_gets_no_weight() -> None:
    generator = np.random.default_rng(5)
    people, judge = drawn("opposite", generator)
    assert tuning_weight(people[:50], judge[:50], 950) == 0
    assert tuning_weight(people[:50], np.full(50, 7.0), 950) == 0
    found = calibrated_mean(people[:50], np.full(50, 7.0), np.full(950, 7.0))
    assert found.value == pytest.approx(people[:50].mean())
    assert found.worth == pytest.approx(50)


def test_a_good_judge_is_worth_many_ratings_and_says_how_many_are_needed() -> None:
    people, judge = drawn("good", np.random.default_rng(6), 2000)
    found = calibrated_mean(people[:120], judge[:120], judge[120:])
    assert found.worth > 240
    assert found.interval is not None
    width = found.interval.high - found.interval.low
    known = float(people[:120].std(ddof=1)), float(np.corrcoef(people[:120], judge[:120])[0, 1])
    assert ratings_needed(*known, 2000, width) == pytest.approx(120, abs=3)
    more = ratings_needed(*known, 2000, width / 2)
    assert more is not None
    again = calibrated_mean(people[:more], judge[:more], judge[more:]).interval
    assert again is not None
    assert again.high - again.low == pytest.approx(width / 2, rel=0.1)
    assert ratings_needed(*known, 2000, 1e-6) is None


def test_few_ratings_have_no_interval_and_all_rated_need_no_judge() -> None:
    people, judge = drawn("good", np.random.default_rng(7), 60)
    assert calibrated_mean(people[:5], judge[:5], judge[5:]).interval is None
    whole = calibrated_mean(people, judge, np.zeros(0))
    assert whole.value == pytest.approx(people.mean())
    assert whole.worth == pytest.approx(60)
