"""Asks at full speed and loses nothing; scores what was answered."""

from audiocapbench.engine.budget import Budget
from audiocapbench.engine.retrying_client import RetryPolicy
from audiocapbench.engine.runner import (
    AnsweredSample,
    AskContext,
    Asking,
    Preview,
    RunEnd,
    answered,
    arun_benchmark,
    as_questions,
    cached_answers,
    find_run,
    preview_questions,
    run_benchmark,
    score_run,
)
from audiocapbench.engine.session import Progress, RateLimits
from audiocapbench.engine.workers import Stop

__all__ = ["AnsweredSample", "AskContext", "Asking", "Budget", "Preview", "Progress", "RateLimits"]
__all__ += ["RetryPolicy", "RunEnd", "Stop", "answered", "arun_benchmark", "as_questions"]
__all__ += ["cached_answers", "find_run", "preview_questions", "run_benchmark", "score_run"]
