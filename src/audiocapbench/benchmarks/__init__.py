"""What is asked, and how it adds up."""

from audiocapbench.benchmarks.benchmark import Benchmark, Selection, captioning
from audiocapbench.benchmarks.registry import (
    BenchmarkEntry,
    headline_of,
    layout_of,
    list_benchmarks,
    open_benchmark,
)

__all__ = [
    "Benchmark",
    "BenchmarkEntry",
    "Selection",
    "captioning",
    "headline_of",
    "layout_of",
    "list_benchmarks",
    "open_benchmark",
]
