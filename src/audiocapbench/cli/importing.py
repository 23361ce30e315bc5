"""``audiocapbench import``: predictions that were made elsewhere become a run."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.console import SHOWN, print_json, say, some

if TYPE_CHECKING:
    from audiocapbench.engine.importing import ImportEnd
    from audiocapbench.store import Store


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
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.benchmarks.reference_files import subject
    from audiocapbench.bridges.inspect_logs import as_results
    from audiocapbench.cli.progress import bars_on_stderr
    from audiocapbench.cli.results import print_tables
    from audiocapbench.engine import score_run
    from audiocapbench.engine.importing import import_run, model_name, read_files
    from audiocapbench.metrics.names import split_names
    from audiocapbench.scores.estimate import counted
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.scores.summary import summarise
    from audiocapbench.store import Store

    with as_results(files) as (read, own):
        about = own if benchmark is None and references is None else None
        about = about or subject(read, benchmark, data, references, follow_links=follow_links)
        given = read_files(read, about, model)
    say(*about.notes)
    names = split_names(metrics) if metrics is not None else list(about.traits.metrics)
    heard = not any(one.clip.is_absent for one in about.samples)
    check_metrics(about.traits.aggregation, names, audio=heard)
    whose = model_name(model, given.predictions)
    kept = Store.open(store)
    end = import_run(kept, about, given, whose, judge)
    with bars_on_stderr():
        score_run(kept, end.run, names)
    judges = list(dict.fromkeys(one.judge for one in kept.judgements(end.run.id)))
    summary = summarise(kept, end.run, names, judges)
    if json:
        print_json({"store": kept.name, **summary.to_dict(), **end.to_dict()})
    else:
        columns = names if metrics is not None else about.traits.columns
        print_tables([summary], columns, about.traits.headline)
    keep_estimates(kept, [summary.table])
    explain_import(end)
    if empty := summary.table.coverage.empty:
        answers = counted(summary.table.coverage.replied, "answer")
        say(f"{whose}: {empty:,} of {answers} are empty; they score 0.")
    _say_where(end, kept)
    if end.bad or summary.has_failures:
        raise typer.Exit(SOME_FAILED)


def explain_import(end: "ImportEnd") -> None:
    """Say on stderr what did not fit."""
    from audiocapbench.scores.estimate import counted

    say(*([f"{end.note[0].upper()}{end.note[1:]}."] if end.note else []))
    say(*map(str, end.bad[:SHOWN]))
    if len(end.bad) > SHOWN:
        say(f"… and {len(end.bad) - SHOWN:,} more bad lines; --json lists them all")
    for ids, what, words in (
        (end.missing, "sample", "without a prediction, counted as skipped"),
        (end.surplus, "prediction", "about no sample, left out"),
    ):
        if ids:
            say(f"{counted(len(ids), what)} {words}: {some(ids)}")


def _say_where(end: "ImportEnd", store: "Store") -> None:
    number, where = end.run.id, store.option
    was = "is" if end.is_new else "was imported before, and is"
    say(
        f"Run {number} {was} in {store.name}; 'audiocapbench score {number} --judge JUDGE{where}' "
        f"has it judged, 'audiocapbench report {number}{where}' shows every answer."
    )
