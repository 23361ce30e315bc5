"""Asks at full speed and loses nothing; scores what was answered."""

from audiocapbench.engine.runner import Progress, RunEnd, run_benchmark
from audiocapbench.engine.scoring import Answered, RunScores, answered, score_run

__all__ = ["Answered", "Progress", "RunEnd", "RunScores", "answered", "run_benchmark", "score_run"]
