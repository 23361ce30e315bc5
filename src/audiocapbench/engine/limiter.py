"""The door that every question to a model passes: how many are in flight and how soon one starts.

It goes by what is learned of the provider, a rate and a number of places, and by limits that the
user knows. When the provider asks to be left alone, the door is closed to
everybody until then; when it cannot be reached, one question at a time tries again.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf

import anyio

from audiocapbench.engine.outage import Outage
from audiocapbench.errors import TransientError

FIRST_RATE = 25.0  # starts a second before anything is known
DOUBLING_S = 0.22  # seconds of holding questions back after which that rate doubles
FASTEST, SLOWEST = 2000.0, 1 / 15  # starts a second that are believed in, at most and at least
MEMORY_S = 120.0  # starts are remembered for two of the minutes that limits are counted by
MOST_REMEMBERED = 20_000  # starts that are remembered, so that memory is bounded
MARGIN = 0.03  # share by which the rate stays below what is believed, and then tries more
BETWEEN = 0.4  # where the limit is believed to lie between what was let in and what was refused
STEP_BACK = 0.5  # what a refusal leaves of the rate at least
SLOWER = 0.6  # what each further refusal in a row leaves of it
SOONEST_TRY_S, LATER_TRY_S = 0.25, 10.0  # seconds of pressure after which more is tried
CLOSED_WORTH = 10.0  # the same for each second that a refusal closes the door
DROUGHT_S = 2.0  # nothing let in for longer: what a minute allows was used up
DROUGHT_WORTH = 30.0  # seconds of pressure after which more is tried, for each second of it
VAIN_APART_S = 0.05  # least time between questions in vain, where the provider names a wait
AT_ONCE_S = 0.1  # whoever answers this fast need not be approached slowly
FIRST_DELAY_S, DELAY_WEIGHT = 0.05, 0.2  # how soon a refusal comes: first guess, weight of the next
MOMENT_S = 0.02  # what the clock and the event loop may be late by


@dataclass(slots=True, eq=False)
class Start:
    """A question on its way; ``beside`` others are in flight."""

    at: float
    rate: float
    beside: int
    refused: bool = False


class LearnedRate:
    """Starts a second that a provider allows; ``level`` is None until something is refused.

    The rate doubles until then. From then on, the limit lies between what was let in from one
    refusal to the next and the rate at which it refuses. The rate stays a little below that, and
    tries more; refusals ``in_a_row`` slow it down until something is let in again.
    """

    def __init__(self) -> None:
        self.level: float | None = None
        self.in_a_row = 0
        self._starts: deque[Start] = deque()
        self._changed, self.dry_since, self._pressed_s = -inf, 0.0, 0.0
        self._slowest, self._try_after_s, self._delay_s = SLOWEST, SOONEST_TRY_S, FIRST_DELAY_S

    @property
    def certain_for_s(self) -> float:
        """How long to go by what is believed before asking again."""
        return max(MOMENT_S, self._delay_s) if self.in_a_row else inf

    def at(self, now: float) -> float:
        if self.level is None:
            return min(FASTEST, FIRST_RATE * 2 ** min(30.0, self._pressed_s / DOUBLING_S))
        if self.in_a_row:
            self._look_for_an_end(now)
        more = MARGIN * (self._pressed_s / self._try_after_s) ** 3  # late, and then soon
        rate = self.level * (1 - MARGIN + more) * SLOWER**self.in_a_row
        return min(FASTEST, max(self._slowest, rate))

    def started(self, start: Start, *, held_back: bool) -> None:
        """A question started; the rate rises only while it holds questions back."""
        if held_back and not self.in_a_row:
            self._pressed_s += 1 / start.rate
        self._starts.append(start)
        while self._starts[0].at < start.at - MEMORY_S or len(self._starts) > MOST_REMEMBERED:
            self._starts.popleft()

    def answered(self, latency_s: float) -> None:
        if self.level is None and latency_s < AT_ONCE_S:
            self._pressed_s += DOUBLING_S

    def refused(self, start: Start, now: float, closed_s: float) -> bool:
        """Whether a refusal is the first since something was let in."""
        start.refused = True
        self._slowest = max(SLOWEST, 1 / max(VAIN_APART_S, 3 * closed_s)) if closed_s else SLOWEST
        self._delay_s += DELAY_WEIGHT * (now - start.at - self._delay_s)
        if start.at <= self._changed:
            return False  # it had started before the last step back
        self._changed = now
        self.in_a_row += 1
        return self.in_a_row == 1

    def step_back(self, start: Start, closed_s: float) -> None:
        """A question was refused for the rate, and everybody has to wait for so many seconds."""
        before = (earlier.at for earlier in self._starts if earlier.refused)
        since = next((at for at in before if at < start.at), self._starts[0].at)
        let_in = sum(since < other.at < start.at and not other.refused for other in self._starts)
        span_s = max(start.at - since, 1 / start.rate)
        measured = min(start.rate, (let_in + 1) / span_s)
        level = measured + (0.0 if closed_s else BETWEEN) * (start.rate - measured)
        self.level = max(SLOWEST, start.rate * STEP_BACK, level)
        try_after_s = min(LATER_TRY_S, start.at - since)
        self._try_after_s = max(SOONEST_TRY_S, try_after_s, CLOSED_WORTH * closed_s)
        self._pressed_s, self.dry_since = 0.0, start.at + closed_s

    def _look_for_an_end(self, now: float) -> None:
        """See whether something got through since: what is refused is refused soon."""
        since, known = self.dry_since, now - 2 * self._delay_s - MOMENT_S
        through = (one.at for one in self._starts if since < one.at < known and not one.refused)
        dry_s = next(through, -inf) - since
        if dry_s < 0:
            return
        if dry_s > DROUGHT_S:
            let_in = sum(not one.refused for one in self._starts)
            self.level = let_in / (now - self._starts[0].at)
            self._try_after_s = max(self._try_after_s, DROUGHT_WORTH * dry_s)
        self.in_a_row = 0


COMPARED, FEWEST_COMPARED = 100, 30  # answers that a refusal is held against, and enough of them
CROWDED = 0.9  # share of these that were asked beside fewer than a refused question
EVIDENCE = 4  # refusals in a row in a crowd after which places are believed to be counted
CONTRADICTION = 0.7  # share of the places below which a refusal has another reason
FIRST_TRY, LAST_TRY = 50, 800  # answers at the limit before another place is tried
SLOW, LATENCY_WEIGHT = 2.5, 0.05  # answers that take as many times longer are slow; smoothing
RECOVERY = 0.25  # places that come back with each answer that is not
NEVER_SLOWED = 8  # places that slow answers do not take away


class ConcurrencyEstimator:
    """Questions that may be in flight, at ``most``; ``limit`` where the provider seems to count."""

    def __init__(self, most: int) -> None:
        self.most, self._allowed = most, float(most)
        self.limit: float | None = None
        self._answered: deque[int] = deque(maxlen=COMPARED)
        self._suspects: list[int] = []
        self._try_after = FIRST_TRY
        self._latency_s: float | None = None
        self._best_s = inf

    @property
    def now(self) -> int:
        return max(1, int(min(self._allowed, self.limit or self.most)))

    def answered(self, start: Start, latency_s: float) -> None:
        self._answered.append(start.beside)
        before = latency_s if self._latency_s is None else self._latency_s
        self._latency_s = smooth = before + LATENCY_WEIGHT * (latency_s - before)
        self._best_s = min(self._best_s, smooth)
        if smooth > SLOW * self._best_s and self._allowed > NEVER_SLOWED:
            self._best_s, self._allowed = smooth, self._allowed / 2
        else:
            self._allowed = min(self.most, self._allowed + RECOVERY)
        if self.limit is not None and start.beside + 1 >= int(self.limit):
            self.limit = min(self.most, self.limit + 1 / self._try_after)

    def refused(self, start: Start) -> bool:
        """The first question after others was refused; whether that is for want of places."""
        if self.limit is not None:
            if start.beside < CONTRADICTION * self.limit:
                self.limit, self._try_after = None, FIRST_TRY
                return False
            self.limit = max(1.0, min(int(self.limit), start.beside))
            self._try_after = min(LAST_TRY, 2 * self._try_after)
            return True
        seen = sorted(self._answered)
        if len(seen) < FEWEST_COMPARED or start.beside <= seen[int(CROWDED * len(seen))]:
            self._suspects.clear()
            return False
        self._suspects.append(start.beside)
        if len(self._suspects) < EVIDENCE:
            return False
        self.limit = float(max(1, min(self._suspects)))
        self._suspects.clear()
        return True


AHEAD = 16  # questions that are prepared before their turn, so that little audio is held
MOST_UNSTORED = 256  # free answers that may wait to be stored; paid ones count as in flight
CATCH_UP_S = 0.1  # a start that the machine delayed by less is made up for
REFUSED_FOR_RATE = 2  # refusals in a row beyond which places are not the reason
WAIT_WORTH_SAYING_S = 10.0  # a shorter wait is not told of
SHORT_WAIT_S, REFUSED_IN_VAIN = 2.0, 3  # a short wait closes the door after so many refusals only


class Limiter:
    """One for each model; every attempt passes through it, and ``note`` is told when all wait."""

    def __init__(
        self,
        most: int = 64,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        outage: Outage | None = None,
        note: Callable[[str], None] = lambda _words: None,
        is_local: bool = False,  # refuses nothing, and its full queue is no slowness
    ) -> None:
        self.most, self.is_local, self._note = most, is_local, note
        self._request_s = 60 / (requests_per_minute or inf)
        self._token_s = 60 / (tokens_per_minute or inf)
        self.in_flight = self.resting = self.alive = self.storing = 0
        self._outage, self._places = outage or Outage(), ConcurrencyEstimator(most)
        self._rate, self._said = LearnedRate(), set[str]()
        self.last_answer = self._last_due = self._closed_until = -inf
        self._known_gap_s = 0.0
        self._door = anyio.Lock()
        self._changed: anyio.Event | None = None

    def allow(self, most: int) -> None:
        if most != self.most:
            self.most = most
            self._places = ConcurrencyEstimator(most)
            self._wake()

    async def ready(self) -> None:
        """Wait until another question is worth preparing, so that no more audio is held."""
        while self.alive - self.in_flight - self.resting - self.storing >= min(AHEAD, self.allowed):
            await self._change()
        self.alive += 1

    def done(self) -> None:
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
                now = anyio.current_time()
                gap_s = 0.0 if self.is_local else 1 / self._rate.at(now)
                due = self._last_due + max(gap_s, self._known_gap_s)
                opens = max(due, self._closed_until)
                unstored = self.storing - (MOST_UNSTORED if self.is_local else 0)
                if self.in_flight >= self.allowed or self.in_flight + unstored >= self.most:
                    await self._change()
                elif opens > now:
                    held_back = held_back or due > now
                    with anyio.move_on_after(min(opens - now, self._rate.certain_for_s)):
                        await stopping.wait()
                else:
                    start = Start(now, self._rate.at(now), self.in_flight)
                    self._rate.started(start, held_back=held_back)
                    steady = self._last_due > 0 and not self._rate.in_a_row
                    came = max(due, now - CATCH_UP_S, self._closed_until)
                    self._last_due = came if steady else now
                    self._known_gap_s = max(self._request_s, tokens * self._token_s)
                    self.in_flight += 1
                    self._wake()
                    return start
        return None

    async def rest(self, seconds: float, stopping: anyio.Event) -> None:
        """Wait before another attempt; meanwhile another question may take the place."""
        self.resting += 1
        self._wake()
        try:
            with anyio.move_on_after(seconds):
                await stopping.wait()
        finally:
            self.resting -= 1

    def leave(self) -> None:
        self.in_flight -= 1
        self._wake()

    def answered(self, start: Start) -> None:
        self.last_answer = now = anyio.current_time()
        if self.is_local:
            return
        self._said.discard("wait")
        self._outage.answered(start.at)
        self._rate.answered(now - start.at)
        self._places.answered(start, now - start.at)

    def refused(self, start: Start, problem: TransientError, patience_s: float) -> None:
        """All wait for as long as the provider says; FatalError where there is no use in asking."""
        now, closed_s = anyio.current_time(), problem.retry_after_s or 0.0
        if closed_s > patience_s:
            said = f"{problem}; it asks to wait {closed_s:,.12g} s, longer than a question may take"
            self._say("too late", said)
            self._outage.asked_to_wait(said)
            closed_s = 0.0
        elif closed_s >= WAIT_WORTH_SAYING_S and now + closed_s > self._closed_until + 1:
            self._say("wait", f"{problem}; all wait for {closed_s:,.12g} s, as it asks")
        if (vain := self._outage.refused(start.at, now, problem)) is not None:
            self._say("vain", vain)
        first = self._rate.refused(start, now, closed_s)
        if closed_s <= SHORT_WAIT_S and self._rate.in_a_row < REFUSED_IN_VAIN:
            # Whoever limits the rate says so of the question; others are still let in meanwhile.
            closed_s = 0.0
        self._closed_until = max(self._closed_until, now + closed_s)
        if not first:
            if self._rate.in_a_row > REFUSED_FOR_RATE:
                self._places.limit = None
        elif self._places.refused(start):
            self._rate.dry_since = start.at  # the rate was not the reason
        else:
            self._rate.step_back(start, closed_s)

    def _say(self, kind: str, words: str) -> None:
        """Say what of its kind was not said yet; waits are worth saying again after an answer."""
        if not self._said & {kind, words}:
            self._said |= {kind, words}
            self._note(words)

    def unreachable(self, start: Start, problem: TransientError) -> bool:
        """Whether a failure is the provider's outage, for which all wait, up to a FatalError."""
        known = self._outage.active
        if problem.unreachable:
            self._outage.unreachable(start.at, anyio.current_time(), problem)
        if not self._outage.active:
            return False
        if not known:
            self._note(f"{problem}; all wait while one question at a time tries again")
        opens = anyio.current_time() + self._outage.pause_s
        self._closed_until = max(self._closed_until, opens)
        return problem.unreachable

    @property
    def allowed(self) -> int:
        return 1 if self._outage.active else self._places.now

    async def _change(self) -> None:
        self._changed = self._changed or anyio.Event()
        await self._changed.wait()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None
