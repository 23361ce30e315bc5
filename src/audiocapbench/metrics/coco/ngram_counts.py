"""Counts of n-grams in many sentences at once, as sorted arrays; knows nothing of any metric."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from audiocapbench.metrics.batches import IntArray, Sentences, ranges


@dataclass(frozen=True, slots=True)
class NgramCounts:
    """How often which n-gram of one order occurs in which sentence.

    Attributes:
        starts: Where each sentence's entries begin in the next two; the last is where all end.
        ngrams: Number of the n-gram, ascending within a sentence.
        counts: How often it occurs there.
        size: How many different n-grams there are.
    """

    starts: IntArray
    ngrams: IntArray
    counts: IntArray
    size: int

    def entries_of(self, sentences: IntArray) -> tuple[IntArray, IntArray]:
        """Gather the entries of some sentences.

        Returns:
            For each entry, its place in ``sentences``; and its place in ``ngrams``.
        """
        starts = self.starts[sentences]
        return ranges(starts, self.starts[sentences + 1] - starts)


def count_ngrams(sentences: Sentences, vocabulary: int, highest: int) -> Iterator[NgramCounts]:
    """Count the n-grams of orders 1 to ``highest``, one order after the other."""
    owners, places = ranges(sentences.starts[:-1], sentences.lengths)
    ngrams, size = sentences.ids, vocabulary
    for order in range(1, highest + 1):
        if order > 1:
            fits = np.flatnonzero(places + order <= sentences.starts[1:][owners])
            owners, places = owners[fits], places[fits]
            # Each is numbered by the n-gram that it extends and by its last token.
            ngrams, size = _rank(ngrams[fits] * vocabulary + sentences.ids[places + order - 1])
        yield _count(owners, ngrams, size, len(sentences.lengths))


def count_sorted(ordered: IntArray) -> tuple[IntArray, IntArray]:
    """Find the distinct ones among ascending numbers that are not negative, and their counts."""
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[begins], np.diff(begins, append=len(ordered))


def find_sorted(keys: IntArray, wanted: IntArray) -> tuple[IntArray, IntArray]:
    """Look up numbers in ascending keys: which of them are there, and the slots of those."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    slots = np.searchsorted(keys, wanted)
    slots[slots == len(keys)] = 0
    found = np.flatnonzero(keys[slots] == wanted)
    return found, slots[found]


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


def _count(owners: IntArray, ngrams: IntArray, size: int, n_sentences: int) -> NgramCounts:
    width = max(size, 1)
    keys, counts = count_sorted(np.sort(owners * width + ngrams))
    sentences = keys // width
    starts = np.searchsorted(sentences, np.arange(n_sentences + 1))
    return NgramCounts(starts, keys - sentences * width, counts, size)
