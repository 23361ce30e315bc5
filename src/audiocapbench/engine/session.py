"""The one asker: puts the questions of one or several models and commits each record it gets.

Runs, judges, trials and annotation give a ``RunSession`` their questions and how a reply becomes a
record; leases, limits, batches, interruptions and a store that is away are dealt with here alone.
"""

import signal
import threading
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence, Set
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypedDict, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from audiocapbench.engine import workers
from audiocapbench.engine.batch_rounds import BATCH_RETRY, BatchRounds
from audiocapbench.engine.books import Books
from audiocapbench.engine.budget import Budget
from audiocapbench.engine.limiter import Limiter
from audiocapbench.engine.outage import Outage, Refusals
from audiocapbench.engine.retrying_client import CLAIM_HOLDS, RetryingClient, RetryPolicy
from audiocapbench.engine.workers import Note, Stop, StoreAccess, WorkerPool, log_note
from audiocapbench.errors import StoreAwayError
from audiocapbench.models import Model
from audiocapbench.models.model import batch_of, check_number
from audiocapbench.models.price import Price
from audiocapbench.store import Run, Store
from audiocapbench.store.claims import TaskKey
from audiocapbench.store.connect import patience
from audiocapbench.store.unsaved import Record

Task = TypeVar("Task")
Kept = TypeVar("Kept", bound=Record)

_PATIENCE_S = 1.0  # a call to the store fails soon: the session itself waits while it is away
_FEWEST_CLAIMED, _MOST_CLAIMED = 16, 64  # tasks at a time
_LOOK_AGAIN_S = 1.0  # for tasks of others
_CLOSING_S = 2.0  # how long a model may take to give its connections back


@dataclass(frozen=True, slots=True)
class RateLimits:
    """How hard a model may be asked; limits of the provider where they are known."""

    concurrency: int | None = None  # most questions at once; the model's own number by default
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        check_number("concurrency", self.concurrency, 1, whole=True)
        check_number("requests_per_minute", self.requests_per_minute, above=True)
        check_number("tokens_per_minute", self.tokens_per_minute, above=True)

    def limiter(self, model: Model, note: Note = log_note) -> Limiter:
        most = model.concurrency if self.concurrency is None else self.concurrency
        check_number(f"concurrency of {model.name}", most, 1, whole=True)
        known = (self.requests_per_minute, self.tokens_per_minute)
        outage = Outage(self.retry.unreachable_s, self.retry.outage_s)
        return Limiter(most, *known, outage, note, is_local=batch_of(model) is not None)


@dataclass(frozen=True, slots=True)
class Progress:
    """Callbacks: the plan, each outcome, a call to stop, how many others dealt with, and notes."""

    # Of judges: the plan and the number with a judge's name in front, and judgements.
    planned: Callable[[Any, int, int], None] = lambda _run, _total, _known: None
    arrived: Callable[[Any], None] = lambda _outcome: None
    stopping: Callable[[int], None] = lambda _in_flight: None
    elsewhere: Callable[..., None] = lambda *_count: None
    noted: Callable[[str], None] = log_note


class AskOptions(TypedDict, total=False):
    """How models are asked, under a budget that all of them share."""

    rate_limits: RateLimits | None
    budget: Budget | None
    fresh: bool  # ask everything again
    batch: bool  # through the provider's batches
    progress: Progress | None


@dataclass(eq=False, slots=True)
class QuestionQueue(Generic[Task, Kept]):
    """What one model is asked about a run; as a ``judge``, under its name."""

    model: Model
    tasks: dict[TaskKey, Task]
    seen: Mapping[TaskKey, str]  # when each was last dealt with, read before what is missing was
    answer: Callable[[RetryingClient, Task], Awaitable[Kept | None]]  # None if it is to stop
    limiter: Limiter
    price: Price | None = None
    judge: str = ""
    known: int = 0
    variant: Callable[[int], Model] | None = None  # the model for a round
    arrived: Callable[[Kept], None] = lambda _record: None
    elsewhere: Callable[[int], None] = lambda _count: None  # told how many others dealt with


