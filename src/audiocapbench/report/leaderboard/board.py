"""What a leaderboard is made of: boards of runs, how they rank, and what is said of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.result import FloatArray
from audiocapbench.scores.compute import ALL, GroupKey
from audiocapbench.scores.estimate import FEWEST_SHARE, Estimate, Scorer, counted, missing_words
from audiocapbench.scores.table import RunTable
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.bootstrap import SWAPS, Aggregate, permutation_tests
from audiocapbench.stats.multiple import (
    Correction,
    RankInterval,
    corrected,
    letters,
    rank_intervals,
    tied_groups,
)
from audiocapbench.stats.power import ALPHA, fewest_to_test
from audiocapbench.store import Run

LETTERS = "Models that share a letter"
"""Begins what is said of tests, which only tables with letters need."""
_MOST_NAMED = 10
MOST_PAIRS = 1000
"""Above this, a correction for all pairs needs more rounds than anybody would wait for."""
FEW_SAMPLES = "There are too few samples to tell any two models apart."
MANY_PAIRS = (
    f"More than {MOST_PAIRS:,} pairs of runs were not tested; show fewer to see which are tied."
)

_SWAPS_A_PAIR = 25
_MOST_NUMBERS = 4_000_000


@dataclass(frozen=True, slots=True)
class Placement:
    """One run among others on one group of samples; its rank is None where it is not ranked.

    Tests leave ``ranks``, in words ``open``, and cannot tell apart who shares a letter in ``tied``.
    """

    rank: int | None = None
    ranks: RankInterval | None = None
    open: str = ""
    tied: str = ""


@dataclass(slots=True)
class PairTest:
    """A test between two runs, by their places in the list; the first has the higher place.

    Both have ``n`` samples, on which the first less the second is ``difference``. ``p`` is of what
    the runs are ranked by, two-sided; None where they have too few samples in common. It is
    adjusted for all pairs of the table, as is ``p_common``, of the difference. ``different`` says
    that the first is significantly better, ``against_order`` that the second is on common samples.
    """

    first: int
    second: int
    n: int
    difference: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_common: float | None = None
    different: bool = False
    against_order: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """The places of all runs on one group of samples, of which ranked runs have ``common`` ones.

    ``untested`` is why there are no tests, where there are runs to test; ``by_zero`` whether
    failures count as zero, because the ranked runs do not have scores of the same samples;
    ``unlettered`` whether there are too many groups of ties to name them.
    """

    ranked: bool = False
    places: tuple[Placement, ...] = ()
    pairs: tuple[PairTest, ...] = ()
    common: int = 0
    untested: str | None = None
    by_zero: bool = False
    unlettered: bool = False

    def reordered(self, order: Sequence[int]) -> "Ranking":
        at = {place: number for number, place in enumerate(order)}
        pairs = (replace(one, first=at[one.first], second=at[one.second]) for one in self.pairs)
        return replace(self, places=tuple(map(self.places.__getitem__, order)), pairs=tuple(pairs))


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run on a board under its label, and its places: overall, and by category if asked for."""

    label: str
    table: RunTable
    scorer: Scorer
    overall: Placement
    by_category: dict[str, Placement]

    @property
    def run(self) -> Run:
        return self.table.run

    def estimate(self, key: GroupKey = ALL) -> Estimate:
        return self.table.estimate(self.scorer, key)

    @property
    def dimensions(self) -> dict[str, float]:
        return self.dimensions_of(ALL)

    def dimensions_of(self, key: GroupKey) -> dict[str, float]:
        own = self.table.dimensions(self.scorer.name) if self.scorer.is_overall else ()
        values = {one.column: self.table.point(one, key).value for one in own}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def judge_cost_usd(self) -> float | None:
        return self.table.judging_cost(self.scorer.name) if self.scorer.is_overall else None


@dataclass(frozen=True, slots=True)
class PublishedEntry:
    """A published row, not run here: a printed number without interval, never part of a test."""

    model: str
    judge: str
    source: str
    printed_rank: int
    score: float
    dimensions: dict[str, float]
    by_category: dict[str, float]
    metrics: dict[str, float] = field(default_factory=dict)


Entry = RunEntry | PublishedEntry


