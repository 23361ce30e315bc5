"""Workers that share questions, and how all of them are told to stop."""

import signal
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum
from typing import Protocol, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from audiocapbench.engine.budget import Spending
from audiocapbench.engine.limiter import Limiter
from audiocapbench.engine.retrying_client import OverBudgetError
from audiocapbench.errors import AwaitedError, FatalError, StoreAwayError, StoreError
from audiocapbench.models.model import ClosableModel, Model
from audiocapbench.store.connect import patience

Task = TypeVar("Task")
Given_co = TypeVar("Given_co", covariant=True)

_PATIENCE_S = 1.0  # the engine itself waits for a store that is away
_CLOSING_S = 2.0


class TaskQueue(Protocol[Given_co]):
    """Hands out what is to be done."""

    async def next(self) -> Given_co | None:
        """Something to do; None when nothing is left."""


class Stop(StrEnum):
    """Why work ended before its last question."""

    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    REFUSED = "refused"
    STORE = "store"

    def because(self, spending: Spending | None) -> str:
        """The reason in words; a budget says how it stands."""
        if self is Stop.BUDGET and spending is not None and spending.refusal is not None:
            return spending.refusal
        reasons = {Stop.INTERRUPTED: "it was interrupted", Stop.BUDGET: "the budget is spent"}
        return reasons.get(self, "the provider refuses all questions")


class WorkerPool:
    """Everyone who asks for one command; ``interrupted`` is told when a signal asks for an end.

    Attributes:
        stopping: Set once nothing more may be asked.
        stop: Why nothing more may be asked.
        fatal: The error of a provider that refuses all questions.
        is_leaving: Whether somebody waits for the end, or the store has failed already.
        dropped: Whether what was in flight was dropped, too.
        store_is_away: Whether the store could not be told of the end.
    """

    def __init__(self, interrupted: Callable[[], None]) -> None:
        self._interrupted = interrupted
        self._watches_signals = False  # an event loop may belong to the caller
        self._everything: anyio.CancelScope | None = None
        self.stopping = anyio.Event()
        self.stop: Stop | None = None
        self.fatal: FatalError | None = None
        self.dropped = self.store_is_away = False

    @property
    def is_leaving(self) -> bool:
        return self.stop in (Stop.INTERRUPTED, Stop.STORE)

    def run_blocking(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work for a caller that is not async, be it inside a running event loop.

        A notebook's loop is busy with the caller: the work then has a thread and a loop of its own.
        """
        if not _in_event_loop():
            self._watches_signals = threading.current_thread() is threading.main_thread()
            anyio.run(self.run, work)
            self._leave()
            return
        with start_blocking_portal() as portal:
            future = portal.start_task_soon(self.run, work)
            while True:
                try:
                    future.result()
                    break
                except KeyboardInterrupt:
                    portal.call(self.interrupt)
        self._leave()

    def _leave(self) -> None:
        """Whoever interrupts twice waits for no store."""
        if self.dropped and self.store_is_away:
            raise KeyboardInterrupt

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work, and answer signals if that was asked for."""
        try:
            async with anyio.create_task_group() as everything:
                self._everything = everything.cancel_scope
                if self._watches_signals:
                    everything.start_soon(self._watch_signals)
                with patience(_PATIENCE_S):
                    await work()
                everything.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # Several workers may meet the same full disk; one of them can tell.
            error: BaseException = group
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            raise error from None

    async def share(
        self, tasks: TaskQueue[Task], limiter: Limiter, do: Callable[[Task], Awaitable[None]]
    ) -> None:
        """Do each task, as many at a time as the limiter lets through, until told to stop.

        Raises:
            StoreError: The store failed; what was in flight then has been waited for.
        """
        failures: list[StoreError] = []

        def fail(error: StoreError) -> None:
            if self.stop is Stop.INTERRUPTED and isinstance(error, StoreAwayError):
                self.dropped = True  # it was waited for as long as somebody who leaves may wait
                return
            failures.append(error)
            self.stop = self.stop or Stop.STORE
            self.stopping.set()

        async def work(task: Task) -> None:
            try:
                await do(task)
            except OverBudgetError:
                self.stop = self.stop or Stop.BUDGET
            except AwaitedError:
                pass  # it is asked again when its batch is there
            except FatalError as error:
                self.stop, self.fatal = Stop.REFUSED, error
                self.stopping.set()
            except StoreError as error:
                fail(error)
            except KeyboardInterrupt:  # past here it would tear the event loop down
                self.interrupt()
            finally:
                limiter.done()

        async with anyio.create_task_group() as workers:
            while self.stop is None:
                await limiter.ready()
                try:
                    task = await tasks.next()
                except StoreError as error:
                    fail(error)
                    break
                if task is None or self.stop is not None:
                    break
                workers.start_soon(work, task)
        if failures:
            raise failures[0]

    def interrupt(self) -> None:
        """First time: finish what is in flight. Second time: drop it."""
        if self.stop is not None and self._everything is not None:
            self.dropped = True
            self._everything.cancel()
            return
        self.stop = Stop.INTERRUPTED
        self.stopping.set()
        self._interrupted()

    async def _watch_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                self.interrupt()


def _in_event_loop() -> bool:
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True


async def close(model: Model) -> None:
    """Let a model that holds connections give them back before its event loop ends."""
    if isinstance(model, ClosableModel):
        # The answers are in; a plug-in may raise anything.
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSING_S), suppress(Exception):
            await model.aclose()
