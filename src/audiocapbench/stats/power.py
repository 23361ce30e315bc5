"""What a benchmark could have seen: the smallest difference, and the samples that one needs."""

import itertools
from bisect import bisect_left
from functools import cache, lru_cache

import numpy as np

from audiocapbench.stats.units import FloatArray

POWER = 0.8
ALPHA = 0.05

_MOST = 10**9
_NODES = 200
_leggauss = cache(np.polynomial.legendre.leggauss)


@lru_cache
def _spreads(freedom: int) -> tuple[FloatArray, FloatArray]:
    """Standard deviations that so few samples may show of one of 1, and their weights."""
    from scipy.special import gammaincinv

    places, weights = _leggauss(_NODES)
    return np.sqrt(2 * gammaincinv(freedom / 2, (places + 1) / 2) / freedom), weights


def power_of(difference: float, sd: float, n: int, alpha: float = ALPHA) -> float:
    """Probability that a two-sided paired t-test on n >= 2 samples sees a difference; sd > 0."""
    from scipy.special import ndtr, stdtrit

    freedom = n - 1
    bound = float(stdtrit(freedom, 1 - alpha / 2))
    shift = abs(difference) / sd * float(np.sqrt(n))
    # Student's t with a shift is a normal over a chi: average over the latter. Library functions
    # for it lose all digits where there are thousands of samples.
    spreads, weights = _spreads(freedom)
    seen = ndtr(shift - bound * spreads) + ndtr(-shift - bound * spreads)
    return float(weights @ seen / 2)


def minimum_detectable_difference(sd: float, n: int, alpha: float = ALPHA) -> float | None:
    """The smallest true difference that n samples show; None below 2 samples."""
    if n < 2:
        return None
    if sd <= 0:
        return 0.0
    low, high = 0.0, sd
    while power_of(high, sd, n, alpha) < POWER:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        seen = power_of(middle, sd, n, alpha) >= POWER
        low, high = (low, middle) if seen else (middle, high)
    return high


def fewest_to_test(tests: int = 1) -> int:
    """The fewest samples, or clips, on which a permutation test can be significant at all.

    The smallest p-value of n swaps is two in 2^n; a correction may be over several tests.
    """
    return next(n for n in itertools.count(1) if 2.0 ** (1 - n) * tests < ALPHA)


def visible(sd: float, n: int, alpha: float, top: float) -> float | None:
    """The smallest difference that a comparison of n samples, whose scores are up to ``top`` on
    average, would show: its p-values go a little further out than swaps do, as intervals do, and
    leave room for failures that nobody has seen."""
    from scipy.special import ndtri

    if (least := minimum_detectable_difference(sd, n, alpha)) is None:
        return None
    room = max(top, 0.0) * (alpha ** (-1 / n) - 1) + float(ndtri(POWER)) * sd / n**0.5
    return float(max(least * (1.05 + 4 / n), room))


def samples_needed(difference: float, sd: float, tests: int = 1, top: float = 0.0) -> int | None:
    """The fewest samples that show a difference; None above a billion.

    By a permutation test alone, or with ``top`` as ``visible`` has it.
    """
    fewest, alpha = fewest_to_test(tests), ALPHA / tests
    if sd <= 0 and not top:
        return fewest

    def shows(count: int) -> bool:
        if not top:
            return power_of(difference, sd, count, alpha) >= POWER
        return (visible(sd, count, alpha, top) or 0.0) <= abs(difference)

    counts = range(fewest, _MOST + 1)
    place = bisect_left(counts, True, key=shows)
    return counts[place] if place < len(counts) else None