@dataclass(frozen=True, slots=True)
class Board:
    """Runs that may be compared, best first; those that cannot be ranked come last.

    ``categories`` have so many of the ``samples`` each, ``parts`` are how the runs rank there, if
    asked for; ``missing_clips`` belong to the data but were not there.
    """

    benchmark: str
    scorer: Scorer
    samples: int
    categories: dict[str, int]
    dataset: str = ""
    missing_clips: int = 0
    signature: Signature = UNSIGNED
    entries: tuple[RunEntry, ...] = ()
    overall: Ranking = field(default_factory=Ranking)
    parts: Mapping[str, Ranking] = field(default_factory=dict)
    correction: Correction = Correction.HOLM
    published: tuple[PublishedEntry, ...] = ()
    notes: tuple[str, ...] = ()

    def bounds(self, entry: RunEntry) -> Interval | None:
        """What failures, and clips that only published rows have, could make of it."""
        estimate = entry.estimate()
        if not self.published or not self.missing_clips or entry.table.aggregation is not None:
            return estimate.bounds
        if estimate.value is None:
            return None
        low, high = estimate.bounds or (estimate.value, estimate.value)
        asked, total = self.samples, self.samples + self.missing_clips
        best = self.missing_clips * self.scorer.max_value
        return Interval(low * asked / total, (high * asked + best) / total)


def way_of(run: Run) -> str:
    """How the answers of a run came about, where that is not our usual way."""
    if run.kind == "imported":
        return "imported"
    return "asked by the published protocol" if run.parameters.get("protocol") else ""


def board_notes(
    overall: Ranking, entries: Sequence[RunEntry], correction: Correction
) -> Iterator[str]:
    """What a reader of a board must know; the entries are in the order of the ranking."""
    if (aggregation := entries[0].table.aggregation) is not None:
        yield f"The score is {aggregation.total}, the weighted sum of the categories."
    if overall.by_zero:
        yield (
            "The models do not have scores of the same samples. So 'as zero', where a sample "
            "without a score counts as 0, decides the order, the ranks and the tests; 'score' is "
            "over what each has."
        )
    yield from _test_notes(overall, [one.label for one in entries], correction)
    ways = {one.run.id: way_of(one.run) for one in entries}
    for way in sorted(set(ways.values()) - {""}) if len(set(ways.values())) > 1 else ():
        own = [str(number) for number, one in ways.items() if one == way]
        yield f"{'Run' if len(own) == 1 else 'Runs'} {', '.join(own)}: {way}."
    for one in entries:
        estimate, total = one.estimate(), one.estimate().coverage.total
        if one.overall.rank is None:
            lacks = f", none in {', '.join(estimate.lacks)}" if estimate.lacks else ""
            yield (
                f"{one.label} is not ranked: {estimate.n:,} of {total:,} samples have a score"
                f"{lacks if estimate.n else ''}. A rank takes {FEWEST_SHARE:.0%} of them, "
                f"{FEWEST_FOR_INTERVAL} at least, and {FEWEST_FOR_INTERVAL} in each category where "
                "categories are added up."
            )
        if estimate.n < total:
            yield f"{one.label}: {missing_words(estimate.missing)}."


def _test_notes(overall: Ranking, names: Sequence[str], correction: Correction) -> Iterator[str]:
    if overall.untested:
        yield overall.untested
    apart = [one for one in overall.pairs if one.p is None]
    if tested := len(overall.pairs) - len(apart):
        yield (
            f"{LETTERS} cannot be told apart: {counted(tested, 'paired permutation test')}, "
            f"corrected by {correction.words} over the pairs of this table, alpha {ALPHA:g}. "
            "'ranks' are the places that the tests leave open."
        )
    if overall.unlettered:
        yield "There are too many ties to letter; --format json has every test."
    for one in [one for one in overall.pairs if one.against_order][:_MOST_NAMED]:
        yield (
            f"{names[one.second]} is below {names[one.first]} for what it left out: on the "
            f"{one.n:,} samples that both have, it is better by {-(one.difference or 0.0):.3f} "
            f"(p {one.p_common or 0.0:.4f})."
        )
    if apart:
        pairs = [f"{names[one.first]} and {names[one.second]} ({one.n:,})" for one in apart]
        left = len(pairs) - _MOST_NAMED
        more = f" and {left:,} more" if left > 0 else ""
        yield (
            "Not tested, and without a common letter for that reason, because they have too few "
            f"samples in common: {', '.join(pairs[:_MOST_NAMED])}{more}."
        )


