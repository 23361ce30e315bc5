"""Kendall and Spearman against scipy, ties included."""

import numpy as np
import pytest

from audiocapbench.stats.correlation import kendall, rank_correlation, rank_interval
from needs import needs

stats = needs("scipy.stats")


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


def test_no_interval_of_a_rank_correlation_below_five_models() -> None:
    assert rank_interval(0.5, 4, "tau") is None
    assert rank_interval(None, 9, "rho") is None
    for of in ("rho", "tau"):
        low, high = rank_interval(1.0, 5, of) or (1.0, 1.0)
        assert (low < 0.5, high) == (True, 1.0), "five in the same order may be chance"
        wide, narrow = rank_interval(0.6, 10, of), rank_interval(0.6, 100, of)
        assert wide is not None
        assert narrow is not None
        assert wide.low < narrow.low < 0.6 < narrow.high < wide.high


@pytest.mark.slow
@pytest.mark.parametrize("true", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("count", [6, 12, 40])
def test_intervals_of_rank_correlations_hold_the_truth(true: float, count: int) -> None:
    first, other = np.random.default_rng(count).normal(size=(2, 300, count))
    second = true * first + np.sqrt(1 - true**2) * other
    taus = [rank_interval(kendall(*one), count, "tau") for one in zip(first, second, strict=True)]
    rhos = [
        rank_interval(rank_correlation(*one), count, "rho")
        for one in zip(first, second, strict=True)
    ]
    for found, limit in (
        (taus, 2 / np.pi * np.arcsin(true)),
        (rhos, 6 / np.pi * np.arcsin(true / 2)),
    ):
        assert np.mean([low <= limit <= high for low, high in filter(None, found)]) >= 0.92
