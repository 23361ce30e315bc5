"""How near words come to each reference that they are held to, for many clips at a time."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from audiocapbench.metrics.batches import IntArray, ranges, starts_of
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary, Likeness

_PAIRS_AT_ONCE = 1 << 18


class ReferenceWords(NamedTuple):
    """Words of a clip's references by number and stage, and where each reference begins.

    No reference is without words.
    """

    numbers: Sequence[int]
    stages: Sequence[int]
    starts: Sequence[int]


class Nearness(NamedTuple):
    """Words and references of clips, one clip after the other, and for each its words.

    A cell is a word of a clip with one of its references; ``cells``, ``rows`` and ``columns`` say
    where the cells, the words and the references' words of each clip begin.

    Attributes:
        best: Of each cell, the greatest likeness of the word to one of the reference.
        worst: The least one.
        stages: The stage of the word that is most like it.
        covers: Of each word of the references, the greatest likeness to a word; at least 0.
    """

    best: Likeness
    worst: Likeness
    stages: IntArray
    covers: Likeness
    cells: IntArray
    rows: IntArray
    columns: IntArray

    def by_references(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Words whose clips have equally many references, and their cells, a row a word."""
        counts = np.diff(self.rows)
        each = np.repeat(np.diff(self.cells) // np.maximum(counts, 1), counts)
        first = starts_of(each)
        for count in np.unique(each[each > 0]).tolist():
            rows = np.flatnonzero(each == count)
            yield rows, first[rows][:, None] + np.arange(count)


def compare_words(
    words: Sequence[Sequence[int]], held_to: Sequence[ReferenceWords], vocabulary: ElementVocabulary
) -> Nearness:
    """Compare the words of each clip, by number, with its references."""
    rows, columns, references = (
        starts_of([len(own) for own in lists])
        for lists in (words, *(tuple(one[field] for one in held_to) for field in (0, 2)))
    )
    numbers, others, stages, starts = map(
        _joined, (words, *(tuple(one[field] for one in held_to) for field in range(3)))
    )
    owners = np.repeat(np.arange(len(words)), np.diff(rows))
    pairs = starts_of(np.diff(columns)[owners])
    cells = starts_of(np.diff(rows) * np.diff(references))
    best, worst = (np.empty(cells[-1], dtype=np.float32) for _ in range(2))
    nearest, covers = np.empty(cells[-1], dtype=np.int64), np.zeros(len(others), dtype=np.float32)
    done = 0
    for begin, end in _blocks(pairs):
        own = owners[begin:end]
        row, column = ranges(columns[own], columns[own + 1] - columns[own])
        likeness = vocabulary.likeness_of(numbers[begin:end][row], others[column])
        of_row, reference = ranges(references[own], references[own + 1] - references[own])
        cuts = (pairs[begin:end] - pairs[begin])[of_row] + starts[reference]
        cell = slice(done, done := done + len(cuts))
        best[cell] = np.maximum.reduceat(likeness, cuts)
        worst[cell] = np.minimum.reduceat(likeness, cuts)
        reached = likeness == np.repeat(best[cell], np.diff(cuts, append=len(likeness)))
        places = np.where(reached, np.arange(len(likeness)), len(likeness))
        nearest[cell] = stages[column[np.minimum.reduceat(places, cuts)]]
        np.maximum.at(covers, column, likeness)
    return Nearness(best, worst, nearest, covers, cells, rows, columns)


def _joined(lists: Sequence[Sequence[int]]) -> IntArray:
    return np.array([number for own in lists for number in own], dtype=np.int64)


def _blocks(pairs: IntArray) -> Iterator[tuple[int, int]]:
    """Runs of words with about as many pairs as are compared at once, where there are any."""
    begin, last = 0, len(pairs) - 1
    while begin < last:
        most = pairs[begin] + _PAIRS_AT_ONCE
        end = max(begin + 1, int(np.searchsorted(pairs, most, "right")) - 1)
        if pairs[end] > pairs[begin]:
            yield begin, end
        begin = end
