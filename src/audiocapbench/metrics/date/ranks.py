"""How many of N candidates reach a score, counted in blocks: the N×N matrix is never held."""

import numpy as np

from audiocapbench.metrics.date.pieces import IntArray
from audiocapbench.metrics.result import FloatArray


def count_reaching(
    queries: FloatArray, keys: FloatArray, floors: FloatArray, block: int
) -> IntArray:
    """Count for each query the keys whose dot product with it is at least the query's floor.

    Args:
        queries: Shape (n, dimensions).
        keys: Shape (m, dimensions).
        floors: Shape (n,).
        block: Queries held at a time.
    """
    counts = np.zeros(len(queries), dtype=np.int64)
    for first in range(0, len(queries), block):
        rows = slice(first, first + block)
        reached = queries[rows] @ keys.T >= floors[rows, np.newaxis]
        counts[rows] = np.count_nonzero(reached, axis=1)
    return counts
