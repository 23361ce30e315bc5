"""How sure we are: intervals by resampling, tests between systems, and what failures may mean."""

from audiocapbench.stats.bootstrap import (
    FEWEST_FOR_INTERVAL,
    METHOD,
    ROUNDS,
    SEED,
    Interval,
    mean_interval,
    resampled_scores,
)

__all__ = [
    "FEWEST_FOR_INTERVAL",
    "METHOD",
    "ROUNDS",
    "SEED",
    "Interval",
    "mean_interval",
    "resampled_scores",
]
