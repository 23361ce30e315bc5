"""How far two scorers agree on which answers are better: Kendall's tau-b and Spearman's rho."""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from audiocapbench.stats.separation import rank_correlation
from audiocapbench.stats.units import FloatArray


class Correlation(NamedTuple):
    """Two scorers on the samples that both have scored.

    Attributes:
        first, second: Their names.
        n: Samples that both have scored.
        kendall: Kendall's tau-b; None where either gives all samples the same score.
        spearman: Spearman's rho, likewise.
    """

    first: str
    second: str
    n: int
    kendall: float | None
    spearman: float | None


def kendall(first: FloatArray, second: FloatArray) -> float | None:
    """Kendall's tau-b, ties allowed for; None where either is the same throughout."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)


def spearman(first: FloatArray, second: FloatArray) -> float | None:
    """Spearman's rho, ties sharing their mean rank; None where either is the same throughout."""
    return rank_correlation(first, second, np.zeros(len(first))) if len(first) > 1 else None


def correlations(columns: Mapping[str, FloatArray]) -> list[Correlation]:
    """Every pair of scorers on the samples that both have.

    Args:
        columns: Scores by scorer, each of shape (n,), on the same samples; NaN where there is none.
    """
    found = []
    for (first, left), (second, right) in combinations(columns.items(), 2):
        both = ~(np.isnan(left) | np.isnan(right))
        one, other = left[both], right[both]
        found.append(
            Correlation(first, second, len(one), kendall(one, other), spearman(one, other))
        )
    return found
