"""Asks at full speed and loses nothing; scores what was answered."""

from audiocapbench.engine.budget import Budget
from audiocapbench.engine.preview import Forecast, Preview, preview_questions
from audiocapbench.engine.retrying_client import RetryPolicy
from audiocapbench.engine.runner import (
    AnsweredSample,
    AskContext,
    Asking,
    BenchmarkRun,
    RunEnd,
    answered,
    as_questions,
    cached_answers,
    find_run,
    run_benchmark,
    score_run,
    together,
)
from audiocapbench.engine.session import Progress, RateLimits
from audiocapbench.engine.workers import Stop

__all__ = ["AnsweredSample", "AskContext", "Asking", "BenchmarkRun", "Budget", "Forecast"]
__all__ += ["Preview", "Progress", "RateLimits", "RetryPolicy", "RunEnd", "Stop", "answered"]
__all__ += ["as_questions", "cached_answers", "find_run", "preview_questions", "run_benchmark"]
__all__ += ["score_run", "together"]
