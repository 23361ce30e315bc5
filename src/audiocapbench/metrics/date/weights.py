"""How much a word piece says: soft term frequency, document frequency and their product.

All of it lives in the squared cosines of the distinct pieces. A tile of that table and a block of
sentences are held at a time, so memory grows neither with pieces squared nor with tokens.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.date.pieces import IntArray, Pieces
from audiocapbench.metrics.result import FloatArray

Float32Array = NDArray[np.float32]

# The tile is not an option: with it fixed, no number depends on how much is held at a time.
_TILE = 256


class Terms(NamedTuple):
    """Soft statistics of each piece in its sentence; zero where a piece is special.

    ``others`` sums its squared cosines with the other pieces of the sentence: one more is the soft
    term frequency. ``rarity`` is its inverse document frequency, ln((n + 1) / (DF + 1)) + 1.
    """

    others: FloatArray
    rarity: FloatArray


class _Bags(NamedTuple):
    """Sentences as counts of distinct pieces, sorted by sentence and then by piece."""

    indices: IntArray
    counts: Float32Array
    bounds: IntArray


def terms(pieces: Pieces, times: IntArray, vectors: Float32Array, block: int) -> Terms:
    """Weigh every piece of a corpus's distinct sentences, which occur ``times`` each.

    There is a vector for each distinct meaningful piece, in ascending order of its id. A block of
    sentences is held at a time; no number depends on it.
    """
    meaningful = ~pieces.special
    _, columns = np.unique(pieces.ids[meaningful], return_inverse=True)
    keys = pieces.owners[meaningful] * len(vectors) + columns
    entries, entry_of, counts = np.unique(keys, return_inverse=True, return_counts=True)
    starts = np.arange(len(times) + 1) * len(vectors)
    indices, bounds = entries % max(1, len(vectors)), np.searchsorted(entries, starts)
    bags = _Bags(indices, counts.astype(np.float32), bounds)
    others, documents = _soft_counts(bags, times, _unit(vectors), block)
    rarities = np.log((times.sum() + 1) / (documents + 1)) + 1
    result = Terms(np.zeros(len(pieces.ids)), np.zeros(len(pieces.ids)))
    result.others[meaningful] = others[entry_of]
    result.rarity[meaningful] = rarities[columns]
    return result


def _soft_counts(
    bags: _Bags, times: IntArray, units: Float32Array, block: int
) -> tuple[FloatArray, FloatArray]:
    """Soft count of the others for each entry, document frequency for each distinct piece.

    Element (s, w) of bags times squared cosines is the sum over sentence s of cos²(w, t). Where w
    is in s that is its term frequency; cut at 1 and summed over s it is the document frequency.
    """
    others = np.zeros(len(bags.indices))
    documents = np.zeros(len(units))
    blocks = list(_blocks(bags, times, len(units), block))
    for left in range(0, len(units), _TILE):
        squares = units @ units[left : left + _TILE].T
        np.square(squares, out=squares)
        # A piece's likeness with itself is added as a whole number: small ones keep their digits.
        np.fill_diagonal(squares[left:], 0)
        for own in blocks:
            sums = own.bags @ squares
            entries, rows, columns = own.within(left)
            others[entries] = sums[rows, columns]
            sums[rows, columns] = 1
            documents[left : left + _TILE] += _capped_total(sums, own.times)
    return others + (bags.counts - 1), documents


class _Block(NamedTuple):
    """Bags of some sentences, a row each, and the numbers of their entries by column."""

    bags: Any
    times: FloatArray
    entries: Any

    def within(self, left: int) -> tuple[IntArray, IntArray, IntArray]:
        """Entries of the tile that starts at left, and where they stand in it."""
        bounds = self.entries.indptr[left : left + _TILE + 1]
        chosen = slice(bounds[0], bounds[-1])
        columns = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        return self.entries.data[chosen], self.entries.indices[chosen], columns


def _blocks(bags: _Bags, times: IntArray, width: int, block: int) -> Iterator[_Block]:
    from scipy.sparse import csr_array

    for first in range(0, len(times), block):
        bounds = bags.bounds[first : first + block + 1]
        entries = np.arange(bounds[0], bounds[-1])
        where = (bags.indices[entries], bounds - bounds[0])
        shape = (len(bounds) - 1, width)
        yield _Block(
            bags=csr_array((bags.counts[entries], *where), shape),
            times=times[first : first + block].astype(np.float64),
            entries=csr_array((entries, *where), shape).tocsc(),
        )


def _capped_total(sums: Float32Array, times: FloatArray) -> FloatArray:
    """Sum over sentences of min(1, sum), exactly, so that no order or grouping shows."""
    np.minimum(sums, 1, out=sums)
    # Between 1 and 2 a float32 is a multiple of 2^-23, and float64 adds those without rounding.
    sums += 1
    total: FloatArray = times @ sums.astype(np.float64) - times.sum()
    return total


def _unit(vectors: Float32Array) -> Float32Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Float32Array = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled
