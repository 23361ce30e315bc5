"""Runs a benchmark: asks what is missing, and scores the answers."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Self, Unpack

import anyio

from audiocapbench.asking import ModelOptions, RequestOptions
from audiocapbench.benchmarks import Benchmark, Selection, stored_traits
from audiocapbench.benchmarks.benchmark import trial_of
from audiocapbench.benchmarks.corpora import compute_by_corpus
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import ASKED_AGAIN, SCORED, Outcome
from audiocapbench.engine.budget import Budget
from audiocapbench.engine.preview import Preview, preview_questions
from audiocapbench.engine.ray_cluster import CLUSTER, on_cluster
from audiocapbench.engine.retrying_client import RetryingClient, RetryPolicy
from audiocapbench.engine.session import AskOptions, Progress, QuestionQueue, RateLimits, RunSession
from audiocapbench.engine.workers import Stop
from audiocapbench.errors import FatalError, MetricError, ModelError, StoppedError
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.registry import METRICS
from audiocapbench.models import Model, ModelSettings
from audiocapbench.models.model import batch_of, without_audio
from audiocapbench.models.openai_chat import check_batchable
from audiocapbench.models.price import Price
from audiocapbench.models.registry import Prices, check_model, price_of
from audiocapbench.plugins import plugin_failures
from audiocapbench.store import Dataset, Run, RunSpec, Store, cache_key
from audiocapbench.store.claims import TaskKey
from audiocapbench.store.records import ScoreColumns


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended; ``stop`` says why before its last sample, ``judged`` how far judges got."""

    run: Run
    total: int
    known: int
    statuses: Counter[str]
    stop: Stop | None
    spending: Budget | None = None
    judged: str | None = None
    dropped: bool = False  # whoever interrupted did so again, and waits for nothing more


class RunOptions(AskOptions, total=False):
    """How a benchmark is run: which samples, and of these the ids to ask now; the run to go on
    with, if it was begun before; and prices, or the model's own."""

    selection: Selection | None
    only: Container[str] | None
    run: Run | None
    price: Price | None
    prices: Prices


def run_benchmark(
    benchmark: Benchmark, model: Model, store: Store, **options: Unpack[RunOptions]
) -> RunEnd:
    """Ask a model about a benchmark's samples, as far as the store has no answers yet.

    Raises:
        FatalError: The provider refuses all questions; what was answered is kept.
        ModelError: The settings cannot be kept, such as a budget for a model without a price.
        KeyboardInterrupt: Somebody interrupted; what was in flight is waited for and kept.
    """
    asker = BenchmarkRun(benchmark, model, store, options)
    asker.session.run_blocking(asker.ask)
    end = asker.end()
    if end.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    return end


def together(askers: Sequence[Any]) -> Callable[[], Awaitable[None]]:
    """Work for the first one's session: runs or judgings are asked, and interrupted, at once."""
    first, *others = askers
    first.session.others = [one.session for one in others]

    async def ask() -> None:
        async with anyio.create_task_group() as group:
            for one in others:
                group.start_soon(one.session.work, one.ask)
            await first.ask()

    return ask


