"""How well scores tell two groups apart, and whether they follow something that they should not."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def auc(higher: FloatArray, lower: FloatArray) -> float | None:
    """Probability that one of the first group scores above one of the second; ties count half.

    None where a group is empty.
    """
    if not len(higher) or not len(lower):
        return None
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, side="left")
    not_above = np.searchsorted(ordered, higher, side="right")
    return float((below + not_above).sum() / (2 * len(higher) * len(lower)))


def rank_correlation(first: FloatArray, second: FloatArray, groups: FloatArray) -> float | None:
    """Spearman's correlation within groups, pooled: differences between groups do not count.

    None where either is the same throughout every group.
    """
    left, right = np.zeros(len(first)), np.zeros(len(second))
    for group in np.unique(groups):
        chosen = groups == group
        left[chosen] = _centred_ranks(first[chosen])
        right[chosen] = _centred_ranks(second[chosen])
    size = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return float((left * right).sum()) / size if size else None


def _centred_ranks(values: FloatArray) -> FloatArray:
    """Ranks from 0 to 1, ties sharing their mean, around their own mean."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    not_above = np.searchsorted(ordered, values, side="right")
    ranks: FloatArray = (below + not_above) / (2 * len(values))
    centred: FloatArray = ranks - ranks.mean()
    return centred
