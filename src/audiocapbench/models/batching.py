"""Models that answer several questions at once: who asks one waits until a batch is together.

While a batch is answered in a thread, audio is decoded and outcomes are committed.
"""

import itertools
import math
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import FatalError, ModelError, TransientError
from audiocapbench.models.model import Question, SimpleModel

_numbers = itertools.count()
_SHORTEST_WAIT_S, _LONGEST_WAIT_S, _LONGEST_FILL_S = 0.05, 1.0, 5.0
_AHEAD = 4
_WORTH = 0.1  # of the time that a batch takes, to wait for one more

waited_s: ContextVar[float] = ContextVar("waited_s", default=0.0)
"""Seconds that the last question of a task waited for its batch: no time that its answer took."""


class BatchModel(SimpleModel):
    """A model to derive from: declare a contract and a batch, and write ``answer_many``."""

    batch = 8  # most questions that are answered at once
    lanes = 1  # batches in work at the same time, each in a thread of its own
    patience_s = 0.2  # to wait for one more question while no batch has shown how long it takes

    @abstractmethod
    def answer_many(self, questions: Sequence[Question]) -> Sequence[Reply]:
        """Answer questions, a reply each in their order; called in a thread, may take its time.

        What it raises fails the batch, whose questions are then asked one by one, so that each
        fails or not by itself; a ``FatalError`` or ``TransientError`` is that of all of them.
        """

    @property
    def concurrency(self) -> int:  # type: ignore[override]
        """What is in work, and a batch that is being put together, decoded ahead."""
        return self.lanes * self.batch + max(self.batch, _AHEAD)

    async def answer(self, question: Question) -> Reply:
        if "_queues" not in vars(self):
            self._queues: RunVar[_Queue] = RunVar(f"queue {next(_numbers)}")
        queue = self._queues.get(None)
        if queue is None:
            self._queues.set(queue := _Queue(self.lanes, self.patience_s))
        place, batch = _Place(question), list[_Place]()
        queue.waiting.append(place)
        queue.arrived.set()
        try:
            async with queue.lanes:
                async with queue.filling:
                    if place in queue.waiting:  # else another has it in its batch
                        queue.waiting.remove(place)
                        batch.append(place)
                        await queue.fill(self.batch)
                        more = min(self.batch - 1, len(queue.waiting))
                        batch += [queue.waiting.popleft() for _ in range(more)]
                if batch:
                    await to_thread.run_sync(
                        self._settle, batch, abandon_on_cancel=True, limiter=queue.threads
                    )
                    queue.took_s = time.monotonic() - place.began
            if not batch:
                await place.settled.wait()
        finally:
            for one in batch:
                one.settled.set()
            with suppress(ValueError):
                queue.waiting.remove(place)
        if place.error is not None:
            raise place.error
        if not isinstance(place.reply, Reply):
            raise ModelError(f"{self.name}: its batch was dropped")
        waited_s.set(place.began - place.came)
        return place.reply

    def _settle(self, batch: Sequence["_Place"]) -> None:
        began = time.monotonic()
        for place in batch:
            place.began = began
        try:
            replies = self.answer_many([place.question for place in batch])
            if len(replies) != len(batch):
                got = f"{len(replies)} replies to {len(batch)} questions"
                raise ModelError(f"{self.name}: answer_many returned {got}; it returns one each")
            for place, reply in zip(batch, replies, strict=True):
                place.reply = reply
        except Exception as error:
            alone = len(batch) == 1 or isinstance(error, FatalError | TransientError)
            for place in batch:
                if alone:
                    place.error = error
                else:
                    self._settle([place])


class _Place:
    """A question that waits until a batch with it is settled."""

    def __init__(self, question: Question) -> None:
        self.question, self.settled = question, anyio.Event()
        self.came = self.began = time.monotonic()
        self.reply: Reply | None = None
        self.error: Exception | None = None


class _Queue:
    """Who waits, in the order of coming, in one event loop; of lanes one is filled at a time."""

    def __init__(self, lanes: int, patience_s: float) -> None:
        self.waiting: deque[_Place] = deque()
        self.lanes, self.filling = anyio.Semaphore(lanes), anyio.Lock()
        self.took_s = patience_s / _WORTH
        self.threads = CapacityLimiter(math.inf)
        self.arrived = anyio.Event()

    async def fill(self, size: int) -> None:
        """Wait until a batch of this size is there, or for too long nobody came."""
        patience = min(_LONGEST_WAIT_S, max(_SHORTEST_WAIT_S, _WORTH * self.took_s))
        latest = anyio.current_time() + _LONGEST_FILL_S
        with anyio.CancelScope() as scope:
            while len(self.waiting) + 1 < size:
                scope.deadline = min(latest, anyio.current_time() + patience)
                self.arrived = anyio.Event()
                await self.arrived.wait()
