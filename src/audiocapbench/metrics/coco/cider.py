"""CIDEr-D as the COCO caption evaluation computes it, weighted by the evaluated references."""

from collections.abc import Sequence

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.batches import read_corpus
from audiocapbench.metrics.ngrams import ORDERS, count_sorted, match_ngrams
from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, parts_of
from audiocapbench.metrics.result import MetricResult
from audiocapbench.signature import sign

_SIGMA = 6.0
_SCALE = 10.0


def cider_d(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with CIDEr-D, from 0 to 10: n-grams weighted by rarity, clipped, penalised by length.

    An n-gram's weight comes from the number of samples whose references have it, so every score
    depends on the whole corpus, and one sample alone is refused. Resampling keeps the weights of
    the full corpus and resamples the per-sample scores (``idf:corpus-refs`` in the signature).
    """
    corpus = read_corpus(predictions, references, parts_of)
    if len(predictions) == 1:
        raise MetricError(
            "cider_d needs at least two samples: with one, every n-gram of the references is in "
            "all samples and weighs nothing; score more samples together."
        )
    idf = {"idf": "corpus-refs", "boot": "idf-fixed"}
    signature = sign("cider_d", protocol=2, tok=TOKENIZER, n=ORDERS, sigma=_SIGMA, **idf)
    if not len(predictions):
        return MetricResult.of_means("cider_d", signature, np.zeros(0))
    owners, referred = corpus.pairs()
    predicted = corpus.predictions[corpus.place][owners]
    similarity = np.zeros(len(owners))
    for found in match_ngrams(corpus):
        documents = np.bincount(
            count_sorted(np.sort(found.keys))[0] % found.size, minlength=found.size
        )
        rarity = np.log(float(len(predictions))) - np.log(np.maximum(documents, 1))
        weights = found.counts * rarity[found.ngrams]
        sentences = np.repeat(np.arange(len(found.starts) - 1), np.diff(found.starts))
        squares = np.bincount(sentences, weights=weights**2, minlength=len(found.starts) - 1)
        norms = np.sqrt(squares)
        mine = weights[found.predicted_entries[found.slots]]
        theirs = weights[found.referred_entries[found.hits]]
        products = np.minimum(mine, theirs) * theirs
        sums = np.bincount(found.referred[found.hits], weights=products, minlength=len(owners))
        lengths = norms[predicted] * norms[referred]
        similarity += np.divide(sums, lengths, out=np.zeros(len(sums)), where=lengths > 0)
    # A difference in length is punished, which the original measures in bigrams.
    bigrams = np.maximum(corpus.sentences.lengths - 1, 0).astype(np.float64)
    similarity *= np.exp(-((bigrams[predicted] - bigrams[referred]) ** 2) / (2 * _SIGMA**2))
    sums = np.bincount(owners, weights=similarity, minlength=len(predictions))
    samples = sums * _SCALE / ORDERS / np.bincount(owners, minlength=len(predictions))
    return MetricResult.of_means("cider_d", signature, samples)
