"""Which places a system may hold, and which systems cannot be told apart."""

from collections.abc import Iterable
from typing import NamedTuple

_MOST_GROUPS = 100


class RankInterval(NamedTuple):
    """The places, 1 being the best, that tests leave open to a system."""

    best: int
    worst: int


def rank_intervals(systems: int, better: Iterable[tuple[int, int]]) -> list[RankInterval]:
    """Places that tests leave open, from pairs of which the first is significantly better.

    If the tests make no false statement, as Holm's correction promises in 95 % of cases, every
    system's true place is within its interval.
    """
    above, below = [0] * systems, [0] * systems
    for first, second in better:
        above[second] += 1
        below[first] += 1
    return [RankInterval(1 + more, systems - less) for more, less in zip(above, below, strict=True)]


def tied_groups(systems: int, different: Iterable[tuple[int, int]]) -> list[tuple[int, ...]] | None:
    """The largest groups of systems none of which is known to differ from another of the group.

    A system can belong to several groups. None where there are more than anybody could read.
    """
    groups = [frozenset(range(systems))] if systems else []
    for left, right in different:
        split = []
        for group in groups:
            both = left in group and right in group
            split += [group - {left}, group - {right}] if both else [group]
        unique = list(dict.fromkeys(split))
        groups = [one for one in unique if not any(one < other for other in unique)]
        # Their number can double with every pair.
        if len(groups) > _MOST_GROUPS:
            return None
    return sorted(tuple(sorted(group)) for group in groups)


def letters(number: int) -> str:
    """The name of a group: a to z, then aa, ab, …"""
    name = ""
    number += 1
    while number:
        number, place = divmod(number - 1, 26)
        name = chr(ord("a") + place) + name
    return name
