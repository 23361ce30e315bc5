"""The library: score, run, import_run, judge, compare and leaderboard, also for async code."""

from audiocapbench.library.caption_metric import AudioCaptionMetric
from audiocapbench.library.comparing import (
    ComparisonResult,
    LeaderboardResult,
    acompare,
    aleaderboard,
    compare,
    leaderboard,
)
from audiocapbench.library.running import (
    ImportResult,
    RunResult,
    aimport_run,
    ajudge,
    arun,
    import_run,
    judge,
    run,
)
from audiocapbench.library.scoring import ScoreResult, ascore, score
from audiocapbench.table import Result

__all__ = ["AudioCaptionMetric", "ComparisonResult", "ImportResult", "LeaderboardResult", "Result"]
__all__ += ["RunResult", "ScoreResult", "acompare", "aimport_run", "ajudge", "aleaderboard", "arun"]
__all__ += ["ascore", "compare", "import_run", "judge", "leaderboard", "run", "score"]
