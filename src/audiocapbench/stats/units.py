"""What resampling draws: samples, or whole clips where a clip has several questions."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Aggregate = Callable[[FloatArray], FloatArray]
"""Maps mean statistics of shape (..., k) to scores of shape (...)."""

Clusters = Sequence[str] | NDArray[np.int64] | None
"""For each sample the clip that it belongs to; None where every sample stands for itself."""


class Units(NamedTuple):
    """Units that are drawn whole: sums of their samples' statistics (units, ..., k), and sizes."""

    sums: FloatArray
    sizes: FloatArray

    @property
    def means(self) -> FloatArray:
        """Mean statistics over all samples, shape (..., k)."""
        means: FloatArray = self.sums.sum(axis=0) / self.sizes.sum()
        return means

    @property
    def effective(self) -> float:
        """How many units of equal size would say as much (Kish); all of them where sizes are."""
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    def without_each(self) -> FloatArray:
        """Mean statistics with each unit left out in turn, shape (units, ..., k)."""
        left = (self.sizes.sum() - self.sizes).reshape(-1, *(1 for _ in self.sums.shape[1:]))
        means: FloatArray = (self.sums.sum(axis=0) - self.sums) / left
        return means


def units_of(statistics: FloatArray, clusters: Clusters = None) -> Units:
    """Add samples up to units; units of one sample each are the samples as they stand."""
    if clusters is None:
        return Units(statistics, np.ones(len(statistics)))
    if len(clusters) != len(statistics):
        raise ValueError(f"{len(statistics)} samples cannot have {len(clusters)} clusters")
    _, places = np.unique(np.asarray(clusters), return_inverse=True)
    sizes = np.bincount(places).astype(np.float64)
    if len(sizes) == len(statistics):
        return Units(statistics, sizes)
    sums = np.zeros((len(sizes), *statistics.shape[1:]))
    np.add.at(sums, places, statistics)
    return Units(sums, sizes)


def ordered(units: Units) -> Units:
    """The units in an order of their own, so that draws do not depend on the order they came in."""
    columns = np.column_stack([units.sizes, units.sums.reshape(len(units.sizes), -1)])
    order = np.lexsort(columns.T[::-1])
    return Units(units.sums[order], units.sizes[order])
