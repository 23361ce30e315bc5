"""Counts of n-grams in many sentences at once, as sorted arrays; knows nothing of any metric."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


class Positions(NamedTuple):
    """Places in the tokens: who asked for each, where it is, and how many tokens are left there."""

    owners: IntArray
    places: IntArray
    left: IntArray

    def at(self, wanted: IntArray) -> "Positions":
        """Keep some of the positions."""
        return Positions(self.owners[wanted], self.places[wanted], self.left[wanted])


class NumberedTokens(NamedTuple):
    """Sentences laid end to end: token numbers, length of each sentence, bound of the numbers."""

    tokens: IntArray
    lengths: IntArray
    vocabulary: int

    def positions_of(self, sentences: IntArray) -> Positions:
        """List all token positions of some sentences; the owner is the place in ``sentences``."""
        ends = np.cumsum(self.lengths)
        owners, places = _gather((ends - self.lengths)[sentences], self.lengths[sentences])
        return Positions(owners, places, ends[sentences][owners] - places)

    def extend(self, ngrams: IntArray, positions: Positions, order: int) -> IntArray:
        """Number the n-grams of an order from those one shorter at the same positions."""
        return ngrams * self.vocabulary + self.tokens[positions.places + (order - 1)]


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
        return _gather(starts, self.starts[sentences + 1] - starts)


def count_ngrams(numbered: NumberedTokens, highest: int) -> Iterator[NgramCounts]:
    """Count the n-grams of orders 1 to ``highest``, one order after the other."""
    n_sentences = len(numbered.lengths)
    positions = numbered.positions_of(np.arange(n_sentences))
    ngrams, size = numbered.tokens, numbered.vocabulary
    for order in range(1, highest + 1):
        if order > 1:
            fits = np.flatnonzero(positions.left >= order)
            positions = positions.at(fits)
            distinct, ngrams, _ = rank(numbered.extend(ngrams[fits], positions, order))
            size = len(distinct)
        yield _count(positions.owners, ngrams, size, n_sentences)


def rank(numbers: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Find the distinct numbers, the rank of each number among them, and their counts.

    The place of each number is sorted along in its low bits where they fit: plain sorting is
    several times as fast as sorting places by number, which ``np.unique`` does.
    """
    bits = len(numbers).bit_length()
    if len(numbers) and int(numbers.max()) >> (62 - bits):
        distinct, ranks, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        return distinct, ranks, counts
    ordered = np.sort(numbers << bits | np.arange(len(numbers)))
    distinct, counts = count_sorted(ordered >> bits)
    ranks = np.empty_like(numbers)
    ranks[ordered & ((1 << bits) - 1)] = np.repeat(np.arange(len(distinct)), counts)
    return distinct, ranks, counts


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


def _gather(starts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Concatenate ranges: for each number in them, which range it is from, and the number."""
    owners = np.repeat(np.arange(len(lengths)), lengths)
    before = np.cumsum(lengths) - lengths
    return owners, np.arange(len(owners)) + (starts - before)[owners]


def _count(owners: IntArray, ngrams: IntArray, size: int, n_sentences: int) -> NgramCounts:
    width = max(size, 1)
    keys, counts = count_sorted(np.sort(owners * width + ngrams))
    sentences = keys // width
    starts = np.searchsorted(sentences, np.arange(n_sentences + 1))
    return NgramCounts(starts, keys - sentences * width, counts, size)
