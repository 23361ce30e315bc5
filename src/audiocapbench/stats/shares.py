"""Intervals of shares: exact ones, which hold for few samples and for shares near 0 or 1.

A resample of twelve right answers has twelve right answers: shares are not resampled. Of the usual
intervals only Clopper's and Pearson's never holds the truth less often than it says; Wilson's falls
to 90 % at a share of .975. Where answers go together, or are weighted, a share counts as one of as
many independent answers as have its variance (Korn and Graubard, 1998).
"""

from typing import NamedTuple

import numpy as np

from audiocapbench.stats.units import FloatArray, Units

LEVEL = 0.95
TAIL = (1 + LEVEL) / 2
"""The quantile at which an interval ends."""


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def clopper_pearson(hits: float, total: float) -> Interval:
    """Exact interval of a share, of ``total`` independent answers or as many as they are worth."""
    from scipy.special import betaincinv

    tail, misses = (1 - LEVEL) / 2, total - hits
    low = float(betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - tail)) if misses > 0 else 1.0
    return Interval(low, high)


def wilson(hits: int, total: int) -> Interval:
    """Wilson's interval of a share, which papers print for win rates; narrower than the exact."""
    from scipy.special import ndtri

    z2, share = float(ndtri(TAIL)) ** 2, hits / total
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    away = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * total)) / total) / (1 + z2 / total)
    return Interval(max(0.0, float(middle - away)), min(1.0, float(middle + away)))


def share_interval(share: float, most: float, *, variance: float, units: float) -> Interval:
    """Interval of a share of answers that are not independent, or not counted alike.

    They count as ``most`` independent answers at the most. The variance, the square of the share's
    standard error, was estimated from so many independent ``units``; 0 leaves the share with those.
    """
    from scipy.special import stdtrit

    counted = min(most, units)
    if variance > 0:
        few = stdtrit(max(most - 1, 1.0), TAIL) / stdtrit(max(units - 1, 1.0), TAIL)
        counted = min(most, share * (1 - share) / variance * float(few) ** 2)
    return clopper_pearson(min(max(share, 0.0), 1.0) * counted, counted)


def interval_of_hits(hits: Units) -> Interval:
    """Interval of the share of hits; a unit's sum is the number of its samples that are hits."""
    total, found = float(hits.sizes.sum()), hits.sums.reshape(-1)
    share, units = float(found.sum()) / total, len(found)
    if units == total:
        return clopper_pearson(float(found.sum()), total)
    away = found - share * hits.sizes
    variance = float((away**2).sum()) * units / (units - 1) / total**2
    return share_interval(share, total, variance=variance, units=hits.effective)


def paired_difference(wins: Units, losses: Units) -> Interval:
    """Interval of a difference of shares on the same samples, by Bonett and Price (2012).

    A win is a sample that only the first has right. One win and one loss are added, so that none
    does not pass for certainty. Samples that go together count as many as have the variance.
    """
    from scipy.special import ndtri

    total = float(wins.sizes.sum())
    won, lost = float(wins.sums.sum()) / total, float(losses.sums.sum()) / total
    counted = total
    if (units := len(wins.sizes)) < total:
        away = (wins.sums - losses.sums).reshape(-1) - (won - lost) * wins.sizes
        variance = float((away**2).sum()) * units / (units - 1) / total**2
        alone = won + lost - (won - lost) ** 2
        counted = min(total, alone / variance) if variance > 0 else wins.effective
    won, lost = (counted * won + 1) / (counted + 2), (counted * lost + 1) / (counted + 2)
    half = float(ndtri(TAIL)) * np.sqrt((won + lost - (won - lost) ** 2) / (counted + 2))
    return Interval(max(-1.0, won - lost - half), min(1.0, won - lost + half))


def hits_of(
    values: FloatArray, score: float, bounds: tuple[float, float] | None
) -> FloatArray | None:
    """Which samples are hits; None unless all have 0 or the most, and the score is their mean."""
    if bounds is None or bounds[0] != 0 or not np.isin(values, bounds).all():
        return None
    hits = (values == bounds[1]).astype(np.float64)
    return hits if abs(hits.mean() * bounds[1] - score) <= 1e-9 * bounds[1] else None