class BenchmarkRun:
    """One model's run of a benchmark, begun or gone on with when it is made."""

    def __init__(
        self, benchmark: Benchmark, model: Model, store: Store, options: RunOptions
    ) -> None:
        check_model(model, "the run")
        progress = options.get("progress") or Progress()
        fresh, batch = options.get("fresh", False), options.get("batch", False)
        if hasattr(model, "follow_rules"):  # a control, or a repeat of one
            model.follow_rules(benchmark.traits.controls)
        if batch:
            check_batchable([model])
        elif (cluster := CLUSTER.get()) is not None:
            model = on_cluster(cluster, model, progress.noted)
        limiter = (options.get("rate_limits") or RateLimits()).limiter(model, progress.noted)
        budget, prices = options.get("budget"), options.get("prices")
        price = prices(model.name) if prices else options.get("price")
        if budget is not None:
            budget.check(model.name, price)
        self._samples = (options.get("selection") or Selection()).of(benchmark)
        if hasattr(model, "prepare"):
            with plugin_failures(f"{type(model).__name__}.prepare", ModelError):
                model.prepare(benchmark.samples)
        spec = _spec(benchmark, model, self._samples)
        run = options.get("run") or store.begin_run(spec, dataset_of(benchmark), fresh=fresh)
        store.take_in(run, progress.noted)
        seen = store.claims.states(run.id)
        only, left = options.get("only"), _unanswered(store, run, self._samples, batch_of(model))
        missing = [one for one in left if only is None or one.id in only]
        if not batch:
            others = set() if fresh else store.batches.awaited_anywhere(spec.dataset, model)
            store.batches.check(run.id, others=len(others & {one.id for one in missing}))
        self._queue = QuestionQueue(
            model,
            {TaskKey("", one.id): one for one in missing},
            seen,
            RetryingClient.ask,
            limiter,
            price,
            known=len(self._samples) - len(left),
            arrived=lambda record: progress.arrived(record.outcome),
            elsewhere=progress.elsewhere,
        )
        self.session = RunSession(store, run, options)

    async def ask(self) -> None:
        self.session.progress.planned(self.session.run, len(self._samples), self._queue.known)
        await self.session.ask(self._queue)

    def end(self) -> RunEnd:
        session, pool, total = self.session, self.session.pool(), len(self._samples)
        outcomes = session.store.outcomes(session.run.id)
        done = sum(one.reply.status not in ASKED_AGAIN for one in outcomes.values())
        if pool.fatal is not None:
            of = f"{done:,} of {total:,} answers"
            kept = f"; {of} are kept as run {session.run.id}, and the same goes on from there"
            raise FatalError(f"{pool.fatal}{kept if done else ''}") from pool.fatal
        statuses = Counter(str(outcome.reply.status) for outcome in outcomes.values())
        # Whoever interrupts wants no other model asked, even if the last answer was in flight.
        stop = pool.stop if pool.stop is Stop.INTERRUPTED or done < total else None
        counts = (total, self._queue.known, statuses)
        spending = session.budget.spending
        return RunEnd(session.run, *counts, stop, spending, dropped=session.dropped)


def _spec(benchmark: Benchmark, model: Model, samples: tuple[Sample, ...]) -> RunSpec:
    asked = (model.name, model.parameters, str(model.contract))
    ids = tuple(sample.id for sample in samples)
    return RunSpec(benchmark.name, benchmark.fingerprint, *asked, ids, kind=benchmark.kind)


def dataset_of(benchmark: Benchmark) -> Dataset:
    missing = tuple(one.model_dump(exclude_none=True) for one in benchmark.missing)
    root, traits = str(benchmark.root.resolve()), benchmark.traits.to_dict()
    return Dataset(benchmark.fingerprint, benchmark.name, root, benchmark.samples, missing, traits)


def find_run(
    benchmark: Benchmark, model: Model, store: Store, samples: tuple[Sample, ...]
) -> tuple[Run | None, list[Sample]]:
    """The run that these would go on with, if it was begun before, and what is left to ask."""
    run = store.find_run(_spec(benchmark, model, samples))
    return run, list(samples) if run is None else _unanswered(store, run, samples)


def _unanswered(
    store: Store, run: Run, samples: Sequence[Sample], batches: int | None = None
) -> list[Sample]:
    outcomes = store.outcomes(run.id)
    answered = {key for key, one in outcomes.items() if one.reply.status not in ASKED_AGAIN}
    missing = [sample for sample in samples if sample.id not in answered]
    # What failed before may fail again: it comes last, so that it keeps nothing else from its turn.
    # Clips of one length make a batch without padding; the longest show at once what memory holds.
    longest = -1.0 if batches else 0.0
    return sorted(missing, key=lambda one: (one.id in outcomes, longest * one.clip.duration_s))


