"""ROUGE-L as the published AudioCapBench recipe computes it.

Equals rouge-score's ``rougeL`` F-measure with stemming; ROUGE-L of the COCO family is not here.
"""

import re
from collections.abc import Sequence

import numpy as np

from audiocapbench.metrics.batches import (
    Batch,
    Corpus,
    CountArray,
    IntArray,
    Sentences,
    common_length,
    common_lengths,
    number_things,
    ranges,
    read_corpus,
    score_samples,
    starts_of,
)
from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign

_TERM = re.compile("[a-z0-9]+")
_SHORTEST_STEMMED = 4


def rouge_l(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score captions by the longest common subsequence with their best reference.

    Terms are runs of a-z and 0-9 in the lower-cased text, stemmed from four characters on. A
    caption without such terms (empty, or in another script) scores 0, whichever side it is on.
    """
    corpus = read_corpus(predictions, references)
    scores = score_samples(corpus, _terms(corpus), _score_batch, _score_long)
    signature = sign(
        "rouge_l", variant="rouge-score", stem="porter", tok="alnum", case="lower", refs="max"
    )
    return MetricResult.of_means("rouge_l", signature, scores[:, 0])


def _terms(corpus: Corpus) -> Sentences:
    """The corpus's sentences in stemmed terms; a word such as ``"dog's"`` is two of them."""
    terms_of_words = [
        [stem(term) if len(term) >= _SHORTEST_STEMMED else term for term in _TERM.findall(word)]
        for word in corpus.words
    ]
    numbers = number_things(term for terms in terms_of_words for term in terms)
    flat = np.array([numbers[term] for terms in terms_of_words for term in terms], dtype=np.int64)
    word_starts = starts_of([len(terms) for terms in terms_of_words])
    words, starts = corpus.sentences
    lengths = np.diff(word_starts)[words]
    _, places = ranges(word_starts[words], lengths)
    return Sentences(flat[places], starts_of(lengths)[starts])


def _score_batch(batch: Batch) -> FloatArray:
    scores = _f_measure(
        common_lengths(batch), batch.prediction_lengths[batch.owners], batch.reference_lengths
    )
    return np.maximum.reduceat(scores, batch.first_pairs)[:, np.newaxis]


def _score_long(prediction: list[int], references: list[list[int]]) -> FloatArray:
    common = np.array([common_length(prediction, reference) for reference in references])
    lengths = np.array([len(reference) for reference in references])
    return np.array([_f_measure(common, np.int64(len(prediction)), lengths).max()])


def _f_measure(
    common: IntArray | CountArray, predicted: IntArray | np.int64, wanted: IntArray
) -> FloatArray:
    scores: FloatArray = 2.0 * common / np.maximum(predicted + wanted, 1)
    return scores
