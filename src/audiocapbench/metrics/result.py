"""What every metric returns: scores of the samples, and what resampling needs for the corpus."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from audiocapbench.signature import Signature

FloatArray = NDArray[np.float64]


def first_column(means: FloatArray) -> FloatArray:
    """The aggregate of a metric whose corpus score is the mean of its only statistic."""
    return means[..., 0]


@dataclass(frozen=True, slots=True)
class MetricResult:
    """One metric on one corpus.

    The corpus score is ``aggregate`` of the mean statistics, so that a bootstrap round is one
    weighted mean and never looks at text again.

    Attributes:
        name: The metric's name, e.g. ``bleu_4``.
        signature: How the number was made.
        samples: Score of each sample, shape (n,).
        statistics: Sufficient statistics of each sample, shape (n, k).
        aggregate: Maps mean statistics of shape (..., k) to corpus scores of shape (...).
    """

    name: str
    signature: Signature
    samples: FloatArray
    statistics: FloatArray
    aggregate: Callable[[FloatArray], FloatArray] = first_column

    def __repr__(self) -> str:
        count = f"n={len(self.samples):,}"
        return f"MetricResult({self.name} {self.score:.4f}, {count}, {self.signature})"

    @property
    def score(self) -> float:
        """The corpus score; 0 for a corpus without samples."""
        return float(self.aggregate(self.statistics.mean(axis=0))) if len(self.samples) else 0.0

    def of_rows(self, rows: Sequence[int]) -> "MetricResult":
        """The same of some samples alone."""
        return replace(self, samples=self.samples[rows], statistics=self.statistics[rows])

    @classmethod
    def of_means(cls, name: str, signature: Signature, samples: FloatArray) -> "MetricResult":
        """Wrap a metric whose corpus score is the mean over samples."""
        return cls(name, signature, samples, samples[:, np.newaxis])
