"""What failures may mean for a score: nothing, zero, or anything in between."""

from typing import NamedTuple

from audiocapbench.stats.bootstrap import Interval


class Policies(NamedTuple):
    """A score with failures counted as zero, and the worst and best that they could make of it."""

    as_zero: float
    bounds: Interval


def with_failures(score: float, share: float, max_value: float) -> Policies:
    """Count failures against a score.

    Args:
        score: Over what was answered.
        share: The part of all samples that was answered.
        max_value: The best that a failed sample could have scored; the worst is 0.
    """
    worst = score * share
    return Policies(worst, Interval(worst, worst + (1 - share) * max_value))
