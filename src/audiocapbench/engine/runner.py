"""The runner: asks what is missing, commits each outcome as it arrives, and can be interrupted."""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.data import Sample
from audiocapbench.data.outcome import ASKED_AGAIN, Outcome
from audiocapbench.engine.ask import ask
from audiocapbench.errors import ModelError
from audiocapbench.models import Model
from audiocapbench.store import Dataset, Run, RunSpec, Store


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Attributes:
        run: The run, as the store knows it.
        total: How many samples it has.
        known: How many had been answered before.
        statuses: How many outcomes of each status there are now.
        interrupted: Whether it was stopped before the last sample.
    """

    run: Run
    total: int
    known: int
    statuses: Counter[str]
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """Callbacks for whoever watches: the plan, then each outcome, then a call to stop."""

    planned: Callable[[Run, int, int], None] = lambda _run, _total, _known: None
    arrived: Callable[[Outcome], None] = lambda _outcome: None
    stopping: Callable[[int], None] = lambda _in_flight: None


def run_benchmark(
    benchmark: Benchmark,
    model: Model,
    store: Store,
    *,
    selection: Selection | None = None,
    concurrency: int | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> RunEnd:
    """Ask a model about a benchmark's samples, as far as they have not been answered.

    Args:
        benchmark: What is asked.
        model: Who is asked.
        store: Where outcomes go, and where earlier ones are looked up.
        selection: Which samples; all by default.
        concurrency: Questions at once; the model's own number by default.
        fresh: Begin a new run and ask everything again, cache or not.
        progress: Told about every step.
    """
    if concurrency is not None and concurrency < 1:
        raise ModelError(f"concurrency is {concurrency}; it must be at least 1")
    samples = (selection or Selection()).of(benchmark)
    model.prepare(benchmark.samples)
    run = store.begin_run(_spec(benchmark, model, samples), _dataset(benchmark), fresh=fresh)
    runner = _Runner(run, model, store, samples, fresh=fresh, progress=progress or Progress())
    anyio.run(runner.ask_all, concurrency or model.concurrency)
    outcomes = store.outcomes(run.id)
    statuses = Counter(str(outcome.reply.status) for outcome in outcomes.values())
    interrupted = runner.stopped and len(outcomes) < len(samples)
    return RunEnd(run, len(samples), runner.known, statuses, interrupted)


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


def _first_of(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Runner:
    def __init__(
        self,
        run: Run,
        model: Model,
        store: Store,
        samples: tuple[Sample, ...],
        *,
        fresh: bool,
        progress: Progress,
    ) -> None:
        self._run = run
        self._model = model
        self._store = store
        self._fresh = fresh
        self._progress = progress
        answered = {
            sample_id
            for sample_id, outcome in store.outcomes(run.id).items()
            if outcome.reply.status not in ASKED_AGAIN
        }
        self._missing = [sample for sample in samples if sample.id not in answered]
        self.known = len(samples) - len(self._missing)
        self.stopped = False
        self._in_flight = 0
        progress.planned(run, len(samples), self.known)

    async def ask_all(self, concurrency: int) -> None:
        """Ask every missing sample, so many at a time."""
        queue = iter(self._missing)
        try:
            async with anyio.create_task_group() as everything:
                if threading.current_thread() is threading.main_thread():
                    everything.start_soon(self._watch_signals, everything)
                async with anyio.create_task_group() as workers:
                    for _ in range(min(concurrency, len(self._missing))):
                        workers.start_soon(self._work, queue)
                everything.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # Several workers may meet the same full disk; one of them can tell.
            raise _first_of(group) from None

    async def _work(self, queue: Iterator[Sample]) -> None:
        for sample in queue:
            self._in_flight += 1
            asked = await ask(self._model, sample, self._store, use_cache=not self._fresh)
            await to_thread.run_sync(
                self._store.add_outcome, self._run.id, asked.outcome, asked.cache_key
            )
            self._in_flight -= 1
            self._progress.arrived(asked.outcome)
            if self.stopped:
                return

    async def _watch_signals(self, everything: TaskGroup) -> None:
        """First signal: finish what is in flight. Second: drop it."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                if self.stopped:
                    everything.cancel_scope.cancel()
                    return
                self.stopped = True
                self._progress.stopping(self._in_flight)
