"""How much alike words are, by hand-made lists, WordNet and word vectors, and how near they come
to each reference that they are held to.

The vectors are kept as whole numbers, so that their products come out the same to the last bit
on every machine and in every batch.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.grouping import grouped
from audiocapbench.metrics.batches import IntArray, ranges, starts_of
from audiocapbench.metrics.elements.splitting import ElementKind, kind_of, meaning_of, meanings
from audiocapbench.metrics.encoders import Encoder
from audiocapbench.metrics.wordnet import synonyms

Likeness = NDArray[np.float32]

AKIN = 0.5
SYNONYM = 0.85
AGAINST = -1.0
# Cosines below the first are chance, above the second as good as equal.
_COSINES = {"caption2vec": (0.10, 0.75)}
_COSINES_OF_OTHERS = (0.05, 0.70)
# Words are compared by their vectors only within things, qualities, counts.
_CLASSES = {ElementKind.ATTRIBUTE: 1, ElementKind.MOOD: 1, ElementKind.COUNT: 2}
_SCALE = 127
_SIDES = 10
_LARGEST_TABLE = 4_096
_COMPARED_AT_ONCE = 4_096
_PAIRS_AT_ONCE = 1 << 18


class ElementVocabulary:
    """Words that were met so far, by number."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._range = _COSINES.get(encoder.name.partition("@")[0], _COSINES_OF_OTHERS)
        self._numbers: dict[str, int] = {}
        self._meanings: dict[str, int] = {}
        self._synonyms: dict[int, set[int]] = {}
        self._named: dict[str, tuple[int, ...]] = {}
        dimensions = encoder.encode(["sound"]).shape[1]
        self._vectors = np.zeros((0, dimensions), dtype=np.float32)
        self._akin, self._lines, self._sides = _marks([])
        self._of_meaning = np.zeros(0, dtype=np.int64)
        self._class = np.zeros(0, dtype=np.int64)
        # The likeness of the first few thousand words: most captions need no others.
        self._table = np.zeros((0, 0), dtype=np.float32)
        self._tabled = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def learn(self, words: Iterable[str]) -> None:
        new = sorted(set(words) - self._numbers.keys())
        if not new:
            return
        self._numbers.update({word: len(self._numbers) + place for place, word in enumerate(new)})
        own = [meaning_of(word) for word in new]
        for meaning in own:
            self._meanings.setdefault(meaning, len(self._meanings))
        kinds = [kind_of(word) for word in new]
        classes = [0 if kind is None else _CLASSES.get(kind, 0) for kind in kinds]
        self._of_meaning = np.append(self._of_meaning, [self._meanings[one] for one in own])
        self._class = np.append(self._class, classes)
        vectors = np.rint(self._encoder.encode(new) * _SCALE).astype(np.float32)
        # Numbers look alike to vectors, silence looks like speech, other scripts are mere bytes.
        vectors[[kind is ElementKind.COUNT for kind in kinds]] = 0
        vectors[[not word.isascii() or word.startswith("silen") for word in new]] = 0
        self._vectors = np.concatenate([self._vectors, vectors])
        known = (self._akin, self._lines, self._sides)
        both = zip(known, _marks(own), strict=True)
        self._akin, self._lines, self._sides = (np.concatenate(two) for two in both)
        # Synonyms are noted on both sides; WordNet has some on one side only.
        for place, name in synonyms(new):
            number = self._numbers[new[place]]
            self._named[name] = (*self._named.get(name, ()), number)
            if name in self._numbers:
                self._note(number, self._numbers[name])
        for word in new:
            for other in self._named.get(word, ()):
                self._note(self._numbers[word], other)
        first, end = self._tabled, min(len(self._numbers), _LARGEST_TABLE)
        if end > len(self._table):
            table = np.zeros((min(2 * end, _LARGEST_TABLE),) * 2, dtype=np.float32)
            table[:first, :first] = self._table[:first, :first]
            self._table = table
        if end > first:
            likeness = self._compare(np.arange(first, end), np.arange(end))
            self._table[first:end, :end] = likeness
            self._table[:end, first:end] = likeness.T
            self._tabled = end

    def _note(self, word: int, other: int) -> None:
        if word != other:
            self._synonyms.setdefault(word, set()).add(other)
            self._synonyms.setdefault(other, set()).add(word)

    def numbers(self, words: Iterable[str]) -> tuple[int, ...]:
        return tuple(map(self._numbers.__getitem__, words))

    def likeness(self, words: Sequence[int], others: Sequence[int]) -> Likeness:
        """How much alike words are, shape (words, others); "loud" and "quiet" are ``AGAINST``."""
        return self.between(np.array(words, dtype=np.int64), np.array(others, dtype=np.int64))

    def between(self, words: IntArray, others: IntArray) -> Likeness:
        """The same of arrays."""
        if max(words.max(initial=0), others.max(initial=0)) < self._tabled:
            return self._table[words[:, None], others]
        return self._compare(words, others)

    def likeness_of(self, words: IntArray, others: IntArray) -> Likeness:
        """How much alike each word is to the other at its place."""
        last = self._tabled - 1
        found: Likeness = self._table[np.minimum(words, last), np.minimum(others, last)]
        beyond = np.flatnonzero(np.maximum(words, others) > last)
        for start in range(0, len(beyond), _COMPARED_AT_ONCE):
            places = beyond[start : start + _COMPARED_AT_ONCE]
            (own, rows), (other, columns) = (
                np.unique(numbers[places], return_inverse=True) for numbers in (words, others)
            )
            found[places] = self._compare(own, other)[rows, columns]
        return found

    def _compare(self, words: IntArray, others: IntArray) -> Likeness:
        likeness: Likeness = self._vectors[words] @ self._vectors[others].T
        likeness /= np.float32(_SCALE * _SCALE)
        floor, ceiling = self._range
        likeness -= np.float32(floor)
        likeness /= np.float32(ceiling - floor)
        np.clip(likeness, 0, 1, out=likeness)
        likeness *= self._class[words][:, None] == self._class[others]
        cells, akin = _marked(self._akin, words, others)
        part = likeness[cells]
        likeness[cells] = np.where(akin > 0, np.maximum(part, AKIN), part)
        columns = grouped((other, column) for column, other in enumerate(others.tolist()))
        pairs = [
            (row, column)
            for row, word in enumerate(words.tolist())
            for other in self._synonyms.get(word, frozenset()) & columns.keys()
            for column in columns[other]
        ]
        if pairs:
            place = tuple(np.array(pairs).T)
            likeness[place] = np.maximum(likeness[place], SYNONYM)
        cells, lines = _marked(self._lines, words, others)
        sides = self._sides[words[cells[0][:, 0]]] @ self._sides[others[cells[1]]].T
        likeness[cells] = np.where(lines > sides, np.float32(AGAINST), likeness[cells])
        in_order = np.argsort(self._of_meaning[others], kind="stable")
        meanings_there = self._of_meaning[others[in_order]]
        first = np.searchsorted(meanings_there, self._of_meaning[words], "left")
        behind = np.searchsorted(meanings_there, self._of_meaning[words], "right")
        rows, same = ranges(first, behind - first)
        likeness[rows, in_order[same]] = 1
        return likeness


