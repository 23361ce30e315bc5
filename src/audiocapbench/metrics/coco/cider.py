"""CIDEr-D as the COCO caption evaluation computes it, weighted by the evaluated references."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.batches import IntArray, read_corpus
from audiocapbench.metrics.coco.ngram_counts import (
    NgramCounts,
    count_ngrams,
    count_sorted,
    find_sorted,
)
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

    The scale is 0 to 10.

    Raises:
        MetricError: There is only one sample, the lists differ in length, or a sample has no
            reference.
    """
    corpus = read_corpus(predictions, references, parts_of)
    if len(predictions) == 1:
        raise MetricError(
            "cider_d needs at least two samples: with one, every n-gram of the references is in "
            "all samples and weighs nothing; score more samples together."
        )
    signature = sign(
        "cider_d", tok=TOKENIZER, n=_ORDERS, sigma=_SIGMA, idf="corpus-refs", boot="idf-fixed"
    )
    if not len(predictions):
        return MetricResult.of_means("cider_d", signature, np.zeros(0))
    owners, referred = corpus.pairs()
    pairs = _ReferencePairs(corpus.predictions[corpus.place], owners, referred)
    similarity = np.zeros(len(owners))
    for counts in count_ngrams(corpus.sentences, len(corpus.words), _ORDERS):
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


def _cosines(pairs: _ReferencePairs, counts: NgramCounts) -> FloatArray:
    """Compare each reference with its prediction by the clipped cosine of one order."""
    samples, places = counts.entries_of(pairs.predictions)
    predicted = samples * counts.size + counts.ngrams[places]
    references, reference_places = counts.entries_of(pairs.references)
    referred = pairs.owners[references] * counts.size + counts.ngrams[reference_places]

    frequencies = np.bincount(
        count_sorted(np.sort(referred))[0] % max(counts.size, 1), minlength=counts.size
    )
    rarity = np.log(float(len(pairs.predictions))) - np.log(np.maximum(frequencies, 1))
    weights = counts.counts * rarity[counts.ngrams]
    norms = _norms(counts, weights)

    hits, slots = find_sorted(predicted, referred)
    mine = weights[places[slots]]
    theirs = weights[reference_places[hits]]
    products = np.minimum(mine, theirs) * theirs
    sums = np.bincount(references[hits], weights=products, minlength=len(pairs.references))
    lengths = norms[pairs.predictions][pairs.owners] * norms[pairs.references]
    cosines: FloatArray = np.divide(sums, lengths, out=np.zeros(len(sums)), where=lengths > 0)
    return cosines


def _norms(counts: NgramCounts, weights: FloatArray) -> FloatArray:
    n_sentences = len(counts.starts) - 1
    owners = np.repeat(np.arange(n_sentences), np.diff(counts.starts))
    return np.sqrt(np.bincount(owners, weights=weights**2, minlength=n_sentences))


def _length_penalties(pairs: _ReferencePairs, lengths: IntArray) -> FloatArray:
    """Punish a difference in length, which the original measures in bigrams."""
    bigrams = np.maximum(lengths - 1, 0)
    apart = bigrams[pairs.predictions][pairs.owners] - bigrams[pairs.references]
    penalties: FloatArray = np.exp(-(apart.astype(np.float64) ** 2) / (2 * _SIGMA**2))
    return penalties
