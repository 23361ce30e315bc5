"""The permutation test of a single pair of systems."""

from typing import Any

import numpy as np

from audiocapbench.metrics.result import FloatArray
from audiocapbench.stats.bootstrap import permutation_tests
from audiocapbench.stats.units import Aggregate


def permutation_test(
    first: FloatArray, second: FloatArray, aggregate: Aggregate, **how: Any
) -> float:
    """The p-value of statistics of shape (n, k)."""
    pair = first[:, np.newaxis], second[:, np.newaxis]
    return float(permutation_tests(*pair, aggregate, **how)[0])
