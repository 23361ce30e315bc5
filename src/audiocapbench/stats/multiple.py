"""Many tests at once: p-values that stay honest."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.units import FloatArray


class Correction(StrEnum):
    """How p-values are corrected for their number."""

    HOLM = "holm"
    BH = "bh"

    @property
    def words(self) -> str:
        """Its name, for people."""
        return "Holm" if self is Correction.HOLM else "Benjamini and Hochberg"


def corrected(p_values: FloatArray, how: Correction) -> FloatArray:
    """Adjusted p-values."""
    return holm(p_values) if how is Correction.HOLM else benjamini_hochberg(p_values)


def holm(p_values: FloatArray) -> FloatArray:
    """Adjusted p-values by Holm: the chance of even one false difference stays below alpha."""
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    raised = np.maximum.accumulate(p_values[order] * (count - np.arange(count)))
    return _placed(raised, order)


def benjamini_hochberg(p_values: FloatArray) -> FloatArray:
    """Adjusted p-values by Benjamini and Hochberg: the share of false differences stays below."""
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")[::-1]
    raised = np.minimum.accumulate(p_values[order] * count / np.arange(count, 0, -1))
    return _placed(raised, order)


def _placed(raised: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    adjusted = np.empty(len(raised))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
