"""The traits of a stored dataset, so that any command on an old run knows them."""

from audiocapbench.benchmarks.traits import Traits
from audiocapbench.store import Dataset


def stored_traits(dataset: Dataset) -> Traits:
    """The traits that a benchmark had when its samples were stored.

    Raises:
        BenchmarkError: What is stored are no traits.
    """
    if not dataset.traits:
        return Traits()
    return Traits.from_dict(dataset.traits, f"stored traits of {dataset.benchmark}")
