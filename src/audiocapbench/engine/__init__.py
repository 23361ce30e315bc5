"""Asks at full speed and loses nothing; scores what was answered."""

from audiocapbench.engine.ask import likely_cost
from audiocapbench.engine.budget import Budget
from audiocapbench.engine.crew import Stop
from audiocapbench.engine.retry import RetryPolicy
from audiocapbench.engine.runner import (
    Pacing,
    Progress,
    RunEnd,
    find_run,
    missing_samples,
    run_benchmark,
)
from audiocapbench.engine.scoring import Answered, RunScores, answered, score_run

__all__ = [
    "Answered",
    "Budget",
    "Pacing",
    "Progress",
    "RetryPolicy",
    "RunEnd",
    "RunScores",
    "Stop",
    "answered",
    "find_run",
    "likely_cost",
    "missing_samples",
    "run_benchmark",
    "score_run",
]
