"""The door that every question to a model passes: how many are in flight and how soon one starts.

It goes by what is learned of the provider (``learned_limits``): a rate, and a number of places,
which is what the user allows unless refusals or slow answers say otherwise. Limits that the user
knows, or that the answers tell, hold beside that. When the provider asks to be left alone, the door
is closed to everybody until then; when it cannot be reached, one question at a time tries again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf

import anyio

from audiocapbench.engine.learned_limits import (
    AnnouncedRate,
    ConcurrencyEstimator,
    LearnedRate,
    Start,
)
from audiocapbench.errors import FatalError, TransientError
from audiocapbench.models.announced_limit import AnnouncedLimit

OUTAGE_FAILURES = 3  # questions in a row that reached nobody: the provider is away
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 4.0  # how long it is left alone between tries
TOO_LATE = 3  # absurd waits in a row after which a provider is given up
REFUSED_NEVER_S, REFUSED_LATER_S = 300.0, 1800.0  # refusing all for so long: given up
REFUSED_WORTH_SAYING_S = 30.0  # the same, to be said
AHEAD = 16  # questions that are prepared before their turn, so that little audio is held
MOST_UNSTORED = 256  # free answers that may wait to be stored; paid ones count as in flight
CATCH_UP_S = 0.1  # a start that the machine delayed by less is made up for
REFUSED_FOR_RATE = 2  # refusals in a row beyond which places are not the reason
WAIT_WORTH_SAYING_S = 10.0  # a shorter wait is not told of
SHORT_WAIT_S, REFUSED_IN_VAIN = 2.0, 3  # a short wait closes the door after so many refusals only


def in_seconds(span_s: float) -> str:
    """A span of time for people, all its digits shown."""
    return f"{span_s:g} s" if span_s < 100_000 else f"{span_s:,.0f} s"


@dataclass(slots=True)
class Outage:
    """Tells a provider that is gone from one that stumbles, by what happened since the last answer.

    Attributes:
        never_s: Seconds after which a provider that never answered is given up.
        later_s: The same for one that had answered.
    """

    never_s: float = 15.0
    later_s: float = 120.0
    _answers: int = 0
    _failures: int = 0
    _since: float = -inf
    _too_late: int = 0
    _refused_since: float | None = None

    @property
    def active(self) -> bool:
        """Whether nobody seems to be there, so that one question at a time is enough."""
        return self._failures >= OUTAGE_FAILURES

    @property
    def pause_s(self) -> float:
        """How long to leave it alone before the next try."""
        tries = max(0, self._failures - OUTAGE_FAILURES)
        return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0**tries)

    @property
    def _before(self) -> str:
        return f"after {self._answers} answers" if self._answers else "and never answered"

    def answered(self, start: Start) -> None:
        """Somebody is there, or was when the question started."""
        self._answers += 1
        self._too_late, self._refused_since = 0, None
        if start.at >= self._since:
            self._failures = 0

    def unreachable(self, start: Start, now: float, problem: TransientError) -> None:
        """Nobody took a question; FatalError where it was tried long enough."""
        if not self._failures:
            self._since = start.at
        self._failures += 1
        gone_s = now - self._since
        if self.active and gone_s >= (self.later_s if self._answers else self.never_s):
            raise FatalError(
                f"{problem}; tried {self._failures} times in {gone_s:.0f} s, {self._before}; check "
                "the address and that the server runs: the same command goes on from here"
            )

    def refused(self, start: Start, now: float, problem: TransientError) -> str | None:
        """It is asked too much, as it says; in words what that means if it says nothing else.

        Raises:
            FatalError: It said nothing else for long enough, also by what it asks for.
        """
        if self._refused_since is None:
            self._refused_since = start.at
        dry_s = now - self._refused_since
        patience_s = REFUSED_LATER_S if self._answers else REFUSED_NEVER_S
        words = f"{problem}; it has refused every question for {dry_s:.0f} s"
        if dry_s >= max(patience_s, 3 * (problem.retry_after_s or 0.0)):
            raise FatalError(f"{words}, {self._before}: the same command goes on from here, later")
        return f"{words}; it is asked on, but rarely" if dry_s >= REFUSED_WORTH_SAYING_S else None

    def too_late(self, problem: TransientError, wait_s: float) -> None:
        """It asks for more time than any question has; FatalError where it does so repeatedly."""
        self._too_late += 1
        if self._too_late >= TOO_LATE:
            raise FatalError(
                f"{problem}; it asks to be left alone for {in_seconds(wait_s)}, longer than "
                "a question may take: the same command goes on from here, later"
            )


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
    last_answer: float = field(init=False, default=-inf)
    _said: set[str] = field(init=False, default_factory=set)
    _announced: AnnouncedRate = field(init=False, default_factory=AnnouncedRate)
    _started: int = field(init=False, default=0)
    _last_due: float = field(init=False, default=-inf)
    _known_gap_s: float = field(init=False, default=0.0)
    _closed_until: float = field(init=False, default=-inf)
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
        while self.alive - self.in_flight - self.resting - self.storing >= min(AHEAD, self._places):
            await self._change()
        self.alive += 1

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
                gap_s = 0.0 if self.is_local else 1 / self.rate.at(now)
                due = self._last_due + max(gap_s, self._known_gap_s)
                opens = max(due, self._closed_until, self._announced.opens_at(now))
                unstored = self.storing - (MOST_UNSTORED if self.is_local else 0)
                if self.in_flight >= self._places or self.in_flight + unstored >= self.most:
                    await self._change()
                elif opens > now:
                    held_back = held_back or due > now
                    await _pause(min(opens - now, self.rate.certain_for_s), stopping)
                else:
                    return self._start(now, due, tokens, held_back=held_back)
        return None

    def _start(self, now: float, due: float, tokens: int, *, held_back: bool) -> Start:
        start = Start(now, self.rate.at(now), self.in_flight, self._started)
        self._started += 1
        self._announced.asked(1)
        self.rate.started(start, held_back=held_back)
        steady = self._last_due > 0 and not self.rate.in_a_row
        self._last_due = max(due, now - CATCH_UP_S, self._closed_until) if steady else now
        requests, tokens_a_minute = self.requests_per_minute, self.tokens_per_minute
        self._known_gap_s = max(
            60 / requests if requests else 0.0,
            60 * tokens / tokens_a_minute if tokens_a_minute else 0.0,
        )
        self.in_flight += 1
        self._wake()
        return start

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

    def answered(self, start: Start, said: object = None) -> None:
        """An answer came, and may have said how many more the provider would take."""
        self.last_answer = now = self.clock()
        if self.is_local:
            return
        self._said.discard("wait")
        if isinstance(said, AnnouncedLimit):
            self._announced.told(said, start.at, self._started - start.number - 1, now)
        self.outage.answered(start)
        self.rate.answered(now - start.at)
        self.places.answered(start, now - start.at)

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
            self.outage.too_late(problem, closed_s)
            closed_s = 0.0
        elif closed_s >= WAIT_WORTH_SAYING_S and now + closed_s > self._closed_until + 1:
            self._say("wait", f"{problem}; all wait for {in_seconds(closed_s)}, as it asks")
        vain = self.outage.refused(start, now, problem)
        if vain is not None:
            self._say("vain", vain)
        self._announced.asked(-1)
        first = self.rate.refused(start, now, closed_s)
        if closed_s <= SHORT_WAIT_S and self.rate.in_a_row < REFUSED_IN_VAIN:
            # Whoever limits the rate says so of the question; others are still let in meanwhile.
            closed_s = 0.0
        self._closed_until = max(self._closed_until, now + closed_s)
        if not first:
            if self.rate.in_a_row > REFUSED_FOR_RATE:
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
