"""Metrics: pure functions of predictions and references, exact, offline and signed.

Each takes a caption a sample and a list of references a sample, and raises ``MetricError`` where
the two do not belong together, a sample has no reference, or what it needs cannot be had.
"""

from audiocapbench.metrics.registry import METRICS, Metric, compute, find_metric, list_metrics
from audiocapbench.metrics.result import MetricResult

__all__ = ["METRICS", "Metric", "MetricResult", "compute", "find_metric", "list_metrics"]
