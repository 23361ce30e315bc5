"""How far raters agree beyond chance: Krippendorff's alpha and Fleiss' kappa."""

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.units import FloatArray


def krippendorff_alpha(ratings: FloatArray, *, nominal: bool = False) -> float | None:
    """Krippendorff's alpha for ratings: 1 for full agreement, 0 for chance.

    None where no unit has two ratings or all are equal, so that there is nothing to agree on.

    Args:
        ratings: Shape (raters, units); NaN where a rater gave none.
        nominal: Whether numbers are names of categories; else they are an interval scale.
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
    parts = np.array([_disagreement(np.where(given, one, 0.0), given, total) for one in planes])
    observed, expected = parts.sum(axis=0).tolist()
    return 1 - observed / expected if expected > 1e-12 else None


def _disagreement(values: FloatArray, given: NDArray[np.bool_], total: int) -> tuple[float, float]:
    """Mean squared difference within units, and among all ratings."""
    # Differences do not change; squares of large numbers would lose their last digits.
    values = np.where(given, values - values.sum() / total, 0.0)
    counts = given.sum(axis=0)
    within = counts * (values**2).sum(axis=0) - values.sum(axis=0) ** 2
    observed = float((within / (counts - 1)).sum()) / total
    expected = (total * float((values**2).sum()) - float(values.sum()) ** 2) / (total * (total - 1))
    return observed, expected


def fleiss_kappa(counts: NDArray[np.int64]) -> float | None:
    """Fleiss' kappa for raters who put units into categories: 1 for full agreement, 0 for chance.

    None without units, or where every rating is the same, so that there is nothing to agree on.

    Args:
        counts: Shape (units, categories): how many raters chose each; every unit has as many
            ratings, two at least.
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
    """Count ratings, rounded to whole numbers, for ``fleiss_kappa``.

    Args:
        ratings: Shape (raters, units); units with a NaN are left out.
    """
    complete = ratings[:, ~np.isnan(ratings).any(axis=0)]
    categories, places = np.unique(np.rint(complete), return_inverse=True)
    places = places.reshape(complete.shape)
    counts = np.zeros((complete.shape[1], len(categories)), dtype=np.int64)
    units = np.broadcast_to(np.arange(complete.shape[1]), complete.shape)
    np.add.at(counts, (units, places), 1)
    return counts
