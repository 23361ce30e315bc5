"""What is asked, and how it adds up."""

from audiocapbench.benchmarks.benchmark import Benchmark, Selection, captioning
from audiocapbench.benchmarks.registry import BenchmarkEntry, list_benchmarks, open_benchmark

__all__ = [
    "Benchmark",
    "BenchmarkEntry",
    "Selection",
    "captioning",
    "list_benchmarks",
    "open_benchmark",
]
