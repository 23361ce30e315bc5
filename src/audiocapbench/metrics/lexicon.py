"""Which different words of a corpus NLTK's METEOR lets match: those of one stem, and synonyms.

NLTK looks for synonyms among the words' stems, not among the words, and so does this file. Both
are looked up once for each distinct word and then asked for by number.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import Corpus, IntArray, MaskArray, number_things
from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.wordnet import synonym_pairs

_SLOTS_PER_PAIR = 64
_FILLERS = 2


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Stems of a corpus's words, and which of the stems are synonyms.

    All go by number, and arrays end with entries for a batch's fillers, which are -2 and -1. Pairs
    of synonyms are looked up in two steps: a slot, found by combining the random keys of two stems,
    rules out nearly all pairs that are none, and the sorted codes settle the rest.

    Attributes:
        stems: The stem of each word.
        synonyms: The synonyms of each predicted stem that has any.
        codes: Predicted stem times ``len(keys)`` plus its synonym, for each pair; sorted.
        slots: Whether a slot may hold a pair; none in the upper half does.
        keys: Key of each stem as a predicted one; without synonyms it leads to the upper half.
        synonym_keys: Key of each stem as a synonym.
    """

    stems: IntArray
    synonyms: dict[int, list[int]]
    codes: IntArray
    slots: NDArray[np.bool_]
    keys: IntArray
    synonym_keys: IntArray

    def synonym_masks(
        self, predictions: IntArray, references: IntArray, free: NDArray[np.bool_]
    ) -> MaskArray:
        """Mark the synonyms of each free predicted stem in the reference of the same column."""
        masks = np.zeros(predictions.size, dtype=np.uint64)
        keys = np.where(free, self.keys[predictions], len(self.slots) // 2)
        synonym_keys = self.synonym_keys[references]
        for place, bit in enumerate(range(len(references) - 1, -1, -1)):
            maybe = np.flatnonzero(self.slots[keys ^ synonym_keys[place]])
            synonyms = references[place, maybe % predictions.shape[1]]
            true = self._holds(predictions.ravel()[maybe] * len(self.keys) + synonyms)
            masks[maybe[true]] |= np.uint64(1 << bit)
        return masks.reshape(predictions.shape)

    def _holds(self, codes: IntArray) -> NDArray[np.bool_]:
        places = np.searchsorted(self.codes, codes)
        found: NDArray[np.bool_] = self.codes[np.minimum(places, len(self.codes) - 1)] == codes
        return found


def read_lexicon(corpus: Corpus) -> Lexicon:
    """Look up the stems of a corpus's words and the synonyms of those that are predicted."""
    stems_of_words = [stem(word) for word in corpus.words]
    numbers = number_things(stems_of_words)
    stems = np.array([*(numbers[own] for own in stems_of_words), -2, -1], dtype=np.int64)
    predicted, synonyms = _synonyms(list(numbers), np.unique(stems[_predicted_words(corpus)]))
    size = len(numbers) + _FILLERS
    half = 1 << (len(predicted) * _SLOTS_PER_PAIR).bit_length()
    keys, synonym_keys = np.random.default_rng(0).integers(half, size=(2, size))
    slots = np.zeros(2 * half, dtype=bool)
    slots[keys[predicted] ^ synonym_keys[synonyms]] = True
    without = np.ones(size, dtype=bool)
    without[predicted] = False
    by_stem: dict[int, list[int]] = {}
    for own, synonym in zip(predicted.tolist(), synonyms.tolist(), strict=True):
        by_stem.setdefault(own, []).append(synonym)
    return Lexicon(
        stems=stems,
        synonyms=by_stem,
        codes=predicted * size + synonyms,
        slots=slots,
        keys=np.where(without, keys + half, keys),
        synonym_keys=synonym_keys,
    )


def _predicted_words(corpus: Corpus) -> IntArray:
    is_predicted = np.zeros(len(corpus.sentences.lengths), dtype=bool)
    is_predicted[corpus.predictions] = True
    ids: IntArray = corpus.sentences.ids[np.repeat(is_predicted, corpus.sentences.lengths)]
    return ids


def _synonyms(stems: list[str], predicted: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of a predicted stem and another that is its synonym, in ascending order."""
    pairs = synonym_pairs([stems[number] for number in predicted], stems)
    words, synonyms = predicted[pairs[:, 0]], pairs[:, 1]
    differ = words != synonyms
    return words[differ], synonyms[differ]
