"""The library: score, run, judge, compare and leaderboard, each also for async code."""

from audiocapbench.library.comparing import (
    ComparisonResult,
    LeaderboardResult,
    acompare,
    aleaderboard,
    compare,
    leaderboard,
)
from audiocapbench.library.result import Result
from audiocapbench.library.running import RunResult, ajudge, arun, judge, run
from audiocapbench.library.scoring import ScoreResult, ascore, score

__all__ = [
    "ComparisonResult",
    "LeaderboardResult",
    "Result",
    "RunResult",
    "ScoreResult",
    "acompare",
    "ajudge",
    "aleaderboard",
    "arun",
    "ascore",
    "compare",
    "judge",
    "leaderboard",
    "run",
    "score",
]
