"""The runner: asks what is missing, commits each outcome as it arrives, and can be interrupted."""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.data import Sample
from audiocapbench.data.outcome import ASKED_AGAIN, Outcome
from audiocapbench.engine.ask import Asked, Asker, OverBudgetError
from audiocapbench.engine.budget import Budget
from audiocapbench.engine.groups import first_of
from audiocapbench.engine.limiter import Limiter, Limits
from audiocapbench.engine.retry import RetryPolicy
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.models import Model
from audiocapbench.models.prices import Price
from audiocapbench.store import Dataset, Run, RunSpec, Store

_START = 8
# Fewer than a store has connections, so that a slow disk makes nobody wait for one in vain.
_WRITERS = 8


class Stop(StrEnum):
    """Why a run ended before its last sample."""

    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Attributes:
        run: The run, as the store knows it.
        total: How many samples it has.
        known: How many had been answered before.
        statuses: How many outcomes of each status there are now.
        stop: Why it ended before the last sample; None if it did not.
    """

    run: Run
    total: int
    known: int
    statuses: Counter[str]
    stop: Stop | None


@dataclass(frozen=True, slots=True)
class Progress:
    """Callbacks for whoever watches: the plan, then each outcome, then a call to stop."""

    planned: Callable[[Run, int, int], None] = lambda _run, _total, _known: None
    arrived: Callable[[Outcome], None] = lambda _outcome: None
    stopping: Callable[[int], None] = lambda _in_flight: None


@dataclass(frozen=True, slots=True)
class Pacing:
    """How hard a model may be asked.

    Attributes:
        concurrency: Most questions at once; the model's own number by default.
        requests_per_minute: The provider's limit on requests, where it is known.
        tokens_per_minute: The provider's limit on tokens, where it is known.
        retry: When a question is asked again.
    """

    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)


def run_benchmark(
    benchmark: Benchmark,
    model: Model,
    store: Store,
    *,
    selection: Selection | None = None,
    pacing: Pacing | None = None,
    budget: Budget | None = None,
    price: Price | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> RunEnd:
    """Ask a model about a benchmark's samples, as far as they have not been answered.

    Args:
        benchmark: What is asked.
        model: Who is asked.
        store: Where outcomes go, and where earlier ones are looked up.
        selection: Which samples; all by default.
        pacing: How hard the model may be asked.
        budget: What may be spent; shared by runs that share the purse.
        price: What the model costs, where it is known.
        fresh: Begin a new run and ask everything again, cache or not.
        progress: Told about every step.

    Raises:
        FatalError: The provider refuses all questions; what was answered is kept.
        ModelError: The settings cannot be kept, such as a budget for a model without a price.
    """
    pacing = pacing or Pacing()
    most = model.concurrency if pacing.concurrency is None else pacing.concurrency
    if most < 1:
        raise ModelError(f"concurrency is {most}; it must be at least 1")
    if budget is not None:
        budget.check(model.name, price)
    samples = (selection or Selection()).of(benchmark)
    model.prepare(benchmark.samples)
    run = store.begin_run(_spec(benchmark, model, samples), _dataset(benchmark), fresh=fresh)
    runner = _Runner(run, store, samples, progress or Progress())

    async def ask_all() -> None:
        limits = Limits(
            min(_START, most), most, pacing.requests_per_minute, pacing.tokens_per_minute
        )
        asker = Asker(
            model,
            store,
            Limiter(limits),
            pacing.retry,
            budget or Budget(),
            price,
            use_cache=not fresh,
            stopping=anyio.Event(),
        )
        try:
            await runner.ask_all(asker)
        finally:
            await _close(model)

    anyio.run(ask_all)
    if runner.fatal is not None:
        raise runner.fatal
    outcomes = store.outcomes(run.id)
    statuses = Counter(str(outcome.reply.status) for outcome in outcomes.values())
    # Whoever interrupts wants no other model asked, even if the last answer was just in flight.
    stopped = runner.stop is Stop.INTERRUPTED or len(outcomes) < len(samples)
    stop = runner.stop if stopped else None
    return RunEnd(run, len(samples), runner.known, statuses, stop)


def _spec(benchmark: Benchmark, model: Model, samples: tuple[Sample, ...]) -> RunSpec:
    return RunSpec(
        benchmark.name,
        benchmark.fingerprint,
        model.name,
        model.parameters,
        str(model.contract),
        tuple(sample.id for sample in samples),
    )


def _dataset(benchmark: Benchmark) -> Dataset:
    missing = tuple(one.model_dump(exclude_none=True) for one in benchmark.missing)
    root = str(benchmark.root.resolve())
    return Dataset(benchmark.fingerprint, benchmark.name, root, benchmark.samples, missing)


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


def _unanswered(store: Store, run: Run, samples: tuple[Sample, ...]) -> list[Sample]:
    outcomes = store.outcomes(run.id)
    answered = {key for key, one in outcomes.items() if one.reply.status not in ASKED_AGAIN}
    return [sample for sample in samples if sample.id not in answered]


async def _close(model: Model) -> None:
    """Let a model that holds connections give them back before its event loop ends."""
    close = getattr(model, "aclose", None)
    if close is not None:
        with anyio.CancelScope(shield=True), anyio.move_on_after(5):
            await close()


class _Runner:
    def __init__(
        self, run: Run, store: Store, samples: tuple[Sample, ...], progress: Progress
    ) -> None:
        self._run = run
        self._store = store
        self._progress = progress
        self._missing = _unanswered(store, run, samples)
        self.known = len(samples) - len(self._missing)
        self.stop: Stop | None = None
        self.fatal: FatalError | None = None
        self._committing: anyio.CapacityLimiter
        progress.planned(run, len(samples), self.known)

    async def ask_all(self, asker: Asker) -> None:
        """Ask every missing sample, as many at a time as the limiter lets through."""
        queue = iter(self._missing)
        self._committing = anyio.CapacityLimiter(_WRITERS)
        try:
            async with anyio.create_task_group() as everything:
                if threading.current_thread() is threading.main_thread():
                    everything.start_soon(self._watch_signals, asker, everything)
                async with anyio.create_task_group() as workers:
                    for number in range(min(asker.limiter.limits.most, len(self._missing))):
                        workers.start_soon(self._work, number, queue, asker)
                everything.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise first_of(group) from None

    async def _work(self, number: int, queue: Iterator[Sample], asker: Asker) -> None:
        while self.stop is None:
            await asker.limiter.turn(number)
            sample = next(queue, None)
            if sample is None or self.stop is not None:
                break
            try:
                asked = await asker.ask(sample)
            except OverBudgetError:
                self.stop = self.stop or Stop.BUDGET
                break
            except FatalError as error:
                self.stop, self.fatal = Stop.REFUSED, error
                asker.stopping.set()
                break
            if asked is not None:
                await self._commit(asked)
                self._progress.arrived(asked.outcome)
        # Workers that still wait for their turn must see that there is nothing left to do.
        asker.limiter.open()

    async def _commit(self, asked: Asked) -> None:
        # An answer that came is kept even if everything else is dropped: it has been paid for.
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(
                self._store.add_outcome,
                self._run.id,
                asked.outcome,
                asked.cache_key,
                limiter=self._committing,
            )

    async def _watch_signals(self, asker: Asker, everything: TaskGroup) -> None:
        """First signal: finish what is in flight. Second: drop it."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                if self.stop is not None:
                    everything.cancel_scope.cancel()
                    return
                self.stop = Stop.INTERRUPTED
                asker.stopping.set()
                self._progress.stopping(asker.limiter.in_flight)
