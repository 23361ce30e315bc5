"""Sentence BLEU-1 to BLEU-4 as the published AudioCapBench recipe computes them.

Equals NLTK's ``sentence_bleu`` with smoothing method 1; corpus BLEU of the COCO family is not here.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from audiocapbench.metrics.batches import (
    Batch,
    IntArray,
    MaskArray,
    count_bits,
    equal_word_masks,
    read_corpus,
    score_samples,
)
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign

MAX_ORDER = 4
_SMOOTHING_COUNT = 0.1


def bleu(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> list[MetricResult]:
    """Score captions by the n-grams that they share with all their references.

    Words are ``text.lower().split()``. A prediction without a word in common with its references,
    and so an empty one, scores 0. A blank reference has no words but takes part in the choice of
    the closest reference length, as in NLTK.

    Returns:
        ``bleu_1`` to ``bleu_4``; each corpus score is the mean over samples.

    Raises:
        MetricError: If the two do not belong together, or a sample has no reference.
    """
    corpus = read_corpus(predictions, references)
    scores = score_samples(corpus, corpus.sentences, _score_batch, _score_long, MAX_ORDER)
    names = [f"bleu_{order}" for order in range(1, MAX_ORDER + 1)]
    return [
        MetricResult.of_means(name, _signature(name), np.ascontiguousarray(column))
        for name, column in zip(names, scores.T, strict=True)
    ]


def _signature(name: str) -> str:
    return sign(
        name,
        variant="nltk",
        level="sentence",
        smooth="method1",
        tok="split",
        case="lower",
        refs="all",
    )


def _score_batch(batch: Batch) -> FloatArray:
    matched = np.zeros((len(batch.samples), MAX_ORDER), dtype=np.int64)
    own = equal_word_masks(batch.predictions, batch.predictions)
    in_references = batch.masks()
    earlier = _earlier_places(len(own))
    for order in range(MAX_ORDER):
        if order:
            own, in_references = _one_word_longer(own), _one_word_longer(in_references)
        occurrences = np.maximum.reduceat(count_bits(in_references), batch.first_pairs, axis=1)
        repeats = count_bits(own & earlier[: len(own)])
        # The k-th copy of an n-gram counts only if some reference has it k times.
        matched[:, order] = np.count_nonzero(repeats < occurrences, axis=0)
    closest = _closest_lengths(
        batch.prediction_lengths[batch.owners], batch.reference_lengths, batch.first_pairs
    )
    return _scores(matched, batch.prediction_lengths, closest)


def _one_word_longer(masks: MaskArray) -> MaskArray:
    """From where n-grams start in the references to where n-grams of one word more do."""
    return masks[:-1] & (masks[1:] << np.uint64(1))


def _earlier_places(length: int) -> MaskArray:
    """For each place in a prediction, the mask of all places before it."""
    masks = [(1 << length) - (1 << (length - place)) for place in range(length)]
    return np.array(masks, dtype=np.uint64)[:, np.newaxis]


def _score_long(prediction: list[int], references: list[list[int]]) -> FloatArray:
    matched = [_matched(prediction, references, order + 1) for order in range(MAX_ORDER)]
    length = np.array([len(prediction)], dtype=np.int64)
    reference_lengths = np.array([len(reference) for reference in references], dtype=np.int64)
    closest = _closest_lengths(length, reference_lengths, np.array([0]))
    return _scores(np.array([matched]), length, closest).ravel()


def _matched(prediction: list[int], references: list[list[int]], order: int) -> int:
    wanted = _ngrams(prediction, order)
    found: Counter[tuple[int, ...]] = Counter()
    for reference in references:
        own = _ngrams(reference, order)
        for ngram in wanted.keys() & own.keys():
            found[ngram] = max(found[ngram], min(wanted[ngram], own[ngram]))
    return found.total()


def _ngrams(words: list[int], order: int) -> Counter[tuple[int, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def _closest_lengths(wanted: IntArray, lengths: IntArray, first_pairs: IntArray) -> IntArray:
    """Each sample's reference length nearest to the prediction's; of two, the shorter."""
    shift = lengths.max() + 1
    by_distance = np.abs(lengths - wanted) * shift + lengths
    closest: IntArray = np.minimum.reduceat(by_distance, first_pairs) % shift
    return closest


def _scores(matched: IntArray, lengths: IntArray, closest: IntArray) -> FloatArray:
    """BLEU of orders 1 to 4, a row a sample, from its counts of matched n-grams."""
    orders = np.arange(1, MAX_ORDER + 1)
    possible = np.maximum(1, lengths[:, np.newaxis] - orders + 1)
    precisions = np.where(matched == 0, _SMOOTHING_COUNT, matched) / possible
    geometric_means = np.exp(np.cumsum(np.log(precisions), axis=1) / orders)
    with_words = np.maximum(lengths, 1)
    brevity = np.where(lengths > closest, 1.0, np.exp(1 - closest / with_words))
    shares_a_word = matched[:, :1] > 0
    return np.where(shares_a_word, brevity[:, np.newaxis] * geometric_means, 0.0)
