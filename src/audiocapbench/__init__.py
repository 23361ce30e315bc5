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
    from audiocapbench.engine import RunEnd, run_benchmark, score_run
    from audiocapbench.errors import AudioCapBenchError
    from audiocapbench.judges import Contract, ReplyError, ReplyField, Verdict
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
    from audiocapbench.signature import Signature, sign
    from audiocapbench.store import Store

__version__ = VERSION

_HOMES = {
    "Aggregation": "benchmarks",
    "AudioCapBenchError": "errors",
    "AudioContract": "models",
    "Benchmark": "benchmarks",
    "Clip": "data",
    "Contract": "judges",
    "ControlRules": "benchmarks",
    "InvalidDataError": "data",
    "Metric": "metrics",
    "MetricResult": "metrics",
    "Model": "models",
    "ModelSettings": "models",
    "Outcome": "data.outcome",
    "Provider": "models",
    "Question": "models",
    "Reply": "data.outcome",
    "ReplyError": "judges",
    "ReplyField": "judges",
    "RunEnd": "engine",
    "Sample": "data",
    "Selection": "benchmarks",
    "Signature": "signature",
    "SimpleModel": "models",
    "Status": "data.outcome",
    "Store": "store",
    "Traits": "benchmarks",
    "Verdict": "judges",
    "compute": "metrics",
    "create_model": "models",
    "open_benchmark": "benchmarks",
    "open_folder": "data",
    "run_benchmark": "engine",
    "score_run": "engine",
    "sign": "signature",
}

__all__ = [
    "Aggregation",
    "AudioCapBenchError",
    "AudioContract",
    "Benchmark",
    "Clip",
    "Contract",
    "ControlRules",
    "InvalidDataError",
    "Metric",
    "MetricResult",
    "Model",
    "ModelSettings",
    "Outcome",
    "Provider",
    "Question",
    "Reply",
    "ReplyError",
    "ReplyField",
    "RunEnd",
    "Sample",
    "Selection",
    "Signature",
    "SimpleModel",
    "Status",
    "Store",
    "Traits",
    "Verdict",
    "__version__",
    "compute",
    "create_model",
    "open_benchmark",
    "open_folder",
    "run_benchmark",
    "score_run",
    "sign",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'audiocapbench' has no attribute {name!r}")
    return getattr(import_module(f"audiocapbench.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
