"""Tells a question that a provider refuses from a provider that refuses every question."""

from collections import Counter
from dataclasses import dataclass, field

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine.bill import unbilled_failure
from audiocapbench.errors import FatalError, RefusedQuestionError

MOST_REFUSED = 8
"""Questions refused for one reason, before any was answered, after which no other is asked.

Also those said to be refused for good, one after the other, after which an earlier answer proves
nothing any more.
"""

_HEARD = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED, Status.REFUSED})


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
        """The failure of one question.

        Raises:
            FatalError: The first questions were all refused like this one, or none is answered.
        """
        if isinstance(error, FatalError):
            return self._doubted(error)
        self._counts[error.reason] += 1
        if not self.answered and self._counts[error.reason] >= MOST_REFUSED:
            how = "answered like this" if error.billed else "refused"
            raise FatalError(f"{error}; the first {MOST_REFUSED} questions were all {how}")
        return unbilled_failure(str(error))

    def _doubted(self, error: FatalError) -> Reply:
        """Whoever has answered knows key, model and payment: it may mean this question alone."""
        self._in_a_row += 1
        if error.certain or not self.answered:
            raise error
        if self._in_a_row >= MOST_REFUSED:
            raise FatalError(f"{error}; so were the {MOST_REFUSED} last questions, one by one")
        return unbilled_failure(str(error))
