"""What a benchmark could have seen: the smallest difference, and the samples that one needs."""

from bisect import bisect_left
from functools import cache

import numpy as np

from audiocapbench.stats.units import FloatArray

POWER = 0.8
ALPHA = 0.05

_MOST = 10**9
_NODES = 200


def power_of(difference: float, sd: float, n: int) -> float:
    """Probability that a two-sided paired t-test on n samples sees a true difference.

    The samples' differences have the standard deviation ``sd``, which is more than 0; n is 2 at
    least.
    """
    from scipy.special import gammaincinv, ndtr, stdtrit

    freedom = n - 1
    bound = float(stdtrit(freedom, 1 - ALPHA / 2))
    shift = abs(difference) / sd * float(np.sqrt(n))
    # Student's t with a shift is a normal over a chi: average over the latter. Library functions
    # for it lose all digits where there are thousands of samples.
    places, weights = _nodes()
    spreads = np.sqrt(2 * gammaincinv(freedom / 2, (places + 1) / 2) / freedom)
    seen = ndtr(shift - bound * spreads) + ndtr(-shift - bound * spreads)
    return float(weights @ seen / 2)


def minimum_detectable_difference(sd: float, n: int) -> float | None:
    """The smallest true difference that n samples show; None below 2 samples."""
    if n < 2:
        return None
    if sd <= 0:
        return 0.0
    low, high = 0.0, sd
    while power_of(high, sd, n) < POWER:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        seen = power_of(middle, sd, n) >= POWER
        low, high = (low, middle) if seen else (middle, high)
    return high


def fewest_to_test(tests: int = 1) -> int:
    """The fewest samples, or clips, on which a permutation test can be significant at all.

    The smallest p-value of n swaps is two in 2^n: every swap, or none. A correction may be over
    several tests.
    """
    count = 1
    while 2.0 ** (1 - count) * tests >= ALPHA:
        count += 1
    return count


def samples_needed(difference: float, sd: float) -> int | None:
    """The fewest samples that show a true difference; None above a billion.

    They are never fewer than a permutation test needs to show anything.
    """
    fewest = fewest_to_test()
    if sd <= 0:
        return fewest
    counts = range(fewest, _MOST + 1)

    def shows(count: int) -> bool:
        return power_of(difference, sd, count) >= POWER

    place = bisect_left(counts, True, key=shows)
    return counts[place] if place < len(counts) else None


@cache
def _nodes() -> tuple[FloatArray, FloatArray]:
    """Places between -1 and 1 and their weights, to average a smooth function."""
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    return places, weights
