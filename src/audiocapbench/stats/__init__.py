"""How sure we are: intervals, tests between systems, and what failures may mean."""

from audiocapbench.stats.bootstrap import METHODS, ROUNDS, SEED, mean_interval
from audiocapbench.stats.units import FEWEST_FOR_INTERVAL, Interval

__all__ = ["FEWEST_FOR_INTERVAL", "METHODS", "ROUNDS", "SEED", "Interval", "mean_interval"]
