"""Corrected p-values against statsmodels and scipy, and by hand."""

import numpy as np
import pytest

from audiocapbench.stats.multiple import Correction, corrected
from needs import needs

stats = needs("scipy.stats")

P_VALUES = np.array([0.01, 0.04, 0.03, 0.005, 0.5, 0.03])


def test_holm_by_hand() -> None:
    assert corrected(P_VALUES, Correction.HOLM).tolist() == pytest.approx(
        [0.05, 0.12, 0.12, 0.03, 0.5, 0.12]
    )


def test_holm_equals_statsmodels() -> None:
    multitest = needs("statsmodels.stats.multitest")
    values = np.random.default_rng(2).random(200) ** 3
    expected = multitest.multipletests(values, method="holm")[1]
    assert corrected(values, Correction.HOLM) == pytest.approx(expected)


def test_benjamini_hochberg_equals_scipy() -> None:
    values = np.random.default_rng(2).random(200) ** 3
    expected = stats.false_discovery_control(values)
    assert corrected(values, Correction.BH) == pytest.approx(expected)


def test_a_correction_may_be_named_and_an_unknown_one_is_refused() -> None:
    for how in Correction:
        assert corrected(P_VALUES, str(how)).tolist() == corrected(P_VALUES, how).tolist()
    with pytest.raises(ValueError, match="'sidak' is not a valid Correction"):
        corrected(P_VALUES, "sidak")


@pytest.mark.parametrize("how", Correction)
def test_no_test_needs_no_correction_and_none_passes_one(how: Correction) -> None:
    assert corrected(np.array([]), how).tolist() == []
    assert corrected(np.array([0.03]), how).tolist() == [0.03]
    assert corrected(np.array([0.9, 0.8]), how).max() <= 1.0
