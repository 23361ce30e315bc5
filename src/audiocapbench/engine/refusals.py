"""Tells a question that a provider refuses from a provider that refuses every question."""

from collections import Counter
from dataclasses import dataclass, field

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, RefusedQuestionError

MOST_REFUSED = 8
"""Questions refused for one reason, before any was answered, after which no other is asked."""

_HEARD = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED, Status.REFUSED})


@dataclass(slots=True)
class Refusals:
    """What one model has refused so far, and whether it has ``answered`` anything of this run."""

    answered: bool = False
    _counts: Counter[str] = field(default_factory=Counter)

    def note(self, reply: Reply) -> None:
        """Whoever has answered once refuses questions, not all of them."""
        self.answered = self.answered or reply.status in _HEARD

    def failure(self, error: RefusedQuestionError) -> Reply:
        """The failure of one question.

        Raises:
            FatalError: The first questions were all refused like this one.
        """
        self._counts[error.reason] += 1
        if not self.answered and self._counts[error.reason] >= MOST_REFUSED:
            raise FatalError(f"{error}; the first {MOST_REFUSED} questions were all refused")
        return Reply("", Status.FAILED, str(error))
