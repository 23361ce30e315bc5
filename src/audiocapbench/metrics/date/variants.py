"""The named ways to compute DATE: how sentences become vectors, and who is ranked among whom."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.date.pieces import IntArray, PieceEncoder, Pieces
from audiocapbench.metrics.date.weights import Terms, terms
from audiocapbench.metrics.result import FloatArray

# Half of this is how far below the right reference's score another still counts as its equal.
TOLERANCES = {"long": 0.1703, "short": 0.1772, "speech": 0.2078, "music": 0.1566}
TOLERANCES |= {"sound": 0.1988, "environment": 0.2150, "qa": 0.1703}

# Equal sums of the same vectors in another order differ by less; distinct captions by more.
ROUNDING = 1e-9


class PieceCorpus(NamedTuple):
    """The distinct sentences of a corpus in pieces, and which of them each sentence is."""

    pieces: Pieces
    place: IntArray


class Variant(NamedTuple):
    """One way to compute DATE.

    Attributes:
        embed: Gives the unit vectors of a corpus's sentences, zero where nothing is said.
        tolerant: Whether a candidate is ranked by its score with all references, those within the
            tolerance as equals; otherwise its reference ranks it among all candidates.
        of_means: Whether the corpus score is the harmonic mean of the two corpus means.
    """

    embed: Callable[[PieceEncoder, PieceCorpus, int], FloatArray]
    tolerant: bool
    of_means: bool


def harmonic_mean(similarity: FloatArray, discriminability: FloatArray) -> FloatArray:
    """Harmonic mean of the two sides of DATE; 0 where either is 0 or less."""
    both = (similarity > 0) & (discriminability > 0)
    product = 2 * similarity * discriminability
    mean: FloatArray = np.divide(
        product, similarity + discriminability, out=np.zeros_like(product), where=both
    )
    return mean


def _embed_through_encoder(encoder: PieceEncoder, corpus: PieceCorpus, block: int) -> FloatArray:
    weights = _framed_weights(corpus.pieces, _terms(encoder, corpus, block))
    return _unit(encoder.encode_weighted(corpus.pieces, weights))[corpus.place]


def _embed_as_sum(encoder: PieceEncoder, corpus: PieceCorpus, block: int) -> FloatArray:
    """Equation 5: the sum over pieces of likeness to the others × rarity × static vector."""
    from scipy.sparse import csr_array

    pieces = corpus.pieces
    found = _terms(encoder, corpus, block)
    weights = found.others * found.rarity
    distinct, columns = np.unique(pieces.ids, return_inverse=True)
    shape = (len(pieces.bounds) - 1, len(distinct))
    sums = csr_array((weights, columns, pieces.bounds), shape) @ encoder.vectors(distinct)
    return _unit(sums)[corpus.place]


def _terms(encoder: PieceEncoder, corpus: PieceCorpus, block: int) -> Terms:
    pieces = corpus.pieces
    times = np.bincount(corpus.place, minlength=len(pieces.bounds) - 1)
    vectors = encoder.vectors(np.unique(pieces.ids[~pieces.special]))
    return terms(pieces, times, vectors, block)


def _framed_weights(pieces: Pieces, found: Terms) -> FloatArray:
    """Weights of mean 1 in each sentence; its first frame gets the largest, others the smallest."""
    meaningful = ~pieces.special
    owners = pieces.owners
    weights = (1 + found.others) * found.rarity
    counts = pieces.meaningful
    means = np.bincount(owners, weights, minlength=len(counts)) / np.maximum(counts, 1)
    weights = np.divide(weights, means[owners], out=np.ones_like(weights), where=means[owners] > 0)
    filled = np.flatnonzero(counts)
    if not len(filled):
        return weights
    firsts = np.cumsum(counts[filled]) - counts[filled]
    largest, smallest = np.ones(len(counts)), np.ones(len(counts))
    largest[filled] = np.maximum(1, np.maximum.reduceat(weights[meaningful], firsts))
    smallest[filled] = np.minimum(1, np.minimum.reduceat(weights[meaningful], firsts))
    leading = np.zeros(len(weights), dtype=np.bool_)
    leading[pieces.bounds[:-1][np.diff(pieces.bounds) > 0]] = True
    frame = np.where(leading, largest[owners], smallest[owners])
    return np.where(meaningful, weights, frame)


def _unit(vectors: NDArray[np.floating[Any]]) -> FloatArray:
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    scaled: FloatArray = exact / np.where(lengths > 0, lengths, 1)
    return scaled


VARIANTS = {
    "paper": Variant(_embed_as_sum, tolerant=False, of_means=False),
    "code": Variant(_embed_through_encoder, tolerant=True, of_means=False),
    "published": Variant(_embed_through_encoder, tolerant=True, of_means=True),
}
