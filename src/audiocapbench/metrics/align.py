"""METEOR and ROUGE-L as the published AudioCapBench recipe computes them, and ROUGE-L of the COCO
caption evaluation.

METEOR equals NLTK's ``meteor_score`` with WordNet 3.0, also in how it picks among possible
alignments; METEOR 1.5 is another metric and not here. ROUGE-L equals rouge-score's ``rougeL``
F-measure with stemming.
"""

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import (
    Batch,
    Corpus,
    IntArray,
    MaskArray,
    Sentences,
    common_lengths,
    equal_word_masks,
    number_things,
    numbers_in,
    ranges,
    read_corpus,
    score_samples,
    starts_of,
)
from audiocapbench.metrics.result import FloatArray, MetricResult, ratio
from audiocapbench.signature import sign

_FILLERS = 2
_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5
_WORDS_AT_ONCE = 1 << 18
_ROUGE_BETA = 1.2


def meteor(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score captions by their alignment with their best reference.

    Words are ``text.lower().split()``; they match when equal, then by stem, then as synonyms. An
    empty prediction scores 0, and a blank reference gives 0, as in NLTK.
    """
    corpus = read_corpus(predictions, references)
    scores = score_samples(corpus, corpus.sentences, partial(_score_batch, _read_lexicon(corpus)))
    signature = sign("meteor", variant="nltk", tok="split", case="lower", refs="max", wordnet="3.0")
    return MetricResult.of_means("meteor", signature, scores[:, 0])


class _Lexicon(NamedTuple):
    """Arrays by number, which end with entries for a batch's fillers, -2 and -1."""

    stems: IntArray  # of a corpus's words
    synonyms: IntArray  # of stems that are predicted, as in NLTK, and not of words
    starts: IntArray  # of the synonyms of each
    counts: IntArray

    def synonym_masks(
        self, predictions: IntArray, references: IntArray, free: NDArray[np.bool_]
    ) -> MaskArray:
        """Mark the synonyms of each free predicted stem in the reference of the same column."""
        flat = predictions.ravel()
        counts = self.counts[flat] * free.ravel()
        owners, places = ranges(self.starts[flat], counts)
        found = equal_word_masks(self.synonyms[places], references, owners % predictions.shape[1])
        masks = np.zeros(predictions.size, dtype=found.dtype)
        filled = np.flatnonzero(counts)
        if len(filled):
            masks[filled] = np.bitwise_or.reduceat(found, starts_of(counts)[filled])
        return masks.reshape(predictions.shape)


def _read_lexicon(corpus: Corpus) -> _Lexicon:
    from audiocapbench.metrics.porter import stem
    from audiocapbench.metrics.wordnet import synonym_pairs

    stems_of_words = list(map(stem, corpus.words))
    numbers = number_things(stems_of_words)
    stems = np.array([*map(numbers.__getitem__, stems_of_words), -2, -1], dtype=np.int64)
    is_predicted = np.zeros(len(corpus.sentences.lengths), dtype=bool)
    is_predicted[corpus.predictions] = True
    words = corpus.sentences.ids[np.repeat(is_predicted, corpus.sentences.lengths)]
    # ``np.unique`` would import all of ``numpy.ma``.
    predicted = np.flatnonzero(np.bincount(stems[words]))
    distinct = list(numbers)
    pairs = synonym_pairs([distinct[number] for number in predicted], distinct)
    owners, synonyms = predicted[pairs[:, 0]], pairs[:, 1]
    differ = owners != synonyms
    counts = np.bincount(owners[differ], minlength=len(numbers) + _FILLERS)
    return _Lexicon(stems, synonyms[differ], starts_of(counts)[:-1], counts)


def _score_batch(lexicon: _Lexicon, batch: Batch) -> FloatArray:
    matches, joined = (_align_long if batch.is_long else _align)(lexicon, batch)
    some, chunks = np.maximum(matches, 1), matches - joined
    precision = some / np.maximum(batch.prediction_lengths[batch.owners], 1)
    recall = some / np.maximum(batch.reference_lengths, 1)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    penalty = _GAMMA * (chunks / some) ** _BETA
    scores = np.where(matches > 0, (1 - penalty) * mean, 0.0)
    return np.maximum.reduceat(scores, batch.first_pairs)[:, np.newaxis]


def _align(lexicon: _Lexicon, batch: Batch) -> tuple[IntArray, IntArray]:
    """How many words of each pair are linked, and how many to the place after the last one's."""
    predictions = batch.predictions.take(batch.owners, axis=1)
    links = np.zeros(predictions.shape, dtype=np.uint64)
    available = ~np.zeros(len(batch.owners), dtype=np.uint64)
    available = _link(links, batch.masks(), available)
    stems, reference_stems = lexicon.stems[predictions], lexicon.stems[batch.references]
    available = _link(links, equal_word_masks(stems, reference_stems), available)
    _link(links, lexicon.synonym_masks(stems, reference_stems, links == 0), available)
    linked = links != 0
    # The next place of a reference is the next lower bit.
    joined = linked[1:] & (links[1:] == links[:-1] >> np.uint64(1))
    return np.count_nonzero(linked, axis=0), np.count_nonzero(joined, axis=0)


def _link(links: MaskArray, candidates: MaskArray, available: MaskArray) -> MaskArray:
    """Link predicted words, the last first, each to its last available candidate.

    A link is the bit of a place of the reference, or 0, and is filled in; ``available`` has the
    places that are not linked yet, and what is left of them is returned.
    """
    for row in range(len(links) - 1, -1, -1):
        places = np.where(links[row] == 0, candidates[row] & available, np.uint64(0))
        last = places & (~places + np.uint64(1))
        links[row] |= last
        available = available ^ last
    return available


def _align_long(lexicon: _Lexicon, batch: Batch) -> tuple[IntArray, IntArray]:
    """The same for one sample of any length; its time grows with its words, not their square."""
    prediction = batch.predictions[: batch.prediction_lengths[0], 0]
    stems = lexicon.stems[prediction]
    ends = lexicon.starts + lexicon.counts
    alike = {
        own: lexicon.synonyms[lexicon.starts[own] : ends[own]].tolist()
        for own in set(stems.tolist())
    }
    found = []
    for column, length in zip(batch.references.T, batch.reference_lengths, strict=True):
        reference = column[:length]
        links: dict[int, int] = {}
        _link_places(links, [[own] for own in prediction.tolist()], reference.tolist())
        reference_stems = lexicon.stems[reference].tolist()
        _link_places(links, [[own] for own in stems.tolist()], reference_stems)
        _link_places(links, [alike[own] for own in stems.tolist()], reference_stems)
        joined = sum(links.get(place + 1) == target + 1 for place, target in links.items())
        found.append((len(links), joined))
    matches, joins = np.array(found).T
    return matches, joins


def _link_places(links: dict[int, int], wanted: list[list[int]], reference: list[int]) -> None:
    """Link places, the last first, each to the last place that is left of a word that it wants."""
    taken = set(links.values())
    places: dict[int, list[int]] = {}
    for place, word in enumerate(reference):
        if place not in taken:
            places.setdefault(word, []).append(place)
    for place in range(len(wanted) - 1, -1, -1):
        choices = [places[word] for word in wanted[place] if places.get(word)]
        if place not in links and choices:
            links[place] = max(choices, key=lambda own: own[-1]).pop()


def rouge_l(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score captions by the longest common subsequence with their best reference.

    Terms are runs of a-z and 0-9 in the lower-cased text, stemmed from four characters on. A
    caption without such terms (empty, or in another script) scores 0, whichever side it is on.
    """
    corpus = read_corpus(predictions, references)
    scores = score_samples(corpus, _terms(corpus), _f_measures)
    signature = sign(
        "rouge_l", variant="rouge-score", stem="porter", tok="alnum", case="lower", refs="max"
    )
    return MetricResult.of_means("rouge_l", signature, scores[:, 0])


def _terms(corpus: Corpus) -> Sentences:
    """The corpus's sentences in stemmed terms; a word such as ``"dog's"`` is two of them."""
    from audiocapbench.metrics.porter import stemmed_terms

    terms_of_words = list(map(stemmed_terms, corpus.words))
    of_words = list(chain.from_iterable(terms_of_words))
    flat = np.fromiter(map(number_things(of_words).__getitem__, of_words), dtype=np.int32)
    word_starts = starts_of(list(map(len, terms_of_words)))
    words, starts = corpus.sentences
    counts, ends, done = np.diff(word_starts), np.zeros(len(starts), np.int64), 0
    terms = np.empty(np.bincount(words, minlength=len(counts)) @ counts, np.int32)
    # Some words at a time: places of those of all would take ten times as much as their terms.
    for first in range(0, len(words), _WORDS_AT_ONCE):
        some = words[first : first + _WORDS_AT_ONCE]
        here = slice(*np.searchsorted(starts, [first + 1, first + len(some) + 1]).tolist())
        ends[here] = done + np.cumsum(counts[some])[starts[here] - first - 1]
        made = flat[numbers_in(word_starts[some], counts[some])]
        terms[done : done + len(made)] = made
        done += len(made)
    return Sentences(terms, ends)


def _f_measures(batch: Batch) -> FloatArray:
    lengths = batch.prediction_lengths[batch.owners] + batch.reference_lengths
    scores = 2.0 * common_lengths(batch) / np.maximum(lengths, 1)
    return np.maximum.reduceat(scores, batch.first_pairs)[:, np.newaxis]


def rouge_l_coco(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with the F-measure (beta 1.2) of the longest common subsequence.

    The best precision and the best recall may come from different references, as in the original.
    An empty prediction scores 0, also against an empty reference, where the original gives 1.
    """
    from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, tokens_of_all

    corpus = read_corpus(predictions, references, tokens_of_all)
    precision, recall = score_samples(corpus, corpus.sentences, _best_shares, columns=2).T
    weight = recall + _ROUGE_BETA**2 * precision
    samples = ratio((1 + _ROUGE_BETA**2) * precision * recall, weight)
    signature = sign("rouge_l_coco", tok=TOKENIZER, case="lower", beta=_ROUGE_BETA, refs="max")
    return MetricResult.of_means("rouge_l_coco", signature, samples)


def _best_shares(batch: Batch) -> FloatArray:
    """The best precision and the best recall of each sample."""
    common = common_lengths(batch)
    lengths = (batch.prediction_lengths[batch.owners], batch.reference_lengths)
    shares = [common / np.maximum(own, 1) for own in lengths]
    return np.stack([np.maximum.reduceat(own, batch.first_pairs) for own in shares], axis=1)
