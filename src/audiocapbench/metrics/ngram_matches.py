"""Clipped n-gram matches of predictions with all their references, for every kind of BLEU."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import (
    MASK_BITS,
    Batch,
    Corpus,
    IntArray,
    MaskArray,
    count_bits,
    equal_word_masks,
    score_samples,
)
from audiocapbench.metrics.result import FloatArray

MAX_ORDER = 4


def count_matches(corpus: Corpus) -> FloatArray:
    """Count what BLEU is made of, a row a sample.

    Returns:
        n-grams of orders 1 to 4 that were matched, none more often than one reference has it;
        then the words of the prediction; then the reference length nearest to that, the shorter
        of two as near.
    """
    return score_samples(corpus, corpus.sentences, _count_batch, _count_long, MAX_ORDER + 2)


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
    closest = np.minimum.reduceat(distances * shift + lengths, batch.first_pairs)
    counts[:, MAX_ORDER + 1] = closest % shift
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
        # For each place of the prediction, the mask of the window's first places before it.
        most, bits = min(step, length - start), len(window)
        before = [min(max(0, place - start), most) for place in range(length)]
        masks = [(1 << bits) - (1 << (bits - count)) for count in before]
        earlier = np.array(masks, dtype=np.uint64)[:, np.newaxis]
        for order in range(MAX_ORDER):
            repeats[order] += count_bits(places & earlier[: len(places)])
            places = _one_word_longer(places)
    return repeats


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
