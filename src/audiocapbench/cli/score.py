"""``audiocapbench score``: metrics on files, or more metrics for an old run."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, WRONG_USE, app, code_of
from audiocapbench.cli.console import (
    complain,
    print_json,
    say,
    say_bad,
    say_ids,
    show,
    show_lines,
)
from audiocapbench.cli.outputs import Outputs, reference_files, refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError, BenchmarkError, DatasetError

if TYPE_CHECKING:
    from audiocapbench.benchmarks.mecat.predictions import Answers
    from audiocapbench.benchmarks.traits import Traits
    from audiocapbench.judges import Judge
    from audiocapbench.scores.file_scores import FileScores

_OF_FILES = "preference,meteor,bleu_1,bleu_2,bleu_3,bleu_4,rouge_l"
_MECAT = "date,similarity,bleu_4,rouge_l"
_DEFAULTS = f"[default: of files {_OF_FILES}; of MECAT {_MECAT}]"


_KEPT = "What was judged is kept; the same command goes on from here."


@options.command(app.command)
def score(
    run: options.MaybeRun = None,
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
    model: str | None = None,
    judge: list[str] | None = None,
    judge_hears: options.JudgeHears = False,
    judge_prompt: options.JudgePrompt = None,
    protocol: options.Protocol = "ours",
    repeats: options.Repeats = 1,
    engine: options.Engine = "local",
    batch: options.Batch = False,
    budget: options.Budget = None,
    prices: options.Prices = None,
    timeout: options.Timeout = None,
    yes: options.Yes = False,
    credentials: options.Credentials = None,
    per_sample: Path | None = None,
    track: options.Track = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Score predictions from files, or add scores to a run without asking its model again.

    Args:
        predictions (FILE): CSV, JSONL, JSON or Parquet with id and prediction. Of MECAT also TXT,
            and a file for each sub-task as long=FILE; repeat for several.
        references (FILE): CSV with id and reference, a row a reference; or JSONL or JSON
            with id and references. A category adds scores by group. Of MECAT: its reference folder.
        benchmark (NAME): Score the files as mecat-caption or mecat-qa does: group by group.
        model (NAME): Whose --predictions they are; of a file with a column 'model' or 'system',
            also whose to take. [default: as the file says, or its name]
        judge (JUDGE): Judge a RUN, or --predictions, which become one in --store; repeat for a
            panel.
        per_sample (FILE): Write each sample's answer, scores and reasons as CSV or JSONL.
    """
    from audiocapbench.metrics.names import split_names

    if model is not None and not predictions:
        raise AudioCapBenchError("--model says whose --predictions these are; add them")
    ways = options.judge_ways(protocol, judge_prompt)
    asked = _Panel(judge or [], judge_hears, repeats, budget, prices, timeout, yes, ways, batch)
    out = Outputs(per_sample, track or (), json)
    if batch and not judge:
        raise AudioCapBenchError("--batch is about a --judge that is a model; name one")
    if run is not None and predictions is None and references is None and benchmark is None:
        refuse_overwriting(per_sample, [store_file(store)])
        _score_run(run, metrics, asked, store, out)
    elif run is not None or not predictions or references is None:
        raise AudioCapBenchError("score needs a RUN, or --predictions and --references")
    elif judge:
        _judge_files(predictions, references, benchmark, model, metrics, asked, store, out)
    elif benchmark is not None:
        names = split_names(_MECAT if metrics is None else metrics)
        _score_mecat(benchmark, predictions, references, names, out)
    elif len(predictions) > 1:
        raise AudioCapBenchError("only a --benchmark takes several files of --predictions")
    else:
        names = split_names(_OF_FILES if metrics is None else metrics)
        _score_files(Path(predictions[0]), references, model, names, out)


class _Panel(NamedTuple):
    judges: list[str]
    hears: bool
    repeats: int
    budget_usd: float | None
    prices: Path | None
    timeout: float | None
    yes: bool
    ways: dict[str, str]
    batch: bool


