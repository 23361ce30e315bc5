"""Tells a provider that is gone from one that stumbles: who waits for it, and for how long."""

from dataclasses import dataclass

from audiocapbench.engine.learned_rate import Start
from audiocapbench.errors import FatalError, TransientError

_FAILURES = 3
_LONGEST_S = 4.0
_TOO_LATE = 3
_WORTH_SAYING_S = 30.0
_REFUSED_NEVER_S, _REFUSED_LATER_S = 300.0, 1800.0


def in_seconds(span_s: float) -> str:
    """A span of time for people, all its digits shown."""
    return f"{span_s:g} s" if span_s < 100_000 else f"{span_s:,.0f} s"


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
    _refused_since: float | None = None

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
        self._refused_since = None
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

    def refused(self, start: Start, now: float, problem: TransientError) -> str | None:
        """It is asked too much, as it says; in words what that means if it says nothing else.

        Raises:
            FatalError: It said nothing else for long enough, also by what it asks for.
        """
        if self._refused_since is None:
            self._refused_since = start.at
        dry_s = now - self._refused_since
        patience_s = _REFUSED_LATER_S if self._answers else _REFUSED_NEVER_S
        words = f"{problem}; it has refused every question for {dry_s:.0f} s"
        if dry_s >= max(patience_s, 3 * (problem.retry_after_s or 0.0)):
            before = f"after {self._answers} answers" if self._answers else "and never answered"
            raise FatalError(f"{words}, {before}: the same command goes on from here, later")
        return f"{words}; it is asked on, but rarely" if dry_s >= _WORTH_SAYING_S else None

    def too_late(self, problem: TransientError) -> None:
        """It asks to be left alone for longer than any question may take.

        Raises:
            FatalError: It does so again and again.
        """
        self._too_late += 1
        if self._too_late >= _TOO_LATE:
            raise FatalError(
                f"{problem}; it asks to be left alone for "
                f"{in_seconds(problem.retry_after_s or 0.0)}, longer than "
                "a question may take: the same command goes on from here, later"
            )
