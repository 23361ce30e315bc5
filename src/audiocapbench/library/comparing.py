"""Two runs side by side, and all runs of a store on a leaderboard."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from audiocapbench.asking import BoardOptions
from audiocapbench.errors import did_you_mean
from audiocapbench.library.running import RunResult, StoreLike, opened_store
from audiocapbench.library.scoring import (
    ArgumentError,
    check_options,
    in_thread,
    metric_names,
    run_number,
)
from audiocapbench.report.compare import render
from audiocapbench.report.compare.compute import Comparison, compare_runs
from audiocapbench.report.leaderboard import tables as board_records
from audiocapbench.report.leaderboard.board import Leaderboard, LeaderboardQuery
from audiocapbench.report.leaderboard.build import build_leaderboard, ranking_scorer
from audiocapbench.report.leaderboard.paper_tables import paper_tables
from audiocapbench.report.leaderboard.tables import board_tables
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import DEFAULT_STORE, Store
from audiocapbench.table import Findings, Result, Row, Table


@dataclass(frozen=True, repr=False)
class ComparisonResult(Result):
    """What changed from one run to another, and whether it is real.

    Attributes:
        longest: How many characters of an answer to show.
    """

    comparison: Comparison
    longest: int = render.LONGEST

    def tables(self) -> list[Table]:
        """Differences with their intervals and p-values, and the clips that moved most."""
        return render.comparison_tables(self.comparison, self.longest)

    def records(self) -> list[Row]:
        """A row for each scorer and category."""
        return render.records(self.comparison)

    def to_dict(self) -> dict[str, Any]:
        """As ``audiocapbench compare --json`` prints it."""
        return render.document(self.comparison)


@dataclass(frozen=True, repr=False)
class LeaderboardResult(Result):
    """Runs in order, with the ranks that the data allow."""

    leaderboard: Leaderboard

    def tables(self) -> list[Table]:
        """A table for each board."""
        return board_tables(self.leaderboard)

    def table(self, number: int, columns: Sequence[str] = ()) -> Result:
        """Table 1, 2 or 3 of AudioCapBench's paper, for each board, with the paper's columns or
        those that are named."""
        tables = paper_tables(self.leaderboard, number, columns)
        rows = [row for one in tables for row in one.rows]
        return Findings(tables, {"tables": rows, "notes": list(self.leaderboard.notes)}, rows)

    def records(self) -> list[Row]:
        """A row for each run and category, and for each published model."""
        return board_records.records(self.leaderboard)

    def tests(self) -> list[Row]:
        """A row for each test between two runs."""
        return board_records.pair_records(self.leaderboard)

    def to_dict(self) -> dict[str, Any]:
        """As ``audiocapbench leaderboard --json`` prints it."""
        return board_records.document(self.leaderboard)


def _correction(given: object) -> Correction:
    try:
        return Correction(str(given))
    except ValueError:
        known = [str(one.value) for one in Correction]
        there = did_you_mean(str(given), known, "there are")
        raise ArgumentError(f"there is no correction {given!r:.60}{there}") from None


class CompareSettings(TypedDict, total=False):
    """How two runs are compared.

    Attributes:
        store: Where they are: a file, a database URL or an open store.
        metrics: Metrics to compare by; with no judge named, everything that both have by default.
        judges: Judges to compare by.
        clips: How many of the samples that moved most to show.
        correction: ``holm`` or ``bh``: how p-values are corrected for their number.
    """

    store: StoreLike
    metrics: str | Sequence[str]
    judges: str | Sequence[str]
    clips: int
    correction: str


def compare(
    first: int | RunResult, second: int | RunResult, **options: Unpack[CompareSettings]
) -> ComparisonResult:
    """Compare two runs of one benchmark, clip by clip.

    Args:
        first: The number of the one, or what ``run`` returned.
        second: The number of the other.
        **options: See ``CompareSettings``.

    Raises:
        ReportError: The runs cannot be compared, and why.
        StoreError: There is no such run.
    """
    check_options(options, CompareSettings)
    numbers = run_number(first), run_number(second)
    metrics, judges = options.get("metrics", ()), options.get("judges", ())
    with opened_store(options.get("store", DEFAULT_STORE), create=False) as store:
        return ComparisonResult(
            compare_runs(
                store,
                *numbers,
                metrics=metric_names(metrics, none=True),
                judges=[judges] if isinstance(judges, str) else judges,
                clips=options.get("clips", 5),
                correction=_correction(options.get("correction", Correction.HOLM)),
            )
        )


acompare = in_thread(compare)


class LeaderboardSettings(BoardOptions, total=False):
    """What a leaderboard shows: ``BoardOptions``, and where the runs are.

    Attributes:
        store: A file, a database URL or an open store.
        runs: Only these runs, by number.
        correction: ``holm`` or ``bh``: how p-values are corrected for their number.
    """

    store: StoreLike
    runs: Sequence[int]
    correction: str


def leaderboard(**options: Unpack[LeaderboardSettings]) -> LeaderboardResult:
    """Rank the models of a store, and say which cannot be told apart.

    Args:
        **options: See ``LeaderboardSettings``.

    Raises:
        ReportError: There is no run to show, or none with the score to rank by.
    """
    check_options(options, LeaderboardSettings)
    query = LeaderboardQuery(
        options.get("benchmark"),
        options.get("by_category", False),
        ranking_scorer(options.get("metric"), options.get("judge")),
        options.get("all_runs", False),
        options.get("published", False),
        _correction(options.get("correction", Correction.HOLM)),
        tuple(options.get("runs", ())),
    )
    with board_store(options.get("store", DEFAULT_STORE), published=query.published) as store:
        return LeaderboardResult(build_leaderboard(store, query))


def board_store(store: StoreLike, *, published: bool) -> AbstractContextManager[Store]:
    """Where runs are to be found; published results need none, where none was named or made."""
    if published and store == DEFAULT_STORE and not Path(DEFAULT_STORE).exists():
        return Store.open("sqlite:///:memory:")
    return opened_store(store, create=False)


aleaderboard = in_thread(leaderboard)
