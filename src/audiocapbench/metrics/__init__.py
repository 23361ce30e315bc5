"""Metrics: pure functions of predictions and references, exact, offline and signed."""

from audiocapbench.metrics.registry import METRICS, Metric, compute, find_metric, list_metrics
from audiocapbench.metrics.result import MetricResult

__all__ = ["METRICS", "Metric", "MetricResult", "compute", "find_metric", "list_metrics"]
