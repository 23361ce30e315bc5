"""How far scores go together: Kendall's tau-b, Spearman's rho, and the AUC of two groups."""

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.units import FloatArray


def kendall(first: FloatArray, second: FloatArray) -> float | None:
    """Kendall's tau-b, ties allowed for; None where either is the same throughout."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)


def auc(higher: FloatArray, lower: FloatArray) -> float | None:
    """Probability that one of the first group scores above one of the second; ties count half.

    None where a group is empty.
    """
    if not len(higher) or not len(lower):
        return None
    return float(_doubled_ranks(higher, lower).sum() / (2 * len(higher) * len(lower)))


def rank_correlation(
    first: FloatArray, second: FloatArray, groups: FloatArray | None = None
) -> float | None:
    """Spearman's rho, ties sharing their mean rank; None where either is the same throughout.

    With groups it is pooled within them: differences between groups do not count.
    """
    groups = np.zeros(len(first)) if groups is None else groups
    left, right = np.zeros(len(first)), np.zeros(len(second))
    for group in np.unique(groups):
        chosen = groups == group
        for values, ranks in ((first[chosen], left), (second[chosen], right)):
            own = _doubled_ranks(values, values) / (2 * len(values))
            ranks[chosen] = own - own.mean()
    size = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return float((left * right).sum()) / size if size else None


def _doubled_ranks(values: FloatArray, among: FloatArray) -> NDArray[np.int64]:
    """Twice the number of others that each value is above; ties count half."""
    ordered = np.sort(among)
    below = np.searchsorted(ordered, values, side="left")
    not_above = np.searchsorted(ordered, values, side="right")
    return below + not_above
