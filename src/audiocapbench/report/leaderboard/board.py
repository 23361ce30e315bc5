"""What a leaderboard is made of: boards of runs, how they rank, and what is said of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from operator import attrgetter
from typing import Any

import numpy as np

from audiocapbench.files import read_lists
from audiocapbench.meta.over_blind import OVER, over_blind
from audiocapbench.scores.compute import ALL, GroupKey
from audiocapbench.scores.departures import Departure
from audiocapbench.scores.estimate import FEWEST_SHARE, Estimate, Scorer, counted
from audiocapbench.scores.paired import PairedScores, p_values
from audiocapbench.scores.summary import why_lacking
from audiocapbench.scores.table import RunTable
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.bootstrap import SWAPS, student_tests
from audiocapbench.stats.correlation import Coefficient
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

NOTES: dict[str, str] = read_lists("audiocapbench.report", "notes.toml")["board"]
LETTERS = "Models that share a letter"
"""Begins what is said of tests, which only tables with letters need."""
SWAPPED_PAIRS = 1000
"""Above this, a correction for all pairs needs more swaps than anybody would wait for."""
_FEWEST_FOR_STUDENT = 100  # clips; with fewer, what is so far out in its tails is a guess
FEW_SAMPLES = "There are too few samples to tell any two models apart."

_SWAPS_A_PAIR = 25


@dataclass(frozen=True, slots=True)
class Placement:
    """One run among others on one group of samples; its rank is None where it is not ranked.

    ``score`` is what ranks it, over the samples that all ranked runs have settled; of those
    ``common`` have a score. Tests leave ``ranks``, in words ``open``, and cannot tell apart who
    shares a letter in ``tied``.
    """

    rank: int | None = None
    score: float | None = None
    ranks: RankInterval | None = None
    open: str = ""
    tied: str = ""
    common: int = 0


@dataclass(slots=True)
class PairTest:
    """A test between two runs, by their places in the list; the first has the higher place.

    On ``n`` samples the first less the second is ``difference``. ``p`` is two-sided. It is adjusted
    for all pairs of the table, and ``different`` says that the first is significantly better.
    """

    first: int
    second: int
    n: int
    difference: float
    p: float
    p_adjusted: float = 1.0
    different: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """The places of all runs on one group of samples.

    Ranked runs have all settled ``ground`` of them, some more if ``uneven``, and all a score of
    ``common`` ones. ``untested`` is why there are no tests, where there are runs to test;
    ``by_zero`` whether failures count as zero, because not all failed on the same samples;
    ``unlettered`` whether there are too many groups of ties to name them.
    """

    ranked: bool = False
    places: tuple[Placement, ...] = ()
    pairs: tuple[PairTest, ...] = ()
    common: int = 0
    ground: int = 0
    uneven: bool = False
    untested: str | None = None
    by_zero: bool = False
    unlettered: bool = False
    test: str = "paired permutation test"

    @property
    def ranked_by(self) -> str:
        return "as_zero" if self.by_zero else "score"

    @property
    def winner(self) -> int | None:
        """Who is shown to be better than every other; None where nobody is."""
        ranked = {place for place, one in enumerate(self.places) if one.rank is not None}
        lost = {
            one.second for one in self.pairs if one.different and self.places[one.first].rank == 1
        }
        return next(iter(ranked - lost)) if len(ranked) - len(lost) == 1 and lost else None

    def reordered(self, order: Sequence[int]) -> "Ranking":
        at = {place: number for number, place in enumerate(order)}
        # ``replace`` takes ten times as long, and 200 models have 20,000 pairs
        known = attrgetter("n", "difference", "p", "p_adjusted", "different")
        pairs = tuple(PairTest(at[one.first], at[one.second], *known(one)) for one in self.pairs)
        return replace(self, places=tuple(map(self.places.__getitem__, order)), pairs=pairs)


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
    def over_blind(self) -> Estimate | None:
        """Its score from what hears nothing to a person's, where 'score --scale blind' kept it."""
        return over_blind(self.table, self.scorer).get(OVER)

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
    verdict: str = ""
    published: tuple[PublishedEntry, ...] = ()
    notes: tuple[str, ...] = ()
    people: Mapping[int, Coefficient] = field(default_factory=dict)  # by run, who people prefer
    cast: Mapping[int, int] = field(default_factory=dict)  # by run, in how many votes
    votes: Mapping[str, Any] | None = None  # how far they go with the score
    departures: Mapping[str, Sequence[Departure]] = field(default_factory=dict)  # by label

    @property
    def rows(self) -> list[Entry]:
        """Runs in their order, each published row above the first run that it beats."""
        rows: list[Entry] = []
        waiting = list(self.published)
        for entry in self.entries:
            score = -self.scorer.sort_key(entry.estimate())[1]
            while waiting and (entry.overall.rank is None or waiting[0].score > score):
                rows.append(waiting.pop(0))
            rows.append(entry)
        return [*rows, *waiting]

    def name_of(self, one: Entry) -> str:
        """A model's name; a published one is marked where it stands among runs."""
        if isinstance(one, RunEntry):
            return one.label
        return f"{one.model} (published)" if self.entries else one.model

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
        yield NOTES["total"].format(total=aggregation.total)
    if entries[0].scorer.of_corpus:
        yield NOTES["of_corpus"]
    if overall.uneven:
        yield NOTES["uneven"].format(ground=overall.ground)
    elif overall.by_zero:
        yield NOTES["by_zero"]
    yield from _test_notes(overall, correction)
    ways = {one.run.id: way_of(one.run) for one in entries}
    for way in sorted(set(ways.values()) - {""}) if len(set(ways.values())) > 1 else ():
        own = [str(number) for number, one in ways.items() if one == way]
        yield f"{'Run' if len(own) == 1 else 'Runs'} {', '.join(own)}: {way}."
    races = dict.fromkeys(one.table.race for one in entries if one.table.raced)
    for said in races:
        names = ", ".join(one.label for one in entries if one.table.race == said)
        told = f" {said}" if overall.ranked else ""
        yield NOTES["raced"].format(names=names, told=told)
    for one in entries:
        estimate, total = one.estimate(), one.estimate().coverage.total
        if one.overall.rank is None and one.table.race not in races:
            named = estimate.lacks if estimate.n else ()
            lacks = f", none in {', '.join(named)}" if named else ""
            about: Any = {"n": estimate.n, "total": total, "common": one.overall.common}
            least: Any = {"share": FEWEST_SHARE, "fewest": FEWEST_FOR_INTERVAL}
            yield NOTES["unranked"].format(label=one.label, lacks=lacks, **about, **least)
        if estimate.n < total:
            yield f"{one.label}: {why_lacking(one.table, one.scorer)}."
        if empty := estimate.coverage.empty:
            yield f"{one.label}: {counted(empty, 'empty answer')}, scored as such."