def cached_answers(store: Store, model: Model, samples: Iterable[Sample]) -> dict[str, str]:
    """What the cache has on samples, by their ids, as far as the same clips were once sent."""
    texts = store.cache.texts(model.name) if model.cacheable else {}
    sent = store.cache.sent_clips(model.name, str(model.contract)) if texts else {}
    keys = {
        one.id: cache_key(model.name, model.parameters, one.instruction, sent[one.clip.sha256])
        for one in samples
        if one.clip.sha256 in sent
    }
    return {name: texts[key] for name, key in keys.items() if key in texts}


def as_questions(samples: Iterable[Sample]) -> list[tuple[str, float]]:
    return [(sample.instruction, sample.clip.duration_s) for sample in samples]


@dataclass(frozen=True)
class Asking:
    """How everything of one plan is asked, under one budget; what ``RequestOptions`` stand for."""

    budget: Budget = field(default_factory=Budget)
    rate_limits: RateLimits = field(default_factory=RateLimits)
    prices: Prices = price_of
    timeout: float | None = None
    batch: bool = False
    fresh: bool = False

    @classmethod
    def of(
        cls, options: RequestOptions, *, fresh: bool = False, retry: RetryPolicy | None = None
    ) -> Self:
        limits = (options.get("concurrency"), options.get("rpm"), options.get("tpm"))
        return cls(
            Budget(options.get("budget"), project=options.get("budget_of")),
            RateLimits(*limits, retry=retry or RetryPolicy()),
            partial(price_of, overrides=options.get("prices"), free=options.get("free", False)),
            options.get("timeout"),
            options.get("batch", False),
            fresh,
        )

    def options(self, progress: Progress | None = None, **more: Any) -> Any:
        """As models and judges are given them, each with ``more`` of its own."""
        own = {name: getattr(self, name) for name in ("rate_limits", "budget", "fresh", "batch")}
        return {**own, "prices": self.prices, "progress": progress, **more}

    def model_settings(self, told: ModelOptions) -> ModelSettings:
        return ModelSettings(told.temperature, told.max_tokens, self.timeout, told.system)

    def priced(self, preview: Preview) -> Preview:
        """A preview at the price of batches, which is half, where these are asked for."""
        return preview.times(0.5)._replace(live_usd=preview.likely_usd) if self.batch else preview


@dataclass(frozen=True)
class AskContext(Asking):
    """What all questions of one command share; ``progress`` is told who, how many, of how many.

    ``agree`` is told what something will cost, and agrees or raises.
    """

    store_url: str = "audiocapbench.db"
    progress: Callable[[str, int, int], None] = lambda _who, _done, _total: None
    agree: Callable[[Preview], None] = lambda _: None

    @cached_property
    def store(self) -> Store:
        return Store.open(self.store_url)

    def watch(self, name: str, total: int) -> Progress:
        """Has ``progress`` told how many of some questions are done."""
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            self.progress(name, done, total)

        return Progress(lambda _run, _total, known: count(known), lambda _outcome: count(1))

    def preview(
        self, benchmarks: Iterable[Benchmark], model: Model, name: str, what: str
    ) -> Preview:
        """What ``ask`` would ask, without asking; ``what`` as for ``preview_questions``."""
        left = [
            sample
            for benchmark in benchmarks
            for sample in find_run(benchmark, model, self.store, benchmark.samples)[1]
        ]
        reused = cached_answers(self.store, model, left)
        asked = as_questions(sample for sample in left if sample.id not in reused)
        preview = preview_questions(name, model, asked, what, prices=self.prices)
        return preview._replace(reused=len(left) - len(asked))

    def ask(self, benchmark: Benchmark, model: Model, name: str) -> Mapping[str, Outcome]:
        """The outcomes of all samples by id; StoppedError where it ended before the last."""
        progress = self.watch(name, len(benchmark.samples))
        asker = BenchmarkRun(benchmark, model, self.store, self.options(progress))
        asker.session.run_blocking(asker.ask)
        end = asker.end()
        if end.stop is not None:
            raise StoppedError(
                f"{name}: stopped after {sum(end.statuses.values())} of {end.total} answers: "
                f"{end.stop.because(end.spending)}; answers are kept in {self.store.name}, and "
                f"{end.stop.how_to_go_on}",
                stop=end.stop,
            )
        return self.store.outcomes(end.run.id)

    def ask_about(
        self,
        name: str,
        root: Path,
        model: Model,
        texts: Mapping[str, str],
        clips: Mapping[str, Clip] | None = None,
        what: str = "",
    ) -> Mapping[str, Outcome]:
        """Ask about clips, with their sound or without; of ``what``, the costs are agreed to."""
        if not texts:
            return {}
        questions = trial_of(name, root, texts, clips)
        asked = model if clips else without_audio(model)
        if what:
            self.agree(self.preview([questions], asked, model.name, what))
        return self.ask(questions, asked, f"{model.name}: {name.split('/')[1]}")


