"""What could have been seen: against statsmodels, and the two questions against each other."""

import numpy as np
import pytest

from audiocapbench.metrics.result import first_column
from audiocapbench.stats.power import (
    fewest_to_test,
    minimum_detectable_difference,
    power_of,
    samples_needed,
)
from needs import needs
from permutation import permutation_test


@pytest.mark.parametrize("n", [2, 5, 30, 1000, 20_000])
def test_the_smallest_visible_difference_equals_statsmodels(n: int) -> None:
    power = needs("statsmodels.stats.power")
    expected = power.TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert minimum_detectable_difference(1.0, n) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("difference", [0.02, 0.1, 0.5, 2.0])
def test_the_samples_needed_equal_statsmodels(difference: float) -> None:
    power = needs("statsmodels.stats.power")
    expected = power.TTestPower().solve_power(effect_size=difference, alpha=0.05, power=0.8)
    needed = samples_needed(difference, 1.0)
    assert needed is not None
    assert needed == max(np.ceil(expected), 6)


def test_a_textbook_example() -> None:
    """A medium effect of half a standard deviation takes 34 pairs."""
    assert samples_needed(0.5, 1.0) == 34
    assert power_of(0.5, 1.0, 34) == pytest.approx(0.8078, abs=1e-4)


def test_no_difference_is_seen_as_often_as_alpha_says() -> None:
    assert power_of(0.0, 1.0, 20) == pytest.approx(0.05, abs=1e-6)


def test_a_corrected_level_takes_more() -> None:
    power = needs("statsmodels.stats.power").TTestPower()
    expected = power.solve_power(nobs=40, alpha=0.005, power=0.8)
    assert minimum_detectable_difference(1.0, 40, 0.005) == pytest.approx(expected, rel=1e-4)
    assert power_of(expected, 1.0, 40, 0.005) == pytest.approx(0.8, abs=1e-4)
    expected = power.solve_power(effect_size=0.5, alpha=0.005, power=0.8)
    assert samples_needed(0.5, 1.0, 10) == np.ceil(expected)
    assert samples_needed(10.0, 1.0, 78) == fewest_to_test(tests=78)


def test_both_scale_with_the_spread() -> None:
    assert minimum_detectable_difference(0.3, 100) == pytest.approx(
        0.3 * (minimum_detectable_difference(1.0, 100) or 0)
    )
    assert samples_needed(0.03, 0.3) == samples_needed(0.1, 1.0)


def test_what_has_no_answer_has_none() -> None:
    assert minimum_detectable_difference(1.0, 1) is None
    assert minimum_detectable_difference(0.0, 10) == 0.0
    assert samples_needed(1e-7, 1.0) is None
    assert samples_needed(0.1, 0.0) == 6


def test_fewer_samples_than_a_permutation_test_can_use_are_never_enough() -> None:
    """Five clips make 32 swaps, of which two are as large as any difference: p is 1 in 16."""
    assert fewest_to_test() == 6
    assert fewest_to_test(tests=78) == 12
    assert samples_needed(10.0, 1.0) == 6
    ones, zeros = np.ones((6, 1)), np.zeros((6, 1))
    assert permutation_test(ones, zeros, first_column) < 0.05
    assert permutation_test(ones[:5], zeros[:5], first_column) > 0.05
