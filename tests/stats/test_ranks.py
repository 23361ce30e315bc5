"""Places that systems may hold, and groups that cannot be told apart."""

from itertools import combinations

import numpy as np
import pytest

from audiocapbench.metrics.result import first_column
from audiocapbench.stats.bootstrap import permutation_tests
from audiocapbench.stats.multiple import Correction, corrected, letters, rank_intervals, tied_groups
from permutation import beside


def test_places_are_behind_all_that_are_better_and_before_all_that_are_worse() -> None:
    assert rank_intervals(3, [(0, 1), (0, 2), (1, 2)]) == [(1, 1), (2, 2), (3, 3)]
    assert rank_intervals(3, [(0, 2)]) == [(1, 2), (1, 3), (2, 3)]
    assert rank_intervals(4, []) == [(1, 4)] * 4
    assert rank_intervals(0, []) == []


def test_the_true_places_of_near_equal_systems_are_held_in_95_percent() -> None:
    """Thirteen systems, each a little better than the next, on 60 clips, 120 times."""
    systems, corpora = 13, 120
    generator = np.random.default_rng(11)
    clip = generator.normal(0.0, 0.2, (60, corpora, 1))
    truth = np.linspace(0.05, 0.0, systems)
    scores = clip + generator.normal(0.0, 0.15, (60, corpora, systems)) + truth
    pairs = list(combinations(range(systems), 2))
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    held = []
    for start in range(0, corpora, 20):
        block = scores[:, start : start + 20]
        first, second = (block[..., side].reshape(60, -1, 1) for side in (left, right))
        values = permutation_tests(*beside(first, second), first_column, rounds=1999)
        signs = (first - second).mean(axis=0)[:, 0]
        for number in range(20):
            rows = slice(number * len(pairs), (number + 1) * len(pairs))
            adjusted = corrected(values[rows], Correction.HOLM)
            better = [
                pair if sign > 0 else pair[::-1]
                for pair, value, sign in zip(pairs, adjusted, signs[rows], strict=True)
                if value < 0.05
            ]
            places = rank_intervals(systems, better)
            held.append([one.best <= rank <= one.worst for rank, one in enumerate(places, 1)])
    assert np.mean(held) >= 0.95
    assert np.all(held, axis=1).mean() >= 0.95, "all places at once"


def test_more_groups_than_anybody_could_read_are_not_formed() -> None:
    """Twenty-four systems that differ in pairs make 4,096 groups."""
    assert tied_groups(24, [(place, place + 12) for place in range(12)]) is None


def test_without_differences_all_are_tied() -> None:
    assert tied_groups(3, []) == [(0, 1, 2)]
    assert tied_groups(0, []) == []


def test_a_system_between_two_that_differ_is_tied_with_both() -> None:
    assert tied_groups(3, [(0, 2)]) == [(0, 1), (1, 2)]


def test_systems_share_a_group_exactly_if_they_do_not_differ() -> None:
    generator = np.random.default_rng(3)
    for _ in range(20):
        pairs = [pair for pair in combinations(range(8), 2) if generator.random() < 0.4]
        groups = tied_groups(8, pairs)
        assert groups is not None
        for pair in combinations(range(8), 2):
            assert any(set(pair) <= set(group) for group in groups) is (pair not in pairs)
        assert {place for group in groups for place in group} == set(range(8))


@pytest.mark.parametrize(("number", "name"), [(0, "a"), (25, "z"), (26, "aa"), (702, "aaa")])
def test_groups_have_letters(number: int, name: str) -> None:
    assert letters(number) == name