class AnsweredSample(NamedTuple):
    sample: Sample
    outcome: Outcome

    @property
    def references(self) -> tuple[str, ...]:
        """The sample's references that its answer is held to."""
        return self.outcome.reply.held_to(self.sample.references)


def answered(
    store: Store,
    run: Run,
    dataset: Dataset | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
) -> list[AnsweredSample]:
    """The samples of a run whose answers can be scored, in the benchmark's order."""
    outcomes = store.outcomes(run.id) if outcomes is None else outcomes
    dataset = dataset or store.dataset(run.dataset, run.benchmark)
    samples = {sample.id: sample for sample in dataset.samples}
    pairs = [
        AnsweredSample(samples[key], outcomes[key]) for key in run.sample_ids if key in outcomes
    ]
    return [pair for pair in pairs if pair.outcome.reply.status in SCORED]


def score_run(
    store: Store,
    run: Run,
    metrics: Sequence[str],
    dataset: Dataset | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
    put: Callable[[dict[str, ScoreColumns]], None] | None = None,
) -> list[MetricError]:
    """Compute metrics on a run's answers and commit the scores of each; MetricError if it cannot.

    Samples without an answer have no score, but stay in the corpus that answers are ranked among.
    A benchmark whose samples make corpora is scored within each of them. Plug-ins that fail do so
    alone, and what they said is returned. ``outcomes`` and ``put`` stand in for those of the store.
    """
    dataset = dataset or store.dataset(run.dataset, run.benchmark)
    pairs = {pair.sample.id: pair for pair in answered(store, run, dataset, outcomes)}
    asked = set(run.sample_ids)
    samples = [sample for sample in dataset.samples if sample.id in asked]
    predictions = [pairs[one.id].outcome.reply.text if one.id in pairs else None for one in samples]
    references = [pairs.get(one.id, one).references for one in samples]
    clips, aggregation = [one.clip for one in samples], stored_traits(dataset).aggregation
    asked_for = (aggregation, metrics, samples, predictions, references)
    found: dict[str, list[Any]] = defaultdict(list)
    made, unscored = compute_by_corpus(*asked_for, clips=clips, store=store)
    for _, rows, result in made:
        values, parts = result.samples.tolist(), result.statistics.tolist()
        if result.samples.tobytes() == result.statistics.tobytes():  # of a mean: held once
            parts = [[one] for one in values]
        cells = ([samples[row].id for row in rows], values, map(tuple, parts))
        found[result.name] += zip(*cells, [result.signature] * len(rows), strict=True)
    if columns := {name: ScoreColumns.of(own) for name, own in found.items() if own}:
        (put or partial(store.put_scores, run.id))(columns)
    # A corpus of one is too small for some of ours, which is no failure.
    lost = {one["metric"]: one["reason"] for one in unscored}
    return [MetricError(why) for name, why in lost.items() if parse_name(name).name not in METRICS]
