"""Intervals of shares: exact, never certain, and wide enough where answers go together."""

import numpy as np
import pytest
from numpy.typing import NDArray

from audiocapbench.metrics.result import first_column
from audiocapbench.stats.bootstrap import difference_interval, mean_interval
from audiocapbench.stats.shares import clopper_pearson
from audiocapbench.stats.units import FloatArray, Interval, units_of
from needs import needs
from permutation import permutation_test

stats = needs("scipy.stats")

UNIT = (0.0, 1.0)


def of_hits(hits: int, total: int, worth: float = 1.0) -> Interval:
    values = np.zeros((total, 1))
    values[:hits] = worth
    found = mean_interval(values, first_column, bounds=(0.0, worth))
    assert found is not None
    return found


@pytest.mark.parametrize("total", [10, 12, 20, 57, 400])
def test_a_share_has_the_exact_interval_of_scipy(total: int) -> None:
    for hits in {0, 1, total // 2, total - 1, total}:
        exact = stats.binomtest(hits, total).proportion_ci(method="exact")
        assert clopper_pearson(hits, total) == pytest.approx(tuple(exact), abs=1e-9)
        assert of_hits(hits, total) == pytest.approx(tuple(exact), abs=1e-9)
        percent = of_hits(hits, total, 100.0)
        assert percent == pytest.approx((100 * exact.low, 100 * exact.high), abs=1e-7)


def test_twelve_of_twelve_is_not_certain() -> None:
    low, high = of_hits(12, 12)
    assert (low, high) == pytest.approx((0.7354, 1.0), abs=1e-4)


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9, 0.95, 0.975, 0.98])
@pytest.mark.parametrize("total", [10, 20, 21, 30, 50, 100])
def test_intervals_of_shares_hold_the_truth(share: float, total: int) -> None:
    """Counted out over all numbers of hits."""
    held = [clopper_pearson(hits, total) for hits in range(total + 1)]
    chances = stats.binom.pmf(np.arange(total + 1), total, share)
    covered = [low <= share <= high for low, high in held]
    assert chances[covered].sum() >= 0.95


def answers(
    share: float, clips: int, questions: int, seed: int
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Right and wrong answers to several questions a clip, where clips are hard or easy."""
    generator = np.random.default_rng(seed)
    ease = generator.beta(4 * share, 4 * (1 - share), clips)
    number = np.repeat(np.arange(clips), questions)
    right = generator.random(len(number)) < ease[number]
    return right.astype(np.float64)[:, np.newaxis], number


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.95])
def test_intervals_of_shares_hold_the_truth_where_answers_go_together(share: float) -> None:
    held, rounds = 0, 600
    for seed in range(rounds):
        values, clips = answers(share, 20, 5, seed)
        found = mean_interval(values, first_column, bounds=UNIT, clusters=clips)
        assert found is not None
        held += found.low <= share <= found.high
    assert held / rounds >= 0.93


def test_answers_that_go_together_are_no_more_than_their_clips() -> None:
    clips = np.repeat(np.arange(20), 5)
    right = np.ones((100, 1))
    together = mean_interval(right, first_column, bounds=UNIT, clusters=clips)
    assert together == pytest.approx(of_hits(20, 20))


def test_scores_between_the_bounds_are_no_share() -> None:
    values = np.repeat([0.0, 8.0], 10)[:, np.newaxis]
    graded = mean_interval(values, first_column, bounds=(0.0, 10.0))
    assert graded is not None
    assert graded != pytest.approx(of_hits(10, 20, 8.0))


def difference(first: FloatArray, second: FloatArray) -> Interval:
    found = difference_interval(
        first[:, np.newaxis], second[:, np.newaxis], first_column, bounds=UNIT
    )
    assert found is not None
    return found


def test_a_difference_that_is_the_same_everywhere_is_not_certain() -> None:
    won, lost = np.ones(12), np.zeros(12)
    low, high = difference(won, lost)
    assert 0.4 < low < 0.8
    assert high == 1.0
    low, high = difference(won, won)
    assert low < 0 < high
    half = np.full(12, 0.5)
    low, high = difference(half, half)
    assert low < 0 < high
    unknown = difference_interval(half[:, np.newaxis], half[:, np.newaxis], first_column)
    assert unknown is None


@pytest.mark.parametrize("both", [0.5, 0.8, 0.95])
def test_intervals_of_differences_of_shares_hold_the_truth(both: float) -> None:
    generator = np.random.default_rng(4)
    held, rounds = 0, 80
    for _ in range(rounds):
        same = generator.random(30) < 0.6
        first, second = (generator.random(30) < both for _ in range(2))
        low, high = difference(first.astype(float), np.where(same, first, second).astype(float))
        held += low <= 0 <= high
    assert held / rounds >= 0.93


def test_an_interval_of_a_difference_holds_0_only_where_its_p_value_tells_no_difference() -> None:
    generator = np.random.default_rng(6)
    for number in range(30):
        kind = number % 3
        first = (generator.random(40) < 0.6).astype(float) if kind else generator.random(40)
        second = np.where(generator.random(40) < 0.25, 1.0, first) if kind else first * 0.9
        clips = np.repeat(np.arange(20), 2) if kind == 2 else np.arange(40)
        pair = first[:, np.newaxis], second[:, np.newaxis]
        found = difference_interval(*pair, first_column, bounds=UNIT, clusters=clips)
        assert found is not None
        p = permutation_test(*pair, first_column, clusters=clips)
        assert (found.low <= 0 <= found.high) == (p >= 0.05)
        assert found.low <= first.mean() - second.mean() <= found.high


def test_skewed_scores_are_covered_as_well() -> None:
    """The small version of a simulation that is among the slow tests."""
    from audiocapbench.stats.bootstrap import intervals

    drawn = np.random.default_rng(9).lognormal(0.0, 1.0, (30, 400, 1))
    low, high = intervals(units_of(drawn), first_column)
    truth = np.exp(0.5)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.93
