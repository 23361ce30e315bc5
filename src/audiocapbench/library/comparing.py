"""Two runs side by side, all runs of a store on a leaderboard, and what they cost."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Unpack

from audiocapbench.asking import BoardOptions
from audiocapbench.errors import StoreError, check_known
from audiocapbench.library import scoring
from audiocapbench.library.running import RunResult, StoreLike, opened_store
from audiocapbench.meta.votes import named_votes
from audiocapbench.report import costs as spending
from audiocapbench.report.beside_people import with_votes
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.compare.result import ComparisonResult
from audiocapbench.report.leaderboard.build import build_leaderboard, ranking_scorer
from audiocapbench.report.leaderboard.tables import LeaderboardResult
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import DEFAULT_STORE, Store
from audiocapbench.table import Findings


@scoring.checked
def compare(
    first: int | RunResult,
    second: int | RunResult,
    *more: int | RunResult,
    store: StoreLike = DEFAULT_STORE,
    metrics: str | Sequence[str] = (),
    judges: str | Sequence[str] = (),
    clips: int = 5,
    correction: str = "holm",
    repeats: bool = False,
) -> ComparisonResult:
    """Compare runs of one benchmark with the first of them, clip by clip.

    Args:
        first: The number of the one, or what ``run`` returned.
        second: The number of the other.
        more: Others to compare with the first.
        store: Where they are: a file, a database URL or an open store.
        metrics: Metrics to compare by; with no judge named, everything that both have by default.
        judges: Judges to compare by.
        clips: How many of the samples that moved most to show.
        correction: ``holm`` or ``bh``: how p-values are corrected for their number.
        repeats: Whether a run stands for all its repeats, by the mean of their answers.

    Raises:
        ReportError: The runs cannot be compared, and why.
        StoreError: There is no such run.
    """
    check_known("correction", correction, [*Correction], scoring.ArgumentError)
    numbers = map(scoring.run_number, (first, second, *more))
    with opened_store(store, create=False) as opened:
        return compare_runs(
            opened,
            *numbers,
            metrics=scoring.metric_names(metrics, none=True),
            judges=[judges] if isinstance(judges, str) else judges,
            clips=clips,
            correction=Correction(correction),
            repeated=repeats,
        )


acompare = scoring.in_thread(compare)


@scoring.checked
def leaderboard(
    *,
    store: StoreLike = DEFAULT_STORE,
    runs: Sequence[int] = (),
    correction: str = "holm",
    **query: Unpack[BoardOptions],
) -> LeaderboardResult:
    """Rank the models of a store, and say which cannot be told apart.

    Args:
        store: A file, a database URL or an open store.
        runs: Only these runs, by number.
        correction: ``holm`` or ``bh``: how p-values are corrected for their number.
        **query: See ``BoardOptions``.

    Raises:
        ReportError: There is no run to show, or none with the score to rank by.
    """
    check_known("correction", correction, [*Correction], scoring.ArgumentError)
    names, by = query.pop("votes", None), (query.pop("metric", None), query.pop("judge", None))
    how: Any = {"correction": Correction(correction), "runs": runs, **query}
    with board_store(store, published=query.get("published", False)) as opened:
        result = build_leaderboard(opened, scorer=ranking_scorer(*by), **how)
        if names:
            result = with_votes(result, named_votes(opened, names))
        return result


def board_store(store: StoreLike, *, published: bool) -> AbstractContextManager[Store]:
    """Where runs are to be found; published results need none, where none was named or made."""
    if published and store == DEFAULT_STORE and not Path(DEFAULT_STORE).exists():
        return Store.open("sqlite:///:memory:")
    return opened_store(store, create=False)


aleaderboard = scoring.in_thread(leaderboard)


@scoring.checked
def costs(
    *of: int | str | RunResult,
    store: StoreLike = DEFAULT_STORE,
    by: str | None = None,
    reconcile: str | Path | None = None,
    book: bool = False,
) -> Findings:
    """What models and judges cost: what is certain, estimated, lost and outstanding.

    Args:
        of: Runs by number, name or tag, all of a model, or a project or study; all by default.
        store: A file, a database URL or an open store.
        by: One table by model, judge, day, run, command, owner or project.
        reconcile: A provider's export of costs, to be held against the ledger instead.
        book: Whether to book what differs as corrections.

    Raises:
        AudioCapBenchError: A name stands for nothing or for two things, or an export for nothing.
    """
    check_known("by", by or "model", spending.BY, scoring.ArgumentError)
    if (by and reconcile) or (book and not reconcile):
        raise scoring.ArgumentError("`book` needs `reconcile`; `by` cannot be given with it")
    if book and of:
        raise scoring.ArgumentError("`book` is about all of a store: an export names no run of it")
    names = [one if isinstance(one, str) else scoring.run_number(one) for one in of]
    with opened_store(store, create=False) as opened:
        with suppress(StoreError):  # of one that can only be read
            opened.claims.forget_the_gone()  # what they had in flight is lost
        wanted = spending.chosen_rows(opened, names)
        if reconcile is None:
            return spending.cost_report(opened, wanted, by)
        return spending.reconciled(opened, wanted, Path(reconcile), book=book)
