"""DATE of samples of a corpus: sentences are encoded once, everything else is done again.

Who ranks above whom depends on who is in a sample, so ranks are counted anew for each. The weights
of words are those of the whole corpus.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.corpus import BLOCK, EncodedCorpus
from audiocapbench.metrics.date.variants import harmonic_mean
from audiocapbench.metrics.result import FloatArray

Counts = NDArray[np.float32]


def resampled_date(
    corpus: EncodedCorpus, sizes: Sequence[int], rounds: int, *, seed: int = 42
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


def whole_date(corpus: EncodedCorpus) -> float:
    """DATE of the whole corpus."""
    count = len(corpus.similarity)
    once = np.ones((count, 1), dtype=np.float32)
    return float(_scores(corpus, once, np.array([float(count)]))[0])


def _scores(corpus: EncodedCorpus, times: Counts, totals: FloatArray) -> FloatArray:
    """DATE of each round, given how often each sample was drawn and how many were."""
    sums = np.zeros((3, len(totals)))
    for first in range(0, len(times), BLOCK):
        sums += _sums(corpus, slice(first, first + BLOCK), times, totals)
    similarity, discriminability, date = sums / totals
    return harmonic_mean(similarity, discriminability) if corpus.of_means else date


def _sums(corpus: EncodedCorpus, rows: slice, times: Counts, totals: FloatArray) -> FloatArray:
    """What some samples add to the sums of similarity, discriminability and DATE in each round."""
    reached = corpus.queries[rows] @ corpus.keys.T >= corpus.floors[rows, np.newaxis]
    # Whole numbers below 2^24, so float32 counts them exactly.
    counts = (reached.astype(np.float32) @ times).astype(np.float64)
    distinct = 1 - counts / totals
    similar = np.broadcast_to(corpus.similarity[rows, np.newaxis], distinct.shape)
    own = times[rows].astype(np.float64)
    parts = (similar, distinct, harmonic_mean(similar, distinct))
    return np.stack([(own * part).sum(axis=0) for part in parts])
