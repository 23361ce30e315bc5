"""Asks at full speed and loses nothing; scores what was answered."""

from audiocapbench.engine.budget import Budget
from audiocapbench.engine.retrying_client import RetryPolicy
from audiocapbench.engine.runner import (
    AnsweredSample,
    AskContext,
    Asking,
    BenchmarkRun,
    Preview,
    RunEnd,
    aask_together,
    answered,
    as_questions,
    ask_together,
    cached_answers,
    find_run,
    preview_questions,
    run_benchmark,
    score_run,
)
from audiocapbench.engine.session import Progress, RateLimits
from audiocapbench.engine.workers import Stop

__all__ = ["AnsweredSample", "AskContext", "Asking", "BenchmarkRun", "Budget", "Preview"]
__all__ += ["Progress", "RateLimits", "RetryPolicy", "RunEnd", "Stop", "aask_together", "answered"]
__all__ += ["as_questions", "ask_together", "cached_answers", "find_run", "preview_questions"]
__all__ += ["run_benchmark", "score_run"]
