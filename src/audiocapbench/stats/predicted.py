"""What people would have said of everything, from a judge of everything and people on a part.

Prediction-powered inference with its tuning weight (Angelopoulos, Duchi and Zrnic, PPI++, 2023);
valid whatever the judge is worth: one that says nothing gets no weight.
"""

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from audiocapbench.stats.bootstrap import LEVEL, FloatArray, Interval

FEWEST_RATED = 20  # with fewer, the spread itself is a guess, and there is no interval


class Calibrated(NamedTuple):
    """A mean as people would have given it; errors need ``FEWEST_RATED`` that differ."""

    value: float
    error: float | None  # standard
    interval: Interval | None
    weight: float  # that a point of the judge counts for
    plain_error: float | None  # of ratings alone
    worth: float  # ratings alone that would be as certain
    influence: FloatArray  # what each sample moved it by, those that people rated first


def calibrated_mean(rated: FloatArray, judged: FloatArray, others: FloatArray) -> Calibrated:
    """The mean that people would have given of all, from what they ``rated``, a random part.

    The judge gave these samples ``judged``, and ``others`` to the rest.
    """
    n, more = len(rated), len(others)
    is_known = n >= FEWEST_RATED and bool(np.ptp(rated) > 0)  # how ratings spread
    weight = tuning_weight(rated, judged, more) if is_known else 0.0
    left = rated - weight * judged
    value = float(left.mean()) + weight * float((others if more else judged).mean())
    moved = weight * (others - others.mean()) / more if more else np.zeros(0)
    influence = np.concatenate([(left - left.mean()) / n, moved])
    if not is_known:
        return Calibrated(value, None, None, weight, None, float(n), influence)
    plain = float(rated.std(ddof=1) / np.sqrt(n))
    # The weight was fitted to the same ratings: it costs a degree of freedom.
    lost = 2 if weight else 1
    error = float(left.var(ddof=0)) * n / (n - lost) / n
    error += weight**2 * float(others.var(ddof=1)) / more if more > 1 else 0.0
    error = float(np.sqrt(error))
    worth = n * (plain / error) ** 2 if error > 0 else float(n)
    interval = around(value, error, n - lost)
    return Calibrated(value, error, interval, weight, plain, worth, influence)


def tuning_weight(rated: FloatArray, judged: FloatArray, more: int) -> float:
    """The weight of the judge that makes the error least; 0 for one that says nothing, or worse."""
    n = len(rated)
    spread = float(judged.var(ddof=1)) if n > 1 else 0.0
    if spread <= 0 or not more:
        return 0.0
    together = float(np.cov(rated, judged)[0, 1])
    return max(0.0, together / ((1 + n / more) * spread))


def student(freedom: int, level: float = LEVEL) -> float:
    """How many standard errors an interval reaches to each side."""
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1), (1 + level) / 2))


def around(value: float, error: float, freedom: int) -> Interval:
    """The interval of an estimate with a standard error."""
    half = student(freedom) * error
    return Interval(value - half, value + half)


def ratings_needed(spread: float, correlation: float, total: int, width: float) -> int | None:
    """Ratings, of ``total`` samples, that make the interval this wide; None where all would not do.

    ``spread`` is the standard deviation of people's ratings, ``correlation`` the judge's with them.
    """
    known = max(0.0, correlation) ** 2

    def narrow(count: int) -> bool:
        error = spread * np.sqrt((1 - known) / count + known / total)
        return bool(2 * student(count - 2) * error <= width)

    counts = range(FEWEST_RATED, total + 1)
    place = bisect_left(counts, True, key=narrow)
    return counts[place] if place < len(counts) else None
