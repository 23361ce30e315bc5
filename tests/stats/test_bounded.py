"""Scores on bounded scales, where the truth is known: rare failures, long tails, sparse changes.

Every shape is drawn many times at once; a failure nobody has seen is what makes intervals short.
"""

from collections.abc import Callable

import numpy as np
import pytest

from audiocapbench.metrics.result import first_column
from audiocapbench.stats.bootstrap import (
    difference_interval,
    guarded,
    intervals,
    one_sided,
    permutation_tests,
)
from audiocapbench.stats.units import FloatArray, units_of
from needs import needs
from permutation import beside

stats = needs("scipy.stats")

pytestmark = pytest.mark.slow

TIMES, PAIRS = 1000, 200
UNIT, GRADES = (0.0, 1.0), (0.0, 10.0)
Draw = Callable[[np.random.Generator, tuple[int, int]], FloatArray]


def failing(values: Draw, share: float) -> Draw:
    return lambda draw, size: np.where(draw.random(size) < share, 0.0, values(draw, size))


def high(draw: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return draw.choice([8.0, 9.0], size)


def likert(draw: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return draw.choice([1.0, 2.0, 3.0, 4.0, 5.0], size, p=[0.03, 0.02, 0.05, 0.2, 0.7])


SHAPES: dict[str, tuple[Draw, float, tuple[float, float]]] = {
    "beta(5, 1)": (lambda draw, size: draw.beta(5, 1, size), 5 / 6, UNIT),
    "beta(1, 5)": (lambda draw, size: draw.beta(1, 5, size), 1 / 6, UNIT),
    "beta(.1, 3)": (lambda draw, size: draw.beta(0.1, 3, size), 1 / 31, UNIT),
    "beta(.2, 2)": (lambda draw, size: draw.beta(0.2, 2, size), 1 / 11, UNIT),
    "zero-inflated": (failing(lambda draw, size: draw.beta(2, 5, size), 0.6), 0.4 * 2 / 7, UNIT),
    "3 % zeros": (failing(high, 0.03), 8.5 * 0.97, GRADES),
    "5 % zeros": (failing(high, 0.05), 8.5 * 0.95, GRADES),
    "8 % zeros": (failing(high, 0.08), 8.5 * 0.92, GRADES),
    "likert": (likert, 0.03 + 0.04 + 0.15 + 0.8 + 3.5, (1.0, 5.0)),
    "gamma, top far away": (lambda draw, size: draw.gamma(0.6, 0.8, size), 0.48, GRADES),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [10, 30])
def test_intervals_hold_the_truth_in_93_percent(shape: str, n: int) -> None:
    values, truth, bounds = SHAPES[shape]
    drawn = values(np.random.default_rng(n), (n, TIMES))[..., np.newaxis]
    low, high = intervals(units_of(drawn), first_column, bounds=bounds)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.93


@pytest.mark.parametrize("n", [30, 80])
def test_very_long_tails_are_held_in_90_percent(n: int) -> None:
    drawn = np.random.default_rng(n).lognormal(0.0, 1.5, (n, TIMES, 1))
    low, high = intervals(units_of(drawn), first_column)
    truth = np.exp(1.5**2 / 2)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.9


@pytest.mark.parametrize("sizes", [[1] * 20 + [6], [1] * 30 + [10], [1, 2, 3, 4, 5] * 3])
def test_clips_of_unequal_weight_are_held_from_an_effective_ten_on(sizes: list[int]) -> None:
    draw, clips = np.random.default_rng(3), np.repeat(np.arange(len(sizes)), sizes)
    for values, truth, bounds in (SHAPES["beta(1, 5)"], SHAPES["5 % zeros"]):
        drawn = values(draw, (len(sizes), TIMES))[clips][..., np.newaxis]
        low, high = intervals(units_of(drawn, clips), first_column, bounds=bounds)
        assert ((low <= truth) & (truth <= high)).mean() >= 0.93


ORDINARY: dict[str, tuple[Draw, tuple[float, float]]] = {
    "beta(2, 3)": (lambda draw, size: draw.beta(2, 3, size), UNIT),
    "uniform": (lambda draw, size: draw.random(size), UNIT),
    "differences of METEOR": (lambda draw, size: draw.normal(0.02, 0.12, size), (-1.0, 1.0)),
}


STUDENTISED = {10: 1.34, 20: 1.14, 50: 1.045, 100: 1.02}
"""How wide bootstrap-t made them, which leaves no room for failures, in Student's intervals."""


@pytest.mark.parametrize("shape", ORDINARY)
@pytest.mark.parametrize("n", STUDENTISED)
def test_intervals_of_ordinary_scores_are_at_most_1_15_times_as_wide(shape: str, n: int) -> None:
    values, bounds = ORDINARY[shape]
    drawn = values(np.random.default_rng(4), (n, 400))
    low, high = intervals(units_of(drawn[..., np.newaxis]), first_column, bounds=bounds)
    half = stats.t.ppf(0.975, n - 1) * drawn.std(axis=0, ddof=1) / np.sqrt(n)
    assert (high - low).mean() <= 1.15 * STUDENTISED[n] * 2 * half.mean()


def changed(draw: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray, float]:
    """One answer in twenty is another one."""
    first = draw.beta(2, 3, (n, PAIRS))
    return (
        np.where(draw.random(first.shape) < 0.05, draw.beta(3, 2, first.shape), first),
        first,
        0.01,
    )


def failures(draw: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray, float]:
    size = (n, PAIRS)
    return failing(high, 0.08)(draw, size) / 10, failing(high, 0.03)(draw, size) / 10, -0.0425


def new_failures(draw: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray, float]:
    size = (n, PAIRS)
    return failing(high, 0.05)(draw, size) / 10, high(draw, size) / 10, -0.0425


@pytest.mark.parametrize("n", [10, 50])
@pytest.mark.parametrize("pairs", [changed, failures, new_failures])
def test_intervals_of_differences_hold_the_truth_in_93_percent(
    pairs: Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray, float]], n: int
) -> None:
    first, second, truth = pairs(np.random.default_rng(5), n)
    first, second = first[..., np.newaxis], second[..., np.newaxis]
    tests, held = permutation_tests(*beside(first, second), first_column, rounds=999), 0
    for place, p in enumerate(tests.tolist()):
        sides = first[:, place], second[:, place]
        found = difference_interval(*sides, first_column, p=p, bounds=UNIT)
        assert found is not None
        held += found.low <= truth <= found.high
    assert held / PAIRS >= 0.93


