"""The runner: asks what is missing, commits each outcome as it arrives, and can be interrupted."""

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict, Unpack

from anyio import to_thread

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.data import Sample
from audiocapbench.data.outcome import ASKED_AGAIN, Outcome
from audiocapbench.engine.batch_rounds import BATCH_RETRY, BatchRounds
from audiocapbench.engine.budget import Budget, Spending
from audiocapbench.engine.claims import ClaimedTasks, Lease
from audiocapbench.engine.limiter import Limiter
from audiocapbench.engine.outage import Outage
from audiocapbench.engine.ray_cluster import CLUSTER
from audiocapbench.engine.retrying_client import Refusals, RetryingClient, RetryPolicy
from audiocapbench.engine.store_access import RecordWriter, StoreAccess, log_note, take_in_unsaved
from audiocapbench.engine.worker_pool import Stop, WorkerPool, close
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.models import Model
from audiocapbench.models.controls import RuleFollower
from audiocapbench.models.model import CorpusModel, batch_of
from audiocapbench.models.openai_batches import batches_of, check_batchable
from audiocapbench.models.plugin_models import check_model, prepare_model
from audiocapbench.models.price import Price
from audiocapbench.store import Dataset, Run, RunSpec, Store
from audiocapbench.store.claims import LEASE_S, TaskKey
from audiocapbench.store.unsaved import AnswerRecord


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Attributes:
        total: How many samples it has.
        known: How many had been answered before.
        statuses: How many outcomes of each status there are now.
        stop: Why it ended before the last sample; None if it did not.
        spending: How its budget stands, where there is one.
        judged: How far its judges got, in words, where they and not the model were stopped.
        dropped: Whether whoever interrupted did so again, and waits for nothing more.
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
    """Callbacks for whoever watches: the plan, then each outcome, then a call to stop.

    Others may deal with samples, too, of which only the number is told; words say what is awaited.
    """

    planned: Callable[[Run, int, int], None] = lambda _run, _total, _known: None
    arrived: Callable[[Outcome], None] = lambda _outcome: None
    stopping: Callable[[int], None] = lambda _in_flight: None
    elsewhere: Callable[[int], None] = lambda _count: None
    noted: Callable[[str], None] = log_note


@dataclass(frozen=True, slots=True)
class RateLimits:
    """How hard a model may be asked; limits of the provider where they are known.

    Attributes:
        concurrency: Most questions at once; the model's own number by default.
    """

    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def limiter(self, model: Model, note: Callable[[str], None] = log_note) -> Limiter:
        """A limiter for this model, which says in words when all have to wait."""
        most = model.concurrency if self.concurrency is None else self.concurrency
        if most < 1:
            raise ModelError(f"concurrency is {most}; it must be at least 1")
        known = (self.requests_per_minute, self.tokens_per_minute)
        outage = Outage(self.retry.unreachable_s, self.retry.outage_s)
        is_local = batch_of(model) is not None
        return Limiter(most, *known, outage=outage, note=note, is_local=is_local)


class RunOptions(TypedDict, total=False):
    """How a benchmark is run.

    Attributes:
        selection: Which samples; all by default.
        only: Of these samples the ids to ask now; the rest of the run is left for later.
        rate_limits: How hard the model may be asked.
        budget: What may be spent; shared by runs that share the purse.
        price: What the model costs, where it is known.
        fresh: Begin a new run and ask everything again, cache or not.
        batch: Ask through the provider's batches: half the price, answers within a day.
        lease_s: Seconds without a sign of life after which others take over what is claimed.
    """

    selection: Selection | None
    only: Container[str] | None
    rate_limits: RateLimits | None
    budget: Budget | None
    price: Price | None
    fresh: bool
    batch: bool
    lease_s: float
    progress: Progress | None


def run_benchmark(
    benchmark: Benchmark, model: Model, store: Store, **options: Unpack[RunOptions]
) -> RunEnd:
    """Ask a model about a benchmark's samples, as far as the store has no answers yet.

    Args:
        **options: See ``RunOptions``.

    Raises:
        FatalError: The provider refuses all questions; what was answered is kept.
        ModelError: The settings cannot be kept, such as a budget for a model without a price.
    """
    asking = _Asking(benchmark, model, store, options)
    asking.pool.run_blocking(asking.ask_all)
    return asking.end()


async def arun_benchmark(
    benchmark: Benchmark, model: Model, store: Store, **options: Unpack[RunOptions]
) -> RunEnd:
    """As ``run_benchmark``, in the caller's own event loop; cancelling drops what is in flight."""
    asking = await to_thread.run_sync(_Asking, benchmark, model, store, options)
    await asking.pool.run(asking.ask_all)
    return await to_thread.run_sync(asking.end)


