"""Asks at full speed and loses nothing; scores what was answered."""

from audiocapbench.engine.budget import Budget, Spending, likely_cost
from audiocapbench.engine.retrying_client import RetryPolicy
from audiocapbench.engine.runner import (
    AnsweredSample,
    AskContext,
    Asking,
    Preview,
    Progress,
    RunEnd,
    RunOptions,
    answered,
    arun_benchmark,
    as_questions,
    cached_answers,
    find_run,
    missing_samples,
    preview_questions,
    run_benchmark,
    score_run,
)
from audiocapbench.engine.session import RateLimits
from audiocapbench.engine.workers import Stop

__all__ = ["AnsweredSample", "AskContext", "Asking", "Budget", "Preview", "Progress", "RateLimits"]
__all__ += ["RetryPolicy", "RunEnd", "RunOptions", "Spending", "Stop", "answered", "arun_benchmark"]
__all__ += ["as_questions", "cached_answers", "find_run", "likely_cost", "missing_samples"]
__all__ += ["preview_questions", "run_benchmark", "score_run"]
