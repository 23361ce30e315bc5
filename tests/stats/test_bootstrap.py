"""Bootstrap intervals: seeded, honest, and right where the answer is known."""

import numpy as np
import pytest

from audiocapbench.metrics.result import first_column
from audiocapbench.stats import mean_interval


def test_the_interval_of_a_mean_is_close_to_the_normal_one() -> None:
    values = np.random.default_rng(7).normal(3.0, 2.0, 400)
    low, high = mean_interval(values[:, np.newaxis], first_column, rounds=4000)
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    assert low == pytest.approx(values.mean() - half, abs=0.03)
    assert high == pytest.approx(values.mean() + half, abs=0.03)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(11)
    covered = 0
    for seed in range(400):
        values = generator.exponential(1.0, 100)
        low, high = mean_interval(values[:, np.newaxis], first_column, rounds=400, seed=seed)
        covered += low <= 1.0 <= high
    assert 0.90 <= covered / 400 <= 0.98


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