def _score_run(
    number: int,
    metrics: str | None,
    panel: _Panel,
    store: str,
    out: Outputs,
) -> None:
    from audiocapbench.benchmarks import stored_traits
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.cli.preview import confirm
    from audiocapbench.cli.progress import bars_on_stderr, explain_spending, judge_watcher
    from audiocapbench.cli.results import print_tables, warn_about
    from audiocapbench.engine import Budget, Preview, score_run
    from audiocapbench.judges import judge_run, missing_judgements, preview_judging
    from audiocapbench.metrics.names import split_names
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
    judges = _judges(panel, traits)
    missing = [missing_judgements(kept, found, one, repeats=panel.repeats) for one in judges]
    previews = map(partial(preview_judging, store=kept, prices=panel.prices), judges, missing)
    if panel.batch:
        previews = map(Preview.in_batches, previews)
    confirm(previews, budget_usd=panel.budget_usd, yes=panel.yes)
    purse = Budget(panel.budget_usd)
    with bars_on_stderr() as bars:
        score_run(kept, found, names)
        end = judge_run(
            kept,
            found,
            judges,
            repeats=panel.repeats,
            budget=purse,
            prices=panel.prices,
            batch=panel.batch,
            progress=judge_watcher(bars),
        )
    if end.dropped:
        raise KeyboardInterrupt
    judge_names = [one.name for one in judges]
    summary = summarise(kept, found, names, judge_names, stopped=end.stop is not None)
    document = summary.to_dict()
    if out.json:
        print_json(document)
    else:
        print_tables([summary], names, traits.headline)
    keep_estimates(kept, [summary.table])
    out.write([(document, summary.table)])
    warn_about(kept, summary.judge_names, [number], advise=any(missing))
    explain_spending(purse)
    complain(*end.refusals)
    if end.stop is not None:
        say(f"Judged {end.reached}: {end.stop.because(end.spending)}.", _KEPT)
        raise typer.Exit(code_of(end.stop))
    if end.refusals:
        raise typer.Exit(WRONG_USE)
    if summary.has_failures:
        raise typer.Exit(SOME_FAILED)


def _judges(panel: _Panel, traits: "Traits") -> "list[Judge]":
    from audiocapbench.judges import create_judges
    from audiocapbench.judges.judge import models_of
    from audiocapbench.models.openai_batches import check_batchable

    how: dict[str, Any] = {"hears": panel.hears, "timeout": panel.timeout, "ways": panel.ways}
    made = create_judges(panel.judges, traits.judge, unfit=traits.unfit_judges, **how)
    options.refuse_idle(panel.ways, made)
    if panel.batch:
        check_batchable(models_of(made))
    return made


def _judge_files(
    predictions: list[str],
    references: Path,
    benchmark: str | None,
    model: str | None,
    metrics: str | None,
    panel: _Panel,
    store: str,
    out: Outputs,
) -> None:
    """Keep predictions as a run, where judges find them, and score that."""
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.benchmarks.mecat.predictions import source_of
    from audiocapbench.benchmarks.reference_files import subject
    from audiocapbench.cli.importing import explain_import
    from audiocapbench.engine.importing import import_run, model_name, read_files
    from audiocapbench.metrics.names import split_names
    from audiocapbench.store import Store

    about = subject(predictions, benchmark, None, references)
    names = split_names(metrics) if metrics is not None else ()
    check_metrics(about.traits.aggregation, names, audio=False)
    # Whoever has no key is told so before anything is kept.
    _judges(panel, about.traits)
    given = read_files(predictions, about, model)
    files = [source_of(about.name, one).path for one in predictions]
    refuse_overwriting(out.per_sample, [store_file(store), references, *files])
    told = model is not None or given.predictions.head or given.predictions.system
    said = model if told else files[0].stem
    with Store.open(store) as kept:
        end = import_run(kept, about, given, model_name(said, given.predictions))
        say(f"The predictions are kept as run {end.run.id} in {kept.name}.")
    explain_import(end)
    _score_run(end.run.id, metrics, panel, store, out)
    if end.bad:
        raise typer.Exit(SOME_FAILED)


def _score_files(
    predictions: Path,
    references: Path,
    model: str | None,
    names: list[str],
    out: Outputs,
) -> None:
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.data.predictions import read_predictions
    from audiocapbench.data.row import read_references
    from audiocapbench.report.tables import estimate_table
    from audiocapbench.scores.estimate import counted
    from audiocapbench.scores.file_scores import score_files
    from audiocapbench.scores.scorer import Scorer

    check_metrics(None, names, audio=False)
    refuse_overwriting(out.per_sample, [predictions, references])
    answers = read_predictions(predictions, model)
    if model not in (None, answers.system):
        raise AudioCapBenchError(f"--model names what a --judge is shown; {predictions} names none")
    scores = score_files(answers, read_references(references), names)
    bad = [str(problem) for problem in answers.bad]
    document = scores.to_dict() | {"bad_lines": bad}
    if out.json:
        print_json(document)
    elif scores.ids:
        title, scorers = counted(len(scores.ids), "sample"), [*map(Scorer, scores.metrics)]
        show(estimate_table(title, scores.table, scorers, _signatures(scores)))
    else:
        show_lines(f"Nothing was scored: {predictions} holds no prediction that can be read.")
    out.write(
        [({"model": answers.system or predictions.stem, **document}, scores.table)], scores.texts
    )
    _say_blank(answers.texts)
    say(*([f"{scores.note}."] if scores.note else []))
    say_bad(bad)
    say_ids(scores.missing, "sample", "without a prediction")
    say_ids(scores.surplus, "prediction", "about no sample, left out")
    if bad or scores.missing:
        raise typer.Exit(SOME_FAILED)


