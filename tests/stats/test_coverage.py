"""What the intervals and tests promise, where the truth is known: thousands of made-up corpora.

All corpora of a case are drawn from at once with the same seed, just as two users' would be.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from audiocapbench.metrics.result import first_column
from audiocapbench.stats.bootstrap import intervals, permutation_tests
from audiocapbench.stats.units import FloatArray, units_of
from permutation import beside

pytestmark = pytest.mark.slow

CORPORA = 3000
GRADES = np.arange(11.0)


class World(NamedTuple):
    """Corpora of shape (n, corpora, k), what adds them up, and the score that they are about."""

    statistics: FloatArray
    aggregate: Callable[[FloatArray], FloatArray]
    truth: float
    clusters: np.ndarray | None = None


def normal(n: int) -> World:
    drawn = np.random.default_rng(1).normal(0.4, 0.2, (n, CORPORA, 1))
    return World(drawn, first_column, 0.4)


def graded(n: int, chances: list[float]) -> World:
    """Judge's whole grades from 0 to 10 with the given chances."""
    share = np.array(chances) / sum(chances)
    drawn = np.random.default_rng(2).choice(GRADES, (n, CORPORA, 1), p=share)
    return World(drawn, first_column, float(share @ GRADES))


def high_grades(n: int) -> World:
    return graded(n, [1, 1, 1, 1, 2, 3, 6, 10, 20, 35, 20])


def mostly_zero(n: int) -> World:
    return graded(n, [60, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4])


def bleu_like(n: int) -> World:
    """Matches and guesses of one and two words; the score is of their sums."""
    generator = np.random.default_rng(3)
    lengths = generator.integers(6, 25, (n, CORPORA))
    single = generator.binomial(lengths, 0.5)
    double = generator.binomial(lengths - 1, 0.2)
    statistics = np.stack([single, lengths, double, lengths - 1], axis=-1).astype(float)
    return World(statistics, bleu, float(np.sqrt(0.5 * 0.2)))


def bleu(means: FloatArray) -> FloatArray:
    score: FloatArray = np.sqrt(means[..., 0] / means[..., 1] * means[..., 2] / means[..., 3])
    return score


def clustered(n: int) -> World:
    """Clips with one to eight questions whose scores go together."""
    generator = np.random.default_rng(4)
    clips = np.repeat(np.arange(n), np.arange(n) % 8 + 1)
    clip = generator.normal(0.0, 0.15, (n, CORPORA))[clips]
    question = generator.normal(0.5, 0.1, (len(clips), CORPORA))
    return World((clip + question)[..., np.newaxis], first_column, 0.5, clips)


def coverage(world: World, *, by_clip: bool = True) -> float:
    units = units_of(world.statistics, world.clusters if by_clip else None)
    low, high = intervals(units, world.aggregate)
    return float(((low <= world.truth) & (world.truth <= high)).mean())


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("world", [normal, high_grades, mostly_zero, bleu_like, clustered])
def test_95_percent_intervals_hold_the_truth_in_93_to_99_percent(
    world: Callable[[int], World], n: int
) -> None:
    made = world(n)
    assert 0.93 <= coverage(made) <= 0.99


@pytest.mark.parametrize("n", [30, 50, 100])
def test_intervals_of_very_skewed_scores_hold_the_truth(n: int) -> None:
    drawn = np.random.default_rng(9).lognormal(0.0, 1.0, (n, CORPORA, 1))
    world = World(drawn, first_column, float(np.exp(0.5)))
    assert 0.93 <= coverage(world) <= 0.98


def test_fewer_samples_than_an_interval_takes_would_hold_it_too_rarely() -> None:
    assert coverage(high_grades(5)) < 0.93


def test_ignoring_that_questions_share_a_clip_makes_intervals_too_short() -> None:
    world = clustered(50)
    assert coverage(world, by_clip=False) < 0.85


def rate(first: World, second: World, rounds: int = 999) -> float:
    sides = beside(first.statistics, second.statistics)
    how: Any = {"rounds": rounds, "clusters": first.clusters}
    values = permutation_tests(*sides, first.aggregate, **how)
    return float((values <= 0.05).mean())


def swapped(world: World) -> World:
    """The same world once more, drawn anew."""
    return world._replace(statistics=np.roll(world.statistics, 1, axis=1))


@pytest.mark.parametrize("world", [normal, high_grades, mostly_zero, bleu_like, clustered])
def test_equal_systems_are_called_different_in_5_percent(world: Callable[[int], World]) -> None:
    made = world(60)
    assert 0.04 <= rate(made, swapped(made)) <= 0.06


def test_systems_that_go_together_are_called_different_in_5_percent() -> None:
    """Means of three grades, high on easy clips and low on hard ones for both systems.

    Whole grades make equal differences frequent, which on few samples lowers the rate.
    """
    generator = np.random.default_rng(8)
    easy = generator.uniform(0, 8, (300, CORPORA, 1))
    noise = generator.uniform(0, 2, (2, 300, CORPORA, 3))
    first, second = np.rint(easy + noise).mean(axis=-1, keepdims=True)
    world = World(first, first_column, 0.0)
    assert 0.04 <= rate(world, world._replace(statistics=second)) <= 0.06


def test_equal_means_of_unequal_shape_are_called_different_in_5_percent() -> None:
    generator = np.random.default_rng(9)
    skewed = World(generator.exponential(1.0, (200, CORPORA, 1)), first_column, 1.0)
    even = skewed._replace(statistics=generator.normal(1.0, 0.3, (200, CORPORA, 1)))
    assert 0.04 <= rate(skewed, even) <= 0.06


def test_a_difference_as_large_as_the_minimum_is_seen_in_4_of_5_cases() -> None:
    from audiocapbench.stats.power import minimum_detectable_difference

    generator = np.random.default_rng(10)
    difference = minimum_detectable_difference(1.0, 60)
    assert difference is not None
    first = World(generator.normal(difference, 1.0, (60, CORPORA, 1)), first_column, 0.0)
    second = first._replace(statistics=np.zeros_like(first.statistics))
    assert rate(first, second) == pytest.approx(0.8, abs=0.02)
