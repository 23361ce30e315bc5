"""The door that every question to a model passes: how many are in flight and how soon one starts.

It believes in a rate (``learned_rate``), which it finds out, and in a number of places, which is
what the user allows unless refusals or slow answers say otherwise. Limits that the user knows, or
that the answers tell, hold beside what is learned. When the provider asks to be left alone, the
door is closed to everybody until then; when it cannot be reached (``outage``), one question at a
time tries again.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from audiocapbench.engine.learned_rate import LearnedRate, Start
from audiocapbench.engine.outage import Outage, in_seconds
from audiocapbench.errors import TransientError
from audiocapbench.models.announced_limit import AnnouncedLimit

_COMPARED, _FEWEST = 100, 30
_HIGH = 0.9
_EVIDENCE = 4
_CONTRADICTION = 0.7
_FIRST_TRY, _LAST_TRY = 50, 800
_SLOW, _SMOOTHING, _RECOVERY = 2.5, 0.05, 0.25
_NEVER_SLOWED = 8


@dataclass(slots=True)
class ConcurrencyEstimator:
    """Questions that may be in flight.

    Attributes:
        most: Never more than these.
        limit: What the provider is believed to allow; None where it does not seem to count.
    """

    most: int
    limit: float | None = None
    _allowed: float = field(init=False)
    _answered: deque[int] = field(default_factory=lambda: deque(maxlen=_COMPARED))
    _suspects: list[int] = field(default_factory=list)
    _try_after: int = _FIRST_TRY
    _latency_s: float | None = None
    _best_s: float = float("inf")

    def __post_init__(self) -> None:
        self._allowed = float(self.most)

    @property
    def now(self) -> int:
        """Places at this moment."""
        return max(1, int(min(self._allowed, self.limit or self.most)))

    def answered(self, start: Start, latency_s: float) -> None:
        """A question was answered after so many seconds."""
        self._answered.append(start.beside)
        if self._slowing(latency_s):
            self._allowed = max(1.0, self._allowed / 2)
        else:
            self._allowed = min(self.most, self._allowed + _RECOVERY)
        if self.limit is not None and start.beside + 1 >= int(self.limit):
            self.limit = min(self.most, self.limit + 1 / self._try_after)

    def refused(self, start: Start) -> bool:
        """The first question after others was refused; whether that is for want of places."""
        if self.limit is not None:
            if start.beside < _CONTRADICTION * self.limit:
                self.limit, self._try_after = None, _FIRST_TRY
                return False
            self.limit = max(1.0, min(int(self.limit), start.beside))
            self._try_after = min(_LAST_TRY, 2 * self._try_after)
            return True
        seen = sorted(self._answered)
        if len(seen) < _FEWEST or start.beside <= seen[int(_HIGH * len(seen))]:
            self._suspects.clear()
            return False
        self._suspects.append(start.beside)
        if len(self._suspects) < _EVIDENCE:
            return False
        self.limit = float(max(1, min(self._suspects)))
        self._suspects.clear()
        return True

    def _slowing(self, latency_s: float) -> bool:
        """Whether answers take far longer than they once did, smoothed over many."""
        before = self._latency_s
        smooth = latency_s if before is None else before + _SMOOTHING * (latency_s - before)
        self._latency_s, self._best_s = smooth, min(self._best_s, smooth)
        if smooth <= _SLOW * self._best_s or self._allowed <= _NEVER_SLOWED:
            return False
        self._best_s = smooth
        return True


_SLOWEST, _FASTEST = 1 / 15, 2000.0
_SURE, _UNSURE, _ENOUGH = 1.1, 5, 10
_ROUNDED, _ROUNDED_S = 0.01, 0.001
_SPARE_S = 0.03


@dataclass(slots=True)
class AnnouncedRate:
    """Requests that are left, by the answers and by what was asked since."""

    _low: float = _SLOWEST
    _high: float = _FASTEST
    _limit: int = 0
    _left: float = 0.0
    _at: float = 0.0
    _first_at: float | None = None
    _first_left: int = 0
    _last_at: float = float("-inf")
    _let_in: int = 0

    @property
    def is_believed(self) -> bool:
        """Whether the answers agree, and well enough to go by."""
        return self._let_in >= _ENOUGH and self._low <= self._high <= _SURE * self._low

    def told(self, said: AnnouncedLimit, asked_at: float, asked_since: int, now: float) -> None:
        """An answer said this of when it was asked for; others were asked since then."""
        used, slack_s = said.limit - said.remaining, _ROUNDED_S + _ROUNDED * said.reset_s
        self._low = max(self._low, (used - 1) / (said.reset_s + slack_s))
        if said.reset_s > slack_s:
            self._high = min(self._high, (used + 1) / (said.reset_s - slack_s))
        added = self._rate * (now - asked_at)
        self._limit, self._at = said.limit, now
        self._left = max(0.0, min(said.limit, said.remaining + added - asked_since))
        if self._first_at is None:
            self._first_at, self._first_left = asked_at, said.remaining
        self._let_in += asked_at > self._first_at
        self._last_at = max(self._last_at, asked_at)
        at_most = self._first_left + self._high * (self._last_at - self._first_at)
        if self._let_in > _SURE * at_most + _UNSURE:
            self._low = float("inf")  # more were let in than there could be

    @property
    def _rate(self) -> float:
        return (self._low + self._high) / 2

    def started(self) -> None:
        """One more is asked."""
        self._left -= 1

    def refused(self) -> None:
        """One that was asked was not let in."""
        self._left += 1

    def opens_at(self, now: float) -> float:
        """When there is one left to ask, and a little more, as not all are equally fast."""
        if not self.is_believed:
            return now
        rate = self._rate
        left = min(self._limit, self._left + rate * (now - self._at))
        wanted = 1 + min(1 + _SPARE_S * rate, self._limit / 2)
        return now + max(0.0, wanted - left) / rate


_AHEAD = 16
_UNSTORED = 256  # answers that cost nothing may wait together to be stored
_CATCH_UP_S = 0.1
_FOR_WANT_OF_PLACES = 2
_WORTH_SAYING_S = 10.0
_SHORT_S, _IN_VAIN = 2.0, 3


@dataclass(slots=True)
class Limiter:
    """One for each model; every attempt passes through it.

    Attributes:
        most: Questions in flight at any time.
        requests_per_minute: Known limit on requests; None to learn it.
        tokens_per_minute: Known limit on tokens, as estimated before asking.
        outage: What is known of a provider that cannot be reached.
        note: Told in words when all have to wait.
        clock: Seconds that only go forward; replaced in tests.
        is_local: Whether the model answers here: it refuses nothing, and a full queue is no
            slowness, so that there is nothing to learn.
    """

    most: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    outage: Outage = field(default_factory=Outage)
    note: Callable[[str], None] = lambda _words: None
    clock: Callable[[], float] = anyio.current_time
    is_local: bool = False
    in_flight: int = field(init=False, default=0)
    resting: int = field(init=False, default=0)
    alive: int = field(init=False, default=0)
    storing: int = field(init=False, default=0)
    rate: LearnedRate = field(init=False, default_factory=LearnedRate)
    places: ConcurrencyEstimator = field(init=False)
    last_answer: float = field(init=False, default=float("-inf"))
    _said: set[str] = field(init=False, default_factory=set)
    _announced: AnnouncedRate = field(init=False, default_factory=AnnouncedRate)
    _started: int = field(init=False, default=0)
    _last_due: float = field(init=False, default=float("-inf"))
    _known_gap_s: float = field(init=False, default=0.0)
    _closed_until: float = field(init=False, default=float("-inf"))
    _door: anyio.Lock = field(init=False, default_factory=anyio.Lock)
    _changed: anyio.Event | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.places = ConcurrencyEstimator(self.most)

    def allow(self, most: int) -> None:
        """Whoever answers takes more or fewer at once than before."""
        if most != self.most:
            self.most = most
            self.places = ConcurrencyEstimator(most)
            self._wake()

    async def ready(self) -> None:
        """Wait until another question is worth preparing, so that no more audio is held."""
        while self.alive - self._past_preparing >= min(_AHEAD, self._places):
            await self._change()
        self.alive += 1

    @property
    def _past_preparing(self) -> int:
        return self.in_flight + self.resting + self.storing

    def done(self) -> None:
        """A question that was prepared is answered or given up."""
        self.alive -= 1
        self._wake()

    @contextmanager
    def until_stored(self) -> Iterator[None]:
        """An answer that is not stored yet counts as in flight: it would be lost as well."""
        self.storing += 1
        try:
            yield
        finally:
            self.storing -= 1
            self._wake()

    async def enter(self, stopping: anyio.Event, tokens: int = 0) -> Start | None:
        """Wait, in the order of coming, for a place and the time to start; None when stopping."""
        async with self._door:
            held_back = False
            while not stopping.is_set():
                now = self.clock()
                due = self._due(now)
                opens = max(self._closed_until, self._announced.opens_at(now))
                unstored = self.storing - (_UNSTORED if self.is_local else 0)
                if self.in_flight >= self._places or self.in_flight + unstored >= self.most:
                    await self._change()
                elif max(due, opens) > now:
                    held_back = held_back or due > now
                    await _pause(min(max(due, opens) - now, self.rate.certain_for_s), stopping)
                else:
                    return self._start(now, due, tokens, held_back=held_back)
        return None

    async def rest(self, seconds: float, stopping: anyio.Event) -> None:
        """Wait before another attempt; meanwhile another question may take the place."""
        self.resting += 1
        self._wake()
        try:
            await _pause(seconds, stopping)
        finally:
            self.resting -= 1

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        self._wake()

    def answered(self, start: Start, said: AnnouncedLimit | None = None) -> None:
        """An answer came, and may have said how many more the provider would take."""
        now = self.clock()
        latency_s = now - start.at
        self.last_answer = now
        if self.is_local:
            return
        self._said.discard("wait")
        if said is not None:
            self._announced.told(said, start.at, self._started - start.number - 1, now)
        self.outage.answered(start)
        self.rate.answered(latency_s)
        self.places.answered(start, latency_s)

    def refused(self, start: Start, problem: TransientError, patience_s: float) -> None:
        """The provider said that it is asked too much.

        All wait for as long as it says, but not for longer than one question's patience. A short
        wait is that of the refused question alone, until nothing is let in any more.

        Raises:
            FatalError: It asks for more patience than any question has, or lets nothing in.
        """
        now, closed_s = self.clock(), problem.retry_after_s or 0.0
        if closed_s > patience_s:
            words = f"it asks to wait {in_seconds(closed_s)}, longer than a question may take"
            self._say("too late", f"{problem}; {words}")
            closed_s = 0.0
            self.outage.too_late(problem)
        elif closed_s >= _WORTH_SAYING_S and now + closed_s > self._closed_until + 1:
            self._say("wait", f"{problem}; all wait for {in_seconds(closed_s)}, as it asks")
        vain = self.outage.refused(start, now, problem)
        if vain is not None:
            self._say("vain", vain)
        self._announced.refused()
        first = self.rate.refused(start, now, closed_s)
        if closed_s <= _SHORT_S and self.rate.in_a_row < _IN_VAIN:
            # Whoever limits the rate says so of the question; others are still let in meanwhile.
            closed_s = 0.0
        self._closed_until = max(self._closed_until, now + closed_s)
        if not first:
            if self.rate.in_a_row > _FOR_WANT_OF_PLACES:
                self.places.limit = None
        elif self.places.refused(start):
            self.rate.let_go(start)
        else:
            self.rate.step_back(start, closed_s)

    def _say(self, kind: str, words: str) -> None:
        """Say what of its kind was not said yet; waits are worth saying again after an answer."""
        if not self._said & {kind, words}:
            self._said |= {kind, words}
            self.note(words)

    def unreachable(self, start: Start, problem: TransientError) -> bool:
        """Whether a failed question is the provider's outage, for which all wait.

        Raises:
            FatalError: It was waited for long enough.
        """
        known = self.outage.active
        if problem.unreachable:
            self.outage.unreachable(start, self.clock(), problem)
        if not self.outage.active:
            return False
        if not known:
            self.note(f"{problem}; all wait while one question at a time tries again")
        self._closed_until = max(self._closed_until, self.clock() + self.outage.pause_s)
        return problem.unreachable

    @property
    def _places(self) -> int:
        return 1 if self.outage.active else self.places.now

    def _due(self, now: float) -> float:
        """When the next question may start, by the rate that is believed in now."""
        gap_s = 0.0 if self.is_local else 1 / self.rate.at(now)
        return self._last_due + max(gap_s, self._known_gap_s)

    def _start(self, now: float, due: float, tokens: int, *, held_back: bool) -> Start:
        start = Start(now, self.rate.at(now), self.in_flight, self._started)
        self._started += 1
        self._announced.started()
        self.rate.started(start, held_back=held_back)
        # A start that comes late, because the machine is busy, is made up for.
        steady = self._last_due > 0 and not self.rate.in_a_row
        self._last_due = max(due, now - _CATCH_UP_S, self._closed_until) if steady else now
        requests, tokens_a_minute = self.requests_per_minute, self.tokens_per_minute
        self._known_gap_s = max(
            60 / requests if requests else 0.0,
            60 * tokens / tokens_a_minute if tokens_a_minute else 0.0,
        )
        self.in_flight += 1
        self._wake()
        return start

    async def _change(self) -> None:
        self._changed = self._changed or anyio.Event()
        await self._changed.wait()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None


async def _pause(seconds: float, stopping: anyio.Event) -> None:
    with anyio.move_on_after(seconds):
        await stopping.wait()