class _RankedGroup:
    """Runs on one group of samples: statistics, zero where ``present`` says that there is none.

    Shapes are (samples, runs, k) and (samples, runs); ``order`` has the ranked runs, best first.
    """

    def __init__(self, scorer: Scorer, key: GroupKey, tables: Sequence[RunTable]) -> None:
        self.scorer, self.group = scorer, tables[0].group(scorer, key)
        scores = [one.sample_scores(scorer) for one in tables]
        self.statistics, self.present = self.group.arrays(scores)
        estimates = [one.estimate(scorer, key) for one in tables]
        ranked = [
            place
            for place, one in enumerate(estimates)
            if one.value is not None
            and self.group.enough(self.present[:, place])
            and one.n >= FEWEST_SHARE * one.coverage.total
        ]
        here = self.present[:, ranked]
        self.by_zero = by_zero = bool((here != here[:, :1]).any())

        def best_first(place: int) -> tuple[float, ...]:
            key = scorer.sort_key(estimates[place])
            return key if by_zero else (-(estimates[place].value or 0.0), *key)

        self.order = sorted(ranked, key=best_first)

    def tests(self, rounds: int) -> list[PairTest]:
        group, present = self.group, self.present
        spread = group.spread(self.statistics) * present[..., np.newaxis]
        pairs: list[PairTest] = []
        chosen: list[PairTest] = []
        for first, second in combinations(self.order, 2):
            both = present[:, first] & present[:, second]
            pairs.append(PairTest(first, second, int(both.sum())))
            if both.any() and not group.lacks(both):
                sides = (spread[:, place] for place in (first, second))
                one, other = (group.score(self.scorer, side, both) for side in sides)
                pairs[-1].difference = one - other
                chosen += pairs[-1:] if group.enough(both) else []

        def p_values(
            spread: FloatArray, aggregate: Aggregate, present: NDArray[np.bool_]
        ) -> list[float]:
            """On the samples that both have, as many pairs at once as fit into memory."""
            at_once = max(1, _MOST_NUMBERS // max(spread[:, 0].size, 1))
            values: list[float] = []
            for start in range(0, len(chosen), at_once):
                some = chosen[start : start + at_once]
                left, right = [one.first for one in some], [one.second for one in some]
                values += permutation_tests(
                    spread[:, left],
                    spread[:, right],
                    aggregate,
                    present=present[:, left] & present[:, right],
                    rounds=rounds,
                    clusters=group.clusters,
                ).tolist()
            return values

        ranked = common = p_values(spread, group.aggregate_of(self.scorer), present)
        if self.by_zero:
            zeros = group.spread_as_zeros(self.statistics, present)
            aggregate = group.aggregate_as_zeros(self.scorer)
            ranked = p_values(zeros, aggregate, np.ones_like(present))
        for pair, value, other in zip(chosen, ranked, common, strict=True):
            pair.p, pair.p_common = value, other
        return pairs

    def placed(self, pairs: tuple[PairTest, ...], reason: str | None) -> Ranking:
        order = self.order
        at = {place: number for number, place in enumerate(order)}
        better = [(at[one.first], at[one.second]) for one in pairs if one.different]
        apart = [(at[one.first], at[one.second]) for one in pairs if one.p is None]
        ranks: Sequence[RankInterval | None] = rank_intervals(len(order), better)
        if reason == MANY_PAIRS:
            ranks = [None] * len(order)
        groups = tied_groups(len(order), [*better, *apart]) if pairs else []
        placements = [Placement()] * self.present.shape[1]
        for number, place in enumerate(order):
            tied = [letters(index) for index, group in enumerate(groups or ()) if number in group]
            left_open = "–".join(map(str, dict.fromkeys(ranks[number] or ())))
            placements[place] = Placement(number + 1, ranks[number], left_open, " ".join(tied))
        return Ranking(
            bool(order),
            tuple(placements),
            pairs,
            int(np.all(self.present[:, order], axis=1).sum()) if order else 0,
            reason if len(order) > 1 else None,
            self.by_zero,
            groups is None,
        )


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
    groups = [_RankedGroup(scorer, key, tables) for key in keys]
    reasons: list[str | None] = []
    number = 0
    for one in groups:
        pairs = len(one.order) * (len(one.order) - 1) // 2
        enough = pairs and len(set(one.group.clips)) >= fewest_to_test(tests=pairs)
        reasons.append(None if enough else FEW_SAMPLES)
        number += pairs if enough else 0
    if number > MOST_PAIRS:
        reasons = [reason or MANY_PAIRS for reason in reasons]
    rounds = max(SWAPS, _SWAPS_A_PAIR * number)
    tests = [
        [] if reason else one.tests(rounds) for one, reason in zip(groups, reasons, strict=True)
    ]
    tested = [pair for own in tests for pair in own if pair.p is not None]
    values = np.array([[pair.p, pair.p_common] for pair in tested], float)
    adjusted = [corrected(side, correction).tolist() for side in values.reshape(-1, 2).T]
    for pair, value, other in zip(tested, *adjusted, strict=True):
        pair.p_adjusted, pair.different, pair.p_common = value, value < ALPHA, other
        pair.against_order = (pair.difference or 0.0) < 0 and other < ALPHA
    ends = zip(groups, tests, reasons, strict=True)
    return [one.placed(tuple(own), reason) for one, own, reason in ends]
