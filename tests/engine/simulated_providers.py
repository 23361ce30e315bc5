"""Providers with limits of every kind, in virtual time, asked through the engine's own client."""

import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, Protocol

import anyio

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine.books import Books
from audiocapbench.engine.limiter import Limiter
from audiocapbench.engine.outage import Outage
from audiocapbench.engine.retrying_client import RetryingClient, RetryPolicy
from audiocapbench.engine.workers import WorkerPool
from audiocapbench.errors import TransientError
from audiocapbench.models import AudioContract, Question
from audiocapbench.store import Store


class Limit(Protocol):
    """What a provider allows."""

    def admit(self, now: float, in_flight: int) -> bool: ...


@dataclass
class TokenBucket:
    """So many a second, and a burst that piles up while nobody asks."""

    rate: float
    burst: float
    tokens: float = 1.0
    filled: float = 0.0

    def admit(self, now: float, in_flight: int) -> bool:
        self.tokens = min(self.burst, self.tokens + (now - self.filled) * self.rate)
        self.filled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


@dataclass
class FixedWindow:
    """So many in each second or minute of the clock."""

    count: int
    seconds: float
    window: int = -1
    used: int = 0

    def admit(self, now: float, in_flight: int) -> bool:
        window = int(now / self.seconds + 0.37)
        if window != self.window:
            self.window, self.used = window, 0
        self.used += 1
        return self.used <= self.count


@dataclass
class SlidingWindow:
    """So many in any second or minute."""

    count: int
    seconds: float
    times: deque[float] = field(default_factory=deque)

    def admit(self, now: float, in_flight: int) -> bool:
        while self.times and self.times[0] <= now - self.seconds:
            self.times.popleft()
        if len(self.times) >= self.count:
            return False
        self.times.append(now)
        return True


@dataclass
class Places:
    """So many at once."""

    count: int

    def admit(self, now: float, in_flight: int) -> bool:
        return in_flight < self.count


@dataclass
class SimulatedModel:
    """A model behind a limit.

    Attributes:
        latency: Draws the seconds that an answer takes.
        wire_s: How long a question is on its way; a refusal is looked into as often.
        away: From when until when nobody is there, in seconds since the beginning.
    """

    limit: Limit
    latency: Callable[[random.Random], float] = lambda draw: draw.uniform(0.3, 1.5)
    retry_after_s: float | None = None
    wire_s: float = 0.005
    away: tuple[float, float] = (0.0, 0.0)
    name: str = "simulated"
    contract: AudioContract = field(default_factory=lambda: AudioContract("none"))
    parameters: Mapping[str, str] = field(default_factory=dict)
    cacheable: bool = False
    concurrency: int = 1000
    draw: random.Random = field(default_factory=lambda: random.Random(1))
    begun: float = 0.0
    in_flight: int = 0
    asked: list[float] = field(default_factory=list)
    accepted: list[float] = field(default_factory=list)

    @property
    def now(self) -> float:
        return anyio.current_time() - self.begun

    async def answer(self, question: Question) -> Reply:
        await anyio.sleep(self.wire_s * self.draw.uniform(1, 2))
        self.asked.append(self.now)
        if self.away[0] <= self.now < self.away[1]:
            raise TransientError("nobody is there", unreachable=True)
        if not self.limit.admit(self.now, self.in_flight):
            await anyio.sleep(self.wire_s)
            raise TransientError("slow down", throttled=True, retry_after_s=self.retry_after_s)
        self.accepted.append(self.now)
        self.in_flight += 1
        try:
            await anyio.sleep(self.latency(self.draw))
        finally:
            self.in_flight -= 1
        await anyio.sleep(self.wire_s)
        return Reply("A tone.")


class Figures(NamedTuple):
    """How a run went: seconds, and the share of requests refused."""

    seconds: float
    refused: float
    pool: WorkerPool
    replies: list[Reply]
    notes: list[str]

    @property
    def answered(self) -> int:
        return sum(one.status is Status.OK for one in self.replies)


@cache
def _empty_store() -> Store:
    """One for all: without a cache there is nothing to look up, and nothing is written."""
    return Store.open("sqlite://")


async def ask_all(
    model: SimulatedModel, questions: int = 600, retry: RetryPolicy | None = None
) -> Figures:
    """Ask so many questions as a run does."""
    pool, retry = WorkerPool(lambda: None), retry or RetryPolicy()
    notes: list[str] = []
    outage = Outage(retry.unreachable_s, retry.outage_s)
    limiter = Limiter(model.concurrency, outage=outage, note=notes.append)
    client = RetryingClient(
        model,
        _empty_store(),
        limiter,
        retry,
        Books(),
        None,
        use_cache=False,
        stopping=pool.stopping,
        draw=random.Random(2),
    )
    replies: list[Reply] = []

    async def ask(number: int) -> None:
        asked = await client.ask_question(Question(str(number), "What is heard?", None))
        if asked is not None:
            replies.append(asked.outcome.reply)

    numbers = iter(range(questions))

    async def next_number() -> int | None:
        return next(numbers, None)

    model.begun = anyio.current_time()
    await pool.share(next_number, limiter, ask)
    refused = 1 - len(model.accepted) / len(model.asked)
    return Figures(model.now, refused, pool, replies, notes)
