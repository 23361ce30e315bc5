"""The bootstrap on statistics: a round is one weighted mean and never looks at text."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

FEWEST_FOR_INTERVAL = 5
"""Below this, resampling says more about the few samples than about the model."""

ROUNDS = 1000
SEED = 42
_BLOCK = 64


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def mean_interval(
    statistics: FloatArray,
    finish: Callable[[FloatArray], FloatArray],
    *,
    level: float = 0.95,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Interval:
    """Percentile interval of a corpus score by resampling samples.

    Args:
        statistics: What resampling needs of each sample, shape (n, k); n is at least 1.
        finish: Maps mean statistics of shape (rounds, k) to scores of shape (rounds,).
        level: Share of rounds inside the interval.
        rounds: How often to resample.
        seed: Makes the interval the same every time.
    """
    generator = np.random.default_rng(seed)
    count = len(statistics)
    scores = np.empty(rounds)
    for start in range(0, rounds, _BLOCK):
        size = min(_BLOCK, rounds - start)
        drawn = generator.multinomial(count, np.full(count, 1 / count), size=size)
        scores[start : start + size] = finish(drawn @ statistics / count)
    tail = (1 - level) / 2
    low, high = np.quantile(scores, [tail, 1 - tail])
    return Interval(float(low), float(high))
