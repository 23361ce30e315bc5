"""How far raters agree beyond chance: Krippendorff's alpha and Fleiss' kappa."""

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.units import FloatArray


def krippendorff_alpha(ratings: FloatArray, *, nominal: bool = False) -> float | None:
    """Krippendorff's alpha for ratings (raters, units): 1 for full agreement, 0 for chance.

    NaN is no rating. Numbers are an interval scale or, where nominal, names of categories. None
    where no unit has two ratings or all are equal, so that there is nothing to agree on.
    """
    given = ~np.isnan(ratings)
    paired = given.sum(axis=0) >= 2
    given, ratings = given[:, paired], ratings[:, paired]
    total = int(given.sum())
    if not total:
        return None
    # Two names differ as much as the vectors that stand for them, each along its own axis.
    names = np.unique(ratings[given]) if nominal else ()
    planes = [(ratings == one).astype(np.float64) for one in names] or [ratings]
    counts, observed, expected = given.sum(axis=0), 0.0, 0.0
    for plane in planes:
        # Differences do not change; squares of large numbers would lose their last digits.
        centred = plane - np.where(given, plane, 0.0).sum() / total
        values = np.where(given, centred, 0.0)
        within = counts * (values**2).sum(axis=0) - values.sum(axis=0) ** 2
        observed += float((within / (counts - 1)).sum()) / total
        among = total * float((values**2).sum()) - float(values.sum()) ** 2
        expected += among / (total * (total - 1))
    return 1 - observed / expected if expected > 1e-12 else None


def fleiss_kappa(counts: NDArray[np.int64]) -> float | None:
    """Fleiss' kappa of how many raters chose each category (units, categories), from 0 for chance.

    Every unit has as many ratings, two at least. None without units, or where every rating is the
    same, so that there is nothing to agree on.
    """
    if not len(counts):
        return None
    raters = int(counts[0].sum())
    if raters < 2 or (counts.sum(axis=1) != raters).any():
        raise ValueError("every unit needs the same number of ratings, two at least")
    observed = float(((counts**2).sum(axis=1) - raters).mean()) / (raters * (raters - 1))
    shares = counts.sum(axis=0) / counts.sum()
    expected = float((shares**2).sum())
    return (observed - expected) / (1 - expected) if expected < 1 - 1e-12 else None


def category_counts(ratings: FloatArray) -> NDArray[np.int64]:
    """Count ratings (raters, units), rounded, for ``fleiss_kappa``; no units with a NaN."""
    complete = np.rint(ratings[:, ~np.isnan(ratings).any(axis=0)])
    chosen = complete.T[:, :, np.newaxis] == np.unique(complete)
    counts: NDArray[np.int64] = chosen.sum(axis=1)
    return counts
