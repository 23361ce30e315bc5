"""CIDEr-D as the COCO caption evaluation computes it, weighted by the evaluated references."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.batches import IntArray, Sentences, ranges, read_corpus
from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, parts_of
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign

_ORDERS = 4
_SIGMA = 6.0
_SCALE = 10.0


def cider_d(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with CIDEr-D: n-grams weighted by rarity, clipped, with a penalty on length.

    An n-gram's weight comes from the number of samples whose references have it, so every score
    depends on the whole corpus. Resampling keeps the weights of the full corpus and resamples
    the per-sample scores (``idf:corpus-refs`` in the signature).

    The scale is 0 to 10. One sample alone is refused.
    """
    corpus = read_corpus(predictions, references, parts_of)
    if len(predictions) == 1:
        raise MetricError(
            "cider_d needs at least two samples: with one, every n-gram of the references is in "
            "all samples and weighs nothing; score more samples together."
        )
    idf = {"idf": "corpus-refs", "boot": "idf-fixed"}
    signature = sign("cider_d", protocol=2, tok=TOKENIZER, n=_ORDERS, sigma=_SIGMA, **idf)
    if not len(predictions):
        return MetricResult.of_means("cider_d", signature, np.zeros(0))
    owners, referred = corpus.pairs()
    pairs = _ReferencePairs(corpus.predictions[corpus.place], owners, referred)
    similarity = np.zeros(len(owners))
    for counts in _count_ngrams(corpus.sentences, len(corpus.words), _ORDERS):
        similarity += _cosines(pairs, counts)
    similarity *= _length_penalties(pairs, corpus.sentences.lengths)
    sums = np.bincount(owners, weights=similarity, minlength=len(predictions))
    samples = sums * _SCALE / _ORDERS / np.bincount(owners, minlength=len(predictions))
    return MetricResult.of_means("cider_d", signature, samples)


class _ReferencePairs(NamedTuple):
    """Sentence of each prediction; sample and sentence of each reference."""

    predictions: IntArray
    owners: IntArray
    references: IntArray


@dataclass(frozen=True, slots=True)
class _NgramCounts:
    """How often which n-gram of one order occurs in which sentence, ascending within each.

    ``starts`` has where a sentence's entries begin in the next two, and where the last end; there
    are ``size`` different n-grams.
    """

    starts: IntArray
    ngrams: IntArray
    counts: IntArray
    size: int

    def entries_of(self, sentences: IntArray) -> tuple[IntArray, IntArray]:
        """For each entry of some sentences, its place in ``sentences`` and in ``ngrams``."""
        starts = self.starts[sentences]
        return ranges(starts, self.starts[sentences + 1] - starts)


def _cosines(pairs: _ReferencePairs, counts: _NgramCounts) -> FloatArray:
    """Compare each reference with its prediction by the clipped cosine of one order."""
    samples, places = counts.entries_of(pairs.predictions)
    predicted = samples * counts.size + counts.ngrams[places]
    references, reference_places = counts.entries_of(pairs.references)
    referred = pairs.owners[references] * counts.size + counts.ngrams[reference_places]

    frequencies = np.bincount(
        _count_sorted(np.sort(referred))[0] % max(counts.size, 1), minlength=counts.size
    )
    rarity = np.log(float(len(pairs.predictions))) - np.log(np.maximum(frequencies, 1))
    weights = counts.counts * rarity[counts.ngrams]
    n_sentences = len(counts.starts) - 1
    sentences = np.repeat(np.arange(n_sentences), np.diff(counts.starts))
    norms = np.sqrt(np.bincount(sentences, weights=weights**2, minlength=n_sentences))

    hits, slots = _find_sorted(predicted, referred)
    mine = weights[places[slots]]
    theirs = weights[reference_places[hits]]
    products = np.minimum(mine, theirs) * theirs
    sums = np.bincount(references[hits], weights=products, minlength=len(pairs.references))
    lengths = norms[pairs.predictions][pairs.owners] * norms[pairs.references]
    cosines: FloatArray = np.divide(sums, lengths, out=np.zeros(len(sums)), where=lengths > 0)
    return cosines


def _length_penalties(pairs: _ReferencePairs, lengths: IntArray) -> FloatArray:
    """Punish a difference in length, which the original measures in bigrams."""
    bigrams = np.maximum(lengths - 1, 0)
    apart = bigrams[pairs.predictions][pairs.owners] - bigrams[pairs.references]
    penalties: FloatArray = np.exp(-(apart.astype(np.float64) ** 2) / (2 * _SIGMA**2))
    return penalties


def _count_ngrams(sentences: Sentences, vocabulary: int, highest: int) -> Iterator[_NgramCounts]:
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


def _count_sorted(ordered: IntArray) -> tuple[IntArray, IntArray]:
    """Find the distinct ones among ascending numbers that are not negative, and their counts."""
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[begins], np.diff(begins, append=len(ordered))


def _find_sorted(keys: IntArray, wanted: IntArray) -> tuple[IntArray, IntArray]:
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
    distinct, counts = _count_sorted(ordered >> bits)
    ranks = np.empty_like(numbers)
    ranks[ordered & ((1 << bits) - 1)] = np.repeat(np.arange(len(distinct)), counts)
    return ranks, len(distinct)


def _count(owners: IntArray, ngrams: IntArray, size: int, n_sentences: int) -> _NgramCounts:
    width = max(size, 1)
    keys, counts = _count_sorted(np.sort(owners * width + ngrams))
    sentences = keys // width
    starts = np.searchsorted(sentences, np.arange(n_sentences + 1))
    return _NgramCounts(starts, keys - sentences * width, counts, size)
