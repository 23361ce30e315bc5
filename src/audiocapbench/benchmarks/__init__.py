"""What is asked, and how it adds up."""

from audiocapbench.benchmarks.benchmark import Benchmark, Selection
from audiocapbench.benchmarks.captioning import captioning
from audiocapbench.benchmarks.registry import BenchmarkEntry, list_benchmarks, open_benchmark
from audiocapbench.benchmarks.traits import Aggregation, Traits, stored_traits
from audiocapbench.models.controls import ControlRules

__all__ = ["Aggregation", "Benchmark", "BenchmarkEntry", "ControlRules", "Selection", "Traits"]
__all__ += ["captioning", "list_benchmarks", "open_benchmark", "stored_traits"]
