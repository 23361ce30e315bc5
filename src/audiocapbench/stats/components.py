"""Where variance comes from, by the method of moments (Henderson's first).

Factors may be crossed or nested and need not be balanced; nothing is taken for normal.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import ReportError


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
    """The variance of values by factor; the last has a level for each value and takes the rest."""
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
