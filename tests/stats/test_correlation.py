"""Kendall and Spearman against scipy, ties included."""

import numpy as np
import pytest
from scipy import stats

from audiocapbench.stats.correlation import kendall, rank_correlation


def test_both_equal_scipy_with_ties() -> None:
    generator = np.random.default_rng(1)
    first = generator.integers(0, 11, 200).astype(float)
    second = np.rint(first / 2 + generator.normal(0, 2, 200))
    assert kendall(first, second) == pytest.approx(stats.kendalltau(first, second).statistic)
    assert rank_correlation(first, second) == pytest.approx(
        stats.spearmanr(first, second).statistic
    )


def test_tau_counts_pairs_in_the_same_and_in_the_other_order() -> None:
    first, second = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])
    assert kendall(first, second) == pytest.approx((5 - 1) / 6)
    assert kendall(first, -second) == pytest.approx(-(5 - 1) / 6)


def test_a_scorer_that_says_the_same_of_everything_has_no_correlation() -> None:
    flat, rising = np.ones(3), np.array([1.0, 2.0, 3.0])
    assert (kendall(flat, rising), rank_correlation(rising, flat)) == (None, None)
    assert (kendall(rising, -rising), rank_correlation(rising, -rising)) == pytest.approx((-1, -1))
    assert (kendall(flat[:1], flat[:1]), rank_correlation(flat[:1], flat[:1])) == (None, None)