class _Asking:
    """One call of ``run_benchmark``: what is to be asked, and by whom."""

    def __init__(
        self, benchmark: Benchmark, model: Model, store: Store, options: RunOptions
    ) -> None:
        check_model(model, "the run")
        self.store, self.budget = store, options.get("budget")
        self.price, self.fresh = options.get("price"), options.get("fresh", False)
        self.rate_limits = options.get("rate_limits") or RateLimits()
        self.progress = options.get("progress") or Progress()
        if isinstance(model, RuleFollower):
            model.follow_rules(benchmark.traits.controls)
        self.batch = options.get("batch", False)
        if self.batch:
            check_batchable([model])
            self.rate_limits = replace(self.rate_limits, retry=BATCH_RETRY)
            self.price = self.price and self.price.in_batches()
        elif (cluster := CLUSTER.get()) is not None:
            from audiocapbench.engine.ray_model import on_cluster

            model = on_cluster(cluster, model, self.progress.noted)
        self.model = model
        self.limiter = self.rate_limits.limiter(model, self.progress.noted)
        if self.budget is not None:
            self.budget.check(model.name, self.price)
        self.samples = (options.get("selection") or Selection()).of(benchmark)
        if isinstance(model, CorpusModel):
            prepare_model(model, benchmark.samples)
        spec = _spec(benchmark, model, self.samples)
        self.run = store.begin_run(spec, dataset_of(benchmark), fresh=self.fresh)
        take_in_unsaved(store, self.run, self.progress.noted)
        self.seen = store.claims.states(self.run.id)
        only = options.get("only")
        wanted = [one for one in self.samples if only is None or one.id in only]
        missing = _unanswered(store, self.run, wanted, batches=batch_of(model))
        self.missing = {one.id: one for one in missing}
        if not self.batch:
            others = set() if self.fresh else store.batches.awaited_anywhere(spec.dataset, model)
            store.batches.check(self.run.id, others=len(others & self.missing.keys()))
        self.known = len(wanted) - len(self.missing)
        self.wanted = len(wanted)
        self.pool = WorkerPool(lambda: self.progress.stopping(self.limiter.in_flight))
        self.lease = Lease(store, options.get("lease_s", LEASE_S))

    async def ask_all(self) -> None:
        """Ask whatever has no answer yet, and commit each outcome as it arrives."""
        self.progress.planned(self.run, self.wanted, self.known)
        noted = self.progress.noted
        access = StoreAccess(noted, lambda: self.pool.is_leaving)
        writer = RecordWriter(self.store, self.run, access, self.lease.worker.id, noted)
        client = self._client(access)

        async def ask(sample: Sample) -> None:
            asked = await client.ask(sample)
            if self.rate_limits.concurrency is None:
                self.limiter.allow(self.model.concurrency)
            if asked is not None:
                self.missing.pop(sample.id)
                with self.limiter.until_stored():
                    await writer.commit(AnswerRecord(asked.outcome, asked.cache_key))
                self.progress.arrived(asked.outcome)

        try:
            if not self.batch:
                await self.pool.share(self._tasks(access), self.limiter, ask)
                return
            whose = (self.store, self.run, "", self.price, client.budget, access, noted, self.pool)
            async with batches_of(self.model) as service:
                rounds = BatchRounds(service, *whose)
                client.batches = rounds.of_repeat(0, fresh=self.fresh)
                await rounds.ask(
                    lambda patient: self.pool.share(self._tasks(access, patient), self.limiter, ask)
                )
        finally:
            stored = await writer.close()
            self.pool.store_is_away = not await self.lease.close() or not stored
            await close(self.model)

    def _client(self, access: StoreAccess) -> RetryingClient:
        return RetryingClient(
            self.model,
            self.store,
            self.limiter,
            self.rate_limits.retry,
            self.budget or Budget(),
            self.price,
            use_cache=not self.fresh,
            stopping=self.pool.stopping,
            refusals=Refusals(answered=self.known > 0),
            access=access,
        )

    def _tasks(self, access: StoreAccess, patient: bool = True) -> ClaimedTasks[Sample]:
        return ClaimedTasks(
            self.lease,
            access,
            self.run.id,
            {TaskKey("", key): sample for key, sample in self.missing.items()},
            self.seen,
            at_a_time=self.limiter.most,
            stopped=lambda: self.pool.stop is not None,
            elsewhere=self.progress.elsewhere,
            note=self.progress.noted,
            patient=patient,
        )

    def end(self) -> RunEnd:
        """How it ended, or the provider's refusal."""
        outcomes = self.store.outcomes(self.run.id)
        if self.pool.fatal is not None:
            done = sum(one.reply.status not in ASKED_AGAIN for one in outcomes.values())
            of = f"{done:,} of {len(self.samples):,} answers"
            kept = f"; {of} are kept as run {self.run.id}, and the same goes on from there"
            raise FatalError(f"{self.pool.fatal}{kept if done else ''}") from self.pool.fatal
        statuses = Counter(str(outcome.reply.status) for outcome in outcomes.values())
        # Whoever interrupts wants no other model asked, even if the last answer was in flight.
        stopped = self.pool.stop is Stop.INTERRUPTED or len(outcomes) < len(self.samples)
        stop = self.pool.stop if stopped else None
        spending = self.budget.spending if self.budget is not None else None
        counts = (len(self.samples), self.known, statuses)
        return RunEnd(self.run, *counts, stop, spending, dropped=self.pool.dropped)


def _spec(benchmark: Benchmark, model: Model, samples: tuple[Sample, ...]) -> RunSpec:
    asked = (model.name, model.parameters, str(model.contract))
    ids = tuple(sample.id for sample in samples)
    return RunSpec(benchmark.name, benchmark.fingerprint, *asked, ids, benchmark.kind)


def dataset_of(benchmark: Benchmark) -> Dataset:
    """What the store keeps of a benchmark."""
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
