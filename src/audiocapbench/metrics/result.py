"""What every metric takes, a caption a sample with a list of references, and what it returns:
scores of the samples, and what resampling needs for the corpus."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.signature import Signature

FloatArray = NDArray[np.float64]


def first_column(means: FloatArray) -> FloatArray:
    """The aggregate of a metric whose corpus score is the mean of its only statistic."""
    return means[..., 0]


def ratio(above: FloatArray, below: FloatArray, nothing: float = 0.0) -> FloatArray:
    """Shares, and ``nothing`` where there is none to be had."""
    above, below = np.broadcast_arrays(above, below)
    shares: FloatArray = np.full(above.shape, nothing)
    return np.divide(above, below, out=shares, where=below > 0)


def check_captions(
    predictions: Sequence[str], references: Sequence[Sequence[str]], *, words_needed: bool = False
) -> None:
    """Refuse captions and references that do not belong together, are no text, or need words."""
    if len(predictions) != len(references):
        counts = f"{len(predictions)} predictions but references for {len(references)} samples"
        raise MetricError(f"{counts}; give one list of references for each prediction")
    lists = {*map(type, references)} <= {list, tuple} and all(references)
    texts = chain(predictions, chain.from_iterable(references)) if lists else (None,)
    if not words_needed and {*map(type, texts)} <= {str}:
        return
    for index, (prediction, own) in enumerate(zip(predictions, references, strict=True)):
        where, to_do = f"sample {index}", "give one or leave the sample out"
        if isinstance(own, str):
            raise MetricError(f"{where}: its references are one string; give a list of captions")
        if len(own) == 0:
            raise MetricError(f"{where} has no reference; {to_do}")
        for text in (prediction, *own):
            if not isinstance(text, str):
                kind = f"a caption is {type(text).__name__}, not text"
                raise MetricError(f"{where}: {kind}; give an empty string for one that is missing")
        if words_needed and not any(map(str.strip, own)):
            raise MetricError(f"{where} has no reference but blank ones; {to_do}")


def check_texts(texts: Sequence[str], who: str) -> None:
    """Refuse, by MetricError, what is not a list of texts."""
    if isinstance(texts, str):
        raise MetricError(f"{who} takes a list of texts, and got a single string.")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            to_do = "give a string, or an empty one where there was no answer."
            raise MetricError(f"Text {row} is {type(text).__name__}, not text: {to_do}")


@dataclass(frozen=True, slots=True)
class MetricResult:
    """One metric on one corpus.

    ``samples`` has the score of each sample, ``statistics`` what it is made of, shape (n, k).
    ``aggregate`` maps mean statistics of shape (..., k) to corpus scores of shape (...), so that a
    bootstrap round is one weighted mean and never looks at text again.
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
        return replace(self, samples=self.samples[rows], statistics=self.statistics[rows])

    @classmethod
    def of_means(cls, name: str, signature: Signature, samples: FloatArray) -> "MetricResult":
        """Wrap a metric whose corpus score is the mean over samples."""
        return cls(name, signature, samples, samples[:, np.newaxis])
