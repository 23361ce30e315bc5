"""Bootstrap intervals: seeded, honest, and right where the answer is known."""

from typing import Unpack

import numpy as np
import pytest

from audiocapbench.metrics.result import first_column
from audiocapbench.stats.bootstrap import Resampling, difference_interval, intervals
from audiocapbench.stats.bootstrap import mean_interval as interval_or_none
from audiocapbench.stats.units import Aggregate, FloatArray, Interval, units_of
from needs import needs

stats = needs("scipy.stats")


def mean_interval(
    statistics: FloatArray, aggregate: Aggregate, **how: Unpack[Resampling]
) -> Interval:
    found = interval_or_none(statistics, aggregate, **how)
    assert found is not None
    return found


def test_the_interval_of_a_mean_is_close_to_the_normal_one() -> None:
    values = np.random.default_rng(7).normal(3.0, 2.0, 400)
    low, high = mean_interval(values[:, np.newaxis], first_column, rounds=4000)
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    assert low == pytest.approx(values.mean() - half, abs=0.03)
    assert high == pytest.approx(values.mean() + half, abs=0.03)


def test_of_shares_it_is_the_exact_interval() -> None:
    values = np.repeat([0.0, 1.0], [9, 21])[:, np.newaxis]
    low, high = intervals(
        units_of(values[:, np.newaxis]), first_column, bounds=(0.0, 1.0), rounds=40_000
    )
    exact = stats.binomtest(21, 30).proportion_ci(method="exact")
    assert (low[0], high[0]) == pytest.approx((exact.low, exact.high), abs=0.005)


def test_intervals_lean_towards_the_long_tail() -> None:
    values = np.random.default_rng(7).exponential(1.0, 30)[:, np.newaxis]
    low, high = mean_interval(values, first_column)
    assert high - values.mean() > 1.3 * (values.mean() - low)


def test_many_scores_at_once_get_the_intervals_that_each_gets_alone() -> None:
    # Scores alone are drawn in the order of their own statistics; here it is that of all three.
    statistics = np.sort(np.random.default_rng(2).random((40, 3, 2)), axis=0)

    def aggregate(means: FloatArray) -> FloatArray:
        ratio: FloatArray = means[..., 0] / means[..., 1]
        return ratio

    low, high = intervals(units_of(statistics), aggregate)
    for place in range(3):
        alone = mean_interval(statistics[:, place], aggregate)
        assert (low[place], high[place]) == pytest.approx(alone)


def test_the_order_of_samples_does_not_matter() -> None:
    generator = np.random.default_rng(3)
    statistics, clips = generator.random((60, 2)), generator.integers(0, 25, 60)
    turned = generator.permutation(60)
    for clusters in (None, clips):
        here = mean_interval(statistics, first_column, clusters=clusters)
        there = None if clusters is None else clusters[turned]
        assert mean_interval(statistics[turned], first_column, clusters=there) == pytest.approx(
            here
        )


def test_one_question_a_clip_is_no_cluster() -> None:
    values = np.random.default_rng(5).random((50, 1))
    clips = [f"{number:02}" for number in range(50)]
    assert mean_interval(values, first_column, clusters=clips) == pytest.approx(
        mean_interval(values, first_column)
    )


def test_the_same_question_asked_four_times_is_no_more_evidence() -> None:
    values = np.random.default_rng(5).random((50, 1))
    clips = np.tile(np.arange(50), 4)
    again = mean_interval(np.tile(values, (4, 1)), first_column, clusters=clips)
    assert again == pytest.approx(mean_interval(values, first_column))
    with pytest.raises(ValueError, match="200 samples cannot have 50 clusters"):
        mean_interval(np.tile(values, (4, 1)), first_column, clusters=clips[:50])


@pytest.mark.parametrize("count", [10, 12, 20])
def test_few_and_lumpy_samples_keep_their_estimate_inside(count: int) -> None:
    values = np.zeros((count, 1))
    values[0] = 1.0
    low, high = mean_interval(values, first_column)
    assert low <= 1 / count < high


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_too_few_samples_have_no_interval(count: int) -> None:
    values = np.random.default_rng(1).random((count, 1))
    assert interval_or_none(values, first_column, bounds=(0.0, 1.0)) is None
    # Nor has any number of questions about too few clips.
    clips = np.tile(np.arange(count), 20)
    assert interval_or_none(np.tile(values, (20, 1)), first_column, clusters=clips) is None


def test_a_clip_with_half_of_the_samples_counts_as_little_more_than_itself() -> None:
    values = np.random.default_rng(1).random((60, 1))
    clips = np.array([0] * 30 + list(range(1, 31)))
    assert units_of(values, clips).effective < 4
    assert interval_or_none(values, first_column, bounds=(0.0, 1.0), clusters=clips) is None
    assert difference_interval(values, values / 2, first_column, clusters=clips) is None


def test_a_ratio_is_resampled_as_a_ratio() -> None:
    generator = np.random.default_rng(3)
    below = generator.uniform(1, 2, 300)
    above = 3 * below + generator.normal(0, 1e-6, 300)
    statistics = np.stack([above, below], axis=1)
    low, high = mean_interval(statistics, lambda means: means[..., 0] / means[..., 1])
    assert 3 - 1e-6 < low < high < 3 + 1e-6


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(5).random((50, 1))
    first = mean_interval(values, first_column)
    assert mean_interval(values, first_column) == first
    assert mean_interval(values, first_column, seed=1) != first


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_equal_samples_are_not_certainty(value: float) -> None:
    values = np.full((20, 1), value)
    assert interval_or_none(values, first_column) is None
    low, high = mean_interval(values, first_column, bounds=(0.0, 1.0))
    assert 0.0 <= low <= value <= high <= 1.0
    assert high - low > 0.1


def test_no_interval_leaves_the_bounds_of_its_score() -> None:
    generator = np.random.default_rng(8)
    for _ in range(50):
        values = generator.choice([0.0, 0.1, 10.0], (12, 1), p=[0.1, 0.1, 0.8])
        low, high = mean_interval(values, first_column, bounds=(0.0, 10.0))
        assert 0.0 <= low <= values.mean() <= high <= 10.0


def test_one_sample_unlike_the_others_does_not_open_the_interval_to_everything() -> None:
    values = np.full((30, 1), 10.0)
    values[:3, 0] = 5.8, 9.99, 9.98
    low, high = mean_interval(values, first_column, bounds=(0.0, 10.0))
    assert 8.5 < low < 9.5
    assert 9.9 < high <= 10.0


def test_a_few_samples_far_from_the_many_do_not_open_an_interval_to_everything() -> None:
    many = [0, 0.1, 0.2, 0.3, 0.76, 0.5, 0.4, 0.3, 0.2, 0.1, 0, 0.6, 0.7, 0.3, 0.2, 0.1]
    values = np.array([*many, 5, 5, 5, 5])[:, np.newaxis]
    found = mean_interval(values, first_column, bounds=(0, 10))
    assert found is not None
    assert found.low < values.mean() < found.high < 3
