"""What is asked, and how it adds up."""

from audiocapbench.benchmarks.benchmark import Benchmark, Selection, captioning
from audiocapbench.benchmarks.registry import (
    BenchmarkEntry,
    layout_of,
    list_benchmarks,
    open_benchmark,
)

__all__ = [
    "Benchmark",
    "BenchmarkEntry",
    "Selection",
    "captioning",
    "layout_of",
    "list_benchmarks",
    "open_benchmark",
]
