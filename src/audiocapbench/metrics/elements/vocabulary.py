"""How much alike two words are: by hand-made lists, WordNet and word vectors.

The vectors are kept as whole numbers, so that their products come out the same to the last bit
on every machine and in every batch.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import IntArray, ranges
from audiocapbench.metrics.elements.thesaurus import meaning_of, meanings
from audiocapbench.metrics.elements.words import ElementKind, kind_of
from audiocapbench.metrics.encoders import Encoder
from audiocapbench.metrics.wordnet import synonyms

Likeness = NDArray[np.float32]

AKIN = 0.5
SYNONYM = 0.85
AGAINST = -1.0
# Cosines of wordllama's vectors below the first are chance, above the second as good as equal.
COSINE_FLOOR = 0.05
COSINE_CEILING = 0.70
_SCALE = 127
_SIDES = 10
_LARGEST_TABLE = 4_096
_COMPARED_AT_ONCE = 4_096


class ElementVocabulary:
    """Words that were met so far, by number."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._numbers: dict[str, int] = {}
        self._meanings: dict[str, int] = {}
        self._synonyms: dict[int, set[int]] = {}
        self._named: dict[str, tuple[int, ...]] = {}
        dimensions = encoder.encode(["sound"]).shape[1]
        self._vectors = np.zeros((0, dimensions), dtype=np.float32)
        self._akin, self._lines, self._sides = _marks([])
        self._of_meaning = np.zeros(0, dtype=np.int64)
        self._class = np.zeros(0, dtype=np.int64)
        self._table = np.zeros((0, 0), dtype=np.float32)
        self._tabled = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def learn(self, words: Iterable[str]) -> None:
        """Look up all words that are new."""
        new = sorted(set(words) - self._numbers.keys())
        if not new:
            return
        self._numbers.update({word: len(self._numbers) + place for place, word in enumerate(new)})
        own = [meaning_of(word) for word in new]
        for meaning in own:
            self._meanings.setdefault(meaning, len(self._meanings))
        self._of_meaning = np.append(self._of_meaning, [self._meanings[one] for one in own])
        self._class = np.append(self._class, [_class_of(word) for word in new])
        vectors = np.rint(self._encoder.encode(new) * _SCALE).astype(np.float32)
        # Numbers look alike to vectors, silence looks like speech, other scripts are mere bytes.
        counts = [kind_of(word) is ElementKind.COUNT for word in new]
        vectors[[not word.isascii() or word.startswith("silen") for word in new]] = 0
        vectors[counts] = 0
        self._vectors = np.concatenate([self._vectors, vectors])
        known = (self._akin, self._lines, self._sides)
        both = zip(known, _marks(own), strict=True)
        self._akin, self._lines, self._sides = (np.concatenate(two) for two in both)
        self._relate(new)
        self._tabulate()

    def _tabulate(self) -> None:
        """Keep the likeness of the first few thousand words: most captions need no others."""
        end = min(len(self._numbers), _LARGEST_TABLE)
        if end == self._tabled:
            return
        if end > len(self._table):
            table = np.zeros((min(2 * end, _LARGEST_TABLE),) * 2, dtype=np.float32)
            table[: self._tabled, : self._tabled] = self._table[: self._tabled, : self._tabled]
            self._table = table
        new = np.arange(self._tabled, end)
        likeness = self._compare(new, np.arange(end))
        self._table[self._tabled : end, :end] = likeness
        self._table[:end, self._tabled : end] = likeness.T
        self._tabled = end

    def _relate(self, new: Sequence[str]) -> None:
        """Note synonyms on both sides; WordNet has some on one side only."""
        for place, name in synonyms(new):
            number = self._numbers[new[place]]
            self._named[name] = (*self._named.get(name, ()), number)
            if name in self._numbers:
                self._note(number, self._numbers[name])
        for word in new:
            for other in self._named.get(word, ()):
                self._note(self._numbers[word], other)

    def _note(self, word: int, other: int) -> None:
        if word != other:
            self._synonyms.setdefault(word, set()).add(other)
            self._synonyms.setdefault(other, set()).add(word)

    def numbers(self, words: Iterable[str]) -> tuple[int, ...]:
        """The numbers of words that have been learnt."""
        return tuple(map(self._numbers.__getitem__, words))

    def likeness(self, words: Sequence[int], others: Sequence[int]) -> Likeness:
        """How much alike each word is to each other, shape (words, others).

        Words that exclude each other, such as "loud" and "quiet", have ``AGAINST``.
        """
        if not (words and others):
            return np.zeros((len(words), len(others)), dtype=np.float32)
        pairs = np.repeat(words, len(others)), np.tile(others, len(words))
        return self.likeness_of(*pairs).reshape(len(words), len(others))

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
        likeness -= np.float32(COSINE_FLOOR)
        likeness /= np.float32(COSINE_CEILING - COSINE_FLOOR)
        np.clip(likeness, 0, 1, out=likeness)
        likeness *= self._class[words][:, None] == self._class[others]
        rows, columns, akin = _marked(self._akin, words, others)
        part = likeness[rows[:, None], columns]
        likeness[rows[:, None], columns] = np.where(akin > 0, np.maximum(part, AKIN), part)
        self._mark_synonyms(likeness, words, others)
        rows, columns, lines = _marked(self._lines, words, others)
        sides = self._sides[words[rows]] @ self._sides[others[columns]].T
        part = likeness[rows[:, None], columns]
        likeness[rows[:, None], columns] = np.where(lines > sides, np.float32(AGAINST), part)
        in_order = np.argsort(self._of_meaning[others], kind="stable")
        meanings_there = self._of_meaning[others[in_order]]
        first = np.searchsorted(meanings_there, self._of_meaning[words], "left")
        behind = np.searchsorted(meanings_there, self._of_meaning[words], "right")
        rows, same = ranges(first, behind - first)
        likeness[rows, in_order[same]] = 1
        return likeness

    def _mark_synonyms(self, likeness: Likeness, words: IntArray, others: IntArray) -> None:
        columns: dict[int, list[int]] = {}
        for column, other in enumerate(others.tolist()):
            columns.setdefault(other, []).append(column)
        found = [
            (row, column)
            for row, word in enumerate(words.tolist())
            for other in self._synonyms.get(word, frozenset()) & columns.keys()
            for column in columns[other]
        ]
        if found:
            place = tuple(np.array(found).T)
            likeness[place] = np.maximum(likeness[place], SYNONYM)


def _marked(
    marks: Likeness, words: IntArray, others: IntArray
) -> tuple[IntArray, IntArray, Likeness]:
    """Rows and columns of words that have a mark at all, and how many each two have in common."""
    rows, columns = (np.flatnonzero(marks[own].any(axis=1)) for own in (words, others))
    common: Likeness = marks[words[rows]] @ marks[others[columns]].T
    return rows, columns, common


def _class_of(word: str) -> int:
    """Words are compared by their vectors only within things, qualities, counts."""
    kind = kind_of(word)
    if kind in (ElementKind.ATTRIBUTE, ElementKind.MOOD):
        return 1
    return 2 if kind is ElementKind.COUNT else 0


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
