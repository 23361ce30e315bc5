"""What a leaderboard is made of: boards of runs that may be compared, and what is said of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.report.leaderboard.ranking import MOST_PAIRS, Placement, Ranking, UntestedReason
from audiocapbench.scores.compute import ALL, GroupKey
from audiocapbench.scores.estimate import FEWEST_SHARE, Scorer, counted, missing_words
from audiocapbench.scores.table import RunTable
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.multiple import Correction
from audiocapbench.stats.power import ALPHA
from audiocapbench.store import Run

LETTERS = "Models that share a letter"
"""Begins what is said of tests, which only tables with letters need."""
_MOST_NAMED = 10


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

    @property
    def dimensions(self) -> dict[str, float]:
        """Scores of the judge's dimensions, where its overall score ranks."""
        return self.dimensions_of(ALL)

    def dimensions_of(self, key: GroupKey) -> dict[str, float]:
        """The same of one group of samples."""
        own = self.table.dimensions(self.scorer.name) if self.scorer.is_overall else ()
        values = {one.column: self.table.point(one, key).value for one in own}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def judge_cost_usd(self) -> float | None:
        """Dollars for the judge that ranks, where known."""
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


@dataclass(frozen=True, slots=True)
class Board:
    """Runs that may be compared, best first; those that cannot be ranked come last.

    Attributes:
        samples: How many samples the runs are about, and ``categories`` those of each category.
        dataset: Fingerprint of the data.
        missing_clips: Clips that belong to the data but were not there.
        parts: How the runs rank in each category, where that was asked for.
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
        estimate = entry.overall.estimate
        if not self.published or not self.missing_clips or entry.table.aggregation is not None:
            return estimate.bounds
        if estimate.value is None:
            return None
        low, high = estimate.bounds or (estimate.value, estimate.value)
        asked, total = self.samples, self.samples + self.missing_clips
        best = self.missing_clips * self.scorer.max_value
        return Interval(low * asked / total, (high * asked + best) / total)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All boards, the largest first, and what is not on them."""

    boards: tuple[Board, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """What a leaderboard is to show.

    Attributes:
        benchmark: Only runs of this benchmark; trials are shown only where they are named.
        scorer: What to rank by; by default a judge that most runs of a board have, else the
            benchmark's own metric, else the metric that most have.
        all_runs: Whether to show older runs of a model too.
        runs: Only these.
    """

    benchmark: str | None = None
    by_category: bool = False
    scorer: Scorer | None = None
    all_runs: bool = False
    published: bool = False
    correction: Correction = Correction.HOLM
    runs: tuple[int, ...] = ()


def way_of(run: Run) -> str:
    """How the answers of a run came about, where that is not our usual way."""
    if run.kind == "imported":
        return "imported"
    return "asked by the published protocol" if run.parameters.get("protocol") else ""


def board_notes(
    overall: Ranking,
    entries: Sequence[RunEntry],
    aggregation: Aggregation | None,
    correction: Correction,
) -> Iterator[str]:
    """What a reader of a board must know; the entries are in the order of the ranking."""
    if aggregation is not None:
        yield f"The score is {aggregation.total}, the weighted sum of the categories."
    if overall.by_zero:
        yield (
            "The models do not have scores of the same samples. So 'as zero', where a sample "
            "without a score counts as 0, decides the order, the ranks and the tests; 'score' is "
            "over what each has."
        )
    yield from _tests(overall, [one.label for one in entries], correction)
    ways = {one.run.id: way_of(one.run) for one in entries}
    for way in sorted(set(ways.values()) - {""}) if len(set(ways.values())) > 1 else ():
        own = [str(number) for number, one in ways.items() if one == way]
        yield f"{'Run' if len(own) == 1 else 'Runs'} {', '.join(own)}: {way}."
    for one in entries:
        estimate, total = one.overall.estimate, one.overall.estimate.coverage.total
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


def _tests(overall: Ranking, names: Sequence[str], correction: Correction) -> Iterator[str]:
    if overall.untested is UntestedReason.FEW_SAMPLES:
        yield "There are too few samples to tell any two models apart."
    if overall.untested is UntestedReason.MANY_PAIRS:
        ranked = sum(one.rank is not None for one in overall.runs)
        yield (
            f"{ranked} runs make more than {MOST_PAIRS:,} pairs and were not tested; "
            "show fewer to see which are tied."
        )
    apart = [one for one in overall.pairs if one.p_value is None]
    if tested := len(overall.pairs) - len(apart):
        yield (
            f"{LETTERS} cannot be told apart: {counted(tested, 'paired permutation test')}, "
            f"corrected by {correction.words} over the pairs of this table, alpha {ALPHA:g}. "
            "'ranks' are the places that the tests leave open."
        )
    if overall.unlettered:
        yield "There are too many ties to letter; --format json has every test."
    for one in [one for one in overall.pairs if one.against][:_MOST_NAMED]:
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
