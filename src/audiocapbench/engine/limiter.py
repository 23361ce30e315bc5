"""How many questions are in flight and how fast they start, learned from what the provider says.

In flight, it begins low and doubles in each round of answers until something pushes back. The first
push halves it and fixes a pace: the rate at which answers were really had. From then on the pace
creeps up while all is well and steps back a little at each refusal, so that a provider's limit is
approached from below and almost never overrun.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

_WINDOW_S = 4.0
_CREEP_PER_S = 0.01
_STEP_BACK = 0.97
_CLOSED_AFTER = 3
_SETTLING_S = 0.5
_SLOWEST = 0.2
_ENOUGH = 8
_SLOW = 2.5
_SMOOTHING = 0.05


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user says about a provider.

    Attributes:
        start: Questions in flight at the beginning.
        most: Questions in flight at any time.
        requests_per_minute: Known limit on requests; None to learn it.
        tokens_per_minute: Known limit on tokens, as estimated before asking.
    """

    start: int = 8
    most: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(slots=True)
class Limiter:
    """One for each model; every attempt passes through it.

    Attributes:
        limits: What the user says.
        clock: Seconds that only go forward; replaced in tests.
    """

    limits: Limits
    clock: Callable[[], float] = anyio.current_time
    in_flight: int = field(init=False, default=0)
    allowed: float = field(init=False)
    pace: float | None = field(init=False, default=None)
    _next_start: float = field(init=False, default=0.0)
    _closed_until: float = field(init=False, default=0.0)
    _refused_in_a_row: int = field(init=False, default=0)
    _last_change: float = field(init=False, default=0.0)
    _pushed_back: bool = field(init=False, default=False)
    _open: bool = field(init=False, default=False)
    _answers: deque[float] = field(init=False, default_factory=deque)
    _latency: float | None = field(init=False, default=None)
    _best_latency: float | None = field(init=False, default=None)
    _freed: anyio.Event = field(init=False, default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self.allowed = float(min(self.limits.start, self.limits.most))

    async def turn(self, worker: int) -> None:
        """Wait until so many workers are wanted, so that none holds audio that cannot be sent."""
        while worker > self.allowed + 1 and not self._open:
            await self._freed.wait()

    def open(self) -> None:
        """Let every waiting worker go: there is nothing more to ask."""
        self._open = True
        self._wake()

    async def enter(self, tokens: int = 0) -> None:
        """Wait for a place in flight and for the time to start."""
        while True:
            now = self.clock()
            start = max(self._next_start, self._closed_until)
            if self.in_flight < int(self.allowed) and start <= now:
                break
            if self.in_flight < int(self.allowed):
                await anyio.sleep(start - now)
            else:
                await self._freed.wait()
        self.in_flight += 1
        self._next_start = max(now, self._next_start) + self._gap(tokens)

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        self._wake()

    def answered(self, latency_s: float) -> None:
        """An answer came: go a little faster, unless answers are getting slow."""
        now = self.clock()
        self._answers.append(now)
        self._refused_in_a_row = 0
        step = 1.0 if not self._pushed_back else 1.0 / max(1.0, self.allowed)
        if self._slowing(latency_s):
            self._halve(now)
        else:
            self.allowed = min(float(self.limits.most), self.allowed + step)
        if self.pace is not None and now > self._last_change:
            self.pace *= 1 + _CREEP_PER_S * min(1.0, now - self._last_change)
            self._last_change = now
        self._wake()

    def refused(self, retry_after_s: float | None) -> None:
        """The provider said that it is asked too much."""
        now = self.clock()
        self._refused_in_a_row += 1
        if self._refused_in_a_row >= _CLOSED_AFTER:
            # Nothing gets through: everybody waits, not only the question that was refused.
            self._closed_until = max(self._closed_until, now + (retry_after_s or 1.0))
        if now - self._last_change < _SETTLING_S:
            return
        if self.pace is None:
            self.pace = self._rate(now)
            self._halve(now)
        else:
            self.pace = max(_SLOWEST, self.pace * _STEP_BACK)
            self._last_change = now

    def _gap(self, tokens: int) -> float:
        """Seconds until the next start that the known and learned rates allow."""
        gaps = [0.0]
        if self.limits.requests_per_minute:
            gaps.append(60 / self.limits.requests_per_minute)
        if self.limits.tokens_per_minute and tokens:
            gaps.append(60 * tokens / self.limits.tokens_per_minute)
        if self.pace:
            gaps.append(1 / self.pace)
        return max(gaps)

    def _rate(self, now: float) -> float | None:
        """Answers a second, lately; None where there are too few to tell."""
        while self._answers and self._answers[0] < now - _WINDOW_S:
            self._answers.popleft()
        if len(self._answers) < _ENOUGH:
            return None
        return max(_SLOWEST, len(self._answers) / max(_SETTLING_S, now - self._answers[0]))

    def _slowing(self, latency_s: float) -> bool:
        """Whether answers take far longer than they once did, smoothed over many."""
        before = self._latency
        self._latency = latency_s if before is None else before + _SMOOTHING * (latency_s - before)
        if self._best_latency is None or self._latency < self._best_latency:
            self._best_latency = self._latency
        if self._latency > _SLOW * self._best_latency and self.allowed > self.limits.start:
            self._best_latency = self._latency
            return True
        return False

    def _halve(self, now: float) -> None:
        self.allowed = max(1.0, self.allowed / 2)
        self._pushed_back = True
        self._last_change = now

    def _wake(self) -> None:
        self._freed.set()
        self._freed = anyio.Event()
