"""How many questions a second a provider lets through, learned from those that it refuses.

Nobody knows the limit beforehand: the rate doubles every fifth of a second until something is
refused. From then on two facts bound the limit. Between two refusals a provider lets in at most
what it allows, whatever burst it forgives; and it does not allow for long the rate at which it
refuses.
The truth lies between them: how near to which end is learned by trying. The rate stays a little
below what is believed, and tries ever more rarely whether there is more: the surer it is and the
dearer a refusal, the later. Refusals in a row slow it down until something is let in again.
"""

from collections import deque
from dataclasses import dataclass, field

_FIRST, _DOUBLING_S = 25.0, 0.22
_FASTEST, _SLOWEST = 2000.0, 1 / 15
_MEMORY_S, _REMEMBERED = 120.0, 20_000
_MARGIN = 0.03
_BOLDEST, _WINDOW_S = 0.3, 0.15
_STEP_BACK, _SLOWER = 0.5, 0.6
_SOONEST_S, _SOON_S = 0.25, 10.0
_WORTH, _MOST_WORTH = 10.0, 30.0
_DROUGHT_S = 2.0
_OFTEN_S, _AT_ONCE_S = 0.05, 0.1
_ENOUGH = 3
_FREE, _RECENT_S = 2.0, 10.0


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
    _first_refused: float | None = None
    _changed: float = float("-inf")
    _pressed_s: float = 0.0
    _try_after_s: float = _SOONEST_S
    _boldness: float = _MARGIN
    _trust: float = 0.5
    _episodes: int = 0
    _closed_s: float = 0.0
    _slowest: float = _SLOWEST
    _dry_since: float = 0.0
    _delay_s: float = 0.05

    @property
    def certain_for_s(self) -> float:
        """How long to go by what is believed before asking again."""
        return max(0.02, self._delay_s) if self.in_a_row else float("inf")

    def at(self, now: float) -> float:
        """Starts a second at this moment."""
        if self.in_a_row:
            self._look_for_an_end(now)
        if self.level is None:
            return min(_FASTEST, _FIRST * 2 ** min(30.0, self._pressed_s / _DOUBLING_S))
        more = self._boldness * (self._pressed_s / self._try_after_s) ** 3
        rate = self.level * (1 - _MARGIN + more) * _SLOWER**self.in_a_row
        return min(_FASTEST, max(self._slowest, rate))

    def started(self, start: Start, *, held_back: bool) -> None:
        """A question started; the rate rises only while it holds questions back."""
        if held_back and not self.in_a_row:
            self._pressed_s += 1 / start.rate
        self._starts.append(start)
        while self._starts[0].at < start.at - _MEMORY_S or len(self._starts) > _REMEMBERED:
            self._starts.popleft()

    def answered(self, latency_s: float) -> None:
        """An answer came; whoever answers at once need not be approached slowly."""
        if self.level is None and latency_s < _AT_ONCE_S:
            self._pressed_s += _DOUBLING_S

    def refused(self, start: Start, now: float, closed_s: float) -> bool:
        """A question was refused; whether it is the first since something was let in.

        Whoever says how long to wait is believed: questions in vain are not much further apart.
        """
        start.refused = True
        self._slowest = max(_SLOWEST, 1 / max(_OFTEN_S, 3 * closed_s)) if closed_s else _SLOWEST
        self._delay_s += 0.2 * (now - start.at - self._delay_s)
        if start.at <= self._changed:
            # It had started before the last step back: it adds to what is known, and no more.
            let_in, rate = self._let_in(self._dry_since, start)
            if let_in >= _ENOUGH and self.level is not None:
                self.level = max(_SLOWEST, min(self.level, rate))
            return False
        self._changed = now
        self.in_a_row += 1
        return self.in_a_row == 1

    def step_back(self, start: Start, closed_s: float) -> None:
        """A question was refused for the rate, and everybody has to wait for so many seconds."""
        since = self._baseline(start)
        let_in, measured = self._let_in(since, start)
        span = max(start.at - since, 0.01)
        self._closed_s += closed_s
        self._dry_since = start.at
        self._episodes += 1
        if self._episodes > 1 and let_in >= _ENOUGH:
            lasted = self._pressed_s > 0.5 * self._try_after_s
            self._trust = min(0.9, self._trust * 2) if lasted else max(0.1, self._trust / 2)
        trust = 0.0 if closed_s else self._trust
        level = min(start.rate, measured + trust * max(0.0, start.rate - measured))
        self.level = max(_SLOWEST, start.rate * _STEP_BACK, level)
        unsure = max(1 / (1 + let_in), _WINDOW_S / span)
        self._boldness = max(_MARGIN, min(_BOLDEST, unsure))
        worth = min(_MOST_WORTH, _WORTH * self._episodes)
        self._try_after_s = max(_SOONEST_S, min(_SOON_S, span), worth * closed_s)
        self._pressed_s = 0.0

    def let_go(self, start: Start) -> None:
        """A question was refused for another reason: the rate need not hold it back."""
        self._dry_since = start.at
        recent = sum(one.at > start.at - _RECENT_S and not one.refused for one in self._starts)
        if self.level is not None:
            self.level = max(self.level, _FREE * recent / _RECENT_S)

    def _look_for_an_end(self, now: float) -> None:
        """See whether something got through since: what is refused is refused soon."""
        known = now - 2 * self._delay_s - 0.02
        through = [
            one.at for one in self._starts if self._dry_since < one.at < known and not one.refused
        ]
        if not through or self.level is None:
            return
        dry_s = through[0] - self._dry_since
        if dry_s > _DROUGHT_S:
            # What a minute allows had been used up: over that minute it is known.
            let_in = sum(not one.refused for one in self._starts)
            self.level = let_in / (now - self._starts[0].at)
            self._try_after_s = max(self._try_after_s, _MOST_WORTH * dry_s)
        self.in_a_row = 0

    def _let_in(self, since: float, until: Start) -> tuple[int, float]:
        """How many were let in from one refusal to another, and how many that is a second."""
        let_in = sum(since < one.at < until.at and not one.refused for one in self._starts)
        span = until.at - since - self._closed_s / 2
        return let_in, (let_in + 1) / max(span, 1 / until.rate)

    def _baseline(self, start: Start) -> float:
        """When something was refused first, as far as one remembers; else when all began."""
        first = self._first_refused
        if first is None:
            self._first_refused = start.at
            return self._starts[0].at if self._starts else start.at
        if first < start.at - _MEMORY_S:
            first = next((one.at for one in self._starts if one.refused), start.at)
            self._first_refused, self._closed_s = first, 0.0
        return first
