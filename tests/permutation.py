"""The permutation test of a single pair of systems, and many pairs of their own."""

from typing import Any

import numpy as np

from audiocapbench.metrics.result import FloatArray
from audiocapbench.stats.bootstrap import Pairs, permutation_tests
from audiocapbench.stats.units import Aggregate


def permutation_test(
    first: FloatArray, second: FloatArray, aggregate: Aggregate, **how: Any
) -> float:
    """The p-value of statistics of shape (n, k)."""
    pair = beside(first[:, np.newaxis], second[:, np.newaxis])
    return float(permutation_tests(*pair, aggregate, **how)[0])


def beside(first: FloatArray, second: FloatArray) -> tuple[FloatArray, Pairs]:
    """Systems, and the pairs that they make, of statistics of shape (n, pairs, k) for each side."""
    return np.concatenate([first, second], axis=1), np.arange(2 * first.shape[1]).reshape(2, -1).T
