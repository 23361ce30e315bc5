"""Two runs side by side, and all runs of a store on a leaderboard."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypedDict, Unpack

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
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.compare.result import ComparisonResult
from audiocapbench.report.leaderboard.build import build_leaderboard, ranking_scorer
from audiocapbench.report.leaderboard.tables import LeaderboardResult
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import DEFAULT_STORE, Store


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
        return compare_runs(
            store,
            *numbers,
            metrics=metric_names(metrics, none=True),
            judges=[judges] if isinstance(judges, str) else judges,
            clips=options.get("clips", 5),
            correction=_correction(options.get("correction", Correction.HOLM)),
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
    published = options.get("published", False)
    with board_store(options.get("store", DEFAULT_STORE), published=published) as store:
        return build_leaderboard(
            store,
            benchmark=options.get("benchmark"),
            scorer=ranking_scorer(options.get("metric"), options.get("judge")),
            by_category=options.get("by_category", False),
            all_runs=options.get("all_runs", False),
            published=published,
            correction=_correction(options.get("correction", Correction.HOLM)),
            runs=options.get("runs", ()),
        )


def board_store(store: StoreLike, *, published: bool) -> AbstractContextManager[Store]:
    """Where runs are to be found; published results need none, where none was named or made."""
    if published and store == DEFAULT_STORE and not Path(DEFAULT_STORE).exists():
        return Store.open("sqlite:///:memory:")
    return opened_store(store, create=False)


aleaderboard = in_thread(leaderboard)
