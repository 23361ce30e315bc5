"""Metrics: pure functions of predictions and references, exact, offline and signed.

Each takes a caption a sample and a list of references a sample, and raises ``MetricError`` where
the two do not belong together, a sample has no reference, or what it needs cannot be had.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audiocapbench.metrics.registry import METRICS, Metric, compute, find_metric, list_metrics
    from audiocapbench.metrics.result import MetricResult

__all__ = ["METRICS", "Metric", "MetricResult", "compute", "find_metric", "list_metrics"]


def __getattr__(name: str) -> Any:
    # Who needs one metric's function alone is spared the list of all.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("audiocapbench.metrics.registry"), name)
