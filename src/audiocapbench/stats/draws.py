"""Weights at random, some rounds at a time, and sums by them; where a quantile of rounds stands;
and ends that agree with p-values."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from audiocapbench.stats.units import LEVEL, FloatArray

_ROUNDS_AT_ONCE, _NUMBERS_AT_ONCE = 8, 64_000
_MOST_KEPT = 10_100_000  # weights, some 80 MB


@lru_cache
def quantile_place(rounds: int, share: float) -> int:
    """Where a quantile stands; to look it up takes ten times as long as to put it there."""
    return int(np.quantile(np.arange(rounds), share, method="inverted_cdf"))


def weights_of(rounds: int, count: int, seed: int) -> Iterable[FloatArray]:
    """Weights of all rounds, some a time; few are not drawn again for the next score."""
    few = rounds * count <= _MOST_KEPT
    return (_kept_weights if few else _drawn_weights)(rounds, count, seed)


def _drawn_weights(rounds: int, count: int, seed: int) -> Iterator[FloatArray]:
    draw, at_once = np.random.default_rng(seed), max(_ROUNDS_AT_ONCE, _NUMBERS_AT_ONCE // count)
    for start in range(0, rounds, at_once):
        yield draw.standard_exponential((min(at_once, rounds - start), count))


@lru_cache(4)
def _kept_weights(rounds: int, count: int, seed: int) -> list[FloatArray]:
    return list(_drawn_weights(rounds, count, seed))


def weighted_sums(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Not by BLAS, whose threads wait for each other, for seconds where processors are shared, and
    change the last digits."""
    sums: FloatArray = np.einsum("ij,kj->ik", columns, weights)
    return sums


def agreeing(
    low: ArrayLike, high: ArrayLike, difference: ArrayLike, p: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Ends that hold 0 where p-values tell no difference, and stop short of it where they do.

    With ``guarded`` p-values that moves an end by no more than chance in its rounds does.
    """
    sure, close = np.less(p, 1 - LEVEL), np.multiply(difference, 1e-9)
    above, below = np.where(close > 0, close, -np.inf), np.where(close < 0, close, np.inf)
    return (
        np.where(sure, np.maximum(low, above), np.minimum(low, 0.0)),
        np.where(sure, np.minimum(high, below), np.maximum(high, 0.0)),
    )
