"""Places that systems may hold, and groups that cannot be told apart."""

from itertools import combinations

import numpy as np
import pytest

from audiocapbench.metrics.result import first_column
from audiocapbench.stats import resampled_scores
from audiocapbench.stats.ranks import letters, rank_intervals, tied_groups


def test_systems_that_never_change_places_have_one_place() -> None:
    scores = np.tile([0.3, 0.9, 0.6], (100, 1))
    assert rank_intervals(scores) == [(3, 3), (1, 1), (2, 2)]


def test_equal_systems_share_all_places_between_them() -> None:
    scores = np.tile([0.5, 0.5, 0.9, 0.5], (100, 1))
    assert rank_intervals(scores) == [(2, 4), (2, 4), (1, 1), (2, 4)]


def test_a_place_that_is_rarely_held_is_left_out() -> None:
    scores = np.tile([2.0, 1.0], (1000, 1))
    scores[:20] = [1.0, 2.0]
    assert rank_intervals(scores) == [(1, 1), (2, 2)]
    scores[:40] = [1.0, 2.0]
    assert rank_intervals(scores) == [(1, 2), (1, 2)]


def test_places_of_systems_on_common_samples_are_paired() -> None:
    """The samples differ a lot, the systems by little but always: their order is certain."""
    hard = np.random.default_rng(1).normal(0, 5, 100)
    statistics = np.stack([hard, hard + 0.1, hard - 0.1], axis=1)[..., np.newaxis]
    assert rank_intervals(resampled_scores(statistics, first_column)) == [(2, 2), (1, 1), (3, 3)]


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
        for pair in combinations(range(8), 2):
            assert any(set(pair) <= set(group) for group in groups) is (pair not in pairs)
        assert {place for group in groups for place in group} == set(range(8))


@pytest.mark.parametrize(("number", "name"), [(0, "a"), (25, "z"), (26, "aa"), (702, "aaa")])
def test_groups_have_letters(number: int, name: str) -> None:
    assert letters(number) == name
