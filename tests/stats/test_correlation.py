"""Kendall and Spearman against scipy, ties and gaps included."""

import numpy as np
import pytest
from scipy import stats

from audiocapbench.stats.correlation import correlations, kendall, spearman


def test_both_equal_scipy_with_ties() -> None:
    generator = np.random.default_rng(1)
    first = generator.integers(0, 11, 200).astype(float)
    second = np.rint(first / 2 + generator.normal(0, 2, 200))
    assert kendall(first, second) == pytest.approx(stats.kendalltau(first, second).statistic)
    assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)


def test_tau_counts_pairs_in_the_same_and_in_the_other_order() -> None:
    first, second = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])
    assert kendall(first, second) == pytest.approx((5 - 1) / 6)
    assert kendall(first, -second) == pytest.approx(-(5 - 1) / 6)


def test_scorers_are_compared_where_both_have_scores() -> None:
    gap = float("nan")
    found = correlations(
        {
            "meteor": np.array([1.0, 2.0, 3.0, gap]),
            "judge": np.array([gap, 5.0, 4.0, 9.0]),
            "flat": np.array([1.0, 1.0, 1.0, 1.0]),
        }
    )
    assert [(one.first, one.second, one.n) for one in found] == [
        ("meteor", "judge", 2),
        ("meteor", "flat", 3),
        ("judge", "flat", 3),
    ]
    assert found[0].kendall == pytest.approx(-1)
    assert found[0].spearman == pytest.approx(-1)
    assert (found[1].kendall, found[1].spearman) == (None, None)
