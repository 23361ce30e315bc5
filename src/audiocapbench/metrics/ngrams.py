"""N-grams of a corpus, counted sentence by sentence, and how predictions share them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from audiocapbench.metrics.batches import Corpus, IntArray, ranges
from audiocapbench.metrics.result import FloatArray

ORDERS = 4


class NgramMatches(NamedTuple):
    """N-grams of one order in the predictions and the references of all samples.

    An entry is a distinct n-gram of a sentence. ``predicted`` has the sample of each entry of the
    predictions, ``referred`` the reference; ``*_entries`` are their places in ``counts`` and
    ``ngrams``. Entry ``hits[i]`` of the references is the n-gram of entry ``slots[i]`` of the
    predictions. ``keys`` are sample times ``size`` plus n-gram, for each entry of the references.
    """

    starts: IntArray
    ngrams: IntArray
    counts: IntArray
    size: int
    predicted: IntArray
    predicted_entries: IntArray
    referred: IntArray
    referred_entries: IntArray
    keys: IntArray
    hits: IntArray
    slots: IntArray


def match_ngrams(corpus: Corpus) -> Iterator[NgramMatches]:
    """N-grams of orders 1 to 4, one order after the other, over all samples of a corpus."""
    sentences, vocabulary = corpus.sentences, len(corpus.words)
    predictions, (sample_of, references) = corpus.predictions[corpus.place], corpus.pairs()
    owners, places = ranges(sentences.starts[:-1], sentences.lengths)
    numbers, size = sentences.ids, vocabulary
    for order in range(1, ORDERS + 1):
        if order > 1:
            fits = np.flatnonzero(places + order <= sentences.starts[1:][owners])
            owners, places = owners[fits], places[fits]
            # Each is numbered by the n-gram that it extends and by its last token.
            numbers, size = _rank(numbers[fits] * vocabulary + sentences.ids[places + order - 1])
        width = max(size, 1)
        distinct, counts = count_sorted(np.sort(owners * width + numbers))
        starts = np.searchsorted(distinct // width, np.arange(len(sentences.lengths) + 1))
        ngrams, lengths = distinct % width, np.diff(starts)
        predicted, entries = ranges(starts[predictions], lengths[predictions])
        referred, others = ranges(starts[references], lengths[references])
        ours, keys = (
            predicted * width + ngrams[entries],
            sample_of[referred] * width + ngrams[others],
        )
        slots = np.searchsorted(ours, keys)
        slots[slots == len(ours)] = 0
        hits = np.flatnonzero(ours[slots] == keys) if len(ours) else slots[:0]
        yield NgramMatches(
            *(starts, ngrams, counts, width),
            *(predicted, entries, referred, others, keys, hits, slots[hits]),
        )


def count_matches(corpus: Corpus) -> FloatArray:
    """Count what BLEU is made of, a row a sample.

    Returns:
        n-grams of orders 1 to 4 that were matched, none more often than one reference has it;
        then the words of the prediction; then the reference length nearest to that, the shorter
        of two as near.
    """
    table = np.zeros((len(corpus.place), ORDERS + 2))
    if not len(table):
        return table
    for order, found in enumerate(match_ngrams(corpus)):
        most = np.zeros(len(found.predicted), dtype=np.int64)
        np.maximum.at(most, found.slots, found.counts[found.referred_entries[found.hits]])
        clipped = np.minimum(most, found.counts[found.predicted_entries])
        table[:, order] = np.bincount(found.predicted, weights=clipped, minlength=len(table))
    owners, references = corpus.pairs()
    predicted = corpus.sentences.lengths[corpus.predictions[corpus.place]]
    lengths = corpus.sentences.lengths[references]
    shift = lengths.max() + 1
    distances = np.abs(lengths - predicted[owners]) * shift + lengths
    closest = np.minimum.reduceat(distances, np.flatnonzero(np.diff(owners, prepend=-1))) % shift
    table[:, ORDERS:] = np.stack([predicted, closest], axis=1)
    return table


def count_sorted(ordered: IntArray) -> tuple[IntArray, IntArray]:
    """Find the distinct ones among ascending numbers that are not negative, and their counts."""
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[begins], np.diff(begins, append=len(ordered))


def _rank(numbers: IntArray) -> tuple[IntArray, int]:
    """The rank of each number among the distinct ones, and how many those are.

    The place of each number is sorted along in its low bits where they fit: plain sorting is
    several times as fast as sorting places by number, which ``np.unique`` does.
    """
    bits = len(numbers).bit_length()
    if len(numbers) and int(numbers.max()) >> (62 - bits):
        distinct, ranks = np.unique(numbers, return_inverse=True)
        return ranks, len(distinct)
    ordered = np.sort(numbers << bits | np.arange(len(numbers)))
    distinct, counts = count_sorted(ordered >> bits)
    ranks = np.empty_like(numbers)
    ranks[ordered & ((1 << bits) - 1)] = np.repeat(np.arange(len(distinct)), counts)
    return ranks, len(distinct)