def _score_mecat(
    benchmark: str,
    predictions: Sequence[str],
    references: Path,
    metrics: Sequence[str],
    out: Outputs,
) -> None:
    """Score answers to MECAT from files, group by group."""
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.benchmarks.instructions import caption_prompt
    from audiocapbench.benchmarks.mecat.groups import SUBTASKS
    from audiocapbench.benchmarks.mecat.items import read_items
    from audiocapbench.benchmarks.mecat.predictions import looks_like, read_answers, source_of
    from audiocapbench.benchmarks.mecat.traits import (
        NO_PROBES,
        TRAITS,
        asks_for_captions,
        base_name,
        is_asked,
    )
    from audiocapbench.benchmarks.registry import options_of
    from audiocapbench.report.tables import group_tables
    from audiocapbench.scores.estimate import counted
    from audiocapbench.scores.file_scores import score_groups

    traits = TRAITS.get(base_name(benchmark))
    if traits is None or traits.aggregation is None:
        raise BenchmarkError(f"{benchmark}: only mecat-caption and mecat-qa are scored from files")
    named = options_of(benchmark)
    is_asked("", "", named.pop("probes", NO_PROBES))
    caption_prompt(SUBTASKS[0], **named)
    aggregation = traits.aggregation
    check_metrics(aggregation, metrics, audio=False)
    sources = [source_of(benchmark, text) for text in predictions]
    given = (source.path for source in sources)
    refuse_overwriting(out.per_sample, chain(given, reference_files(references)))
    items = read_items(benchmark, references)
    answers = read_answers(benchmark, sources, items)
    if not answers.texts:
        _say_what_does_not_fit(answers)
        other = looks_like(benchmark, answers, items)
        hint = f"; this looks like {other}" if other else ""
        raise DatasetError(
            f"no prediction belongs to any of the references; nothing was scored{hint}"
        )
    scores = score_groups(aggregation, metrics, items, answers.texts)
    document = {"benchmark": benchmark, **_facts(answers), **scores.to_dict()}
    if out.json:
        print_json(document)
    else:
        title = f"{benchmark}: {counted(len(scores.ids), 'answer')}"
        show(*group_tables(scores.table, metrics, metrics, title))
        show_lines(*_signatures(scores))
        say(*(f"{one.corpus}: no {one.metric}. {one.reason}" for one in scores.unscored))
    for source in sources if asks_for_captions(benchmark) else ():
        what = source.part or "all sub-tasks"
        say(f"{source.path.name}: read as answers to {what}, but for lines that name their own.")
    out.write([({"model": sources[0].path.stem, **document}, scores.table)], scores.texts)
    _say_blank(answers.texts)
    _say_what_does_not_fit(answers)
    if answers.bad or answers.missing:
        raise typer.Exit(SOME_FAILED)


def _signatures(scores: "FileScores") -> list[str]:
    from audiocapbench.scores.scorer import Scorer
    from audiocapbench.table.table import signature_notes

    return signature_notes(scores.table.point(Scorer(name)).signature for name in scores.metrics)


def _facts(answers: "Answers") -> dict[str, object]:
    return {
        "missing": len(answers.missing),
        "missing_ids": answers.missing,
        "missing_outside": answers.missing_outside,
        "absent_subtasks": answers.absent,
        "surplus": len(answers.surplus),
        "surplus_ids": answers.surplus,
        "bad_lines": [str(problem) for problem in answers.bad],
    }


def _say_what_does_not_fit(answers: "Answers") -> None:
    say_bad(answers.bad)
    if answers.absent:
        say(f"No file has answers to {', '.join(answers.absent)}.")
    say_ids(answers.missing, "answer", "missing")
    say_ids(answers.surplus, "key", "without references")


def _say_blank(texts: Mapping[str, str]) -> None:
    from audiocapbench.data.predictions import blank_note

    if note := blank_note(texts):
        say(f"Warning: {note}.")
