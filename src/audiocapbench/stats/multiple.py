"""Many tests at once: p-values that stay honest."""

from enum import StrEnum

import numpy as np

from audiocapbench.stats.units import FloatArray


class Correction(StrEnum):
    """How p-values are corrected for their number."""

    HOLM = "holm"
    BH = "bh"
    BONFERRONI = "bonferroni"

    @property
    def words(self) -> str:
        """Its name, for people."""
        return "Benjamini and Hochberg" if self is Correction.BH else self.capitalize()


def corrected(p_values: FloatArray, how: Correction) -> FloatArray:
    """Adjusted p-values.

    By Holm, and with less power by Bonferroni, the chance of even one false difference stays below
    alpha; by Benjamini and Hochberg the share of false differences does.
    """
    count, order = len(p_values), np.argsort(p_values, kind="stable")
    if how is Correction.BONFERRONI:
        return np.minimum(p_values * count, 1.0)
    if how is Correction.HOLM:
        raised = np.maximum.accumulate(p_values[order] * (count - np.arange(count)))
    else:
        order = order[::-1]
        raised = np.minimum.accumulate(p_values[order] * count / np.arange(count, 0, -1))
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
