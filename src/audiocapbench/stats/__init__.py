"""How sure we are: intervals by resampling."""

from audiocapbench.stats.bootstrap import (
    FEWEST_FOR_INTERVAL,
    ROUNDS,
    SEED,
    Interval,
    mean_interval,
)
from audiocapbench.stats.policies import Policies, with_failures

__all__ = [
    "FEWEST_FOR_INTERVAL",
    "ROUNDS",
    "SEED",
    "Interval",
    "Policies",
    "mean_interval",
    "with_failures",
]
