"""Tells a provider that is gone from one that stumbles: who waits for it, and for how long."""

from dataclasses import dataclass

from audiocapbench.engine.learned_rate import Start
from audiocapbench.errors import FatalError, TransientError

_FAILURES = 3
_LONGEST_S = 4.0
_TOO_LATE = 3


@dataclass(slots=True)
class Outage:
    """What happened since the last answer; one for each model.

    Attributes:
        never_s: Seconds after which a provider that never answered is given up.
        later_s: The same for one that had answered.
    """

    never_s: float = 15.0
    later_s: float = 120.0
    _answers: int = 0
    _failures: int = 0
    _since: float = float("-inf")
    _too_late: int = 0

    @property
    def active(self) -> bool:
        """Whether nobody seems to be there, so that one question at a time is enough."""
        return self._failures >= _FAILURES

    @property
    def pause_s(self) -> float:
        """How long to leave it alone before the next try."""
        return min(_LONGEST_S, 0.5 * 2.0 ** max(0, self._failures - _FAILURES))

    def answered(self, start: Start) -> None:
        """Somebody is there, or was when the question started."""
        self._answers += 1
        self._too_late = 0
        if start.at >= self._since:
            self._failures = 0

    def unreachable(self, start: Start, now: float, problem: TransientError) -> None:
        """Nobody took a question.

        Raises:
            FatalError: It was tried long enough.
        """
        if not self._failures:
            self._since = start.at
        self._failures += 1
        gone_s = now - self._since
        if not self.active or gone_s < (self.later_s if self._answers else self.never_s):
            return
        before = f"after {self._answers} answers" if self._answers else "and never answered"
        raise FatalError(
            f"{problem}; tried {self._failures} times in {gone_s:.0f} s, {before}; check the "
            "address and that the server runs: the same command goes on from here"
        )

    def too_late(self, problem: TransientError) -> None:
        """It asks to be left alone for longer than any question may take.

        Raises:
            FatalError: It does so again and again.
        """
        self._too_late += 1
        if self._too_late >= _TOO_LATE:
            raise FatalError(
                f"{problem}; it asks to be left alone for {problem.retry_after_s:g} s, longer than "
                "a question may take: the same command goes on from here, later"
            )
