"""BLEU and ROUGE-L as the COCO caption evaluation computes them; CIDEr-D is in ``cider``."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from audiocapbench.metrics.coco.corpus import CaptionCorpus
from audiocapbench.metrics.ngram_matches import MAX_ORDER as _ORDERS
from audiocapbench.metrics.ngram_matches import count_matches
from audiocapbench.metrics.ptb.tokenizer import TOKENIZER
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

    Args:
        predictions: One caption a sample.
        references: One or more captions a sample.

    Returns:
        ``bleu_coco_1`` to ``bleu_coco_4``.

    Raises:
        MetricError: The lists differ in length, or a sample has no reference.
    """
    corpus = CaptionCorpus.of(predictions, references)
    counts = count_matches(corpus.batched())
    predicted = counts[:, [_ORDERS]]
    guesses = np.maximum(predicted - np.arange(_ORDERS), 0)
    totals = np.hstack([counts[:, :_ORDERS], guesses, counts[:, _ORDERS:]])
    # Each sample carries its share of what is added to the sums, so that means will do.
    statistics = totals + _ADDED / max(len(corpus), 1)
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

    Args:
        predictions: One caption a sample.
        references: One or more captions a sample.

    Returns:
        ``rouge_l_coco``, whose corpus score is the mean over samples.

    Raises:
        MetricError: The lists differ in length, or a sample has no reference.
    """
    corpus = CaptionCorpus.of(predictions, references)
    sentences = corpus.sentences
    lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
    common = np.empty(len(corpus.references), dtype=np.int64)
    known: dict[tuple[int, int], int] = {}
    predicted = corpus.predictions[corpus.owners]
    for place, pair in enumerate(zip(predicted.tolist(), corpus.references.tolist(), strict=True)):
        if pair not in known:
            known[pair] = _longest_common(sentences[pair[0]].words, sentences[pair[1]].words)
        common[place] = known[pair]
    samples = np.zeros(len(corpus))
    if len(corpus):
        first = corpus.first_references
        precision = np.maximum.reduceat(common / np.maximum(lengths[predicted], 1), first)
        recall = np.maximum.reduceat(common / np.maximum(lengths[corpus.references], 1), first)
        weight = recall + _BETA**2 * precision
        np.divide((1 + _BETA**2) * precision * recall, weight, out=samples, where=weight > 0)
    signature = sign("rouge_l_coco", tok=TOKENIZER, case="lower", beta=_BETA, refs="max")
    return MetricResult.of_means("rouge_l_coco", signature, samples)


def corpus_bleu(means: FloatArray, order: int) -> FloatArray:
    """Compute BLEU of an order from sums or means of the statistics of ``bleu_coco``."""
    precisions = means[..., :order] / means[..., _ORDERS : _ORDERS + order]
    brevity = np.exp(np.minimum(0.0, 1.0 - means[..., -1] / means[..., -2]))
    bleu: FloatArray = precisions.prod(axis=-1) ** (1.0 / order) * brevity
    return bleu


def _longest_common(left: Sequence[str], right: Sequence[str]) -> int:
    """Measure the longest common subsequence, a row of the table in the bits of one integer."""
    masks: dict[str, int] = {}
    for place, word in enumerate(left):
        masks[word] = masks.get(word, 0) | 1 << place
    full = (1 << len(left)) - 1
    row = full
    for word in right:
        shared = row & masks.get(word, 0)
        if shared:
            row = ((row + shared) | (row - shared)) & full
    return len(left) - row.bit_count()