def _test_notes(overall: Ranking, correction: Correction) -> Iterator[str]:
    if overall.untested:
        yield overall.untested
    if tested := len(overall.pairs):
        tests = counted(tested, overall.test)
        how: Any = {"correction": correction.words, "alpha": ALPHA}
        yield NOTES["tests"].format(letters=LETTERS, tests=tests, **how)
    if overall.unlettered:
        yield NOTES["unlettered"]


class _RankedGroup:
    """Runs on one group of samples: which can be ranked, best first, and over which samples.

    Whoever has settled most comes first, then all others that leave enough of that in common.
    """

    def __init__(self, scorer: Scorer, key: GroupKey, tables: Sequence[RunTable]) -> None:
        group = tables[0].group(scorer, key)
        scores = [one.sample_scores(scorer) for one in tables]
        scored = np.stack([group.column(one)[1] for one in scores], axis=1)
        sides = zip(scores, tables, strict=True)
        failed = [group.failed(own, one.replies) for own, one in sides]
        settled = scored | np.stack(failed, axis=1)
        counts, ground = settled.sum(axis=0).tolist(), np.ones(len(scored), dtype=bool)
        races = {one.race for one in tables if one.raced}  # who was in one waits for the others
        order: list[int] = []
        for place in sorted(range(len(tables)), key=lambda one: -counts[one]):
            both = ground & settled[:, place]
            enough = group.enough(both & scored[:, place]) and tables[place].race not in races
            of = counts[order[0]] if order else counts[place]
            answered = scored[:, place].sum() >= FEWEST_SHARE * counts[place]
            if enough and answered and both.sum() >= FEWEST_SHARE * of:
                ground = both
                order.append(place)
        self.runs, self.ground = len(tables), int(ground.sum()) if order else 0
        self.shared = (scored & ground[:, np.newaxis]).sum(axis=0).tolist()
        self.uneven = any(counts[place] > self.ground for place in order)
        self.common = int(np.all(scored[ground][:, order], axis=1).sum()) if order else 0
        here = scored[ground][:, order]
        self.by_zero = bool((here != here[:, :1]).any())
        self.group = group if self.ground == len(scored) else group.part(ground)
        self.scores: dict[int, float] = {}
        for place in order:
            one = self.group.point(scorer, scores[place], tables[place].replies)
            self.scores[place] = -scorer.sort_key(one)[1] if self.by_zero else one.value or 0.0
        self.order = sorted(order, key=lambda place: (-self.scores[place], place))
        self.scorer, self.tables = scorer, tables

    def pair(self, first: int, second: int) -> PairedScores:
        sides = self.tables[first], self.tables[second]
        return PairedScores(self.scorer, self.group, *sides, as_zero=self.by_zero)

    def tests(self, rounds: int) -> list[PairTest]:
        chosen = list(combinations(self.order, 2))
        found = [self.pair(*pair) for pair in chosen]
        made = []
        for pair, one, p in zip(chosen, found, p_values(found, rounds), strict=True):
            first, second = one.scores or (0.0, 0.0)
            made.append(PairTest(*pair, one.n, first - second, p))
        return made

    def student_tests(self) -> list[PairTest]:
        """All pairs at once: they are about the same samples, and added up in one way."""
        group, scorer = self.group, self.scorer
        scores = [self.tables[place].sample_scores(scorer) for place in self.order]
        made = group.aggregate_of(scorer, as_zero=self.by_zero)
        here = group.column(scores[0])[1] | self.by_zero
        sides = [group.table(one, as_zero=self.by_zero)[here] for one in scores]
        table, clips = np.stack(sides, axis=1), group.numbers[here]
        values, p = (one.tolist() for one in student_tests(table, made, clips))
        n, pairs = len(clips), combinations(range(len(self.order)), 2)
        return [
            PairTest(self.order[one], self.order[two], n, values[one] - values[two], p[one][two])
            for one, two in pairs
        ]

    def placed(self, pairs: tuple[PairTest, ...], reason: str | None, *, swapped: bool) -> Ranking:
        order = self.order
        at = {place: number for number, place in enumerate(order)}
        better = [(at[one.first], at[one.second]) for one in pairs if one.different]
        ranks = rank_intervals(len(order), better)
        groups = tied_groups(len(order), better) if pairs else []
        placements = [Placement(common=count if order else 0) for count in self.shared]
        for number, place in enumerate(order):
            tied = [letters(index) for index, group in enumerate(groups or ()) if number in group]
            known = (number + 1, self.scores[place], ranks[number], str(ranks[number]))
            placements[place] = Placement(*known, " ".join(tied), self.shared[place])
        return Ranking(
            bool(order),
            tuple(placements),
            pairs,
            self.common,
            self.ground,
            self.uneven,
            reason if len(order) > 1 else None,
            self.by_zero,
            groups is None,
            "paired permutation test" if swapped else "paired t-test",
        )


