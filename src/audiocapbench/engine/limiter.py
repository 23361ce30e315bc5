"""How many questions are in flight and how fast they start, learned from what the provider says.

In flight, it begins low and doubles in each round of answers until something pushes back. The first
push halves it and sets a pace: the rate at which questions had been let in. From then on the pace
rises while all is well and steps back a little at each refusal; every refusal also makes the next
rise slower, so that it settles just below what the provider allows.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

_WINDOW_S = 1.0
_FASTEST_RISE, _SLOWEST_RISE = 0.2, 0.01
_STEP_BACK = 0.97
_CLOSED_AFTER = 3
_SETTLING_S = 0.5
_SLOWEST = 0.2
_ENOUGH = 8
_SLOW = 2.5
_RECOVERY = 0.25
_SMOOTHING = 0.05


@dataclass(slots=True)
class Limiter:
    """One for each model; every attempt passes through it.

    Attributes:
        start: Questions in flight at the beginning.
        most: Questions in flight at any time.
        requests_per_minute: Known limit on requests; None to learn it.
        tokens_per_minute: Known limit on tokens, as estimated before asking.
        clock: Seconds that only go forward; replaced in tests.
    """

    start: int = 8
    most: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    clock: Callable[[], float] = anyio.current_time
    in_flight: int = field(init=False, default=0)
    resting: int = field(init=False, default=0)
    allowed: float = field(init=False)
    pace: float | None = field(init=False, default=None)
    _next_start: float = field(init=False, default=0.0)
    _closed_until: float = field(init=False, default=0.0)
    _refused_in_a_row: int = field(init=False, default=0)
    _answered_at: float = field(init=False, default=0.0)
    _yielded_at: float = field(init=False, default=0.0)
    _pushed_back: bool = field(init=False, default=False)
    _open: bool = field(init=False, default=False)
    _starts: deque[float] = field(init=False, default_factory=deque)
    _rise: float = field(init=False, default=_FASTEST_RISE)
    _latency: float | None = field(init=False, default=None)
    _best_latency: float | None = field(init=False, default=None)
    _freed: anyio.Event = field(init=False, default_factory=anyio.Event)
    _door: anyio.Lock = field(init=False, default_factory=anyio.Lock)
    _waiting: dict[int, anyio.Event] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.allowed = float(min(self.start, self.most))

    async def turn(self, worker: int) -> None:
        """Wait until so many workers are wanted, so that none holds audio that cannot be sent."""
        while not self._wants(worker):
            await self._waiting.setdefault(worker, anyio.Event()).wait()

    async def rest(self, seconds: float) -> None:
        """Wait before another attempt; meanwhile another worker may take the place."""
        self.resting += 1
        self._wake()
        try:
            await anyio.sleep(seconds)
        finally:
            self.resting -= 1

    def open(self) -> None:
        """Let every waiting worker go: there is nothing more to ask."""
        self._open = True
        self._wake()

    async def enter(self, tokens: int = 0) -> None:
        """Wait for a place in flight and for the time to start, one after the other."""
        async with self._door:
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
            self._forget(now)
            self._starts.append(now)
            self._next_start = max(now, self._next_start) + self._gap(tokens)

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        self._wake()

    def answered(self, latency_s: float) -> None:
        """An answer came: go a little faster, unless answers are getting slow."""
        now = self.clock()
        self._refused_in_a_row = 0
        step = _RECOVERY if self._pushed_back else 1.0
        if self._slowing(latency_s):
            self._halve()
        else:
            self.allowed = min(float(self.most), self.allowed + step)
        if self.pace is not None:
            since = now - max(self._answered_at, self._yielded_at)
            self.pace *= 1 + self._rise * min(1.0, max(0.0, since))
        self._answered_at = now
        self._wake()

    def refused(self, retry_after_s: float | None) -> None:
        """The provider said that it is asked too much."""
        now = self.clock()
        self._refused_in_a_row += 1
        quiet = now - self._answered_at > max(1.0, 2 * (self._latency or 0.0))
        if quiet and self._refused_in_a_row >= _CLOSED_AFTER:
            # Nothing gets through: everybody waits, not only the question that was refused.
            self._closed_until = max(self._closed_until, now + (retry_after_s or 1.0))
        if now - self._yielded_at < _SETTLING_S:
            return
        self._yielded_at = now
        if self.pace is None:
            self.pace = self._rate(now)
            self._halve()
        else:
            self.pace = max(_SLOWEST, self.pace * _STEP_BACK)
            self._rise = max(_SLOWEST_RISE, self._rise / 2)

    def _gap(self, tokens: int) -> float:
        """Seconds until the next start that the known and learned rates allow."""
        gaps = [0.0]
        if self.requests_per_minute:
            gaps.append(60 / self.requests_per_minute)
        if self.tokens_per_minute and tokens:
            gaps.append(60 * tokens / self.tokens_per_minute)
        if self.pace:
            gaps.append(1 / self.pace)
        return max(gaps)

    def _rate(self, now: float) -> float | None:
        """Questions that were let in a second, lately; None where there are too few to tell."""
        self._forget(now)
        return len(self._starts) / _WINDOW_S if len(self._starts) >= _ENOUGH else None

    def _forget(self, now: float) -> None:
        while self._starts and self._starts[0] < now - _WINDOW_S:
            self._starts.popleft()

    def _slowing(self, latency_s: float) -> bool:
        """Whether answers take far longer than they once did, smoothed over many."""
        before = self._latency
        self._latency = latency_s if before is None else before + _SMOOTHING * (latency_s - before)
        if self._best_latency is None or self._latency < self._best_latency:
            self._best_latency = self._latency
        if self._latency > _SLOW * self._best_latency and self.allowed > self.start:
            self._best_latency = self._latency
            return True
        return False

    def _halve(self) -> None:
        self.allowed = max(1.0, self.allowed / 2)
        self._pushed_back = True

    def _wants(self, worker: int) -> bool:
        return self._open or worker <= self.allowed + 1 + self.resting

    def _wake(self) -> None:
        self._freed.set()
        self._freed = anyio.Event()
        for worker in [one for one in self._waiting if self._wants(one)]:
            self._waiting.pop(worker).set()
