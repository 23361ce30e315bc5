"""How runs stand to each other on one set of samples: scores, places, and who is tied."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.report.leaderboard.scores import Scored, Scorer
from audiocapbench.report.leaderboard.totals import Part, finish_of, lacks, policies, spread_out
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval, resampled_scores
from audiocapbench.stats.multiple import holm
from audiocapbench.stats.paired import SWAPS, permutation_tests
from audiocapbench.stats.power import ALPHA
from audiocapbench.stats.ranks import RankInterval, letters, rank_intervals, tied_groups
from audiocapbench.stats.units import Finish

FloatArray = NDArray[np.float64]

FEWEST_SHARE = 0.5
"""A run with a score for fewer of its samples is shown, but neither ranked nor tested."""

MOST_PAIRS = 1000
"""Above this, a correction for all pairs needs more rounds than anybody would wait for."""

_SWAPS_A_PAIR = 25
_MOST_NUMBERS = 4_000_000


@dataclass(frozen=True, slots=True)
class Standing:
    """One run on one set of samples.

    Attributes:
        score: Over the samples that have one, as published; None where there are none.
        interval: 95 %; None for too few samples.
        as_zero: The same with every failure counted as 0.
        bounds: The worst and the best that the failures could make of it.
        scored, total: Samples with a score, and all.
        rank: Its place by score among the runs that are ranked; None where it is not.
        ranks: The places that it holds in 95 % of resamples of the common samples.
        tied: Letters of the groups it belongs to; runs that share one are not told apart.
    """

    score: float | None
    interval: Interval | None
    as_zero: float | None
    bounds: Interval | None
    scored: int
    total: int
    rank: int | None = None
    ranks: RankInterval | None = None
    tied: str = ""


class Pair(NamedTuple):
    """A test between two runs, by their places in the list that was given.

    Attributes:
        first, second: The two; the first has the higher score.
        n: Samples that both have.
        p_value: Two-sided, by permutation.
        adjusted: Corrected by Holm for all pairs of the table.
    """

    first: int
    second: int
    n: int
    p_value: float
    adjusted: float


class Untested(StrEnum):
    """Why runs are not tested against each other."""

    FEW_SAMPLES = "few samples"
    MANY_PAIRS = "many pairs"


@dataclass(frozen=True, slots=True)
class Standings:
    """All runs on one set of samples, in the order given.

    Attributes:
        runs: How each stands.
        pairs: The tests; none where they would say nothing.
        untested: Why there are none, where there are runs to test.
        common: Samples that all ranked runs have.
    """

    runs: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    common: int
    untested: Untested | None


@dataclass(frozen=True, slots=True)
class _Cube:
    """Statistics of shape (samples, runs, k), zero where ``present`` says that there is none.

    Attributes:
        stored: As the store has them.
        spread: As resampling needs them, and ``finish`` takes their means.
    """

    part: Part
    stored: FloatArray
    spread: FloatArray
    finish: Finish
    present: NDArray[np.bool_]
    clusters: list[str] | None


def standings(scorer: Scorer, parts: Sequence[Part], runs: Sequence[Scored]) -> list[Standings]:
    """How runs stand on each part of the samples, such as a category.

    Holm's correction is over all parts, since all are looked at together; parts with too few
    samples for any difference to be significant are not tested.
    """
    cubes = [_cube(scorer, part, runs) for part in parts]
    alone = [[_alone(scorer, cube, place) for place in range(len(runs))] for cube in cubes]
    ranked = [_ranked(found) for found in alone]
    reasons = [_untested(cube, order) for cube, order in zip(cubes, ranked, strict=True)]
    number = sum(
        _pair_count(order) for order, reason in zip(ranked, reasons, strict=True) if reason is None
    )
    if number > MOST_PAIRS:
        reasons = [reason or Untested.MANY_PAIRS for reason in reasons]
    rounds = max(SWAPS, _SWAPS_A_PAIR * number)
    tested = [
        _tests(cube, order, rounds) if reason is None else []
        for cube, order, reason in zip(cubes, ranked, reasons, strict=True)
    ]
    every = np.array([pair.p_value for pairs in tested for pair in pairs])
    adjusted = iter(holm(every).tolist())
    found = []
    for cube, order, pairs, own, reason in zip(cubes, ranked, tested, alone, reasons, strict=True):
        corrected = tuple(pair._replace(adjusted=next(adjusted)) for pair in pairs)
        untested = reason if len(order) > 1 else None
        found.append(replace(_placed(cube, order, corrected, own), untested=untested))
    return found


def _cube(scorer: Scorer, part: Part, runs: Sequence[Scored]) -> _Cube:
    samples = part.samples
    width = max((len(next(iter(one.statistics.values()), ())) for one in runs), default=0)
    statistics = np.zeros((len(samples), len(runs), max(width, 1)))
    present = np.zeros((len(samples), len(runs)), dtype=bool)
    for place, run in enumerate(runs):
        for row, sample in enumerate(samples):
            found = run.statistics.get(sample.id)
            if found is not None:
                statistics[row, place] = found
                present[row, place] = True
    spread = spread_out(part, statistics) * present[..., np.newaxis]
    finish = finish_of(part, scorer)
    return _Cube(part, statistics, spread, finish, present, part.clusters)


def _alone(scorer: Scorer, cube: _Cube, place: int) -> Standing:
    here = cube.present[:, place]
    own, total = cube.spread[here, place], len(here)
    if not len(own) or lacks(cube.part, here):
        return Standing(None, None, None, None, len(own), total)
    score = float(cube.finish(own.mean(axis=0)[np.newaxis])[0])
    zero, bounds = policies(cube.part, scorer, cube.stored[:, place], here)
    interval = None
    if len(own) >= FEWEST_FOR_INTERVAL:
        interval = mean_interval(own, cube.finish, clusters=_chosen(cube.clusters, here))
    return Standing(score, interval, zero, bounds, len(own), total)


def _ranked(found: Sequence[Standing]) -> list[int]:
    """Runs that have enough scores, best first."""
    enough = [
        place
        for place, one in enumerate(found)
        if one.score is not None
        and one.scored >= max(FEWEST_FOR_INTERVAL, FEWEST_SHARE * one.total)
    ]
    return sorted(enough, key=lambda place: -(found[place].score or 0.0))


def _tests(cube: _Cube, order: Sequence[int], rounds: int) -> list[Pair]:
    """Every pair of ranked runs, as many at once as fit into memory."""
    pairs = list(combinations(order, 2))
    at_once = max(1, _MOST_NUMBERS // max(cube.spread[:, 0].size, 1))
    found: list[Pair] = []
    for start in range(0, len(pairs), at_once):
        chosen = pairs[start : start + at_once]
        left, right = ([pair[side] for pair in chosen] for side in (0, 1))
        present = cube.present[:, left] & cube.present[:, right]
        values = permutation_tests(
            cube.spread[:, left],
            cube.spread[:, right],
            cube.finish,
            present=present,
            rounds=rounds,
            clusters=cube.clusters,
        )
        counts = present.sum(axis=0).tolist()
        found += [
            Pair(first, second, count, value, value)
            for (first, second), count, value in zip(chosen, counts, values.tolist(), strict=True)
        ]
    return found


def _placed(
    cube: _Cube,
    order: Sequence[int],
    pairs: tuple[Pair, ...],
    alone: Sequence[Standing],
) -> Standings:
    common: NDArray[np.bool_] = np.all(cube.present[:, order], axis=1)
    count = int(common.sum()) if order else 0
    places: list[RankInterval | None] = [None] * len(order)
    if count >= FEWEST_FOR_INTERVAL:
        drawn = resampled_scores(
            cube.spread[common][:, order],
            cube.finish,
            clusters=_chosen(cube.clusters, common),
        )
        places = list(rank_intervals(drawn))
    at = {place: number for number, place in enumerate(order)}
    different = [(at[one.first], at[one.second]) for one in pairs if one.adjusted < ALPHA]
    groups = tied_groups(len(order), different)
    found = list(alone)
    for number, place in enumerate(order):
        own = [letters(index) for index, group in enumerate(groups) if number in group]
        tied = " ".join(own) if pairs else ""
        found[place] = replace(alone[place], rank=number + 1, ranks=places[number], tied=tied)
    return Standings(tuple(found), pairs, count, None)


def _untested(cube: _Cube, order: Sequence[int]) -> Untested | None:
    """Whether the largest difference that there can be would not stand Holm's correction.

    The smallest p-value of n swaps is two in 2^n: every swap, or none.
    """
    units = len(cube.present) if cube.clusters is None else len(set(cube.clusters))
    smallest = 2.0 ** (1 - min(units, 60)) * _pair_count(order)
    return None if len(order) > 1 and smallest < ALPHA else Untested.FEW_SAMPLES


def _pair_count(order: Sequence[int]) -> int:
    return len(order) * (len(order) - 1) // 2


def _chosen(clusters: list[str] | None, here: NDArray[np.bool_]) -> list[str] | None:
    if clusters is None:
        return None
    return [name for name, wanted in zip(clusters, here.tolist(), strict=True) if wanted]
