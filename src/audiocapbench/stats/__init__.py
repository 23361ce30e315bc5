"""How sure we are: intervals, tests between systems, and what failures may mean."""

from audiocapbench.stats.bootstrap import (
    FEWEST_FOR_INTERVAL,
    METHODS,
    ROUNDS,
    SEED,
    Interval,
    mean_interval,
)

__all__ = ["FEWEST_FOR_INTERVAL", "METHODS", "ROUNDS", "SEED", "Interval", "mean_interval"]
