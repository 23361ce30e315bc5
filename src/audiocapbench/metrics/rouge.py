"""ROUGE-L as the published AudioCapBench recipe computes it, which equals rouge-score's ``rougeL``
F-measure with stemming, and as the COCO caption evaluation does."""

import re
from collections.abc import Sequence

import numpy as np

from audiocapbench.metrics.batches import (
    Batch,
    Corpus,
    Sentences,
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
_BETA = 1.2


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


def _f_measures(batch: Batch) -> FloatArray:
    lengths = batch.prediction_lengths[batch.owners] + batch.reference_lengths
    scores = 2.0 * common_lengths(batch) / np.maximum(lengths, 1)
    return np.maximum.reduceat(scores, batch.first_pairs)[:, np.newaxis]


def rouge_l_coco(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with the F-measure (beta 1.2) of the longest common subsequence.

    The best precision and the best recall may come from different references, as in the original.
    An empty prediction scores 0, also against an empty reference, where the original gives 1.
    """
    from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, tokens_of

    corpus = read_corpus(predictions, references, tokens_of)
    precision, recall = score_samples(corpus, corpus.sentences, _best_shares, columns=2).T
    weight = recall + _BETA**2 * precision
    product = (1 + _BETA**2) * precision * recall
    samples = np.divide(product, weight, out=np.zeros(len(weight)), where=weight > 0)
    signature = sign("rouge_l_coco", tok=TOKENIZER, case="lower", beta=_BETA, refs="max")
    return MetricResult.of_means("rouge_l_coco", signature, samples)


def _best_shares(batch: Batch) -> FloatArray:
    """The best precision and the best recall of each sample."""
    common = common_lengths(batch)
    lengths = (batch.prediction_lengths[batch.owners], batch.reference_lengths)
    shares = [common / np.maximum(own, 1) for own in lengths]
    return np.stack([np.maximum.reduceat(own, batch.first_pairs) for own in shares], axis=1)
