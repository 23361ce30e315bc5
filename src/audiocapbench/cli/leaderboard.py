"""``audiocapbench leaderboard``: models of a store, and which of them cannot be told apart."""

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.console import say, show_result
from audiocapbench.cli.outputs import write
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.table.forms import Format

if TYPE_CHECKING:
    from audiocapbench.report.leaderboard.board import Board


@options.command(app.command)
def leaderboard(
    *,
    benchmark: str | None = None,
    by_category: bool = False,
    metric: str | None = None,
    judge: str | None = None,
    published: bool = False,
    all_runs: bool = False,
    table: Annotated[int | None, Option(min=1, max=3)] = None,
    columns: str | None = None,
    correction: options.Correction = "holm",
    calibrated: str | None = None,
    fail_under: float | None = None,
    form: options.Form = Format.TABLE,
    out: options.Out = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Rank the models of a store, with intervals, and say which cannot be told apart.

    Args:
        benchmark (B): Only runs of this benchmark.
        by_category: Show a score for each category too.
        metric (M): Rank by this metric.
        judge (J): Rank by this judge's overall score.
        published: Show the paper's results too; they need no store.
        all_runs: Show all runs, not each model's newest that was asked and that was imported.
        table (N): A table of AudioCapBench's paper: 1 all scores, 2 by category, 3 the data.
        columns (A,B): Which columns of that table, comma-separated.
        calibrated (FILE): Rank by what people would have given, from ratings of a part: a file or
            a rating project; see 'audiocapbench judges calibrate'. Needs --judge.
        fail_under (SCORE): Exit with 1 if a model is surely below, for CI: its whole 95 % interval.
    """
    from audiocapbench import library
    from audiocapbench.cli.results import warn_about
    from audiocapbench.library.comparing import board_store
    from audiocapbench.metrics.names import split_names
    from audiocapbench.report.calibration import calibration_report
    from audiocapbench.study.calibration import calibrate_runs

    if calibrated is not None and judge is None:
        raise AudioCapBenchError("--calibrated puts a judge right; name it with --judge")
    other = {out, table, fail_under} != {None} or published or by_category
    if calibrated is not None and (other or form not in (Format.TABLE, Format.JSON)):
        raise AudioCapBenchError("--calibrated goes with --benchmark, --all-runs and --json alone")
    if fail_under is not None and not isfinite(fail_under):
        raise AudioCapBenchError(f"--fail-under takes a score, not {fail_under}")
    if columns is not None and table is None:
        raise AudioCapBenchError("--columns chooses those of a --table")
    with board_store(store, published=published) as kept:
        found = library.leaderboard(
            store=kept,
            benchmark=benchmark,
            by_category=by_category or table == 2,
            metric=metric,
            judge=judge,
            published=published,
            all_runs=all_runs,
            correction=correction,
        )
        form = Format.JSON if json else form
        if calibrated is not None:
            if len(boards := found.leaderboard.boards) > 1:
                raise AudioCapBenchError(
                    f"--calibrated is of one board, and there are {len(boards)}; choose with "
                    "--benchmark, or runs with 'audiocapbench judges calibrate'"
                )
            runs = [entry.run.id for entry in boards[0].entries]
            put_right = calibrate_runs(kept, runs, calibrated, boards[0].scorer, partly=True)
            show_result(calibration_report(put_right), json=form is Format.JSON)
            return
        if table is None:
            write(found, form, out)
        else:
            names = split_names(columns) if columns is not None else ()
            write(found.table(table, names), form, out)
        say(*found.leaderboard.notes)
        for board in found.leaderboard.boards:
            if board.scorer.dimension and board.entries:
                warn_about(kept, [board.scorer.name], [entry.run.id for entry in board.entries])
        if fail_under is not None and not _passes(found.leaderboard.boards, fail_under):
            raise typer.Exit(SOME_FAILED)


def _passes(boards: "Sequence[Board]", least: float) -> bool:
    """Whether no model is surely below a score, failures as zero; says how each stands to it."""
    passed = True
    for board in boards:
        for entry in board.entries:
            one = entry.overall.estimate
            name, score = entry.run.model, board.scorer.label
            if one.interval is None or one.value is None:
                passed = False
                say(f"FAIL {name}: {score} has no interval; too few samples have a score.")
                continue
            lost = 0.0 if one.as_zero is None else one.value - one.as_zero
            if one.interval.high - lost < least:
                passed = False
                counted = f" (less {lost:.3f} for what has none)" if lost > 0 else ""
                say(f"FAIL {name}: {score} is {one}{counted}, all of it under {least:g}.")
            else:
                doubt = "" if one.interval.low - lost >= least else ", though not surely above"
                say(f"pass {name}: {score} is {one}, not under {least:g}{doubt}.")
    return passed
