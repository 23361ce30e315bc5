"""``audiocapbench leaderboard``: models of a store, and which of them cannot be told apart."""

from typing import Literal

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import say
from audiocapbench.report.exports import Format


@options.command(app.command)
def leaderboard(
    *,
    benchmark: str | None = None,
    by: Literal["overall", "category"] = "overall",
    metric: str | None = None,
    judge: str | None = None,
    published: bool = False,
    all_runs: bool = False,
    correction: options.Correction = "holm",
    form: options.Form = Format.TABLE,
    out: options.Out = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Rank the models of a store, with intervals, and say which cannot be told apart.

    Args:
        benchmark (B): Only runs of this benchmark.
        by: One score, or one for each category too.
        metric (M): Rank by this metric.
        judge (J): Rank by this judge's overall score.
        published: Show the paper's results too.
        all_runs: Show all runs, not each model's newest.
    """
    from audiocapbench import library
    from audiocapbench.cli.results import warn_about
    from audiocapbench.cli.tables import write
    from audiocapbench.store import Store

    kept = Store.open(store, create=False)
    found = library.leaderboard(
        store=kept,
        benchmark=benchmark,
        by_category=by == "category",
        metric=metric,
        judge=judge,
        published=published,
        all_runs=all_runs,
        correction=correction,
    )
    form = Format.JSON if json else form
    write(form, out, pages=found.pages, records=found.records, document=found.to_dict, fit=True)
    say(*found.leaderboard.notes)
    for board in found.leaderboard.boards:
        if board.scorer.dimension:
            warn_about(kept, [board.scorer.name], [entry.run.id for entry in board.entries])
