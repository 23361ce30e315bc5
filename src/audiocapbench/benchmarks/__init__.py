"""What is asked, and how it adds up."""

from audiocapbench.benchmarks.benchmark import Benchmark, Selection
from audiocapbench.benchmarks.captioning import captioning
from audiocapbench.benchmarks.registry import list_benchmarks, open_benchmark
from audiocapbench.benchmarks.traits import Aggregation, Traits, stored_traits
from audiocapbench.models.controls import ControlRules

__all__ = ["Aggregation", "Benchmark", "ControlRules", "Selection", "Traits", "captioning"]
__all__ += ["list_benchmarks", "open_benchmark", "stored_traits"]