class RunSession:
    """One command that asks about one run; what was in flight at its end may be ``dropped``."""

    def __init__(self, store: Store, run: Run, options: AskOptions) -> None:
        self.progress = options.get("progress") or Progress()
        self.store, self.run, self.note = store, run, self.progress.noted
        self.fresh, self.batch = options.get("fresh", False), options.get("batch", False)
        self.budget = options.get("budget") or Budget()
        self.budget.in_batches = self.batch
        self.budget.look(store)
        limits = options.get("rate_limits") or RateLimits()
        self.rate_limits = replace(limits, retry=BATCH_RETRY) if self.batch else limits
        self._pools: dict[str, WorkerPool] = {}
        self._limiters: list[Limiter] = []
        self._books: list[Books] = []
        self.lease = workers.Lease(store)
        leaving = (Stop.INTERRUPTED, Stop.STORE)  # somebody waits for the end, or it has failed
        pools = self._pools.values()
        self.access = StoreAccess(self.note, lambda: any(one.stop in leaving for one in pools))
        self._writer = workers.RecordWriter(store, run, self.access, self.lease.worker.id)
        self._everything: anyio.CancelScope | None = None
        self._watches_signals = False  # an event loop may belong to the caller
        self._interrupted = self._store_is_away = self.dropped = False
        self.others: list[RunSession] = []  # that are interrupted with it

    def pool(self, judge: str = "") -> WorkerPool:
        """Those who ask one model: refused, or over the budget, they stop alone."""
        if judge not in self._pools:
            self._pools[judge] = WorkerPool(self.interrupt)
            if self._interrupted:
                self._pools[judge].interrupt()
        return self._pools[judge]

    async def ask(self, queue: QuestionQueue[Task, Kept]) -> None:
        """Ask what is left of a queue, and commit each record as it arrives."""
        pool, limiter, refusals = self.pool(queue.judge), queue.limiter, Refusals(queue.known > 0)
        self._limiters.append(limiter)
        price = queue.price and queue.price.in_batches() if self.batch else queue.price
        whose: dict[str, Any] = {"worker": self.lease.worker.id, "owner": self.lease.worker.owner}
        whose |= {"run": self.run.id, "judge": queue.judge}
        books = Books(self.budget, self.store, self.access, whose)
        self._books.append(books)
        known, asked = self.budget.histories[queue.model.name], (queue.model.name, queue.judge)
        if self.budget.is_limited and not known.answers:
            find = partial(self.store.ledger.usual_usd, *asked, in_batches=self.batch)
            known.before_usd = await self.access.call(find)
        alike = (self.store, limiter, self.rate_limits.retry, books, price, not self.fresh)
        clients = {
            repeat: RetryingClient(
                queue.variant(repeat) if queue.variant else queue.model,
                *(*alike, pool.stopping, self.access),
                refusals=refusals,
                repeat=repeat,
            )
            for repeat in {key.repeat for key in queue.tasks}
        }

        async def ask(key: TaskKey) -> None:
            epoch = self.lease.epoch
            CLAIM_HOLDS.set(lambda: epoch == self.lease.epoch)
            record = await queue.answer(clients[key.repeat], queue.tasks[key])
            if self.rate_limits.concurrency is None:
                limiter.allow(queue.model.concurrency)
            if record is not None:
                del queue.tasks[key]
                with limiter.until_stored():
                    await self._writer.commit(record)
                queue.arrived(record)

        async def share(*, patient: bool = True, only: Set[tuple[str, int]] | None = None) -> None:
            left = [one for one in queue.tasks if only is None or one[1:] in only]
            async with aclosing(self._claimed(queue, pool, left, patient)) as tasks:
                await pool.share(lambda: anext(tasks, None), limiter, ask)

        try:
            if not self.batch:
                epoch = -1
                while epoch != (epoch := self.lease.epoch) and pool.stop is None:
                    await share()  # again, if claims were lost before their questions were asked
                return
            async with aclosing(queue.model.batches()) as service:  # type: ignore[attr-defined]
                own = (self.store, self.run, queue.judge, price, books)
                batches = BatchRounds(service, *own, self.access, self.note, pool)
                for repeat, client in clients.items():
                    client.batches = batches.of_repeat(repeat, fresh=self.fresh)
                await batches.ask(share)
        finally:
            if hasattr(queue.model, "aclose"):
                # Connections are given back before their loop ends; a plug-in may raise anything.
                with anyio.move_on_after(_CLOSING_S, shield=True), suppress(Exception):
                    await queue.model.aclose()

    async def _claimed(
        self,
        queue: QuestionQueue[Any, Any],
        pool: WorkerPool,
        tasks: Sequence[TaskKey],
        patient: bool,
    ) -> AsyncGenerator[TaskKey, None]:
        """Tasks that no other command deals with; those of others are waited for if ``patient``."""
        left, ready, epoch = deque(tasks), deque[TaskKey](), 0
        owners, noted, passed = Counter[str](), frozenset[str](), 0
        at_a_time = max(_FEWEST_CLAIMED, min(_MOST_CLAIMED, queue.limiter.most))

        def stopped() -> bool:
            return pool.stop is not None

        while (left or ready) and not stopped():
            if epoch != self.lease.epoch:
                epoch = self.lease.epoch
                left.extendleft(reversed(ready))
                ready.clear()
            if ready:
                yield ready.popleft()
                continue
            window = [left.popleft() for _ in range(min(at_a_time, len(left)))]
            claiming = (self.lease.claim, self.run.id, window, queue.seen)
            try:
                taken, done, busy, _ = await self.access.call(*claiming, unless=stopped)
            except StoreAwayError:
                if stopped():
                    return
                raise
            ready.extend(taken)
            held = [task for task in window if task not in {*taken, *done}]
            left.extend(held)
            queue.elsewhere(len(done))
            for task in done:
                queue.tasks.pop(task, None)
            passed = 0 if taken else passed + len(held)
            owners = Counter() if taken else owners + busy
            if not left or passed < len(left):
                continue
            # A whole round was in vain.
            if not patient:
                return
            if frozenset(owners) != noted:
                noted = frozenset(owners)
                whose = ", ".join(f"{count} by {owner}" for owner, count in owners.most_common())
                self.note(f"waiting for {len(left)} that are being asked: {whose}")
            passed, owners = 0, Counter()
            await anyio.sleep(_LOOK_AGAIN_S)

    def run_blocking(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work for a caller that is not async; inside a busy event loop, in a thread."""
        try:
            anyio.get_current_task()
        except RuntimeError:
            self._watches_signals = threading.current_thread() is threading.main_thread()
            anyio.run(self.work, work)
        else:
            with start_blocking_portal() as portal:
                future = portal.start_task_soon(self.work, work)
                while True:
                    try:
                        future.result()
                        break
                    except KeyboardInterrupt:
                        portal.call(self.interrupt)
        if self.dropped and self._store_is_away:  # whoever interrupts twice waits for no store
            raise KeyboardInterrupt

    async def work(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            async with anyio.create_task_group() as everything:
                self._everything = everything.cancel_scope
                if self._watches_signals:
                    everything.start_soon(self._watch_signals)
                with patience(_PATIENCE_S):
                    try:
                        await work()
                    finally:
                        stored = await self._writer.close()
                        self.dropped |= any(one.dropped for one in self._pools.values())
                        for books in self._books:
                            await workers.last_call(books.catch_up)
                        self._store_is_away = not await self.lease.close() or not stored
                everything.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # Several workers may meet the same full disk; one of them can tell.
            error: BaseException = group
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            raise error from None

    def interrupt(self) -> None:
        """First time: finish what is in flight. Second time: drop it."""
        for other in self.others:
            other.interrupt()
        if self._interrupted and self._everything is not None:
            self.dropped = True
            self._everything.cancel()
            return
        self._interrupted = True
        for pool in self._pools.values():
            pool.interrupt()
        self.progress.stopping(sum(limiter.in_flight for limiter in self._limiters))

    async def _watch_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                self.interrupt()
