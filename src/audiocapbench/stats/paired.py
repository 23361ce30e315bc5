"""Two systems on the same samples: is the difference real, how large is it, how sure are we."""

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.bootstrap import (
    FEWEST_FOR_INTERVAL,
    SEED,
    Draws,
    Interval,
    Resampling,
    hits_of,
    mean_interval,
    own_scores,
    paired_difference,
)
from audiocapbench.stats.units import Aggregate, Clusters, FloatArray, units_of

SWAPS = 9_999
"""Rounds of the permutation test; the smallest p-value is one in ten thousand."""

_BLOCK = 256


def permutation_tests(
    first: FloatArray,
    second: FloatArray,
    aggregate: Aggregate,
    *,
    present: NDArray[np.bool_] | None = None,
    **how: Unpack[Draws],
) -> FloatArray:
    """Two-sided p-values of differences between systems, of many pairs at once.

    If two systems were the same, their answers to a sample could be swapped. Every round swaps
    each with probability one half; for means over samples this is the sign-flip test. So few
    samples that all swaps can be counted get the exact p-value.

    Statistics are of shape (n, pairs, k), and the result is (pairs,). ``present``, of shape
    (n, pairs), says which samples both systems of a pair have; without any the p-value is 1.
    """
    rounds, seed = how.get("rounds", SWAPS), how.get("seed", SEED)
    here = np.ones(first.shape[:2], dtype=bool) if present is None else present
    counts = here.sum(axis=0)[:, np.newaxis]
    mask = here[..., np.newaxis]
    # A pair without samples is as good as one of two equal systems, and divides nothing by zero.
    nothing, counts = counts == 0, np.maximum(counts, 1)
    base = np.where(nothing, 1.0, np.where(mask, first, 0.0).sum(axis=0) / counts)
    other = np.where(nothing, 1.0, np.where(mask, second, 0.0).sum(axis=0) / counts)
    moves = units_of(np.where(mask, second - first, 0.0) / counts, how.get("clusters")).sums
    flat = moves.reshape(len(moves), -1)
    seen = np.abs(aggregate(base[np.newaxis])[0] - aggregate(other[np.newaxis])[0])
    # Sums in another order differ in their last digits; equal differences must still count.
    enough = seen * (1 - 1e-9) - 1e-13
    hits, done = np.zeros(len(seen)), 0
    countable = len(flat) < 63 and 2 ** len(flat) <= rounds + 1
    if countable:
        blocks = iter([np.arange(2 ** len(flat))[:, np.newaxis] >> np.arange(len(flat)) & 1])
    else:
        sizes = [min(_BLOCK, rounds - start) for start in range(0, rounds, _BLOCK)]
        draw = np.random.default_rng(seed)
        blocks = (draw.integers(0, 2, (size, len(flat)), dtype=np.int8) for size in sizes)
    for swapped in blocks:
        moved = (swapped.astype(np.float64) @ flat).reshape(-1, *base.shape)
        hits += (np.abs(aggregate(base + moved) - aggregate(other - moved)) >= enough).sum(axis=0)
        done += len(swapped)
    return hits / done if countable else (hits + 1) / (done + 1)


def difference_interval(
    first: FloatArray, second: FloatArray, aggregate: Aggregate, **how: Unpack[Resampling]
) -> Interval | None:
    """Interval of score(first) - score(second) on the same samples; of shares an exact kind.

    Other scores are resampled in pairs: both see the same draws. None for too few samples, and for
    differences that are all alike where the scores' bounds are not known.
    """
    clusters, bounds = how.get("clusters"), how.get("bounds")
    if len(units_of(first, clusters).sizes) < FEWEST_FOR_INTERVAL:
        return None
    sides = np.stack([first, second], axis=1)
    own, scores = own_scores(sides, aggregate).T, aggregate(sides.mean(axis=0)[np.newaxis])[0]
    right, other = (hits_of(own[place], float(scores[place]), bounds) for place in (0, 1))
    if bounds is not None and right is not None and other is not None:
        wins, losses = np.maximum(right - other, 0), np.maximum(other - right, 0)
        found = units_of(wins, clusters), units_of(losses, clusters)
        low, high = paired_difference(*found)
        return Interval(low * bounds[1], high * bounds[1])
    if bounds is not None:
        how["bounds"] = (bounds[0] - bounds[1], bounds[1] - bounds[0])
    return mean_interval(sides.reshape(len(first), -1), _difference(aggregate), **how)


def paired_spread(
    first: FloatArray, second: FloatArray, aggregate: Aggregate, clusters: Clusters = None
) -> float | None:
    """Standard deviation of a sample's share in the difference, by leaving each out in turn.

    Divided by the root of the number of samples, or of clips, it is the standard error. None below
    two of them.
    """
    units = units_of(np.stack([first, second], axis=1).reshape(len(first), -1), clusters)
    if len(units.sizes) < 2:
        return None
    left_out = _difference(aggregate)(units.without_each())
    return float((len(left_out) - 1) * left_out.std(ddof=1))


def _difference(aggregate: Aggregate) -> Aggregate:
    """The difference of two systems whose statistics stand side by side."""

    def difference(means: FloatArray) -> FloatArray:
        both = aggregate(means.reshape(*means.shape[:-1], 2, -1))
        found: FloatArray = both[..., 0] - both[..., 1]
        return found

    return difference
