"""When to ask again: exponential back-off with full jitter, and an end to it."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a question is worth asking.

    Attributes:
        attempts: Most attempts that may fail for another reason than being asked too much.
        first_s: Longest wait before the second attempt; doubles with each.
        longest_s: Longest wait of all, unless the provider asks for more.
        deadline_s: Seconds of asking and waiting to ask again after which a question is given up
            whatever the reason; waiting for its turn does not count.
    """

    attempts: int = 6
    first_s: float = 1.0
    longest_s: float = 60.0
    deadline_s: float = 900.0

    def wait_s(self, failures: int, retry_after_s: float | None, draw: random.Random) -> float:
        """Seconds to wait after so many failures; never less than the provider asks for."""
        bound = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 16))
        jittered = draw.uniform(0, bound)
        return jittered if retry_after_s is None else retry_after_s + min(1.0, jittered)
