"""DATE of samples of a corpus: sentences are encoded once, everything else is done again.

Who ranks above whom depends on who is in a sample, so ranks are counted anew for each. The weights
of words are those of the whole corpus.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.corpus import checked, corpus_of, known_name, mean_references
from audiocapbench.metrics.date.pieces import PieceEncoder, piece_encoder
from audiocapbench.metrics.date.variants import ROUNDING, TOLERANCES, VARIANTS, harmonic_mean
from audiocapbench.metrics.encoders import Encoder
from audiocapbench.metrics.result import FloatArray

_BLOCK = 1024

Counts = NDArray[np.float32]


class Encoded(NamedTuple):
    """A corpus as vectors: sample i is reached by every j with queries[i] · keys[j] ≥ floors[i].

    Attributes:
        similarity: The first side of DATE, shape (n,).
        of_means: Whether the corpus score is the harmonic mean of the two means.
    """

    queries: FloatArray
    keys: FloatArray
    floors: FloatArray
    similarity: FloatArray
    of_means: bool

    def score(self) -> float:
        """DATE of the whole corpus."""
        once = np.ones((len(self.similarity), 1), dtype=np.float32)
        return float(_scores(self, once, np.array([float(len(self.similarity))]))[0])


def encode(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    variant: str = "code",
    subtask: str = "long",
    encoder: str | Encoder | PieceEncoder = "wordllama",
) -> Encoded:
    """Encode a corpus once; arguments as for ``date``.

    Raises:
        MetricError: As ``date`` does.
    """
    way = VARIANTS[known_name("variant", variant, VARIANTS)]
    tolerance = TOLERANCES[known_name("sub-task", subtask, TOLERANCES)]
    candidates, answers = checked(predictions, references)
    model = piece_encoder(encoder)
    theirs = mean_references(model, answers, way, _BLOCK)
    ours = way.embed(model, corpus_of(candidates, model), _BLOCK)
    similarity = np.clip(np.einsum("ij,ij->i", ours, theirs), -1, 1)
    if way.tolerant:
        return Encoded(ours, theirs, similarity - tolerance / 2, similarity, way.of_means)
    return Encoded(theirs, ours, similarity - ROUNDING, similarity, way.of_means)


def resampled_date(
    corpus: Encoded, sizes: Sequence[int], rounds: int, *, seed: int = 42
) -> FloatArray:
    """DATE of samples drawn with replacement.

    The comparisons of a block of samples with all others are made once and then counted for all
    rounds in one product, so a thousand rounds cost about as much as encoding did.

    Args:
        corpus: What to draw from.
        sizes: How many samples to draw; two at least.
        rounds: How often to draw each size.
        seed: Makes the draws the same every time.

    Returns:
        Scores of shape (sizes, rounds).

    Raises:
        MetricError: A size is too small to rank anybody.
    """
    count = len(corpus.similarity)
    if any(size < 2 for size in sizes):
        raise MetricError(f"DATE ranks a sample among others and got {min(sizes)}: draw two.")
    generator = np.random.default_rng(seed)
    even = np.full(count, 1 / count)
    drawn = np.concatenate([generator.multinomial(size, even, size=rounds) for size in sizes])
    times = np.ascontiguousarray(drawn.T, dtype=np.float32)
    totals = np.repeat(np.array(sizes, dtype=np.float64), rounds)
    return _scores(corpus, times, totals).reshape(len(sizes), rounds)


def _scores(corpus: Encoded, times: Counts, totals: FloatArray) -> FloatArray:
    """DATE of each round, given how often each sample was drawn and how many were."""
    sums = np.zeros((3, len(totals)))
    for first in range(0, len(times), _BLOCK):
        sums += _sums(corpus, slice(first, first + _BLOCK), times, totals)
    similarity, discriminability, date = sums / totals
    return harmonic_mean(similarity, discriminability) if corpus.of_means else date


def _sums(corpus: Encoded, rows: slice, times: Counts, totals: FloatArray) -> FloatArray:
    """What some samples add to the sums of similarity, discriminability and DATE in each round."""
    reached = corpus.queries[rows] @ corpus.keys.T >= corpus.floors[rows, np.newaxis]
    # Whole numbers below 2^24, so float32 counts them exactly.
    counts = (reached.astype(np.float32) @ times).astype(np.float64)
    distinct = 1 - counts / totals
    similar = np.broadcast_to(corpus.similarity[rows, np.newaxis], distinct.shape)
    own = times[rows].astype(np.float64)
    parts = (similar, distinct, harmonic_mean(similar, distinct))
    return np.stack([(own * part).sum(axis=0) for part in parts])
