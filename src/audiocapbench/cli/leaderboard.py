"""``audiocapbench leaderboard``: models of a store, and which of them cannot be told apart."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from audiocapbench.cli.app import app
from audiocapbench.cli.comparing import CorrectionName, CorrectionOption, fit
from audiocapbench.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from audiocapbench.report.exports import Format


class _By(StrEnum):
    OVERALL = "overall"
    CATEGORY = "category"


@app.command("leaderboard")
def leaderboard(
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", metavar="B", help="Only runs of this benchmark."),
    ] = None,
    by: Annotated[
        _By, typer.Option("--by", help="One score, or one for each category too.")
    ] = _By.OVERALL,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="M", help="Rank by this metric.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="J", help="Rank by this judge's overall score.")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Show the paper's results too.")
    ] = False,
    all_runs: Annotated[
        bool, typer.Option("--all-runs", help="Show all runs, not each model's newest.")
    ] = False,
    correction: CorrectionOption = CorrectionName.HOLM,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TABLE,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write to a file instead.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Rank the models of a store, with intervals, and say which cannot be told apart."""
    from audiocapbench.cli.console import say
    from audiocapbench.cli.results import warn_about
    from audiocapbench.cli.tables import Output, write
    from audiocapbench.report.leaderboard.board import LeaderboardQuery
    from audiocapbench.report.leaderboard.build import build_leaderboard, ranking_scorer
    from audiocapbench.report.leaderboard.pages import pages
    from audiocapbench.report.leaderboard.records import document, records
    from audiocapbench.stats.multiple import Correction
    from audiocapbench.store import Store

    query = LeaderboardQuery(
        benchmark,
        by is _By.CATEGORY,
        ranking_scorer(metric, judge),
        all_runs,
        published,
        Correction(correction),
    )
    kept = Store.open(store, create=False)
    built = build_leaderboard(kept, query)
    output = Output(Format.JSON if json else form, out)
    write(
        output,
        pages=lambda: [fit(page, output.form) for page in pages(built)],
        records=lambda: records(built),
        document=lambda: document(built),
    )
    for note in built.notes:
        say(note)
    for board in built.boards:
        if board.scorer.dimension:
            warn_about(kept, [board.scorer.name], [entry.run.id for entry in board.entries])
