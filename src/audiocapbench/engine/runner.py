"""The runner: asks what is missing, commits each outcome as it arrives, and can be interrupted."""

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Unpack

from anyio import to_thread

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.data import Sample
from audiocapbench.data.outcome import ASKED_AGAIN, Outcome
from audiocapbench.engine.budget import Spending
from audiocapbench.engine.ray_cluster import CLUSTER, on_cluster
from audiocapbench.engine.retrying_client import RetryingClient
from audiocapbench.engine.session import AskOptions, QuestionQueue, RateLimits, RunSession
from audiocapbench.engine.store_access import log_note
from audiocapbench.engine.worker_pool import Stop
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.models import Model
from audiocapbench.models.controls import ControlModel
from audiocapbench.models.model import CorpusModel, batch_of
from audiocapbench.models.openai_chat import check_batchable
from audiocapbench.models.price import Price
from audiocapbench.models.registry import check_model
from audiocapbench.plugins import plugin_failures
from audiocapbench.store import Dataset, Run, RunSpec, Store
from audiocapbench.store.claims import TaskKey


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended; ``stop`` says why before its last sample, ``judged`` how far judges got.

    ``dropped``: whoever interrupted did so again, and waits for nothing more.
    """

    run: Run
    total: int
    known: int
    statuses: Counter[str]
    stop: Stop | None
    spending: Spending | None = None
    judged: str | None = None
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """Callbacks: the plan, each outcome, a call to stop, how many others dealt with, and notes."""

    planned: Callable[[Run, int, int], None] = lambda _run, _total, _known: None
    arrived: Callable[[Outcome], None] = lambda _outcome: None
    stopping: Callable[[int], None] = lambda _in_flight: None
    elsewhere: Callable[[int], None] = lambda _count: None
    noted: Callable[[str], None] = log_note


class RunOptions(AskOptions, total=False):
    """How a benchmark is run: which samples, and of these the ids to ask now; the model's price."""

    selection: Selection | None
    only: Container[str] | None
    price: Price | None
    progress: Progress | None


def run_benchmark(
    benchmark: Benchmark, model: Model, store: Store, **options: Unpack[RunOptions]
) -> RunEnd:
    """Ask a model about a benchmark's samples, as far as the store has no answers yet.

    Raises:
        FatalError: The provider refuses all questions; what was answered is kept.
        ModelError: The settings cannot be kept, such as a budget for a model without a price.
    """
    asked = _BenchmarkRun(benchmark, model, store, options)
    asked.session.run_blocking(asked.ask)
    return asked.end()


async def arun_benchmark(
    benchmark: Benchmark, model: Model, store: Store, **options: Unpack[RunOptions]
) -> RunEnd:
    """As ``run_benchmark``, in the caller's own event loop; cancelling drops what is in flight."""
    asked = await to_thread.run_sync(_BenchmarkRun, benchmark, model, store, options)
    await asked.session.work(asked.ask)
    return await to_thread.run_sync(asked.end)


class _BenchmarkRun:
    def __init__(
        self, benchmark: Benchmark, model: Model, store: Store, options: RunOptions
    ) -> None:
        check_model(model, "the run")
        self._progress = progress = options.get("progress") or Progress()
        fresh, batch = options.get("fresh", False), options.get("batch", False)
        if isinstance(model, ControlModel):
            model.follow_rules(benchmark.traits.controls)
        if batch:
            check_batchable([model])
        elif (cluster := CLUSTER.get()) is not None:
            model = on_cluster(cluster, model, progress.noted)
        limiter = (options.get("rate_limits") or RateLimits()).limiter(model, progress.noted)
        budget, price = options.get("budget"), options.get("price")
        if budget is not None:
            budget.check(model.name, price)
        self._samples = (options.get("selection") or Selection()).of(benchmark)
        if isinstance(model, CorpusModel):
            with plugin_failures(f"{type(model).__name__}.prepare", ModelError):
                model.prepare(benchmark.samples)
        spec = _spec(benchmark, model, self._samples)
        run = store.begin_run(spec, dataset_of(benchmark), fresh=fresh)
        store.take_in(run, progress.noted)
        seen = store.claims.states(run.id)
        only = options.get("only")
        wanted = [one for one in self._samples if only is None or one.id in only]
        missing = _unanswered(store, run, wanted, batches=batch_of(model))
        if not batch:
            others = set() if fresh else store.batches.awaited_anywhere(spec.dataset, model)
            store.batches.check(run.id, others=len(others & {one.id for one in missing}))
        self._wanted = len(wanted)
        self._queue = QuestionQueue(
            model,
            {TaskKey("", one.id): one for one in missing},
            seen,
            RetryingClient.ask,
            limiter,
            price,
            known=len(wanted) - len(missing),
            arrived=lambda record: progress.arrived(record.outcome),
            elsewhere=progress.elsewhere,
        )
        self.session = RunSession(store, run, options, progress.noted, progress.stopping)

    async def ask(self) -> None:
        self._progress.planned(self.session.run, self._wanted, self._queue.known)
        await self.session.ask(self._queue)

    def end(self) -> RunEnd:
        session, pool, total = self.session, self.session.pool(), len(self._samples)
        outcomes = session.store.outcomes(session.run.id)
        if pool.fatal is not None:
            done = sum(one.reply.status not in ASKED_AGAIN for one in outcomes.values())
            of = f"{done:,} of {total:,} answers"
            kept = f"; {of} are kept as run {session.run.id}, and the same goes on from there"
            raise FatalError(f"{pool.fatal}{kept if done else ''}") from pool.fatal
        statuses = Counter(str(outcome.reply.status) for outcome in outcomes.values())
        # Whoever interrupts wants no other model asked, even if the last answer was in flight.
        stop = pool.stop if pool.stop is Stop.INTERRUPTED or len(outcomes) < total else None
        counts = (total, self._queue.known, statuses)
        spending = session.budget.spending
        return RunEnd(session.run, *counts, stop, spending, dropped=session.dropped)


def _spec(benchmark: Benchmark, model: Model, samples: tuple[Sample, ...]) -> RunSpec:
    asked = (model.name, model.parameters, str(model.contract))
    ids = tuple(sample.id for sample in samples)
    return RunSpec(benchmark.name, benchmark.fingerprint, *asked, ids, benchmark.kind)


def dataset_of(benchmark: Benchmark) -> Dataset:
    missing = tuple(one.model_dump(exclude_none=True) for one in benchmark.missing)
    root, traits = str(benchmark.root.resolve()), benchmark.traits.to_dict()
    return Dataset(benchmark.fingerprint, benchmark.name, root, benchmark.samples, missing, traits)


def find_run(
    benchmark: Benchmark, model: Model, store: Store, samples: tuple[Sample, ...]
) -> Run | None:
    """The run that these would go on with, if it was begun before."""
    return store.find_run(_spec(benchmark, model, samples))


def missing_samples(
    benchmark: Benchmark,
    model: Model,
    store: Store,
    samples: tuple[Sample, ...],
    *,
    fresh: bool = False,
) -> list[Sample]:
    """What a run would ask, without beginning it."""
    run = None if fresh else find_run(benchmark, model, store, samples)
    return list(samples) if run is None else _unanswered(store, run, samples)


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
