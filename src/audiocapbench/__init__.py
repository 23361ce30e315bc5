"""AudioCapBench: evaluate audio captioning models, metrics and judges.

The public names, nothing else. Each is imported when it is first used, so that importing the
package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from audiocapbench.version import VERSION

if TYPE_CHECKING:
    from audiocapbench.benchmarks import (
        Aggregation,
        Benchmark,
        ControlRules,
        Selection,
        Traits,
        open_benchmark,
    )
    from audiocapbench.data import Clip, InvalidDataError, Sample, open_folder
    from audiocapbench.data.outcome import Outcome, Reply, Status
    from audiocapbench.engine import Progress, RunEnd, run_benchmark, score_run
    from audiocapbench.errors import AudioCapBenchError
    from audiocapbench.judges import Contract, ReplyError, ReplyField, Verdict
    from audiocapbench.library.caption_metric import AudioCaptionMetric
    from audiocapbench.library.comparing import acompare, aleaderboard, compare, costs, leaderboard
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
    from audiocapbench.metrics import Metric, MetricResult, compute
    from audiocapbench.models import (
        AudioContract,
        Model,
        ModelSettings,
        Provider,
        Question,
        SimpleModel,
        create_model,
    )
    from audiocapbench.models.price import FREE
    from audiocapbench.report.compare.result import ComparisonResult
    from audiocapbench.report.leaderboard.tables import LeaderboardResult
    from audiocapbench.scores.estimate import Estimate
    from audiocapbench.signature import Signature, sign
    from audiocapbench.store import Store
    from audiocapbench.table import Result

__version__ = VERSION

__all__ = ["FREE", "Aggregation", "AudioCapBenchError", "AudioCaptionMetric", "__version__"]
__all__ += ["AudioContract", "Benchmark", "Clip", "ComparisonResult", "Contract", "ControlRules"]
__all__ += ["Estimate", "ImportResult", "InvalidDataError", "LeaderboardResult", "Metric"]
__all__ += ["MetricResult", "Model", "ModelSettings", "Outcome", "Progress", "Provider", "Question"]
__all__ += ["Reply", "ReplyError", "ReplyField", "Result", "RunEnd", "RunResult", "Sample"]
__all__ += ["ScoreResult", "Selection", "Signature", "SimpleModel", "Status", "Store", "Traits"]
__all__ += ["Verdict", "acompare", "aimport_run", "ajudge", "aleaderboard", "arun", "ascore"]
__all__ += ["compare", "compute", "costs", "create_model", "import_run", "judge", "leaderboard"]
__all__ += ["open_benchmark", "open_folder", "run", "run_benchmark", "score", "score_run", "sign"]

_HOMES = {
    "benchmarks": "Aggregation Benchmark ControlRules Selection Traits open_benchmark",
    "data": "Clip InvalidDataError Sample open_folder",
    "data.outcome": "Outcome Reply Status",
    "engine": "Progress RunEnd run_benchmark score_run",
    "errors": "AudioCapBenchError",
    "judges": "Contract ReplyError ReplyField Verdict",
    "library.caption_metric": "AudioCaptionMetric",
    "library.comparing": "acompare aleaderboard compare costs leaderboard",
    "library.running": "ImportResult RunResult aimport_run ajudge arun import_run judge run",
    "library.scoring": "ScoreResult ascore score",
    "metrics": "Metric MetricResult compute",
    "models": "AudioContract Model ModelSettings Provider Question SimpleModel create_model",
    "models.price": "FREE",
    "report.compare.result": "ComparisonResult",
    "report.leaderboard.tables": "LeaderboardResult",
    "scores.estimate": "Estimate",
    "signature": "Signature sign",
    "store": "Store",
    "table": "Result",
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"audiocapbench.{home}"), name)
    raise AttributeError(f"module 'audiocapbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
