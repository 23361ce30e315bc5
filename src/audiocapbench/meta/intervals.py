"""Intervals by bootstrap over clips: the pairs of one clip are drawn together or not at all."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.measures import COUNTS, NAMES, measure
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.bootstrap import intervals

FloatArray = NDArray[np.float64]


def measure_intervals(clips: Sequence[str], counts: FloatArray) -> dict[str, Interval | None]:
    """95 % intervals of every measure of one group.

    Args:
        clips: The clip of each pair.
        counts: What each pair adds to the four counts, shape (pairs, 4).

    Returns:
        By measure; None for too few clips to draw from, or a measure that says nothing.
    """
    own = measure(counts.sum(axis=0))
    if len(set(clips)) < FEWEST_FOR_INTERVAL:
        return dict.fromkeys(NAMES)

    def aggregate(means: FloatArray) -> FloatArray:
        # Every measure has the same counts; the diagonal takes each measure once.
        found = np.diagonal(measure(means), axis1=-2, axis2=-1)
        # A round without any pair that a measure speaks of says nothing for or against it.
        return np.where(np.isnan(found), np.nan_to_num(own), found)

    repeated = np.broadcast_to(counts[:, np.newaxis], (len(counts), len(NAMES), COUNTS))
    low, high = intervals(repeated, aggregate, clusters=clips)
    return {
        name: None if np.isnan(own[place]) else Interval(float(low[place]), float(high[place]))
        for place, name in enumerate(NAMES)
    }
