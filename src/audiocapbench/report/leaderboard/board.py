"""What a leaderboard is made of: boards of runs that may be compared, and what was asked for."""

from dataclasses import dataclass

from audiocapbench.report.leaderboard.ranking import PairTest, Placement
from audiocapbench.scores.run_table import RunTable
from audiocapbench.scores.scorer import Scorer
from audiocapbench.signature import Signature
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Run


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run on a board.

    Attributes:
        label: The model's name, with the run's number where a board has it twice.
        table: Its scores.
        scorer: What the board ranks by.
        overall: Its score, and its place among the others.
        by_category: The same by category; empty unless that was asked for.
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
        own = self.table.dimensions(self.scorer.name) if self.scorer.is_overall else ()
        values = {one.column: self.table.point(one).value for one in own}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def judge_cost_usd(self) -> float | None:
        """Dollars for the judge that ranks, where known."""
        return self.table.judging_cost(self.scorer.name) if self.scorer.is_overall else None


@dataclass(frozen=True, slots=True)
class PublishedEntry:
    """A published row, not run here: a number without an interval, never part of a test.

    Attributes:
        model: As this package names it.
        judge: The judge of the paper; empty for a metric.
        source: The paper.
        rank: The printed place.
        score, by_category, dimensions: Printed scores.
    """

    model: str
    judge: str
    source: str
    rank: int
    score: float
    by_category: dict[str, float]
    dimensions: dict[str, float]


@dataclass(frozen=True, slots=True)
class Board:
    """Runs that may be compared, best first.

    Attributes:
        benchmark: Its name.
        dataset: Fingerprint of the data.
        samples: How many samples the runs are about.
        missing_clips: Clips that belong to the data but were not there.
        scorer: What the runs are ranked by.
        signature: How its scores were made.
        categories: Categories that are shown, with their number of samples.
        entries: The runs; those that cannot be ranked come last.
        pairs: Tests between runs, by their places in ``entries``.
        pairs_by_category: The same by category.
        too_few: Categories with too few samples to tell any two runs apart.
        common: Samples that all ranked runs have a score for.
        by_zero: Whether failures count as zero in places and tests: the ranked runs do not have
            scores of the same samples.
        zero_categories: Categories where that is so.
        correction: How p-values are corrected.
        published: Published rows, best first.
        notes: What a reader must know.
    """

    benchmark: str
    dataset: str
    samples: int
    missing_clips: int
    scorer: Scorer
    signature: Signature
    categories: dict[str, int]
    entries: tuple[RunEntry, ...]
    pairs: tuple[PairTest, ...]
    pairs_by_category: dict[str, tuple[PairTest, ...]]
    too_few: tuple[str, ...]
    common: int
    by_zero: bool = False
    zero_categories: tuple[str, ...] = ()
    correction: Correction = Correction.HOLM
    published: tuple[PublishedEntry, ...] = ()
    notes: tuple[str, ...] = ()


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
        by_category: Whether to rank the runs in each category too.
        scorer: What to rank by; by default a judge that most runs of a board have, else the
            benchmark's own metric, else the metric that most have.
        all_runs: Whether to show older runs of a model too.
        published: Whether to show published results too.
        correction: How to correct p-values for their number.
    """

    benchmark: str | None = None
    by_category: bool = False
    scorer: Scorer | None = None
    all_runs: bool = False
    published: bool = False
    correction: Correction = Correction.HOLM