@pytest.mark.parametrize("shape", ["5 % zeros", "zero-inflated", "likert", "beta(5, 1)"])
def test_no_score_is_surely_above_or_below_its_truth_more_often_than_alpha(shape: str) -> None:
    values, truth, bounds = SHAPES[shape]
    drawn = values(np.random.default_rng(6), (25, PAIRS))
    found = [
        one_sided(one[:, None], first_column, truth, bounds=bounds, rounds=499) for one in drawn.T
    ]
    assert (np.mean(np.array(found) < 0.05, axis=0) <= 0.065).all()


def test_no_model_is_surely_within_a_margin_that_it_misses_more_often_than_alpha() -> None:
    first, second, truth = new_failures(np.random.default_rng(7), 40)
    clips = np.repeat(np.arange(40), 2)
    found = [
        one_sided(
            np.repeat(one, 2)[:, np.newaxis],
            *(first_column, truth),
            second=np.repeat(other, 2)[:, np.newaxis],
            bounds=UNIT,
            clusters=clips,
            rounds=499,
        ).above
        for one, other in zip(first.T, second.T, strict=True)
    ]
    assert np.mean(np.array(found) < 0.05) <= 0.065


@pytest.mark.parametrize("count", [15, 40, 150])
def test_two_of_one_mean_are_told_apart_no_more_often_than_said(count: int) -> None:
    """One fails in 5 % of cases, and is a little better in all others: their means are the same."""
    rounds, generator = 400, np.random.default_rng(count)
    base = generator.integers(6, 10, (count, rounds, 1)) / 10
    gain = 0.05 / 0.95 * 0.75
    failing = np.where(generator.random(base.shape) < 0.05, 0.0, base + gain)
    sides = beside(failing, base)
    swapped = permutation_tests(*sides, first_column, rounds=999)
    known = guarded(swapped, *sides, first_column, bounds=(0.0, 1.1))
    assert (known >= swapped).all()
    assert (known < 0.05).mean() < 0.07
    if count < 100:
        assert (swapped < 0.05).mean() > 0.1


def test_ordinary_differences_are_seen_nearly_as_often() -> None:
    rounds, generator = 300, np.random.default_rng(3)
    for count, least in ((60, 0.68), (300, 0.75)):
        base = generator.beta(3, 5, (count, rounds, 1))
        other = np.clip(base + generator.normal(2.9 * 0.12 / count**0.5, 0.12, base.shape), 0, 1)
        sides = beside(other, base)
        swapped = permutation_tests(*sides, first_column, rounds=999)
        known = guarded(swapped, *sides, first_column, bounds=(0.0, 1.0))
        assert least < (known < 0.05).mean() <= (swapped < 0.05).mean()
