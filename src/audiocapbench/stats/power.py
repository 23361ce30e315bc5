"""What a benchmark could have seen: the smallest difference, and the samples that one needs; and
where variance comes from, by the method of moments (Henderson's first)."""

import itertools
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import ReportError
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
    return sd * _detectable(n, alpha) if sd > 0 else 0.0


@lru_cache
def _detectable(n: int, alpha: float) -> float:
    """The same, in standard deviations."""
    low, high = 0.0, 1.0
    while power_of(high, 1.0, n, alpha) < POWER:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        seen = power_of(middle, 1.0, n, alpha) >= POWER
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


class Component(NamedTuple):
    """A factor's variance, below 0 where there is none to be seen, and its number of levels.

    ``weight`` is the part that stays in the variance of the mean: 1 / levels if balanced.
    """

    variance: float
    levels: int
    weight: float

    @property
    def of_mean(self) -> float:
        return max(self.variance, 0.0) * self.weight


def variance_components(
    values: Iterable[float], factors: Mapping[str, Iterable[Hashable]]
) -> dict[str, Component]:
    """The variance of values by factor; the last has a level for each value and takes the rest.

    Factors may be crossed or nested and need not be balanced; nothing is taken for normal.
    """
    y = np.array(list(values))
    y -= y.mean()
    codes = [np.zeros(len(y), dtype=np.int64)]
    for levels in factors.values():
        known: dict[Hashable, int] = {}
        codes.append(np.array([known.setdefault(one, len(known)) for one in levels]))
    sizes = [np.bincount(one) for one in codes]
    sums = [(np.bincount(one, y) ** 2 / n).sum() for one, n in zip(codes, sizes, strict=True)]
    holds = np.zeros((len(codes), len(codes)))  # of each sum of squares, how often each variance
    for row, column in np.ndindex(holds.shape):
        width = len(sizes[column])
        cells, n = np.unique(codes[row] * width + codes[column], return_counts=True)
        holds[row, column] = (n**2 / sizes[row][cells // width]).sum()
    if np.linalg.matrix_rank(holds) < len(holds):
        raise ReportError(f"the data cannot tell these apart: {', '.join(factors)}")
    found = np.linalg.solve(holds, sums)[1:].tolist()
    weights, levels_of = (holds[0, 1:] / len(y)).tolist(), map(len, sizes[1:])
    rows = zip(found, levels_of, weights, strict=True)
    return {name: Component(*row) for name, row in zip(factors, rows, strict=True)}
