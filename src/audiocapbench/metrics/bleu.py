"""BLEU-1 to BLEU-4: of sentences as the published AudioCapBench recipe computes them, which equals
NLTK's ``sentence_bleu`` with smoothing method 1, and of corpora as the COCO evaluation does."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from audiocapbench.metrics.batches import read_corpus
from audiocapbench.metrics.ngrams import ORDERS, count_matches
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign

_SMOOTHING_COUNT = 0.1
# Added to matches and guesses of each order, and to both lengths, so that no division is by zero;
# the same as in the COCO evaluation, or the numbers would not be equal.
_ADDED = np.array([1e-15] * ORDERS + [1e-9] * ORDERS + [1e-15, 1e-9])


def bleu(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> list[MetricResult]:
    """Sentence BLEU of orders 1 to 4; each corpus score is the mean over samples.

    Words are ``text.lower().split()``. A prediction without a word in common with its references,
    and so an empty one, scores 0. A blank reference has no words but takes part in the choice of
    the closest reference length, as in NLTK.
    """
    counts = count_matches(read_corpus(predictions, references))
    matched, lengths, closest = counts[:, :ORDERS], counts[:, [ORDERS]], counts[:, [-1]]
    orders = np.arange(1, ORDERS + 1)
    precisions = np.where(matched == 0, _SMOOTHING_COUNT, matched)
    precisions /= np.maximum(1, lengths - orders + 1)
    geometric_means = np.exp(np.cumsum(np.log(precisions), axis=1) / orders)
    brevity = np.where(lengths > closest, 1, np.exp(1 - closest / np.maximum(lengths, 1)))
    scores = np.where(matched[:, :1] > 0, brevity * geometric_means, 0.0)
    fields = {"variant": "nltk", "level": "sentence", "smooth": "method1", "tok": "split"}
    fields |= {"case": "lower", "refs": "all"}
    return [
        MetricResult.of_means(name, sign(name, protocol=1, **fields), np.ascontiguousarray(column))
        for name, column in zip([f"bleu_{order}" for order in orders], scores.T, strict=True)
    ]


def bleu_coco(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> list[MetricResult]:
    """Corpus BLEU of orders 1 to 4, brevity by the closest reference length.

    The corpus score pools the counts of all samples; it is not the mean over samples.
    """
    from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, parts_of

    counts = count_matches(read_corpus(predictions, references, parts_of))
    predicted = counts[:, [ORDERS]]
    guesses = np.maximum(predicted - np.arange(ORDERS), 0)
    totals = np.hstack([counts[:, :ORDERS], guesses, counts[:, ORDERS:]])
    # Each sample carries its share of what is added to the sums, so that means will do.
    statistics = totals + _ADDED / max(len(counts), 1)
    results = []
    for order in range(1, ORDERS + 1):
        name = f"bleu_coco_{order}"
        signature = sign(name, tok=TOKENIZER, case="lower", reflen="closest", agg="corpus")
        samples = corpus_bleu(totals + _ADDED, order)
        samples[predicted[:, 0] == 0] = 0.0
        aggregate = partial(corpus_bleu, order=order)
        results.append(MetricResult(name, signature, samples, statistics, aggregate))
    return results


def corpus_bleu(means: FloatArray, order: int) -> FloatArray:
    """Compute BLEU of an order from sums or means of the statistics of ``bleu_coco``."""
    precisions = means[..., :order] / means[..., ORDERS : ORDERS + order]
    brevity = np.exp(np.minimum(0.0, 1.0 - means[..., -1] / means[..., -2]))
    bleu: FloatArray = precisions.prod(axis=-1) ** (1.0 / order) * brevity
    return bleu
