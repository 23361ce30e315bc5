"""Runs: models are asked about a benchmark, captions from elsewhere are imported, judges judge."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Unpack

from annotated_types import Ge
from anyio import to_thread

from audiocapbench.asking import ClipOptions, JudgePanel, RequestOptions
from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark
from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.benchmarks.registry import subject
from audiocapbench.bridges.inspect_logs import as_results
from audiocapbench.engine import Asking, Budget, Progress, Stop, score_run
from audiocapbench.engine.importing import ImportEnd, model_name, read_files
from audiocapbench.engine.importing import import_run as keep_predictions
from audiocapbench.engine.ray_cluster import joined
from audiocapbench.errors import ModelError
from audiocapbench.judges.executor import check_prices
from audiocapbench.library import scoring
from audiocapbench.models import Model, ModelSettings, create_models
from audiocapbench.plan import Host, RunPlan, aexecute, finish
from audiocapbench.report.runs import estimate_table
from audiocapbench.rounds import Call, RunsEnd, now
from audiocapbench.scores.estimate import Estimate, Scorer, counted
from audiocapbench.scores.summary import RunSummary, summarise
from audiocapbench.scores.table import estimate_records, keep_estimates
from audiocapbench.store import DEFAULT_STORE, Run, Store
from audiocapbench.store.records import ScoreColumns
from audiocapbench.table import Result, Row, Table

StoreLike = str | PathLike[str] | Store
BenchmarkLike = str | PathLike[str] | Benchmark
Names = str | Sequence[str]
Files = str | PathLike[str] | Sequence[str | PathLike[str]]


@dataclass(frozen=True, repr=False)
class RunResult(Result):
    """A run and its scores.

    Attributes:
        summary: The run's score table, and what is shown of it.
        stop: Why it ended before the last question; None if it did not.
        spending: How the budget stands, where one was given.
    """

    summary: RunSummary
    stop: Stop | None = None
    spending: Budget | None = None

    @property
    def run(self) -> Run:
        return self.summary.run

    @property
    def scorers(self) -> list[Scorer]:
        """The metrics, then every judge's dimensions and overall score."""
        table = self.summary.table
        judged = [
            scorer
            for judge in self.summary.judge_names
            for scorer in (*table.dimensions(judge), Scorer(judge, "overall"))
        ]
        return [*(Scorer(name) for name in self.summary.metrics), *judged]

    def __getitem__(self, name: str) -> Estimate:
        """The score of ``meteor``, ``elements`` or ``elements: accuracy`` over all samples."""
        return self.summary.table.estimate(scoring.find_scorer(self.scorers, name))

    @property
    def answers(self) -> dict[str, str]:
        """What the model said of each sample; nothing where it said nothing."""
        outcomes = self.summary.table.outcomes
        return {
            key: outcomes[key].reply.text if key in outcomes else "" for key in self.run.sample_ids
        }

    def tables(self) -> list[Table]:
        run = self.run
        statuses = self.summary.table.statuses
        notes = [f"{count:,} {status}" for status, count in statuses.items() if status != "ok"]
        if missing := len(self.summary.table.missing):
            notes.append(f"missing and not in these numbers: {counted(missing, 'clip')}")
        notes += [one.failure for one in self.summary.judges.values() if one.failure]
        if self.stop is not None:
            notes.append(f"Stopped: {self.stop.because(self.spending)}.")
        if self.spending is not None and self.spending.overshoot is not None:
            notes.append(f"{self.spending.overshoot}.")
        title = f"Run {run.id}: {run.model} on {run.benchmark}"
        return [estimate_table(title, self.summary.table, self.scorers, notes)]

    def records(self) -> list[Row]:
        rows = estimate_records(self.summary.table, self.scorers)
        return [{"run": self.run.id, "model": self.run.model, **row} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """As ``audiocapbench run --json`` prints it."""
        budget = {} if self.spending is None else {"budget": self.spending.to_dict()}
        stop = {"stop": str(self.stop) if self.stop else None}
        return self.summary.to_dict() | stop | budget


class JudgeSettings(RequestOptions, total=False):
    """How ``judge`` has answers judged: ``RequestOptions``, and where answers are kept.

    Attributes:
        store: Where answers are kept: a file, a database URL or an open store.
        fresh: Whether to ask everything again.
        hears: Whether a model judge is given the clip too.
        repeats: How often a model judges each answer.
    """

    store: StoreLike
    fresh: bool
    hears: bool
    repeats: Annotated[int, Ge(1)]


class RunSettings(JudgeSettings, ClipOptions, total=False):
    """How ``run`` asks, scores and judges: ``JudgeSettings``, and what is asked.

    Attributes:
        metrics: Names in a list or between commas; the benchmark's own by default.
        judge: Who judges the answers: a name, or several for a panel.
        data: The folder that ``audiocapbench build`` made, for a benchmark that needs one.
        follow_links: Whether clips may be links that lead out of the folder.
        skip_missing: Whether to go on without clips that are not there or cannot be used.
        settings: What the model is told, such as its temperature.
        categories: Only these.
        limit: Only the first so many samples.
        sample: Only so many samples, drawn from every category by its share.
        seed: Decides the draw.
        progress: Told about every step.
        engine: Who answers: ``local``, this process, or ``ray[=ADDRESS]``, a Ray cluster.
    """

    metrics: Names | None
    judge: Names | None
    data: str | PathLike[str] | None
    settings: ModelSettings | None
    categories: Sequence[str]
    limit: int | None
    sample: int | None
    seed: int
    progress: Progress | None
    engine: str


@scoring.checked
def run(benchmark: BenchmarkLike, model: str | Model, **options: Unpack[RunSettings]) -> RunResult:
    """Ask a model about a benchmark, score its answers and have them judged.

    The same call goes on where an earlier one stopped: only what is missing is asked.

    Args:
        benchmark: A name such as ``demo``, a folder, or a benchmark of your own.
        model: A name such as ``openai/gpt-4o-audio-preview``, or a model of your own.
        **options: See ``RunSettings``.

    Raises:
        AudioCapBenchError: What is wrong with the names, the data or the settings; or that the
            provider refuses all questions. What was answered is kept.
    """
    return finish(_executed(now, partial(_run_plan, benchmark, model, options), options))


@scoring.checked
async def arun(
    benchmark: BenchmarkLike, model: str | Model, **options: Unpack[RunSettings]
) -> RunResult:
    """As ``run``, in the caller's own event loop; cancelling drops what is in flight."""
    plan_of = partial(_run_plan, benchmark, model, options)
    return await _executed(to_thread.run_sync, plan_of, options)


async def _executed(
    call: Call, plan_of: Callable[[Store], RunPlan], options: Any, *, create: bool = True
) -> RunResult:
    with (
        opened_store(options.get("store", DEFAULT_STORE), create=create) as store,
        await call(joined, options.get("engine", "local")),
    ):
        plan: RunPlan = await call(plan_of, store)
        ends = await aexecute(plan, Host(options.get("progress")), call)
        if ends.stop is Stop.INTERRUPTED:  # what was answered is kept, and a loop must end
            raise KeyboardInterrupt
        if not ends.ends:
            raise ends.refusals[0]
        result: RunResult = await call(_result, plan, ends)
        if ends.refusals and {*plan.judge_names} - result.summary.judges.keys():
            raise ends.refusals[0]  # whose verdicts are all in a batch that nobody could look at
        return result


def _result(plan: RunPlan, ends: RunsEnd) -> RunResult:
    """A run's scores, computed and kept while the store is open."""
    [end] = ends.ends
    if plan.runs:  # which were scored before
        plan = replace(plan, metrics=list(plan.store.score_columns(end.run.id)))
    result = RunResult(plan.summaries(ends)[0], end.stop, end.spending)
    result.records()
    keep_estimates(plan.store, [result.summary.table])
    return result


def _run_plan(
    benchmark: BenchmarkLike, model: str | Model, options: RunSettings, store: Store
) -> RunPlan:
    if not isinstance(benchmark, str | PathLike | Benchmark):
        what = "the name of a benchmark, a folder, or a benchmark of your own"
        raise scoring.ArgumentError(f"benchmark is {benchmark!r:.60}; it must be {what}")
    if not isinstance(model, str) and not hasattr(model, "contract"):
        what = "one model: its name, or a model of your own; call run() for each of several"
        raise scoring.ArgumentError(f"model is {model!r:.60}; it must be {what}")
    if not isinstance(benchmark, Benchmark):
        folder = None if (data := options.get("data")) is None else Path(data)
        clips: Any = {one: options.get(one) for one in ClipOptions.__annotations__}
        benchmark = open_benchmark(str(benchmark), folder, **clips)
    settings = options.get("settings") or ModelSettings()
    if not isinstance(model, str) and settings.given:
        raise ModelError(f"{model.name} is made already; give it its settings when it is made")
    settings = replace(settings, timeout=settings.timeout or options.get("timeout"))
    if isinstance(model, str):
        [model] = create_models([model], settings, max_tokens=benchmark.traits.max_tokens)
    asking = Asking.of(options, fresh=options.get("fresh", False))
    metrics = options.get("metrics")
    draw = (options.get("limit"), options.get("sample"), options.get("seed", 0))
    plan = RunPlan.of_models(
        store,
        benchmark,
        [model],
        replace(asking, timeout=settings.timeout),
        metrics=None if metrics is None else scoring.metric_names(metrics),
        panel=JudgePanel(_listed(options.get("judge")), options.get("hears", False)),
        selection=Selection(tuple(options.get("categories", ())), *draw),
    )
    # Before the model is paid, not when its answers are to be judged.
    check_prices(plan.judges, asking.budget, asking.prices)
    return replace(plan, repeats=options.get("repeats", 1))


@scoring.checked
def judge(run: int | RunResult, judge: Names, **options: Unpack[JudgeSettings]) -> RunResult:
    """Have the answers of a run judged, as far as they have not been.

    Args:
        run: The run's number, or what ``run`` returned.
        judge: A judge's name, or several for a panel.
        **options: See ``JudgeSettings``.

    Raises:
        AudioCapBenchError: There is no such run or judge. A judge that refuses all questions is
            told of in the result.
    """
    return finish(_executed(now, partial(judge_plan, run, judge, options), options, create=False))


@scoring.checked
async def ajudge(run: int | RunResult, judge: Names, **options: Unpack[JudgeSettings]) -> RunResult:
    """As ``judge``, in the caller's own event loop; cancelling drops what is in flight."""
    plan_of = partial(judge_plan, run, judge, options)
    return await _executed(to_thread.run_sync, plan_of, options, create=False)


def judge_plan(run: int | RunResult, judge: Names, options: JudgeSettings, store: Store) -> RunPlan:
    """Have judges judge a run; its scores by metrics stay as they are."""
    return RunPlan.of_run(
        store,
        store.run(scoring.run_number(run)),
        Asking.of(options, fresh=options.get("fresh", False)),
        metrics=(),
        panel=JudgePanel(_listed(judge), options.get("hears", False)),
        repeats=options.get("repeats", 1),
    )


@dataclass(frozen=True, repr=False)
class ImportResult(RunResult):
    """An imported run and its scores; ``end`` says what did not fit, ``notes`` what was guessed."""

    end: ImportEnd = field(kw_only=True)
    notes: tuple[str, ...] = ()

    def tables(self) -> list[Table]:
        (table,) = super().tables()
        counts = {"bad lines": len(self.end.bad), "about no sample": len(self.end.surplus)}
        counts["of clips whose audio is missing"] = len(self.end.absent)
        notes = [f"{count:,} {what}" for what, count in counts.items() if count]
        return [replace(table, notes=[*table.notes, *notes])]

    def to_dict(self) -> dict[str, Any]:
        """As ``audiocapbench import --json`` prints it."""
        return self.summary.to_dict() | self.end.to_dict()


@scoring.checked
def import_run(
    files: Files,
    *,
    benchmark: BenchmarkLike | None = None,
    references: str | PathLike[str] | None = None,
    model: str | None = None,
    judge: str | None = None,
    data: str | PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
    metrics: Names | None = None,
    store: StoreLike = DEFAULT_STORE,
    progress: Callable[[int, int], None] | None = None,
    **clips: Unpack[ClipOptions],
) -> ImportResult:
    """Make a run of captions that you already have; ``judge`` and the others take it as any other.

    Args:
        files: One file or several of CSV, TSV, JSONL, JSON or Parquet; a result JSON; or a log of
            inspect_ai.
        benchmark: What they are about: a benchmark's name, a folder, or a benchmark of your own.
        references: A file of references in the place of a benchmark; of MECAT its folder.
        model: Whose captions they are; a file may say it itself.
        judge: Who judged, where a result file with scores does not say it.
        data: The folder that ``audiocapbench build`` made, for a benchmark that needs one.
        columns: What columns are called in the files, by role, such as {"id": "audio_path"}.
        metrics: Names in a list or between commas; the benchmark's own by default.
        store: Where the run is kept: a file, a database URL or an open store.
        progress: Told how many of how many steps are done: reading, keeping and scoring.
        **clips: See ``ClipOptions``.

    Raises:
        AudioCapBenchError: A file cannot be read, or nothing in it is about the samples.
    """
    tell = progress or (lambda _done, _total: None)
    names = [str(one) for one in ([files] if isinstance(files, str | PathLike) else files)]
    where = None if references is None else Path(references)
    with as_results(names) as (read, own):
        benchmark = own if benchmark is None and where is None else benchmark
        if not isinstance(benchmark, Benchmark):
            name, folder = (None if one is None else str(one) for one in (benchmark, data))
            place = None if folder is None else Path(folder)
            benchmark = subject(read, name, place, where, columns, **clips)
        tell(1, 4)
        predictions = read_files(read, benchmark, model, columns)
        tell(2, 4)
    traits = benchmark.traits
    chosen = list(traits.metrics) if metrics is None else scoring.metric_names(metrics)
    heard = not any(one.clip.is_absent for one in benchmark.samples)
    check_metrics(traits.aggregation, chosen, audio=heard, own=traits.metrics)
    model = model_name(model, predictions)
    with opened_store(store) as opened:
        end = keep_predictions(opened, benchmark, predictions, model, judge)
        tell(3, 4)
        made: dict[str, ScoreColumns] = {}

        def put(scores: dict[str, ScoreColumns]) -> None:
            made.update(sorted(scores.items()))
            opened.put_scores(end.run.id, scores)

        dataset = end.dataset or opened.dataset(end.run.dataset, end.run.benchmark)
        failures = score_run(opened, end.run, chosen, dataset, end.outcomes, put)
        tell(4, 4)
        judges = list(dict.fromkeys(one.judge for one in opened.judgements(end.run.id)))
        known: Any = {} if end.outcomes is None else {"outcomes": end.outcomes, "scores": made}
        summary = summarise(opened, end.run, chosen, judges, dataset=dataset, **known)
        notes = (*benchmark.notes, *([benchmark.presence] if benchmark.missing else ()))
        notes += tuple(map(str, failures))
        points = {name: summary.table.point(Scorer(name)).value for name in chosen}
        scores = {name: value for name, value in points.items() if value is not None}
        result = ImportResult(summary, end=end._replace(scores=scores), notes=notes)
        result.records()
        keep_estimates(opened, [summary.table])
        return result


aimport_run = scoring.in_thread(import_run)


def _listed(given: Names | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def opened_store(store: StoreLike, *, create: bool = True) -> AbstractContextManager[Store]:
    """A store that is closed again, unless the caller opened it."""
    if isinstance(store, Store):
        return nullcontext(store)
    return Store.open(str(store), create=create)
