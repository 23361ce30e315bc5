"""Bootstrap intervals: seeded, honest, and right where the answer is known."""

import numpy as np
import pytest
from scipy import stats

from audiocapbench.metrics.result import first_column
from audiocapbench.stats.bootstrap import Method, intervals, mean_interval
from audiocapbench.stats.units import FloatArray


def test_the_interval_of_a_mean_is_close_to_the_normal_one() -> None:
    values = np.random.default_rng(7).normal(3.0, 2.0, 400)
    low, high = mean_interval(values[:, np.newaxis], first_column, rounds=4000)
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    assert low == pytest.approx(values.mean() - half, abs=0.03)
    assert high == pytest.approx(values.mean() + half, abs=0.03)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_the_interval_equals_scipys_but_for_the_widening_for_few_samples(method: Method) -> None:
    values = np.random.default_rng(7).exponential(1.0, 500)
    kind = "BCa" if method == "bca" else method
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=4999, method=kind, rng=np.random.default_rng(1)
    ).confidence_interval
    low, high = mean_interval(values[:, np.newaxis], first_column, rounds=4999, method=method)
    assert low == pytest.approx(expected.low, abs=0.008)
    assert high == pytest.approx(expected.high, abs=0.008)


def test_bca_leans_towards_the_long_tail() -> None:
    values = np.random.default_rng(7).exponential(1.0, 30)[:, np.newaxis]
    plain = mean_interval(values, first_column, rounds=4000, method="percentile")
    leaning = mean_interval(values, first_column, rounds=4000, method="bca")
    assert leaning.low > plain.low
    assert leaning.high > plain.high


def test_many_scores_at_once_get_the_intervals_that_each_gets_alone() -> None:
    # Scores alone are drawn in the order of their own statistics; here it is that of all three.
    statistics = np.sort(np.random.default_rng(2).random((40, 3, 2)), axis=0)

    def aggregate(means: FloatArray) -> FloatArray:
        ratio: FloatArray = means[..., 0] / means[..., 1]
        return ratio

    low, high = intervals(statistics, aggregate)
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


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_and_lumpy_samples_keep_their_estimate_inside(count: int) -> None:
    values = np.zeros((count, 1))
    values[0] = 1.0
    low, high = mean_interval(values, first_column)
    assert low <= 1 / count <= high


def test_a_ratio_is_resampled_as_a_ratio() -> None:
    generator = np.random.default_rng(3)
    below = generator.uniform(1, 2, 300)
    statistics = np.stack([3 * below, below], axis=1)
    low, high = mean_interval(statistics, lambda means: means[..., 0] / means[..., 1])
    assert low == pytest.approx(3)
    assert high == pytest.approx(3)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(5).random((50, 1))
    first = mean_interval(values, first_column)
    assert mean_interval(values, first_column) == first
    assert mean_interval(values, first_column, seed=1) != first


def test_equal_samples_leave_no_doubt() -> None:
    assert mean_interval(np.full((9, 1), 0.5), first_column) == (0.5, 0.5)
