"""How runs rank on one group of samples: their places, and which of them are tied."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.result import FloatArray
from audiocapbench.scores import compute
from audiocapbench.scores.compute import Group, GroupKey
from audiocapbench.scores.estimate import FEWEST_SHARE, Estimate, Scorer
from audiocapbench.scores.table import RunTable
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.stats.paired import SWAPS, permutation_tests
from audiocapbench.stats.power import ALPHA, fewest_to_test
from audiocapbench.stats.ranks import RankInterval, letters, rank_intervals, tied_groups
from audiocapbench.stats.units import Aggregate

MOST_PAIRS = 1000
"""Above this, a correction for all pairs needs more rounds than anybody would wait for."""

_SWAPS_A_PAIR = 25
_MOST_NUMBERS = 4_000_000


@dataclass(frozen=True, slots=True)
class Placement:
    """One run among others on one group of samples; its rank is None where it is not ranked.

    ``ranks`` are the places that tests leave open, ``tied`` the letters of those not told apart.
    """

    estimate: Estimate
    rank: int | None = None
    ranks: RankInterval | None = None
    tied: str = ""

    @property
    def open_ranks(self) -> str:
        """``ranks`` for people."""
        return "–".join(map(str, dict.fromkeys(self.ranks or ())))


@dataclass(frozen=True, slots=True)
class PairTest:
    """A test between two runs, by their places in the list; the first has the higher place.

    Attributes:
        n: Samples that both have.
        difference: First less second on these samples; None where there are none.
        p_value: Of what the runs are ranked by: two-sided, by permutation; None where they have
            too few samples in common to be tested.
        adjusted: The same, corrected for all pairs of the table.
        p_common: Of the difference on common samples, corrected alike.
        different: Whether the first is significantly better.
        against: Whether the second is significantly better on the samples that both have.
    """

    first: int
    second: int
    n: int
    difference: float | None
    p_value: float | None = None
    adjusted: float | None = None
    p_common: float | None = None
    different: bool = False
    against: bool = False


class UntestedReason(StrEnum):
    """Why runs are not tested against each other."""

    FEW_SAMPLES = "few samples"
    MANY_PAIRS = "many pairs"


@dataclass(frozen=True, slots=True)
class Ranking:
    """All runs on one group of samples, in the order given.

    Attributes:
        common: Samples that all ranked runs have.
        untested: Why there are no tests, where there are runs to test.
        by_zero: Whether failures count as zero in places and tests, because the runs that are
            ranked do not have scores of the same samples.
        unlettered: Whether there are too many groups of ties to name them.
    """

    runs: tuple[Placement, ...] = ()
    pairs: tuple[PairTest, ...] = ()
    common: int = 0
    untested: UntestedReason | None = None
    by_zero: bool = False
    unlettered: bool = False

    def reordered(self, order: Sequence[int]) -> "Ranking":
        """The same with the runs in another order."""
        at = {place: number for number, place in enumerate(order)}
        pairs = (replace(one, first=at[one.first], second=at[one.second]) for one in self.pairs)
        return replace(self, runs=tuple(self.runs[one] for one in order), pairs=tuple(pairs))


@dataclass(frozen=True, slots=True)
class _Cube:
    """Statistics of runs on a group, zero where ``present`` says that there is none.

    ``stored`` as the store has them, and ``spread`` with a place for each corpus of a total, have
    the shape (samples, runs, k), ``present`` (samples, runs); ``order`` are the ranked runs.
    """

    scorer: Scorer
    group: Group
    stored: FloatArray
    spread: FloatArray
    aggregate: Aggregate
    present: NDArray[np.bool_]
    estimates: tuple[Estimate, ...]
    order: tuple[int, ...]
    by_zero: bool


def rank_runs(
    scorer: Scorer,
    keys: Sequence[GroupKey],
    tables: Sequence[RunTable],
    correction: Correction = Correction.HOLM,
) -> list[Ranking]:
    """How runs on the same samples rank in each group, such as a category.

    Failures count as zero where the runs have scores of different samples, so that nobody is better
    for leaving clips out. The correction is over all groups that have enough samples for a test.
    """
    cubes = [_cube(scorer, key, tables) for key in keys]
    reasons: list[UntestedReason | None] = []
    number = 0
    for cube in cubes:
        pairs = len(cube.order) * (len(cube.order) - 1) // 2
        enough = pairs and len(set(cube.group.clips)) >= fewest_to_test(tests=pairs)
        reasons.append(None if enough else UntestedReason.FEW_SAMPLES)
        number += pairs if enough else 0
    if number > MOST_PAIRS:
        reasons = [reason or UntestedReason.MANY_PAIRS for reason in reasons]
    rounds = max(SWAPS, _SWAPS_A_PAIR * number)
    tested = [
        _tests(cube, rounds) if reason is None else []
        for cube, reason in zip(cubes, reasons, strict=True)
    ]
    adjusted = iter(_corrected([pair for own in tested for pair in own], correction))
    return [
        _placed(cube, tuple(next(adjusted) for _ in own), reason)
        for cube, own, reason in zip(cubes, tested, reasons, strict=True)
    ]


def _cube(scorer: Scorer, key: GroupKey, tables: Sequence[RunTable]) -> _Cube:
    group = tables[0].group(scorer, key)
    statistics, present = group.arrays([one.sample_scores(scorer) for one in tables])
    spread = compute.spread(group, statistics) * present[..., np.newaxis]
    estimates = tuple(one.estimate(scorer, key) for one in tables)
    ranked = [
        place
        for place, one in enumerate(estimates)
        if one.value is not None
        and compute.enough(group, present[:, place])
        and one.n >= FEWEST_SHARE * one.coverage.total
    ]
    here = present[:, ranked]
    by_zero = bool((here != here[:, :1]).any())

    def best_first(place: int) -> tuple[float, ...]:
        key = scorer.sort_key(estimates[place])
        return key if by_zero else (-(estimates[place].value or 0.0), *key)

    order, aggregate = tuple(sorted(ranked, key=best_first)), compute.aggregate_of(scorer, group)
    return _Cube(scorer, group, statistics, spread, aggregate, present, estimates, order, by_zero)


def _tests(cube: _Cube, rounds: int) -> list[PairTest]:
    """Every pair of ranked runs; those without enough samples in common are not tested."""
    pairs: list[PairTest] = []
    chosen: list[int] = []
    for first, second in combinations(cube.order, 2):
        both = cube.present[:, first] & cube.present[:, second]
        difference = None
        if both.any() and not compute.lacks(cube.group, both):
            one, other = (
                compute.score(cube.scorer, cube.group, cube.spread[:, place], both)
                for place in (first, second)
            )
            difference = one - other
            if compute.enough(cube.group, both):
                chosen.append(len(pairs))
        pairs.append(PairTest(first, second, int(both.sum()), difference))
    wanted = [pairs[place] for place in chosen]
    ranked = common = _p_values(cube, wanted, rounds)
    if cube.by_zero:
        zeros = replace(
            cube,
            spread=compute.spread_as_zeros(cube.group, cube.stored, cube.present),
            aggregate=compute.aggregate_as_zeros(cube.scorer, cube.group),
            present=np.ones_like(cube.present),
        )
        ranked = _p_values(zeros, wanted, rounds)
    for place, value, other in zip(chosen, ranked, common, strict=True):
        pairs[place] = replace(pairs[place], p_value=value, p_common=other)
    return pairs


def _p_values(cube: _Cube, pairs: Sequence[PairTest], rounds: int) -> list[float]:
    """P-values on the samples that both have, as many pairs at once as fit into memory."""
    at_once = max(1, _MOST_NUMBERS // max(cube.spread[:, 0].size, 1))
    values: list[float] = []
    for start in range(0, len(pairs), at_once):
        some = pairs[start : start + at_once]
        left, right = [one.first for one in some], [one.second for one in some]
        values += permutation_tests(
            cube.spread[:, left],
            cube.spread[:, right],
            cube.aggregate,
            present=cube.present[:, left] & cube.present[:, right],
            rounds=rounds,
            clusters=cube.group.clusters,
        ).tolist()
    return values


def _corrected(pairs: Sequence[PairTest], correction: Correction) -> list[PairTest]:
    """P-values corrected for their number; pairs that were not tested are not among them."""
    tested = [place for place, pair in enumerate(pairs) if pair.p_value is not None]
    values = np.array([[pairs[place].p_value, pairs[place].p_common] for place in tested])
    own, common = (corrected(side, correction) for side in values.reshape(-1, 2).T.astype(float))
    adjusted = list(pairs)
    for place, value, other in zip(tested, own.tolist(), common.tolist(), strict=True):
        against = (pairs[place].difference or 0.0) < 0 and other < ALPHA
        adjusted[place] = replace(
            pairs[place], adjusted=value, p_common=other, different=value < ALPHA, against=against
        )
    return adjusted


def _placed(cube: _Cube, pairs: tuple[PairTest, ...], reason: UntestedReason | None) -> Ranking:
    order = cube.order
    at = {place: number for number, place in enumerate(order)}
    better = [(at[one.first], at[one.second]) for one in pairs if one.different]
    apart = [(at[one.first], at[one.second]) for one in pairs if one.p_value is None]
    ranks: Sequence[RankInterval | None] = rank_intervals(len(order), better)
    if reason is UntestedReason.MANY_PAIRS:
        ranks = [None] * len(order)
    groups = tied_groups(len(order), [*better, *apart]) if pairs else []
    placements = [Placement(one) for one in cube.estimates]
    for number, place in enumerate(order):
        tied = [letters(index) for index, group in enumerate(groups or ()) if number in group]
        estimate = cube.estimates[place]
        placements[place] = Placement(estimate, number + 1, ranks[number], " ".join(tied))
    common = int(np.all(cube.present[:, order], axis=1).sum()) if order else 0
    untested = reason if len(order) > 1 else None
    return Ranking(tuple(placements), pairs, common, untested, cube.by_zero, groups is None)
