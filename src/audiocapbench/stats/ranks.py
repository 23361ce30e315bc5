"""Which places a system may hold, and which systems cannot be told apart."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from audiocapbench.stats.units import FloatArray


class RankInterval(NamedTuple):
    """The places, 1 being the best, that a system holds in most rounds."""

    best: int
    worst: int


def rank_intervals(scores: FloatArray, level: float = 0.95) -> list[RankInterval]:
    """Rank intervals from resampled scores of all systems on the same draws.

    Args:
        scores: Shape (rounds, systems), higher being better. Systems that are equal in a round
            share all the places between them.
        level: Share of rounds inside each interval.
    """
    ordered = np.sort(scores, axis=1)
    best = np.empty(scores.shape, dtype=np.int64)
    worst = np.empty(scores.shape, dtype=np.int64)
    for number, (row, sorted_row) in enumerate(zip(scores, ordered, strict=True)):
        best[number] = 1 + scores.shape[1] - np.searchsorted(sorted_row, row, side="right")
        worst[number] = scores.shape[1] - np.searchsorted(sorted_row, row, side="left")
    tail = (1 - level) / 2
    low = np.quantile(best, tail, axis=0, method="lower")
    high = np.quantile(worst, 1 - tail, axis=0, method="higher")
    return [RankInterval(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]


def tied_groups(systems: int, different: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The largest groups of systems none of which differs from another of the group.

    Two systems share a group if and only if they are not known to be different; a system can
    belong to several groups, because "not known to be different" does not carry over.

    Args:
        systems: How many there are, numbered from 0, best first.
        different: Pairs that are significantly different.

    Returns:
        Groups in order of their members.
    """
    groups = [frozenset(range(systems))] if systems else []
    for left, right in different:
        split = []
        for group in groups:
            both = left in group and right in group
            split += [group - {left}, group - {right}] if both else [group]
        unique = list(dict.fromkeys(split))
        groups = [one for one in unique if not any(one < other for other in unique)]
    return sorted(tuple(sorted(group)) for group in groups)


def letters(number: int) -> str:
    """The name of a group: a to z, then aa, ab, …"""
    name = ""
    number += 1
    while number:
        number, place = divmod(number - 1, 26)
        name = chr(ord("a") + place) + name
    return name