def _marked(
    marks: Likeness, words: IntArray, others: IntArray
) -> tuple[tuple[IntArray, IntArray], Likeness]:
    """The block of words that have a mark at all, and how many each two have in common."""
    rows, columns = (np.flatnonzero(marks[own].any(axis=1)) for own in (words, others))
    common: Likeness = marks[words[rows]] @ marks[others[columns]].T
    return (rows[:, None], columns), common


def _marks(own: Sequence[str]) -> tuple[Likeness, Likeness, Likeness]:
    """The groups of kin, the lines of exclusions and the sides on them that meanings take."""
    known = meanings()
    count = 1 + max(group for groups in known.akin.values() for group in groups)
    length = 1 + max(line for taken in known.sides.values() for line, _ in taken)
    akin, lines, sides = (
        np.zeros((len(own), columns), dtype=np.float32)
        for columns in (count, length, length * _SIDES)
    )
    for row, meaning in enumerate(own):
        akin[row, list(known.akin.get(meaning, ()))] = 1
        for line, side in known.sides.get(meaning, ()):
            lines[row, line] = 1
            sides[row, line * _SIDES + side] = 1
    return akin, lines, sides


class ReferenceWords(NamedTuple):
    """Words of a clip's references by number and stage, and where each, never empty, begins."""

    numbers: Sequence[int]
    stages: Sequence[int]
    starts: Sequence[int]


class Nearness(NamedTuple):
    """Clips one after the other; a cell is a word of one with one of its references."""

    best: Likeness  # in each cell, of the word to the word of the reference most like it
    worst: Likeness  # and to the one least like it
    stages: IntArray  # of the one most like it
    covers: Likeness  # of each word of the references to the word most like it, at least 0
    cells: IntArray  # where the cells of each clip begin
    rows: IntArray  # where its words do
    columns: IntArray  # where its references' words do

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
    lists = (words, *(tuple(one[field] for one in held_to) for field in range(3)))
    rows, columns, _, references = (starts_of(list(map(len, own))) for own in lists)
    numbers, others, stages, starts = (
        np.array([number for own in one for number in own], dtype=np.int64) for one in lists
    )
    owners = np.repeat(np.arange(len(words)), np.diff(rows))
    pairs = starts_of(np.diff(columns)[owners])
    cells = starts_of(np.diff(rows) * np.diff(references))
    best, worst = (np.empty(cells[-1], dtype=np.float32) for _ in range(2))
    nearest, covers = np.empty(cells[-1], dtype=np.int64), np.zeros(len(others), dtype=np.float32)
    done = end = 0
    while (begin := end) < len(owners):
        # As many words as have about as many pairs as are compared at once, where there are any.
        most = pairs[begin] + _PAIRS_AT_ONCE
        end = max(begin + 1, int(np.searchsorted(pairs, most, "right")) - 1)
        if pairs[end] == pairs[begin]:
            continue
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
