"""Sentence BLEU-1 to BLEU-4 as the published AudioCapBench recipe computes them.

Equals NLTK's ``sentence_bleu`` with smoothing method 1; corpus BLEU of the COCO family is not here.
"""

from collections.abc import Sequence

import numpy as np

from audiocapbench.metrics.batches import read_corpus
from audiocapbench.metrics.ngram_matches import MAX_ORDER, count_matches
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign

_SMOOTHING_COUNT = 0.1


def bleu(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> list[MetricResult]:
    """Score captions by the n-grams that they share with all their references.

    Words are ``text.lower().split()``. A prediction without a word in common with its references,
    and so an empty one, scores 0. A blank reference has no words but takes part in the choice of
    the closest reference length, as in NLTK.

    Returns:
        ``bleu_1`` to ``bleu_4``; each corpus score is the mean over samples.
    """
    counts = count_matches(read_corpus(predictions, references))
    names = [f"bleu_{order}" for order in range(1, MAX_ORDER + 1)]
    fields = {"variant": "nltk", "level": "sentence", "smooth": "method1", "tok": "split"}
    fields |= {"case": "lower", "refs": "all"}
    return [
        MetricResult.of_means(name, sign(name, protocol=1, **fields), np.ascontiguousarray(column))
        for name, column in zip(names, _scores(counts).T, strict=True)
    ]


def _scores(counts: FloatArray) -> FloatArray:
    """BLEU of orders 1 to 4 from matched n-grams of each, length and closest reference length."""
    matched, lengths, closest = counts[:, :MAX_ORDER], counts[:, [MAX_ORDER]], counts[:, [-1]]
    orders = np.arange(1, MAX_ORDER + 1)
    possible = np.maximum(1, lengths - orders + 1)
    precisions = np.where(matched == 0, _SMOOTHING_COUNT, matched) / possible
    geometric_means = np.exp(np.cumsum(np.log(precisions), axis=1) / orders)
    brevity = np.where(lengths > closest, 1, np.exp(1 - closest / np.maximum(lengths, 1)))
    return np.where(matched[:, :1] > 0, brevity * geometric_means, 0.0)
