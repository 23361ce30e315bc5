"""Intervals of shares, exact where answers are independent.

Of usual intervals only Clopper's and Pearson's never holds the truth less often than it says;
Wilson's falls to 90 % at a share of .975. Where answers go together, or are weighted, a share
counts as one of as many independent answers as have its variance (Korn and Graubard, 1998).
"""

import numpy as np

from audiocapbench.stats.units import LEVEL, TAIL, FloatArray, Interval, Units, student


def clopper_pearson(hits: float, total: float) -> Interval:
    """Exact interval of a share, of ``total`` independent answers or as many as they are worth."""
    from scipy.special import betaincinv

    tail, misses = (1 - LEVEL) / 2, total - hits
    low = float(betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - tail)) if misses > 0 else 1.0
    return Interval(low, high)


def wilson(hits: int, total: int) -> Interval:
    """Wilson's interval of a share, which papers print for win rates; narrower than the exact."""
    from scipy.stats import binomtest

    return Interval(*map(float, binomtest(hits, total).proportion_ci(LEVEL, "wilson")))


def share_interval(share: float, most: float, *, variance: float, units: float) -> Interval:
    """Interval of a share of answers that are not independent, or not counted alike.

    They count as ``most`` independent answers at the most; the variance of the share was estimated
    from so many ``units``, and 0 leaves the share with those.
    """
    counted = min(most, units)
    if variance > 0:
        few = student(most - 1) / student(units - 1)
        counted = min(most, share * (1 - share) / variance * few**2)
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

    A win is a sample that only the first has right; one of each is added: none is no certainty.
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
