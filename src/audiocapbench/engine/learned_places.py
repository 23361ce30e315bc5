"""How many questions a provider answers side by side, learned from refusals and slow answers.

A limit on the rate refuses whatever comes too soon; a limit on places refuses only what finds more
in flight than almost all that were answered. Several refusals in a row of that kind, and it is
believed to be one. Answers that take far longer than they once did halve the places for a while.
"""

from collections import deque
from dataclasses import dataclass, field

from audiocapbench.engine.learned_rate import Start

_COMPARED, _FEWEST = 100, 30
_HIGH = 0.9
_EVIDENCE = 4
_CONTRADICTION = 0.7
_FIRST_TRY, _LAST_TRY = 50, 800
_SLOW, _SMOOTHING, _RECOVERY = 2.5, 0.05, 0.25
_NEVER_SLOWED = 8


@dataclass(slots=True)
class LearnedPlaces:
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
