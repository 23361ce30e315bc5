"""What a leaderboard is made of: boards of runs that may be compared, and what was asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from audiocapbench.report.leaderboard.ranking import Placement, Ranking, UntestedReason
from audiocapbench.scores.groups import ALL, GroupKey
from audiocapbench.scores.run_table import RunTable
from audiocapbench.scores.scorer import Scorer
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Run


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run on a board, and its place among the others.

    Attributes:
        label: The model's name, with the run's number where a board has it twice.
        by_category: Its places by category; empty unless that was asked for.
    """

    label: str
    table: RunTable
    scorer: Scorer
    overall: Placement
    by_category: dict[str, Placement]

    @property
    def run(self) -> Run:
        """The run."""
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
    """Runs that may be compared, best first.

    Attributes:
        samples: How many samples the runs are about.
        categories: Categories that are shown, with their number of samples.
        dataset: Fingerprint of the data.
        missing_clips: Clips that belong to the data but were not there.
        entries: The runs; those that cannot be ranked come last.
        parts: How they rank in each category, where that was asked for.
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
        """What failures, and clips that published rows have and the run has not, could make of it.

        A clip that was not there may have scored anything from nothing to the best.
        """
        estimate = entry.overall.estimate
        if not self.published or not self.missing_clips or entry.table.aggregation is not None:
            return estimate.bounds
        if estimate.value is None:
            return None
        low, high = estimate.bounds or (estimate.value, estimate.value)
        asked, total = self.samples, self.samples + self.missing_clips
        best = self.missing_clips * self.scorer.max_value
        return Interval(low * asked / total, (high * asked + best) / total)

    @property
    def too_few(self) -> list[str]:
        """Categories with too few samples to tell any two runs apart."""
        return [
            name
            for name, one in self.parts.items()
            if one.untested is UntestedReason.FEW_SAMPLES
            or self.categories[name] < FEWEST_FOR_INTERVAL
        ]


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
