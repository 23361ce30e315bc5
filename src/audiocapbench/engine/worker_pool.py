"""Workers that share questions, and how all of them are told to stop."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TypeVar

import anyio

from audiocapbench.engine.budget import Spending
from audiocapbench.engine.limiter import Limiter
from audiocapbench.engine.retrying_client import OverBudgetError
from audiocapbench.errors import AwaitedError, FatalError, StoreAwayError, StoreError

Task = TypeVar("Task")


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
    """Those who ask one model; ``interrupted`` is called where Ctrl-C reaches one of them.

    Attributes:
        stopping: Set once nothing more may be asked; ``stop`` says why.
        fatal: The error of a provider that refuses all questions.
        dropped: Whether the store was away for longer than somebody who leaves may wait.
    """

    def __init__(self, interrupted: Callable[[], None]) -> None:
        self._interrupted = interrupted
        self.stopping = anyio.Event()
        self.stop: Stop | None = None
        self.fatal: FatalError | None = None
        self.dropped = False
        self._failure: StoreError | None = None

    @property
    def is_leaving(self) -> bool:
        """Whether somebody waits for the end, or the store has failed already."""
        return self.stop in (Stop.INTERRUPTED, Stop.STORE)

    def interrupt(self) -> None:
        """Ask nothing more; what is in flight is waited for."""
        self.stop = Stop.INTERRUPTED
        self.stopping.set()

    async def share(
        self,
        next_task: Callable[[], Awaitable[Task | None]],
        limiter: Limiter,
        do: Callable[[Task], Awaitable[None]],
    ) -> None:
        """Do each task until there is none, as many at a time as the limiter lets through.

        StoreError where the store failed; what was in flight then has been waited for.
        """

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
                self._fail(error)
            except KeyboardInterrupt:  # past here it would tear the event loop down
                self._interrupted()
            finally:
                limiter.done()

        async with anyio.create_task_group() as workers:
            while self.stop is None:
                await limiter.ready()
                try:
                    task = await next_task()
                except StoreError as error:
                    self._fail(error)
                    break
                if task is None or self.stop is not None:
                    break
                workers.start_soon(work, task)
        if self._failure is not None:
            raise self._failure

    def _fail(self, error: StoreError) -> None:
        if self.stop is Stop.INTERRUPTED and isinstance(error, StoreAwayError):
            self.dropped = True  # it was waited for as long as somebody who leaves may wait
            return
        self._failure = self._failure or error
        self.stop = self.stop or Stop.STORE
        self.stopping.set()
