"""``audiocapbench import``: predictions that were made elsewhere become a run."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.console import print_json, say, say_bad, say_ids

if TYPE_CHECKING:
    from audiocapbench.engine.importing import ImportEnd


@options.command(app.command, "import")
def import_predictions(
    files: list[str],
    *,
    benchmark: str | None = None,
    data: Path | None = None,
    follow_links: options.FollowLinks = False,
    references: Path | None = None,
    model: str | None = None,
    judge: str | None = None,
    metrics: str | None = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Make a run of captions that you already have, to judge, compare and show like any other.

    The same file is the same run; a sample without a caption is counted as skipped.

    Args:
        files (FILE): CSV, TSV, JSONL, JSON or Parquet with id (or file_name) and prediction;
            the published tool's result JSON; a log of inspect_ai; of MECAT also TXT, and long=FILE
            for a sub-task.
        benchmark (NAME): What the captions are about: a benchmark, or a folder of clips.
        data (DIR): The folder that 'audiocapbench build' made.
        references (FILE): Instead of a benchmark: references with id, without audio; with
            mecat-caption or mecat-qa, its reference folder. [default of a result JSON: its own]
        model (NAME): Whose captions they are; of a file with a column 'model' or 'system', also
            whose to take. [default: as the file says]
        judge (NAME): Who judged, where a result JSON with scores does not say it.
        metrics (A,B): Comma-separated metrics. [default: the benchmark's own]
    """
    from audiocapbench.cli.progress import Terminal
    from audiocapbench.cli.results import print_tables
    from audiocapbench.library.importing import import_run
    from audiocapbench.store import Store

    with Terminal() as terminal:
        result = import_run(
            files,
            benchmark=benchmark,
            data=data,
            follow_links=follow_links,
            references=references,
            model=model,
            judge=judge,
            metrics=metrics,
            store=store,
            progress=partial(terminal.advance, "steps of the import"),
        )
    summary, traits, end = result.summary, result.summary.table.traits, result.end
    say(*result.notes)
    with Store.open(store) as kept:
        name, option = kept.name, kept.option
    if json:
        print_json({"store": name, **result.to_dict()})
    else:
        columns = summary.metrics if metrics is not None else traits.columns
        print_tables([summary], columns, traits.headline)
    explain_import(end)
    number, was = end.run.id, "is" if end.is_new else "was imported before, and is"
    say(
        f"Run {number} {was} in {name}; 'audiocapbench score {number} --judge JUDGE{option}' has "
        f"it judged, 'audiocapbench report {number}{option}' shows every answer."
    )
    if end.bad or summary.has_failures:
        raise typer.Exit(SOME_FAILED)


def explain_import(end: "ImportEnd") -> None:
    """Say on stderr what did not fit."""
    say(*([f"{end.note[0].upper()}{end.note[1:]}."] if end.note else []))
    say_bad(end.bad)
    say_ids(end.missing, "sample", "without a prediction, counted as skipped")
    say_ids(end.surplus, "prediction", "about no sample, left out")
