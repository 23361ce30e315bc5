"""Sentence similarity: the mean cosine between a prediction and its references, as in FENSE."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions
from audiocapbench.signature import sign

_PAIRS_AT_ONCE = 8192


def similarity(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = "wordllama",
) -> MetricResult:
    """Score predictions by the mean cosine between their embedding and their references'.

    A blank prediction scores 0. A blank reference is no reference. The encoder is one itself, its
    name, or the path of a sentence-transformers folder.
    """
    model = load(encoder) if isinstance(encoder, str) else encoder
    samples = mean_cosines(predictions, references, model)
    signature = sign("similarity", encoder=model.name, refs="mean")
    return MetricResult.of_means("similarity", signature, samples)


def mean_cosines(
    predictions: Sequence[str], references: Sequence[Sequence[str]], encoder: Encoder
) -> FloatArray:
    """Mean cosine of each prediction with its references, shape (n,), within -1 and 1."""
    check_captions(predictions, references, words_needed=True)
    kept = [[text for text in own if text.strip()] for own in references]
    counts = np.array([len(sample) for sample in kept], dtype=np.int64)
    vectors = encoder.encode([*predictions, *chain.from_iterable(kept)])
    ours, theirs = vectors[: len(predictions)], vectors[len(predictions) :]
    owner = np.repeat(np.arange(len(predictions)), counts)
    cosines = np.empty(len(owner), dtype=np.float64)
    for start in range(0, len(owner), _PAIRS_AT_ONCE):
        block = slice(start, start + _PAIRS_AT_ONCE)
        left, right = ours[owner[block]], theirs[block]
        cosines[block] = np.einsum("ij,ij->i", left, right, dtype=np.float64)
    totals = np.bincount(owner, weights=np.clip(cosines, -1, 1), minlength=len(predictions))
    means: FloatArray = totals / counts
    return means
