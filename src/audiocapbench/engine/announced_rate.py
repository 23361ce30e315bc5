"""What a provider's answers say of its limit, believed as long as no two of them disagree.

An answer of a provider that fills a bucket of requests says how many are left and when all are
there again: together, how fast it fills, to within one request. Where all answers agree on that,
nobody needs to be refused to find out. A window that opens anew contradicts itself soon, and then
nothing is believed.
"""

from dataclasses import dataclass

from audiocapbench.models.announced_limit import AnnouncedLimit

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
