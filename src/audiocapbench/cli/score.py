"""``audiocapbench score`` and ``import``: predictions from files are scored, or become a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Literal

from audiocapbench.asking import ClipOptions, JudgePanel
from audiocapbench.cli import options
from audiocapbench.cli.app import app, leave
from audiocapbench.cli.console import say, say_bad, say_ids, show, show_lines, show_result
from audiocapbench.errors import SHOWN, AudioCapBenchError, BenchmarkError, DatasetError, some
from audiocapbench.table import Findings, Result, Table, signature_notes

if TYPE_CHECKING:
    from audiocapbench.data.pairing import Pairing
    from audiocapbench.data.predictions import PredictionFile
    from audiocapbench.data.problems import Problem
    from audiocapbench.engine.importing import ImportEnd
    from audiocapbench.scores.summary import FileScores
    from audiocapbench.scores.table import ScoreTable


@dataclass(frozen=True)
class PredictionFiles:
    """Predictions from files, and what they are about.

    Attributes:
        predictions (FILE): CSV, JSONL, JSON or Parquet with id and prediction. Of MECAT also TXT,
            and a file for each sub-task as long=FILE; repeat for several.
        references (FILE): CSV with id and reference, a row a reference; or JSONL or JSON
            with id and references. A category adds scores by group. Of MECAT: its reference folder.
        benchmark (NAME): Score the files as mecat-caption or mecat-qa does: group by group.
        model (NAME): Whose --predictions they are; of a file with a column 'model' or 'system',
            also whose to take. [default: as the file says, or its name]
        columns (ROLE=COLUMN): Which column is the id, prediction, references, category or system,
            such as id=audio_path,references=captions. How cells that hold several texts are split
            may follow in brackets: captions[|], [list], [numbered] or [text].
    """

    predictions: list[str] | None = None
    references: Path | None = None
    benchmark: str | None = None
    model: str | None = None
    columns: options.Columns = None

    @property
    def mapped(self) -> dict[str, str]:
        from audiocapbench.data.columns import ROLES, mapped_columns

        return mapped_columns(self.columns or (), ROLES)


@options.command(app.command)
def score(
    run: options.MaybeRun = None,
    *,
    files: PredictionFiles,
    metrics: options.Metrics = None,
    panel: JudgePanel,
    repeats: options.Repeats = 1,
    scale: Literal["own", "blind"] = "own",
    session: options.Session,
    out: options.Outputs,
) -> None:
    """Score predictions from files, or add scores to a run without asking its model again.

    Args:
        scale: Scores as they are, or also from blind to people: 0 for the best caption that hears
            nothing, which is searched for, 1 for a person's, on the same references.
        judge (JUDGE): Judge a RUN, or --predictions, which become one in --store; repeat for a
            panel.
    """
    from audiocapbench.cli.progress import carry_out, explain_end, show_runs, warn_about
    from audiocapbench.plan import RunPlan

    if files.model is not None and not files.predictions:
        raise AudioCapBenchError("--model says whose --predictions these are; add them")
    if session.requests.get("batch") and not panel.judge:
        raise AudioCapBenchError("--batch is about a --judge that is a model; name one")
    if scale == "blind":  # before anybody is asked
        from audiocapbench.meta.blind import searched_scorer

        for kind, names in (("judge", panel.judge), ("metric", metrics)):
            for name in names or ():
                searched_scorer(f"{kind}:{name}")
    bad = False
    if files != PredictionFiles() or run is None:
        if run is not None or not files.predictions or files.references is None:
            raise AudioCapBenchError(
                "score needs a RUN, or --predictions and --references (one file may be both)"
            )
        if not panel.judge:
            return _score_files(files, files.references, metrics, out, blind=scale == "blind")
        run, bad = _import(files, metrics, panel, session, out)
    store, how = options.open_store(session.store), session.asking()
    plan = RunPlan.of_run(store, store.run(run), how, metrics=metrics, panel=panel, repeats=repeats)
    result = carry_out(plan, yes=session.yes)
    [end], [summary] = result.ends, plan.summaries(result)
    document = summary.to_dict()
    if scale == "blind":
        named = (summary.metrics, summary.judge_names)
        table, scaled = _on_blind_scale(summary.table, summary.run.model, *named)
        document |= scaled
        show(*(() if out.json else [table]))
    show_runs(store, [summary], plan.metrics, document if out.json else None)
    out.write([(document, summary.table)])
    warn_about(store, summary.judge_names, [end.run.id], advise=result.judged > 0)
    if end.stop is not None:
        explain_end(end, store)
    return leave(end.stop, result.refusals, failed=summary.has_failures or bad)


def _import(
    files: PredictionFiles,
    metrics: Sequence[str] | None,
    panel: JudgePanel,
    session: options.Session,
    out: options.Outputs,
) -> tuple[int, bool]:
    """Keep predictions as a run, where judges find them; returns whether there were bad lines."""
    from audiocapbench import plan, store
    from audiocapbench.benchmarks import corpora, registry
    from audiocapbench.data.predictions import PredictionFile, guessed_parts
    from audiocapbench.engine.importing import import_run, model_name, read_files

    predictions, references = files.predictions or [], files.references
    columns = files.mapped
    about = registry.subject(predictions, files.benchmark, None, references, columns=columns)
    corpora.check_metrics(about.traits.aggregation, metrics or (), audio=False)
    # Whoever has no key is told so before anything is kept.
    plan.panel_judges(panel, about.traits, session.requests.get("timeout"))
    predicted = read_files(predictions, about, files.model, columns)
    paths = [PredictionFile.named(one, about.parts).path for one in predictions]
    inputs = [options.store_file(session.store), *paths, *filter(None, [references])]
    options.refuse_overwriting(out.per_sample, inputs)
    say(*guessed_parts(predictions, about.parts))
    named = files.model is not None or predicted.head or predicted.system
    model = model_name(files.model if named else paths[0].stem, predicted)
    with store.Store.open(session.store) as opened:
        end = import_run(opened, about, predicted, model)
        say(*about.notes, f"The predictions are kept as run {end.run.id} in {opened.name}.")
    _say_pairing(end.pairing)
    _say_imported(end)
    return end.run.id, bool(end.bad)


def _on_blind_scale(
    table: "ScoreTable", model: str, metrics: Sequence[str], judges: Sequence[str] = ()
) -> tuple[Table, dict[str, Any]]:
    """Put scores over blind, and say where they are not above it."""
    from audiocapbench.cli.progress import Terminal
    from audiocapbench.judges.aggregation import OVERALL
    from audiocapbench.meta import over_blind
    from audiocapbench.scores.estimate import Scorer

    rows = []
    for one in [*map(Scorer, metrics), *(Scorer(name, OVERALL) for name in judges)]:
        with Terminal() as host:
            tell = partial(host.advance, f"blind captions for {one.label}")
            over_blind.put_over_blind(table, one, progress=tell)
        scaled = over_blind.over_blind(table, one)
        rows.append({"scorer": one.label, **{str(key): own for key, own in scaled.items()}})
        say(*(f"Warning: {text}." for text in over_blind.blind_warnings(model, table, one)))
    facts = {"over_blind": {row.pop("scorer"): row for row in Table("", rows).objects()}}
    return Table("From blind (0) to a person's caption (1)", rows), facts


def _score_files(
    files: PredictionFiles,
    references: Path,
    metrics: list[str] | None,
    out: options.Outputs,
    *,
    blind: bool,
) -> None:
    """Score predictions from files: a caption a sample, or answers to MECAT group by group."""
    from audiocapbench.benchmarks import benchmark_file, corpora, open_benchmark
    from audiocapbench.benchmarks.mecat.groups import PARTS, TRAITS
    from audiocapbench.benchmarks.traits import METRICS, base_name
    from audiocapbench.data.columns import Reading
    from audiocapbench.data.predictions import PredictionFile, guessed_parts, read_predictions
    from audiocapbench.data.row import read_references
    from audiocapbench.library.scoring import ScoreResult
    from audiocapbench.metrics.registry import take_several
    from audiocapbench.scores.summary import score_files

    benchmark, model = files.benchmark or "", files.model
    plain = base_name(benchmark)
    sources = [PredictionFile.named(one, PARTS.get(plain, ())) for one in files.predictions or ()]
    path = sources[0].path
    say(*guessed_parts(files.predictions or (), PARTS.get(plain, ())))
    by_row = references.resolve() == path.resolve()
    filed = benchmark_file.find_file(benchmark) and open_benchmark(
        benchmark, references=references, by_row=by_row
    )
    traits = filed.traits if filed else TRAITS.get(plain)
    if filed and filed.traits.aggregation:
        raise BenchmarkError(f"{benchmark}: adds up by category, which 'audiocapbench import' does")
    names = metrics or list(traits.metrics if traits else METRICS)
    options.refuse_overwriting(out.per_sample, [references, *(source.path for source in sources)])
    result: Result
    if benchmark and not filed:
        scores, result, bad = _score_mecat(benchmark, sources, references, names)
        model = path.stem
    elif len(sources) > 1:
        raise AudioCapBenchError("only a --benchmark takes several files of --predictions")
    else:
        corpora.check_metrics(None, names, audio=False)
        how: Any = {"columns": files.mapped, "by_row": by_row, "several": take_several(names)}
        answers = read_predictions(path, model, **how)
        if model not in (None, answers.system):
            raise AudioCapBenchError(f"--model names what a --judge is shown; {path} names none")
        reading = (filed and filed.reading) or Reading(references, files.mapped)
        samples = filed.samples if filed else read_references(references, reading, by_row=by_row)
        scores = score_files(answers, samples, names, references=reading, tell=_say_pairing)
        result, bad = ScoreResult(scores, tuple(map(str, answers.bad))), answers.bad
        model = answers.system or path.stem
    if blind:
        table, scaled = _on_blind_scale(scores.table, model, scores.metrics)
        result = Findings([*result.tables(), table], result.to_dict() | scaled)
    if scores.ids or out.json:
        show_result(result, json=out.json)
    else:
        show_lines(f"Nothing was scored: {path} holds no prediction that can be read.")
    out.write([({"model": model, **result.to_dict()}, scores.table)])
    say(*(f"Warning: {one}." for one in scores.warnings))
    _say_unmatched(scores, bad)
    leave(failed=bool(bad or scores.missing or scores.failures))


def _score_mecat(
    benchmark: str, sources: "Sequence[PredictionFile]", references: Path, metrics: list[str]
) -> "tuple[FileScores, Findings, list[Problem]]":
    from audiocapbench.benchmarks import corpora, registry
    from audiocapbench.benchmarks.mecat import dataset, groups
    from audiocapbench.benchmarks.traits import base_name
    from audiocapbench.data.pairing import Pairing
    from audiocapbench.data.predictions import Asked, read_predictions
    from audiocapbench.report.runs import group_tables
    from audiocapbench.scores import estimate, summary

    traits = groups.TRAITS.get(base_name(benchmark))
    if traits is None or traits.aggregation is None:
        raise BenchmarkError(f"{benchmark}: only mecat-caption and mecat-qa are scored from files")
    named = registry.options_of(benchmark)
    groups.is_asked("", "", named.pop("probes", groups.NO_PROBES))
    dataset.caption_prompt(groups.SUBTASKS[0], **named)
    corpora.check_metrics(traits.aggregation, metrics, audio=False)
    items = dataset.read_items(benchmark, references)
    told = [item.references for item in items]
    asked = Asked((item.id for item in items), groups.PARTS[base_name(benchmark)], references=told)
    answers = read_predictions(sources, asked=asked)
    texts = {key: text for key, text in answers.texts.items() if key in asked.ids}
    surplus = [key for key in answers.by_id if key not in asked.ids]
    if not texts:
        keys = [*surplus, *(problem.field for problem in answers.bad)]
        raise DatasetError(
            "no prediction belongs to any of the references; nothing was scored"
            + dataset.other_part_hint(benchmark, keys, items),
            *([f"Their ids: {some(surplus)}"] if surplus else []),
            *answers.bad[:SHOWN],
        )
    absent = asked.unanswered(texts)
    answered = [item for item in items if item.details.get("subtask") not in absent]
    left = [item for item in answered if item.id not in texts]
    missing = [item.id for item in left if not item.category.startswith(groups.OUTSIDE)]
    pairing = Pairing(answers, answered)
    _say_pairing(pairing)
    scores = replace(
        summary.score_groups(traits.aggregation, metrics, items, texts),
        pairing=pairing,
        missing=tuple(missing),
        surplus=tuple(surplus),
        note=f"No file has answers to {', '.join(absent)}" if absent else "",
    )
    facts = {"benchmark": benchmark, "missing_outside": len(left) - len(missing)}
    facts |= {"absent_subtasks": absent, "bad_lines": list(map(str, answers.bad))}
    title = f"{benchmark}: {estimate.counted(len(scores.ids), 'answer')}"
    *tables, last = group_tables(scores.table, metrics, metrics, title)
    points = (scores.table.point(estimate.Scorer(name)) for name in scores.metrics)
    notes = [*last.notes, *signature_notes(one.signature for one in points)]
    say(*("{corpus}: no {metric}. {reason}".format_map(one) for one in scores.unscored))
    for source in sources if asked.parts else ():
        what = source.part or "all sub-tasks"
        say(f"{source.path.name}: read as answers to {what}, but for lines that name their own.")
    findings = Findings([*tables, replace(last, notes=notes)], scores.to_dict() | facts)
    return scores, findings, answers.bad


def _say_pairing(pairing: "Pairing") -> None:
    say(*pairing.lines(get_terminal_size().columns))


def _say_imported(end: "ImportEnd") -> None:
    say(*(f"Warning: {one}." for one in end.pairing.warnings(end.scores)))
    _say_unmatched(end, end.bad, ", counted as skipped")
    say_ids(end.absent, "caption", "of clips whose audio is missing, left out")


def _say_unmatched(end: "ImportEnd | FileScores", bad: Sequence[object], counted: str = "") -> None:
    say_bad(bad)
    say(*(f"{words[0].upper()}{words[1:]}." for words in [end.note] if words))
    say_ids(end.missing, "sample", f"without a prediction{counted}")
    say_ids(end.surplus, "prediction", "about no sample, left out")


@options.command(app.command, "import")
def import_predictions(
    files: list[str],
    *,
    benchmark: str | None = None,
    data: Path | None = None,
    clips: ClipOptions,
    references: Path | None = None,
    model: str | None = None,
    columns: options.Columns = None,
    judge: str | None = None,
    metrics: options.Metrics = None,
    at: options.StoreOptions,
) -> None:
    """Make a run of captions that you already have, to judge, compare and show like any other.

    The same file is the same run; a sample without a caption is counted as skipped.

    Args:
        files (FILE): CSV, TSV, JSONL, JSON or Parquet with id (or file_name) and prediction;
            the published tool's result JSON; a log of inspect_ai; of MECAT also TXT, and long=FILE
            for a sub-task.
        benchmark (NAME): What the captions are about: a benchmark, or a folder of clips.
        references (FILE): Instead of a benchmark: references with id, without audio; with
            mecat-caption or mecat-qa, its reference folder. [default of a result JSON: its own]
        model (NAME): Whose captions they are; of a file with a column 'model' or 'system', also
            whose to take. [default: as the file says]
        columns (ROLE=COLUMN): As 'audiocapbench score' has it.
        judge (NAME): Who judged, where a result JSON with scores does not say it.
    """
    import gc

    from audiocapbench.cli.progress import Terminal, show_runs
    from audiocapbench.library.running import import_run

    gc.disable()  # a million records make no cycles, and to look for some takes a tenth of the time
    with Terminal() as terminal:
        result = import_run(
            files,
            benchmark=benchmark,
            data=data,
            references=references,
            model=model,
            columns=PredictionFiles(columns=columns).mapped,
            judge=judge,
            metrics=metrics,
            store=at.store,
            progress=partial(terminal.advance, "steps of the import"),
            **clips,
        )
    summary, end = result.summary, result.end
    say(*result.notes)
    _say_pairing(end.pairing)
    with at.open() as store:
        name, option = store.name, store.option
        document = {"store": name, **result.to_dict()} if at.json else None
        show_runs(store, [summary], None if metrics is None else summary.metrics, document)
    _say_imported(end)
    number, was = end.run.id, "is" if end.is_new else "was imported before, and is"
    say(
        f"Run {number} {was} in {name}; 'audiocapbench score {number} --judge JUDGE{option}' has "
        f"it judged, 'audiocapbench report {number}{option}' shows every answer."
    )
    leave(failed=bool(end.bad) or summary.has_failures)
