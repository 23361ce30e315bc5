"""``audiocapbench score``: metrics on files, or more metrics for an old run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from audiocapbench.report.sheet import Sheet

_SHOWN = 5


@app.command("score")
def score(
    run: Annotated[
        int | None,
        typer.Argument(metavar="[RUN]", help="A run's number; see 'audiocapbench runs'."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions", metavar="FILE", help="CSV with id,prediction; or JSONL with the same."
        ),
    ] = None,
    references: Annotated[
        Path | None,
        typer.Option(
            "--references",
            metavar="FILE",
            help="CSV with id,reference, a row a reference; or JSONL with id and references. "
            "A category adds scores by group.",
        ),
    ] = None,
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics", metavar="A,B", help="Comma-separated; 'audiocapbench metrics' lists them."
        ),
    ] = "meteor,bleu_1,bleu_2,bleu_3,bleu_4,rouge_l",
    per_sample: Annotated[
        Path | None,
        typer.Option("--per-sample", metavar="FILE", help="Write each sample's scores as CSV."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Score predictions from files, or add scores to a run without asking its model again."""
    from audiocapbench.metrics.names import split_names

    names = split_names(metrics)
    if run is not None and predictions is None and references is None:
        _score_run(run, names, store, per_sample, json=json)
    elif run is None and predictions is not None and references is not None:
        _score_files(predictions, references, names, per_sample, json=json)
    else:
        raise AudioCapBenchError("score needs a RUN, or --predictions and --references")


def _score_run(
    number: int, names: list[str], store: str, per_sample: Path | None, *, json: bool
) -> None:
    from audiocapbench.cli.console import print_json, stdout
    from audiocapbench.engine import score_run
    from audiocapbench.report.document import run_document
    from audiocapbench.report.samples import write_scores
    from audiocapbench.report.summary import summarise
    from audiocapbench.report.tables import by_category, leaderboard
    from audiocapbench.store import Store

    kept = Store.open(store)
    found = kept.run(number)
    results = score_run(kept, found, names)
    summary = summarise(kept, found, names)
    if per_sample is not None:
        write_scores(per_sample, results.ids, results.metrics)
    if json:
        print_json(run_document(summary))
    else:
        stdout().print(leaderboard([summary], names, names[0]))
        if len(summary.by_category) > 1:
            stdout().print(by_category([summary], names[0]))
    if summary.coverage.failed:
        raise typer.Exit(SOME_FAILED)


def _score_files(
    predictions: Path, references: Path, names: list[str], per_sample: Path | None, *, json: bool
) -> None:
    from audiocapbench.cli.console import print_json, say, stdout
    from audiocapbench.data.tables import read_predictions, read_references
    from audiocapbench.report.samples import write_scores
    from audiocapbench.report.sheet import score_files
    from audiocapbench.report.tables import score_table

    answers = read_predictions(predictions)
    sheet = score_files(answers, read_references(references), names)
    if per_sample is not None:
        write_scores(per_sample, sheet.ids, sheet.results)
    if json:
        bad = [str(problem) for problem in answers.bad]
        print_json(sheet.document() | {"bad_lines": bad})
    else:
        stdout().print(score_table(sheet))
    for problem in answers.bad[:_SHOWN]:
        say(str(problem))
    if len(answers.bad) > _SHOWN:
        say(f"… and {len(answers.bad) - _SHOWN} more bad lines; --json lists them all")
    _say_what_is_left_out(sheet)
    if answers.bad or sheet.missing:
        raise typer.Exit(SOME_FAILED)


def _say_what_is_left_out(sheet: "Sheet") -> None:
    from audiocapbench.cli.console import say

    for ids, words in (
        (sheet.missing, "have references but no prediction"),
        (sheet.surplus, "have a prediction but no references"),
    ):
        if ids:
            some = ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
            say(f"{len(ids):,} samples {words}: {some}")
