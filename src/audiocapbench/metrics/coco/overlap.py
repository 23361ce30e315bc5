"""BLEU and ROUGE-L as the COCO caption evaluation computes them; CIDEr-D is in ``cider``."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from audiocapbench.metrics.batches import (
    Batch,
    common_length,
    common_lengths,
    read_corpus,
    score_samples,
)
from audiocapbench.metrics.ngram_matches import MAX_ORDER as _ORDERS
from audiocapbench.metrics.ngram_matches import count_matches
from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, parts_of, tokens_of
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign

# Added to matches and guesses of each order, and to both lengths, so that no division is by zero;
# the same as in the original, or the numbers would not be equal.
_ADDED = np.array([1e-15] * _ORDERS + [1e-9] * _ORDERS + [1e-15, 1e-9])
_BETA = 1.2


def bleu_coco(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> list[MetricResult]:
    """Score with corpus BLEU of orders 1 to 4, brevity by the closest reference length.

    The corpus score pools the counts of all samples; it is not the mean over samples.
    """
    counts = count_matches(read_corpus(predictions, references, parts_of))
    predicted = counts[:, [_ORDERS]]
    guesses = np.maximum(predicted - np.arange(_ORDERS), 0)
    totals = np.hstack([counts[:, :_ORDERS], guesses, counts[:, _ORDERS:]])
    # Each sample carries its share of what is added to the sums, so that means will do.
    statistics = totals + _ADDED / max(len(counts), 1)
    results = []
    for order in range(1, _ORDERS + 1):
        name = f"bleu_coco_{order}"
        signature = sign(name, tok=TOKENIZER, case="lower", reflen="closest", agg="corpus")
        samples = corpus_bleu(totals + _ADDED, order)
        samples[predicted[:, 0] == 0] = 0.0
        aggregate = partial(corpus_bleu, order=order)
        results.append(MetricResult(name, signature, samples, statistics, aggregate))
    return results


def rouge_l_coco(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with the F-measure (beta 1.2) of the longest common subsequence.

    The best precision and the best recall may come from different references, as in the
    original. An empty prediction scores 0, also against an empty reference, where the original
    gives 1.
    """
    corpus = read_corpus(predictions, references, tokens_of)
    precision, recall = score_samples(corpus, corpus.sentences, _rouge_batch, _rouge_long, 2).T
    weight = recall + _BETA**2 * precision
    product = (1 + _BETA**2) * precision * recall
    samples = np.divide(product, weight, out=np.zeros(len(weight)), where=weight > 0)
    signature = sign("rouge_l_coco", tok=TOKENIZER, case="lower", beta=_BETA, refs="max")
    return MetricResult.of_means("rouge_l_coco", signature, samples)


def corpus_bleu(means: FloatArray, order: int) -> FloatArray:
    """Compute BLEU of an order from sums or means of the statistics of ``bleu_coco``."""
    precisions = means[..., :order] / means[..., _ORDERS : _ORDERS + order]
    brevity = np.exp(np.minimum(0.0, 1.0 - means[..., -1] / means[..., -2]))
    bleu: FloatArray = precisions.prod(axis=-1) ** (1.0 / order) * brevity
    return bleu


def _rouge_batch(batch: Batch) -> FloatArray:
    """The best precision and the best recall of each sample."""
    common = common_lengths(batch)
    lengths = (batch.prediction_lengths[batch.owners], batch.reference_lengths)
    shares = [common / np.maximum(own, 1) for own in lengths]
    return np.stack([np.maximum.reduceat(own, batch.first_pairs) for own in shares], axis=1)


def _rouge_long(prediction: list[int], references: list[list[int]]) -> FloatArray:
    common = np.array([common_length(prediction, reference) for reference in references])
    lengths = np.array([len(reference) for reference in references])
    shares = [common / max(len(prediction), 1), common / np.maximum(lengths, 1)]
    return np.array([own.max() for own in shares])
