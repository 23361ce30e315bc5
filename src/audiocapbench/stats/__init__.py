"""How sure we are: intervals by resampling."""

from audiocapbench.stats.bootstrap import ROUNDS, SEED, Interval, mean_interval

__all__ = ["ROUNDS", "SEED", "Interval", "mean_interval"]
