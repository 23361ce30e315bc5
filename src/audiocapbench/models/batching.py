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
        place = _Place(question)
        queue.waiting.append(place)
        queue.arrived.set()
        queue.call()
        try:
            await place.called.wait()
            if place.reply is None and place.error is None:
                await self._lead(queue, place)
        finally:
            with suppress(ValueError):
                queue.waiting.remove(place)
        if place.error is not None:
            raise place.error
        if not isinstance(place.reply, Reply):
            raise ModelError(f"{self.name}: its batch was dropped")
        waited_s.set(place.began - place.came)
        return place.reply

    async def _lead(self, queue: "_Queue", first: "_Place") -> None:
        """Put a batch together behind its first question and have it answered."""
        batch = [first]
        try:
            try:
                await queue.fill(self.batch)
                more = min(self.batch - 1, len(queue.waiting))
                batch += [queue.waiting.popleft() for _ in range(more)]
            finally:
                queue.filling = False
                queue.call()
            await to_thread.run_sync(
                self._settle, batch, abandon_on_cancel=True, limiter=queue.threads
            )
            queue.took_s = time.monotonic() - first.began
        finally:
            queue.working -= 1
            for place in batch:
                place.called.set()
            queue.call()

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
    """A question that waits; ``called`` when it is settled, or is to lead a batch."""

    def __init__(self, question: Question) -> None:
        self.question, self.called = question, anyio.Event()
        self.came = self.began = time.monotonic()
        self.reply: Reply | None = None
        self.error: Exception | None = None


class _Queue:
    """Who waits, in the order of coming, in one event loop."""

    def __init__(self, lanes: int, patience_s: float) -> None:
        self.waiting: deque[_Place] = deque()
        self.working, self.filling = 0, False
        self.took_s = patience_s / _WORTH
        self.threads = CapacityLimiter(math.inf)
        self.arrived = anyio.Event()
        self._lanes = lanes

    def call(self) -> None:
        """Have the first who waits lead a batch, where a lane is free and no other is filling."""
        if self.waiting and not self.filling and self.working < self._lanes:
            self.working += 1
            self.filling = True
            self.waiting.popleft().called.set()

    async def fill(self, size: int) -> None:
        """Wait until a batch of this size is there, or for too long nobody came."""
        patience = min(_LONGEST_WAIT_S, max(_SHORTEST_WAIT_S, _WORTH * self.took_s))
        latest = anyio.current_time() + _LONGEST_FILL_S
        with anyio.CancelScope() as scope:
            while len(self.waiting) + 1 < size:
                scope.deadline = min(latest, anyio.current_time() + patience)
                self.arrived = anyio.Event()
                await self.arrived.wait()
