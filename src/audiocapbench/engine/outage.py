"""When a provider is given up: nobody is there, nothing is let in, or all questions are refused."""

from collections import Counter
from dataclasses import dataclass, field
from math import inf

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, RefusedQuestionError, TransientError

OUTAGE_FAILURES = 3  # questions in a row that reached nobody: the provider is away
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 4.0  # how long it is left alone between tries
TOO_LATE = 3  # absurd waits in a row after which a provider is given up
REFUSED_NEVER_S, REFUSED_LATER_S = 300.0, 1800.0  # refusing all for so long: given up
REFUSED_WORTH_SAYING_S = 30.0  # the same, to be said
# Questions refused for one reason before any was answered, or one after the other for good, after
# which no other is asked.
MOST_REFUSED = 8

_HEARD = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED, Status.REFUSED})


class Outage:
    """Tells a provider that is gone from one that stumbles; questions are known by their start.

    One that never answered is given up after ``never_s`` seconds, any other after ``later_s``.
    """

    def __init__(self, never_s: float = 15.0, later_s: float = 120.0) -> None:
        self._never_s, self._later_s, self._since = never_s, later_s, -inf
        self._answers = self.failures = self._too_late = 0
        self._refused_since: float | None = None

    @property
    def active(self) -> bool:
        """Whether nobody seems to be there, so that one question at a time is enough."""
        return self.failures >= OUTAGE_FAILURES

    @property
    def pause_s(self) -> float:
        return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (self.failures - OUTAGE_FAILURES))

    @property
    def _before(self) -> str:
        return f"after {self._answers} answers" if self._answers else "and never answered"

    def answered(self, started: float) -> None:
        self._answers += 1
        self._too_late, self._refused_since = 0, None
        if started >= self._since:
            self.failures = 0

    def unreachable(self, started: float, now: float, problem: TransientError) -> None:
        """Nobody took a question; FatalError where it was tried long enough."""
        if not self.failures:
            self._since = started
        self.failures += 1
        gone_s = now - self._since
        if self.active and gone_s >= (self._later_s if self._answers else self._never_s):
            raise FatalError(
                f"{problem}; tried {self.failures} times in {gone_s:.0f} s, {self._before}; check "
                "the address and that the server runs: the same command goes on from here"
            )

    def asked_to_wait(self, words: str) -> None:
        """It asks to wait for longer than a question may take; FatalError where it does so on."""
        self._too_late += 1
        if self._too_late >= TOO_LATE:
            raise FatalError(f"{words}: the same command goes on from here, later")

    def refused(self, started: float, now: float, problem: TransientError) -> str | None:
        """Words where nothing was let in for a while; FatalError where it was for long enough."""
        if self._refused_since is None:
            self._refused_since = started
        dry_s = now - self._refused_since
        patience_s = REFUSED_LATER_S if self._answers else REFUSED_NEVER_S
        words = f"{problem}; it has refused every question for {dry_s:.0f} s"
        if dry_s >= max(patience_s, 3 * (problem.retry_after_s or 0.0)):
            raise FatalError(f"{words}, {self._before}: the same command goes on from here, later")
        return f"{words}; it is asked on, but rarely" if dry_s >= REFUSED_WORTH_SAYING_S else None


@dataclass(slots=True)
class Refusals:
    """What one model has refused so far, and whether it has ``answered`` anything of this run."""

    answered: bool = False
    _counts: Counter[str] = field(default_factory=Counter)
    _in_a_row: int = 0

    def note(self, reply: Reply) -> None:
        """Whoever has answered once refuses questions, not all of them."""
        if reply.status in _HEARD:
            self.answered, self._in_a_row = True, 0

    def failure(self, error: RefusedQuestionError | FatalError) -> Reply:
        """The failure of one question; FatalError where no other will be answered either."""
        if isinstance(error, FatalError):
            # Whoever has answered knows key, model and payment: it may mean this question alone.
            self._in_a_row += 1
            if error.certain or not self.answered:
                raise error
            if self._in_a_row >= MOST_REFUSED:
                raise FatalError(f"{error}; so were the {MOST_REFUSED} last questions, one by one")
        else:
            self._counts[error.kind] += 1
            if not self.answered and self._counts[error.kind] >= MOST_REFUSED:
                how = "answered like this" if error.billed else "refused"
                raise FatalError(f"{error}; the first {MOST_REFUSED} questions were all {how}")
        return unbilled(str(error))


def unbilled(words: str) -> Reply:
    return Reply("", Status.FAILED, words, cost_usd=0.0)
