"""What a provider allows, learned: a rate, places at once, and what its answers announce.

The rate doubles until something is refused. From then on two facts bound the limit: between two
refusals a provider lets in at most what it allows, whatever burst it forgives; and it does not
allow for long the rate at which it refuses. The truth lies between them, and how near to which end
is learned by trying. The rate stays a little below what is believed, and tries ever more rarely
whether there is more; refusals in a row slow it down until something is let in again.
"""

from collections import deque
from dataclasses import dataclass, field
from math import inf

from audiocapbench.models.announced_limit import AnnouncedLimit

FIRST_RATE = 25.0  # starts a second before anything is known
DOUBLING_S = 0.22  # seconds of holding questions back after which that rate doubles
FASTEST, SLOWEST = 2000.0, 1 / 15  # starts a second that are believed in, at most and at least
MEMORY_S = 120.0  # starts are remembered for two of the minutes that limits are counted by
MOST_REMEMBERED = 20_000  # starts that are remembered, so that memory is bounded
MARGIN = 0.03  # share by which the rate stays below what is believed
BOLDEST_TRY = 0.3  # share above it that is tried where hardly anything is known
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
    """One question on its way.

    Attributes:
        at: When it started.
        rate: Starts a second that were allowed then.
        beside: How many others were in flight then.
        number: How many had started before it.
        refused: Whether the provider was asked too much.
    """

    at: float
    rate: float
    beside: int
    number: int = 0
    refused: bool = False


@dataclass(slots=True)
class LearnedRate:
    """Starts a second that a provider allows.

    Attributes:
        level: What is believed to be allowed; None until something is refused.
        in_a_row: Refusals since something was let in.
    """

    level: float | None = None
    in_a_row: int = 0
    _starts: deque[Start] = field(default_factory=deque)
    _changed: float = -inf
    _pressed_s: float = 0.0
    _try_after_s: float = SOONEST_TRY_S
    _boldness: float = MARGIN
    _slowest: float = SLOWEST
    _dry_since: float = 0.0
    _delay_s: float = FIRST_DELAY_S

    @property
    def certain_for_s(self) -> float:
        """How long to go by what is believed before asking again."""
        return max(MOMENT_S, self._delay_s) if self.in_a_row else inf

    def at(self, now: float) -> float:
        """Starts a second at this moment."""
        if self.in_a_row:
            self._look_for_an_end(now)
        if self.level is None:
            return min(FASTEST, FIRST_RATE * 2 ** min(30.0, self._pressed_s / DOUBLING_S))
        more = self._boldness * (self._pressed_s / self._try_after_s) ** 3  # late, and then soon
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
        """An answer came."""
        if self.level is None and latency_s < AT_ONCE_S:
            self._pressed_s += DOUBLING_S

    def refused(self, start: Start, now: float, closed_s: float) -> bool:
        """A question was refused; whether it is the first since something was let in.

        Whoever says how long to wait is believed: questions in vain are not much further apart.
        """
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
        before = (one.at for one in self._starts if one.refused and one.at < start.at)
        since = next(before, self._starts[0].at if self._starts else start.at)
        let_in = sum(since < one.at < start.at and not one.refused for one in self._starts)
        span_s = max(start.at - since, 1 / start.rate)
        measured = min(start.rate, (let_in + 1) / span_s)
        between = 0.0 if closed_s else BETWEEN
        level = measured + between * (start.rate - measured)
        self.level = max(SLOWEST, start.rate * STEP_BACK, level)
        self._boldness = max(MARGIN, min(BOLDEST_TRY, 1 / (1 + let_in)))
        try_after_s = min(LATER_TRY_S, start.at - since)
        self._try_after_s = max(SOONEST_TRY_S, try_after_s, CLOSED_WORTH * closed_s)
        self._pressed_s, self._dry_since = 0.0, start.at + closed_s

    def let_go(self, start: Start) -> None:
        """A question was refused for another reason: the rate need not hold it back."""
        self._dry_since = start.at

    def _look_for_an_end(self, now: float) -> None:
        """See whether something got through since: what is refused is refused soon."""
        since, known = self._dry_since, now - 2 * self._delay_s - MOMENT_S
        through = (one.at for one in self._starts if since < one.at < known and not one.refused)
        dry_s = next(through, -inf) - since
        if dry_s < 0 or self.level is None:
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
    _answered: deque[int] = field(default_factory=lambda: deque(maxlen=COMPARED))
    _suspects: list[int] = field(default_factory=list)
    _try_after: int = FIRST_TRY
    _latency_s: float | None = None
    _best_s: float = inf

    def __post_init__(self) -> None:
        self._allowed = float(self.most)

    @property
    def now(self) -> int:
        """Places at this moment."""
        return max(1, int(min(self._allowed, self.limit or self.most)))

    def answered(self, start: Start, latency_s: float) -> None:
        """A question was answered after so many seconds."""
        self._answered.append(start.beside)
        before = latency_s if self._latency_s is None else self._latency_s
        self._latency_s = smooth = before + LATENCY_WEIGHT * (latency_s - before)
        self._best_s = min(self._best_s, smooth)
        if smooth > SLOW * self._best_s and self._allowed > NEVER_SLOWED:
            self._best_s = smooth
            self._allowed = max(1.0, self._allowed / 2)
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


SURE = 1.1  # how far the bounds of an announced rate may be apart to go by it
UNSURE, ENOUGH_TOLD = (
    5,
    10,
)  # answers that may be miscounted, and answers after which it is believed
ROUNDED, ROUNDED_S = 0.01, 0.001  # how exact announced times are: a share of them, and seconds
SPARE_S = 0.03  # seconds' worth of requests that are left over, as not all are equally fast


@dataclass(slots=True)
class AnnouncedRate:
    """Requests that are left, by the answers and by what was asked since."""

    _low: float = SLOWEST
    _high: float = FASTEST
    _limit: int = 0
    _left: float = 0.0
    _at: float = 0.0
    _first_at: float | None = None
    _first_left: int = 0
    _last_at: float = -inf
    _let_in: int = 0

    def told(self, said: AnnouncedLimit, asked_at: float, asked_since: int, now: float) -> None:
        """An answer said this of when it was asked for; others were asked since then."""
        used, slack_s = said.limit - said.remaining, ROUNDED_S + ROUNDED * said.reset_s
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
        if self._let_in > SURE * at_most + UNSURE:
            self._low = inf  # more were let in than there could be

    @property
    def _rate(self) -> float:
        return (self._low + self._high) / 2

    def asked(self, count: int) -> None:
        """So many more were asked; fewer, where one was not let in."""
        self._left -= count

    def opens_at(self, now: float) -> float:
        """When there is one left to ask, and a little more; now where the answers disagree."""
        if self._let_in < ENOUGH_TOLD or not self._low <= self._high <= SURE * self._low:
            return now
        rate = self._rate
        left = min(self._limit, self._left + rate * (now - self._at))
        wanted = 1 + min(1 + SPARE_S * rate, self._limit / 2)
        return now + max(0.0, wanted - left) / rate