def rank_runs(
    scorer: Scorer,
    keys: Sequence[GroupKey],
    tables: Sequence[RunTable],
    correction: Correction = Correction.HOLM,
) -> list[Ranking]:
    """How runs rank in each group, such as a category, over the samples that are settled in all.

    Failures count as zero where the runs did not fail on the same ones, so that nobody is better
    for leaving clips out. The correction is over all groups that have enough samples for a test.
    """
    groups = [_RankedGroup(scorer, key, tables) for key in keys]
    enough: list[int] = []  # pairs of each that has samples enough
    for one in groups:
        pairs, clips = len(one.order) * (len(one.order) - 1) // 2, len(set(one.group.clips))
        is_enough = pairs and clips >= fewest_to_test(tests=pairs)
        enough.append(pairs if is_enough and one.pair(*one.order[:2]).testable else 0)
    number = sum(enough)
    if swaps := number <= SWAPPED_PAIRS:
        rounds = max(SWAPS, _SWAPS_A_PAIR * number)
        tests = [one.tests(rounds) if own else [] for one, own in zip(groups, enough, strict=True)]
    else:
        large = (len(set(one.group.clips)) >= _FEWEST_FOR_STUDENT for one in groups)
        tests = [one.student_tests() if own else [] for one, own in zip(groups, large, strict=True)]
    tested = [pair for own in tests for pair in own]
    adjusted = corrected(np.array([pair.p for pair in tested]), correction)
    for pair, value in zip(tested, adjusted.tolist(), strict=True):
        pair.p_adjusted = value
        pair.different = value < ALPHA and pair.difference > 0
    return [
        one.placed(tuple(own), None if own else FEW_SAMPLES, swapped=swaps)
        for one, own in zip(groups, tests, strict=True)
    ]
