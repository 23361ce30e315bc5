"""Many tests at once: p-values that stay honest, the places that they leave open to systems, and
groups that cannot be told apart."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from audiocapbench.stats.units import FloatArray

_MOST_GROUPS = 100


class Correction(StrEnum):
    """How p-values are corrected for their number."""

    HOLM = "holm"
    BH = "bh"
    BONFERRONI = "bonferroni"

    @property
    def words(self) -> str:
        return "Benjamini and Hochberg" if self is Correction.BH else self.capitalize()


def corrected(p_values: FloatArray, how: Correction | str) -> FloatArray:
    """Adjusted p-values: by Holm, and with less power by Bonferroni, the chance of even one false
    difference stays below alpha; by Benjamini and Hochberg the share of false differences does."""
    how, count, order = Correction(how), len(p_values), np.argsort(p_values, kind="stable")
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


class RankInterval(NamedTuple):
    """The places, 1 being the best, that tests leave open to a system."""

    best: int
    worst: int

    def __str__(self) -> str:
        return "–".join(map(str, dict.fromkeys(self)))


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
    """The largest groups of systems that are not known to differ; None where these are too many.

    They are the maximal cliques of a graph (Bron and Kerbosch, with a pivot), in bits of integers.
    """
    ties = [((1 << systems) - 1) ^ 1 << one for one in range(systems)]
    for left, right in different:
        ties[left] &= ~(1 << right)
        ties[right] &= ~(1 << left)
    groups: list[tuple[int, ...]] = []
    todo = [(0, (1 << systems) - 1, 0)] if systems else []
    while todo:
        group, others, done = todo.pop()  # who may join it still, and whose groups are known
        if not others | done:
            groups.append(_places(group))
        if len(groups) > _MOST_GROUPS:
            return None
        both = _places(others | done)
        pivot = max(both, key=lambda one: (ties[one] & others).bit_count(), default=0)
        for one in _places(others & ~ties[pivot]):
            todo.append((group | 1 << one, others & ties[one], done & ties[one]))
            others, done = others ^ 1 << one, done | 1 << one
    return sorted(groups)


def _places(bits: int) -> tuple[int, ...]:
    return tuple(place for place, one in enumerate(bin(bits)[:1:-1]) if one == "1")


def letters(number: int) -> str:
    """The name of a group: a to z, then aa, ab, …"""
    before, place = divmod(number, 26)
    return (letters(before - 1) if before else "") + chr(ord("a") + place)
