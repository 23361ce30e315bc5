"""METEOR as the published AudioCapBench recipe computes it.

Equals NLTK's ``meteor_score`` with WordNet 3.0, also in how it picks among possible alignments;
METEOR 1.5 is another metric and not here.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import (
    Batch,
    Corpus,
    IntArray,
    MaskArray,
    equal_word_masks,
    number_things,
    read_corpus,
    score_samples,
)
from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.metrics.wordnet import synonym_pairs
from audiocapbench.signature import sign

_SLOTS_PER_PAIR = 64
_FILLERS = 2
_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


def meteor(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score captions by their alignment with their best reference.

    Words are ``text.lower().split()``; they match when equal, then by stem, then as synonyms. An
    empty prediction scores 0, and a blank reference gives 0, as in NLTK.
    """
    corpus = read_corpus(predictions, references)
    lexicon = _read_lexicon(corpus)
    scores = score_samples(
        corpus, corpus.sentences, partial(_score_batch, lexicon), partial(_score_long, lexicon)
    )
    signature = sign("meteor", variant="nltk", tok="split", case="lower", refs="max", wordnet="3.0")
    return MetricResult.of_means("meteor", signature, scores[:, 0])


class _Lexicon(NamedTuple):
    """Stems of a corpus's words, and which of the stems are synonyms, each looked up once.

    NLTK looks for synonyms among the words' stems, not among the words, and so does this. All go
    by number, and arrays end with entries for a batch's fillers, which are -2 and -1. Pairs of
    synonyms are looked up in two steps: a slot, found by combining the random keys of two stems,
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


def _read_lexicon(corpus: Corpus) -> _Lexicon:
    """Look up the stems of a corpus's words and the synonyms of those that are predicted."""
    stems_of_words = [stem(word) for word in corpus.words]
    numbers = number_things(stems_of_words)
    stems = np.array([*(numbers[own] for own in stems_of_words), -2, -1], dtype=np.int64)
    is_predicted = np.zeros(len(corpus.sentences.lengths), dtype=bool)
    is_predicted[corpus.predictions] = True
    words = corpus.sentences.ids[np.repeat(is_predicted, corpus.sentences.lengths)]
    predicted, synonyms = _synonyms(list(numbers), np.unique(stems[words]))
    size = len(numbers) + _FILLERS
    half = 1 << (len(predicted) * _SLOTS_PER_PAIR).bit_length()
    keys, synonym_keys = _scattered(2 * size, half).reshape(2, size)
    slots = np.zeros(2 * half, dtype=bool)
    slots[keys[predicted] ^ synonym_keys[synonyms]] = True
    without = np.ones(size, dtype=bool)
    without[predicted] = False
    by_stem: dict[int, list[int]] = {}
    for own, synonym in zip(predicted.tolist(), synonyms.tolist(), strict=True):
        by_stem.setdefault(own, []).append(synonym)
    return _Lexicon(
        stems=stems,
        synonyms=by_stem,
        codes=predicted * size + synonyms,
        slots=slots,
        keys=np.where(without, keys + half, keys),
        synonym_keys=synonym_keys,
    )


def _scattered(count: int, below: int) -> IntArray:
    """Numbers below a power of two without a pattern; numpy.random takes long to import."""
    mixed = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(32)).astype(np.int64) % below


def _synonyms(stems: list[str], predicted: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of a predicted stem and another that is its synonym, in ascending order."""
    pairs = synonym_pairs([stems[number] for number in predicted], stems)
    words, synonyms = predicted[pairs[:, 0]], pairs[:, 1]
    differ = words != synonyms
    return words[differ], synonyms[differ]


def _score_batch(lexicon: _Lexicon, batch: Batch) -> FloatArray:
    predictions = batch.predictions.take(batch.owners, axis=1)
    links = np.zeros(predictions.shape, dtype=np.uint64)
    available = np.full(len(batch.owners), np.iinfo(np.uint64).max, dtype=np.uint64)
    available = _link(links, batch.masks(), available)
    stems, reference_stems = lexicon.stems[predictions], lexicon.stems[batch.references]
    available = _link(links, equal_word_masks(stems, reference_stems), available)
    _link(links, lexicon.synonym_masks(stems, reference_stems, links == 0), available)
    linked = links != 0
    matches = np.count_nonzero(linked, axis=0)
    # The next place of a reference is the next lower bit.
    joined = linked[1:] & (links[1:] == links[:-1] >> np.uint64(1))
    chunks = matches - np.count_nonzero(joined, axis=0)
    lengths = batch.prediction_lengths[batch.owners]
    scores = _scores(matches, chunks, lengths, batch.reference_lengths)
    return np.maximum.reduceat(scores, batch.first_pairs)[:, np.newaxis]


def _link(links: MaskArray, candidates: MaskArray, available: MaskArray) -> MaskArray:
    """Link predicted words, the last first, to their last available place each.

    Args:
        links: For each predicted word the bit of the place that it is linked to, or 0; filled in.
        candidates: The places that each predicted word matches.
        available: The places of each reference that are not linked yet.

    Returns:
        The places that are left.
    """
    for row in range(len(links) - 1, -1, -1):
        places = np.where(links[row] == 0, candidates[row] & available, np.uint64(0))
        last = places & (~places + np.uint64(1))
        links[row] |= last
        available = available ^ last
    return available


def _score_long(
    lexicon: _Lexicon, prediction: list[int], references: list[list[int]]
) -> FloatArray:
    links = [_align(lexicon, prediction, reference) for reference in references]
    joined = [
        sum(own.get(place + 1) == target + 1 for place, target in own.items()) for own in links
    ]
    matches = np.array([len(own) for own in links])
    lengths = np.array([len(reference) for reference in references])
    scores = _scores(matches, matches - np.array(joined), np.array([len(prediction)]), lengths)
    return np.array([scores.max()])


def _align(lexicon: _Lexicon, prediction: list[int], reference: list[int]) -> dict[int, int]:
    """Link places of the prediction to places of the reference, for captions of any length.

    In each stage the last words are linked first, to the last place each that is not taken.
    """
    links: dict[int, int] = {}
    _link_words(links, prediction, reference)
    stems: list[int] = lexicon.stems[prediction].tolist()
    reference_stems: list[int] = lexicon.stems[reference].tolist()
    _link_words(links, stems, reference_stems)
    _link_words(links, stems, reference_stems, lexicon.synonyms)
    return links


def _link_words(
    links: dict[int, int],
    prediction: list[int],
    reference: list[int],
    synonyms: dict[int, list[int]] | None = None,
) -> None:
    """Link what is not linked yet to an equal word or, where they are given, to a synonym."""
    taken = set(links.values())
    places: dict[int, list[int]] = {}
    for place, word in enumerate(reference):
        if place not in taken:
            places.setdefault(word, []).append(place)
    for place in range(len(prediction) - 1, -1, -1):
        word = prediction[place]
        if place in links:
            continue
        likes = [word] if synonyms is None else synonyms.get(word, ())
        choices = [places[like] for like in likes if places.get(like)]
        if choices:
            links[place] = max(choices, key=lambda own: own[-1]).pop()


def _scores(
    matches: IntArray, chunks: IntArray, predicted: IntArray, wanted: IntArray
) -> FloatArray:
    some = np.maximum(matches, 1)
    precision, recall = some / np.maximum(predicted, 1), some / np.maximum(wanted, 1)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    penalty = _GAMMA * (chunks / some) ** _BETA
    return np.where(matches > 0, (1 - penalty) * mean, 0.0)
