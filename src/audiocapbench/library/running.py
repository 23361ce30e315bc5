"""Asking models about a benchmark, and having their answers judged."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from anyio import to_thread

from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark, stored_traits
from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.engine import (
    Budget,
    Progress,
    RateLimits,
    RunEnd,
    RunOptions,
    Spending,
    Stop,
    arun_benchmark,
    run_benchmark,
    score_run,
)
from audiocapbench.engine.ray_cluster import joined
from audiocapbench.errors import ModelError
from audiocapbench.judges import (
    Judge,
    JudgeOptions,
    JudgingEnd,
    ajudge_run,
    check_prices,
    create_judges,
    judge_run,
)
from audiocapbench.library.arguments import (
    ArgumentError,
    check_options,
    find_scorer,
    metric_names,
    run_number,
)
from audiocapbench.models import Model, ModelSettings, create_model
from audiocapbench.models.registry import price_of
from audiocapbench.report.tables import estimate_table
from audiocapbench.scores.estimate import Estimate
from audiocapbench.scores.run_table import keep_estimates
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.summary import RunSummary, summarise
from audiocapbench.scores.table import estimate_records
from audiocapbench.store import DEFAULT_STORE, Run, Store
from audiocapbench.table import Result, Row, Table

StoreLike = str | PathLike[str] | Store
Names = str | Sequence[str]


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
    spending: Spending | None = None

    @property
    def run(self) -> Run:
        """The run, as the store knows it."""
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
        return self.summary.table.estimate(find_scorer(self.scorers, name))

    @property
    def answers(self) -> dict[str, str]:
        """What the model said of each sample; nothing where it said nothing."""
        outcomes = self.summary.table.outcomes
        return {
            key: outcomes[key].reply.text if key in outcomes else "" for key in self.run.sample_ids
        }

    def tables(self) -> list[Table]:
        """Every score with its interval."""
        run = self.run
        statuses = self.summary.table.statuses
        notes = [f"{count:,} {status}" for status, count in statuses.items() if status != "ok"]
        notes += [one.failure for one in self.summary.judges.values() if one.failure]
        if self.stop is not None:
            notes.append(f"Stopped: {self.stop.because(self.spending)}.")
        if self.spending is not None and self.spending.overshoot is not None:
            notes.append(f"{self.spending.overshoot}.")
        title = f"Run {run.id}: {run.model} on {run.benchmark}"
        return [estimate_table(title, self.summary.table, self.scorers, notes)]

    def records(self) -> list[Row]:
        """A row for each scorer and group."""
        rows = estimate_records(self.summary.table, self.scorers)
        return [{"run": self.run.id, "model": self.run.model, **row} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """As ``audiocapbench run --json`` prints it."""
        budget = {} if self.spending is None else {"budget": self.spending.to_dict()}
        stop = {"stop": str(self.stop) if self.stop else None}
        return self.summary.to_dict() | stop | budget


class AskSettings(TypedDict, total=False):
    """How models and judges are asked.

    Attributes:
        store: Where answers are kept: a file, a database URL or an open store.
        concurrency: Most questions at once.
        budget: Most dollars that this call may spend, on models, judges and retries together.
        prices: A file of prices that come before the built-in ones.
        fresh: Whether to ask everything again.
        batch: Whether to ask through the provider's batches: half the price, answers in a day.
    """

    store: StoreLike
    concurrency: int | None
    budget: float | None
    prices: Path | None
    fresh: bool
    batch: bool


class RunSettings(AskSettings, total=False):
    """How ``run`` asks, scores and judges.

    Attributes:
        metrics: Names in a list or between commas; the benchmark's own by default.
        judge: Who judges the answers: a name, or several for a panel.
        data: The folder that ``audiocapbench build`` made, for a benchmark that needs one.
        follow_links: Whether clips may be links that lead out of the folder.
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
    follow_links: bool
    settings: ModelSettings | None
    categories: Sequence[str]
    limit: int | None
    sample: int | None
    seed: int
    progress: Progress | None
    engine: str


def run(
    benchmark: str | PathLike[str] | Benchmark, model: str | Model, **options: Unpack[RunSettings]
) -> RunResult:
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
    check_options(options, RunSettings)
    with (
        opened_store(options.get("store", DEFAULT_STORE)) as store,
        joined(options.get("engine", "local")),
    ):
        plan = _Plan.of(benchmark, model, options)
        end = run_benchmark(plan.benchmark, plan.model, store, **plan.asking)
        score_run(store, end.run, plan.metrics)
        last: RunEnd | JudgingEnd = end
        if end.stop is None and plan.judges:
            last = judge_run(store, end.run, plan.judges, **plan.judging)
        return _result(store, end.run, plan.metrics, plan.judges, last)


