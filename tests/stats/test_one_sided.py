"""One-sided tests of a score against a value: made as intervals are, and never too sure."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from audiocapbench.metrics.result import first_column
from audiocapbench.stats.bootstrap import mean_interval, one_sided
from audiocapbench.stats.units import FloatArray
from needs import needs

stats = needs("scipy.stats")

GRADES = (0.0, 10.0)


def p_above(*given: Any, **how: Any) -> float:
    return one_sided(*given, **how).above


def p_below(*given: Any, **how: Any) -> float:
    return one_sided(*given, **how).below


def column(values: ArrayLike) -> FloatArray:
    return np.asarray(values, np.float64)[:, np.newaxis]


def test_of_shares_they_are_the_exact_binomial_ones() -> None:
    right = column(np.arange(40) < 31)
    for test, side in ((p_above, "greater"), (p_below, "less")):
        found = test(right, first_column, 0.65, bounds=(0.0, 1.0))
        assert found == pytest.approx(stats.binomtest(31, 40, 0.65, side).pvalue, abs=0.01)


def test_a_value_that_an_interval_ends_at_is_at_its_level() -> None:
    grades = column(np.random.default_rng(1).integers(3, 11, 60))
    found = mean_interval(grades, first_column, bounds=GRADES, rounds=9_999)
    assert found is not None
    assert p_above(grades, first_column, found.low, bounds=GRADES) == pytest.approx(0.025, abs=2e-4)
    assert p_below(grades, first_column, found.high, bounds=GRADES) == pytest.approx(
        0.025, abs=2e-4
    )
    assert p_above(grades, first_column, found.high, bounds=GRADES) > 0.9


def test_equal_grades_are_not_surely_above_what_a_few_failures_would_make_of_them() -> None:
    nines = np.full((20, 1), 9.0)
    assert p_above(nines, first_column, 8.0, bounds=GRADES) == pytest.approx(
        (8 / 9) ** 20, abs=0.01
    )
    assert p_below(nines, first_column, 8.0, bounds=GRADES) == 1.0
    assert p_above(nines, first_column, 8.0) == 1.0, "nothing is known of others"
    same = p_above(nines, first_column, -0.5, second=nines, bounds=GRADES)
    assert same > 0.05, "one failure in 18 samples may not have been seen"


def test_no_worse_by_a_margin_is_seen_with_enough_samples_and_clips() -> None:
    generator = np.random.default_rng(3)
    first = column(generator.normal(0.3, 0.1, 400).clip(0, 1))
    second = (first + column(generator.normal(0.0, 0.05, 400))).clip(0, 1)
    unit = (0.0, 1.0)
    assert p_above(first, first_column, -0.02, second=second, bounds=unit) < 0.001
    assert p_below(first, first_column, 0.02, second=second, bounds=unit) < 0.001
    assert p_above(first, first_column, 0.0, second=second, bounds=unit) > 0.05
    likeness = p_above(first, first_column, -0.02, second=second, bounds=(-1.0, 1.0))
    assert likeness < 0.001, "a failure has 0 there too"
    few = np.repeat(np.arange(9), 50)[:400]
    assert p_above(first, first_column, -0.9, second=second, bounds=unit, clusters=few) == 1.0
