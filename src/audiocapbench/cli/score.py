"""``audiocapbench score``: metrics on files, or more metrics for an old run."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import INTERRUPTED, SOME_FAILED, app
from audiocapbench.cli.console import SHOWN, print_json, say, show, some
from audiocapbench.cli.outputs import refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError

_PUBLISHED = "meteor,bleu_1,bleu_2,bleu_3,bleu_4,rouge_l"
_MECAT = "date,similarity,bleu_4,rouge_l"
_DEFAULTS = f"[default: {_PUBLISHED}; of MECAT {_MECAT}]"


@options.command(app.command)
def score(
    run: int | None = None,
    *,
    predictions: list[str] | None = None,
    references: Path | None = None,
    benchmark: str | None = None,
    metrics: Annotated[
        str | None,
        Option(
            metavar="A,B",
            help=f"Comma-separated; 'audiocapbench metrics' lists them. {_DEFAULTS}",
        ),
    ] = None,
    judge: list[str] | None = None,
    judge_hears: options.JudgeHears = False,
    repeats: options.Repeats = 1,
    budget: options.Budget = None,
    credentials: options.Credentials = None,
    per_sample: Path | None = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Score predictions from files, or add scores to a run without asking its model again.

    Args:
        run ([RUN]): A run's number; see 'audiocapbench runs'.
        predictions (FILE): CSV with id,prediction; or JSONL with the same. Of MECAT also JSON and
            TXT, and a file for each sub-task as long=FILE; repeat for several.
        references (FILE): CSV with id,reference, a row a reference; or JSONL with id and
            references. A category adds scores by group. Of MECAT: its reference folder.
        benchmark (NAME): Score the files as mecat-caption or mecat-qa does: group by group.
        judge (JUDGE): Judge a RUN; repeat for a panel.
        per_sample (FILE): Write each sample's scores as CSV.
    """
    from audiocapbench.metrics.names import split_names

    if run is not None and predictions is None and references is None and benchmark is None:
        refuse_overwriting(per_sample, [store_file(store)])
        asked = _Panel(judge or [], judge_hears, repeats, budget)
        _score_run(run, metrics, asked, store, per_sample, json=json)
    elif judge:
        raise AudioCapBenchError("--judge needs a RUN, where its questions and answers are kept")
    elif run is not None or not predictions or references is None:
        raise AudioCapBenchError("score needs a RUN, or --predictions and --references")
    elif benchmark is not None:
        from audiocapbench.cli.score_mecat import score_mecat

        names = split_names(_MECAT if metrics is None else metrics)
        score_mecat(benchmark, predictions, references, names, per_sample, json=json)
    elif len(predictions) > 1:
        raise AudioCapBenchError("only a --benchmark takes several files of --predictions")
    else:
        names = split_names(_PUBLISHED if metrics is None else metrics)
        _score_files(Path(predictions[0]), references, names, per_sample, json=json)


class _Panel(NamedTuple):
    judges: list[str]
    hears: bool
    repeats: int
    budget_usd: float | None


def _score_run(
    number: int,
    metrics: str | None,
    panel: _Panel,
    store: str,
    per_sample: Path | None,
    *,
    json: bool,
) -> None:
    from audiocapbench.benchmarks import stored_traits
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.cli.progress import bars_on_stderr, judge_watcher
    from audiocapbench.cli.results import print_tables, warn_about
    from audiocapbench.engine import Budget, score_run
    from audiocapbench.judges import create_judges, judge_run
    from audiocapbench.metrics.names import split_names
    from audiocapbench.report.samples import write_scores
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.scores.summary import summarise
    from audiocapbench.store import Store

    kept = Store.open(store, create=False)
    found = kept.run(number)
    if found.is_trial:
        raise AudioCapBenchError(
            f"run {number} is of {found.benchmark}: its answers are no captions to score"
        )
    traits = stored_traits(kept.dataset(found.dataset, found.benchmark))
    names = split_names(metrics) if metrics is not None else list(traits.metrics)
    check_metrics(traits.aggregation, names)
    score_run(kept, found, names)
    judges = create_judges(panel.judges, traits.judge, hears=panel.hears)
    if judges:
        with bars_on_stderr() as bars:
            stop = judge_run(
                kept,
                found,
                judges,
                repeats=panel.repeats,
                budget=Budget(panel.budget_usd),
                progress=judge_watcher(bars),
            ).stop
        if stop is not None:
            say(f"Stopped ({stop}); what was judged is kept. The same command goes on from here.")
            raise typer.Exit(INTERRUPTED)
    summary = summarise(kept, found, names, [one.name for one in judges])
    if per_sample is not None:
        write_scores(per_sample, summary.table, names if traits.aggregation is None else ())
    if json:
        print_json(summary.to_dict())
    else:
        print_tables([summary], names, traits.headline)
    keep_estimates(kept, [summary.table])
    warn_about(kept, [one.name for one in judges], [number])
    if summary.has_failures:
        raise typer.Exit(SOME_FAILED)


def _score_files(
    predictions: Path, references: Path, names: list[str], per_sample: Path | None, *, json: bool
) -> None:
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.data.tables import read_predictions, read_references
    from audiocapbench.report.samples import write_scores
    from audiocapbench.report.tables import score_table
    from audiocapbench.scores.file_scores import score_files

    check_metrics(None, names)
    refuse_overwriting(per_sample, [predictions, references])
    answers = read_predictions(predictions)
    scores = score_files(answers, read_references(references), names)
    bad = [str(problem) for problem in answers.bad]
    if per_sample is not None:
        write_scores(per_sample, scores.table, scores.metrics)
    if json:
        print_json(scores.to_dict() | {"bad_lines": bad})
    else:
        show(score_table(scores))
    say(*bad[:SHOWN])
    if len(bad) > SHOWN:
        say(f"… and {len(bad) - SHOWN} more bad lines; --json lists them all")
    for ids, words in (
        (scores.missing, "have references but no prediction"),
        (scores.surplus, "have a prediction but no references"),
    ):
        if ids:
            say(f"{len(ids):,} samples {words}: {some(ids)}")
    if bad or scores.missing:
        raise typer.Exit(SOME_FAILED)