async def arun(
    benchmark: str | PathLike[str] | Benchmark, model: str | Model, **options: Unpack[RunSettings]
) -> RunResult:
    """As ``run``, in the caller's own event loop; cancelling drops what is in flight."""
    check_options(options, RunSettings)
    with (
        opened_store(options.get("store", DEFAULT_STORE)) as store,
        await to_thread.run_sync(joined, options.get("engine", "local")),
    ):
        plan = await to_thread.run_sync(_Plan.of, benchmark, model, options)
        end = await arun_benchmark(plan.benchmark, plan.model, store, **plan.asking)
        await to_thread.run_sync(score_run, store, end.run, plan.metrics)
        last: RunEnd | JudgingEnd = end
        if end.stop is None and plan.judges:
            last = await ajudge_run(store, end.run, plan.judges, **plan.judging)
        return await to_thread.run_sync(_result, store, end.run, plan.metrics, plan.judges, last)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the arguments of ``run`` stand for."""

    benchmark: Benchmark
    model: Model
    metrics: list[str]
    judges: list[Judge]
    asking: RunOptions
    judging: JudgeOptions

    @classmethod
    def of(
        cls, benchmark: str | PathLike[str] | Benchmark, model: str | Model, options: RunSettings
    ) -> "_Plan":
        data = options.get("data")
        if not isinstance(benchmark, str | PathLike | Benchmark):
            what = "the name of a benchmark, a folder, or a benchmark of your own"
            raise ArgumentError(f"benchmark is {benchmark!r:.60}; it must be {what}")
        if not isinstance(model, str) and not hasattr(model, "contract"):
            what = "one model: its name, or a model of your own; call run() for each of several"
            raise ArgumentError(f"model is {model!r:.60}; it must be {what}")
        if not isinstance(benchmark, Benchmark):
            benchmark = open_benchmark(
                str(benchmark),
                None if data is None else Path(data),
                follow_links=options.get("follow_links", False),
            )
        settings = options.get("settings")
        if isinstance(model, str):
            model = create_model(model, settings)
        elif settings is not None and settings.given:
            raise ModelError(f"{model.name} is made already; give it its settings when it is made")
        metrics = _metrics(options.get("metrics"), benchmark.traits.metrics)
        check_metrics(benchmark.traits.aggregation, metrics)
        budget, fresh = Budget(options.get("budget")), options.get("fresh", False)
        limits, prices = RateLimits(options.get("concurrency")), options.get("prices")
        how: Any = {"rate_limits": limits, "fresh": fresh, "batch": options.get("batch", False)}
        timeout = settings.timeout if settings is not None else None
        names, traits = _judges(options.get("judge")), benchmark.traits
        judges = create_judges(names, traits.judge, timeout=timeout, unfit=traits.unfit_judges)
        # Before the model is paid, not when its answers are to be judged.
        check_prices(judges, budget, prices)
        return cls(
            benchmark,
            model,
            metrics,
            judges,
            how
            | {
                "selection": Selection(
                    tuple(options.get("categories", ())),
                    options.get("limit"),
                    options.get("sample"),
                    options.get("seed", 0),
                ),
                "budget": budget if budget.limit_usd is not None else None,
                "price": price_of(model.name, prices),
                "progress": options.get("progress"),
            },
            how | {"budget": budget, "prices": prices},
        )


class JudgeSettings(AskSettings, total=False):
    """How ``judge`` has answers judged.

    Attributes:
        hears: Whether a model judge is given the clip too.
        repeats: How often a model judges each answer.
        timeout: Seconds to wait for one verdict.
    """

    hears: bool
    repeats: int
    timeout: float | None


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
    check_options(options, JudgeSettings)
    with opened_store(options.get("store", DEFAULT_STORE), create=False) as store:
        found, judges, asking = _judging(store, run, judge, options)
        end = judge_run(store, found, judges, **asking)
        return _result(store, found, list(store.scores(found.id)), judges, end)


async def ajudge(run: int | RunResult, judge: Names, **options: Unpack[JudgeSettings]) -> RunResult:
    """As ``judge``, in the caller's own event loop; cancelling drops what is in flight."""
    check_options(options, JudgeSettings)
    with opened_store(options.get("store", DEFAULT_STORE), create=False) as store:
        found, judges, asking = await to_thread.run_sync(_judging, store, run, judge, options)
        end = await ajudge_run(store, found, judges, **asking)
        metrics = await to_thread.run_sync(store.scores, found.id)
        return await to_thread.run_sync(_result, store, found, list(metrics), judges, end)


def _judging(
    store: Store, run: int | RunResult, names: Names, options: JudgeSettings
) -> tuple[Run, list[Judge], JudgeOptions]:
    found = store.run(run_number(run))
    traits = stored_traits(store.dataset(found.dataset, found.benchmark))
    hears, timeout = options.get("hears", False), options.get("timeout")
    unfit = traits.unfit_judges
    judges = create_judges(_judges(names), traits.judge, hears=hears, timeout=timeout, unfit=unfit)
    asking: JudgeOptions = {
        "repeats": options.get("repeats", 1),
        "rate_limits": RateLimits(options.get("concurrency")),
        "budget": Budget(options.get("budget")),
        "prices": options.get("prices"),
        "fresh": options.get("fresh", False),
        "batch": options.get("batch", False),
    }
    return found, judges, asking


def _result(
    store: Store,
    run: Run,
    metrics: Sequence[str],
    judges: Sequence[Judge],
    end: RunEnd | JudgingEnd,
) -> RunResult:
    """A run's scores, computed and kept while the store is open."""
    names = [judge.name for judge in judges]
    summary = summarise(store, run, metrics, names, stopped=end.stop is not None)
    result = RunResult(summary, end.stop, end.spending)
    result.records()
    keep_estimates(store, [result.summary.table])
    return result


def _metrics(given: Names | None, default: Sequence[str]) -> list[str]:
    return list(default) if given is None else metric_names(given)


def _judges(given: Names | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def opened_store(store: StoreLike, *, create: bool = True) -> AbstractContextManager[Store]:
    """A store that is closed again, unless the caller opened it."""
    if isinstance(store, Store):
        return nullcontext(store)
    return Store.open(str(store), create=create)
