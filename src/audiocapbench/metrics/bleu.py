"""Sentence BLEU-1 to BLEU-4 as the published AudioCapBench recipe computes them.

Equals NLTK's ``sentence_bleu`` with smoothing method 1; corpus BLEU of the COCO family is not here.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import (
    MASK_BITS,
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
    counts = score_samples(corpus, corpus.sentences, _count_batch, _count_long, MAX_ORDER + 2)
    names = [f"bleu_{order}" for order in range(1, MAX_ORDER + 1)]
    return [
        MetricResult.of_means(name, _signature(name), np.ascontiguousarray(column))
        for name, column in zip(names, _scores(counts).T, strict=True)
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


def _count_batch(batch: Batch) -> FloatArray:
    counts = np.empty((len(batch.samples), MAX_ORDER + 2))
    places = batch.masks()
    for order, repeats in enumerate(_repeats(batch.predictions)):
        occurrences = np.maximum.reduceat(count_bits(places), batch.first_pairs, axis=1)
        # The k-th copy of an n-gram counts only if some reference has it k times.
        counts[:, order] = np.count_nonzero(repeats < occurrences, axis=0)
        places = _one_word_longer(places)
    counts[:, MAX_ORDER] = batch.prediction_lengths
    lengths, shift = batch.reference_lengths, MASK_BITS + 1
    distances = np.abs(lengths - batch.prediction_lengths[batch.owners])
    closest = np.minimum.reduceat(distances * shift + lengths, batch.first_pairs) % shift
    counts[:, MAX_ORDER + 1] = closest
    return counts


def _one_word_longer(places: MaskArray) -> MaskArray:
    """From where n-grams start in the references to where n-grams of one word more do."""
    return places[:-1] & (places[1:] << np.uint64(1))


def _repeats(predictions: IntArray) -> list[NDArray[np.int16]]:
    """For each order and place, how often the n-gram has come before in the prediction."""
    length, columns = predictions.shape
    repeats = [
        np.zeros((max(0, length - order), columns), dtype=np.int16) for order in range(MAX_ORDER)
    ]
    # An n-gram is seen in the window that it starts in, so windows overlap by what it may need.
    step = MASK_BITS - MAX_ORDER + 1
    for start in range(0, length, step):
        window = predictions[start : start + MASK_BITS]
        places = equal_word_masks(predictions, window)
        earlier = _earlier_places(length, start, min(step, length - start), len(window))
        for order in range(MAX_ORDER):
            repeats[order] += count_bits(places & earlier[: len(places)])
            places = _one_word_longer(places)
    return repeats


def _earlier_places(length: int, start: int, step: int, window: int) -> MaskArray:
    """For each place of a prediction, the mask of a window's first places before it."""
    before = [min(max(0, place - start), step) for place in range(length)]
    masks = [(1 << window) - (1 << (window - count)) for count in before]
    return np.array(masks, dtype=np.uint64)[:, np.newaxis]


def _count_long(prediction: list[int], references: list[list[int]]) -> FloatArray:
    length = len(prediction)
    matched = [_matched(prediction, references, order + 1) for order in range(MAX_ORDER)]
    closest = min(map(len, references), key=lambda own: (abs(own - length), own))
    return np.array([*matched, length, closest], dtype=np.float64)


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


def _scores(counts: FloatArray) -> FloatArray:
    """BLEU of orders 1 to 4 from matched n-grams of each, length and closest reference length."""
    matched, lengths, closest = counts[:, :MAX_ORDER], counts[:, [MAX_ORDER]], counts[:, [-1]]
    orders = np.arange(1, MAX_ORDER + 1)
    possible = np.maximum(1, lengths - orders + 1)
    precisions = np.where(matched == 0, _SMOOTHING_COUNT, matched) / possible
    geometric_means = np.exp(np.cumsum(np.log(precisions), axis=1) / orders)
    brevity = np.where(lengths > closest, 1, np.exp(1 - closest / np.maximum(lengths, 1)))
    return np.where(matched[:, :1] > 0, brevity * geometric_means, 0.0)
