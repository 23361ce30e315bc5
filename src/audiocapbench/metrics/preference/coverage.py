"""How much of what the references say a caption covers, word by word, by static vectors."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.encoder import Vectors, readable
from audiocapbench.metrics.encoders.wordllama import DIMENSIONS, WordLlamaEncoder
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions
from audiocapbench.metrics.shipped import shipped_weights
from audiocapbench.signature import sign

_WORDS_AT_ONCE = 1024
_TOKENS_AT_ONCE = 512
_FULL_STOPS = " .。"

Ids = NDArray[np.int64]


class TokenWeights(NamedTuple):
    """How much each token of the vocabulary says: the log of how rare it is in captions."""

    name: str
    values: FloatArray


@cache
def load_weights() -> TokenWeights:
    """Load the counts that come with the package; tools/train_preference.py makes them."""
    with shipped_weights("preference", "tokens.npz", "The counts of tokens") as (name, held):
        counts = np.zeros(int(held["vocabulary"]))
        counts[held["tokens"]] = held["counts"]
        return TokenWeights(f"tokens@{name}", np.log((int(held["captions"]) + 1) / (counts + 1)))


def coverage(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score predictions by how much of their references they cover, from 0 to 1.

    Each token of each reference counts with the cosine of the nearest token of the prediction, and
    the more, the rarer it is in captions. What a prediction says beyond its references costs
    nothing. A blank prediction scores 0; a blank reference is no reference.
    """
    check_captions(predictions, references, words_needed=True)
    encoder = static_vectors()
    signature = sign("coverage", encoder=encoder.name, idf=load_weights().name)
    return MetricResult.of_means("coverage", signature, covered_shares(predictions, references))


def covered_shares(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
    """The weighted share of the references' tokens that each prediction covers, shape (n,)."""
    encoder, keys = static_vectors(), list(map(tuple, references))
    clips = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    texts = list(dict.fromkeys(chain(predictions, *clips)))
    tokens = dict(zip(texts, tokens_of(texts, encoder), strict=True))
    ours = _bags([tokens[text] for text in predictions])
    theirs = _bags([list(chain.from_iterable(tokens[text] for text in key)) for key in clips])
    used, rows = np.unique(np.concatenate([ours.tokens, theirs.tokens]), return_inverse=True)
    table, wanted = _unit_vectors(encoder.table[used]), rows[len(ours.tokens) :]
    weights = load_weights().values[theirs.tokens] * theirs.counts
    clip = np.array([clips[key] for key in keys], dtype=np.int64)
    shares, buffers = (
        np.zeros(len(predictions)),
        np.empty((2, _TOKENS_AT_ONCE, DIMENSIONS), np.float32),
    )
    for samples in _alike(np.diff(ours.starts), np.diff(theirs.starts)[clip]):
        own, held_to = ours.places(samples), theirs.places(clip[samples])
        vectors = (
            _rows(table, *two) for two in zip((wanted[held_to], rows[own]), buffers, strict=True)
        )
        nearest = _nearest(*vectors)
        totals = weights[held_to].sum(axis=1)
        covered = (weights[held_to] * nearest).sum(axis=1)
        np.divide(covered, totals, out=covered, where=totals > 0)
        shares[samples] = np.where(totals > 0, covered, 0)
    return np.clip(shares, 0, 1)


class _TokenBags(NamedTuple):
    """Distinct tokens of texts, in order and text after text, and how often each is there.

    Those of text i are tokens[starts[i]:starts[i + 1]].
    """

    tokens: Ids
    counts: Ids
    starts: Ids

    def places(self, texts: Ids) -> Ids:
        """Where the tokens of texts of equal length stand, a row a text."""
        first = self.starts[texts][:, None]
        return first + np.arange(self.starts[texts[0] + 1] - first[0, 0])


def _bags(texts: Sequence[Sequence[int]]) -> _TokenBags:
    lengths = [len(own) for own in texts]
    every = np.fromiter(chain.from_iterable(texts), dtype=np.int64, count=sum(lengths))
    size = every.max(initial=0) + 1
    keys, counts = np.unique(
        np.repeat(np.arange(len(texts)), lengths) * size + every, return_counts=True
    )
    return _TokenBags(keys % size, counts, np.searchsorted(keys, np.arange(len(texts) + 1) * size))


def _alike(ours: Ids, theirs: Ids) -> Iterator[Ids]:
    """Samples with equally many tokens on each side, and some on both, not too many at once."""
    order = np.lexsort((ours, theirs))
    order = order[(ours[order] > 0) & (theirs[order] > 0)]
    new = (np.diff(ours[order]) != 0) | (np.diff(theirs[order]) != 0)
    for samples in np.split(order, np.flatnonzero(new) + 1) if len(order) else ():
        most = max(1, _TOKENS_AT_ONCE // int(ours[samples[0]] + theirs[samples[0]]))
        for start in range(0, len(samples), most):
            yield samples[start : start + most]


def static_vectors() -> WordLlamaEncoder:
    """The encoder whose tokens have a vector each."""
    return cast(WordLlamaEncoder, load("wordllama"))


def tokens_of(texts: Sequence[str], encoder: WordLlamaEncoder) -> list[list[int]]:
    """Numbers of the tokens of texts, in lower case and without the final full stop."""
    plain = {text: readable(text).rstrip(_FULL_STOPS).lower() for text in texts}
    found = dict(zip(plain, encoder.tokens(list(plain.values())), strict=True))
    return [found[text] for text in texts]


def _rows(table: Vectors, places: Ids, buffer: Vectors) -> Vectors:
    """Rows of a table, in memory that is there already where it is large enough."""
    if places.size > len(buffer):
        return table[places]
    room = buffer[: places.size].reshape(*places.shape, -1)
    return table.take(places, axis=0, out=room, mode="clip")


def _nearest(wanted: Vectors, own: Vectors) -> FloatArray:
    """The cosine of each wanted token with the nearest of one's own."""
    blocks = range(0, wanted.shape[1], _WORDS_AT_ONCE)
    parts = (wanted[:, start : start + _WORDS_AT_ONCE].swapaxes(1, 2) for start in blocks)
    found = [(own @ part).max(axis=1) for part in parts]
    return np.concatenate(found, axis=1, dtype=np.float64)


def _unit_vectors(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = rows / np.maximum(lengths, np.float32(1e-9))
    return scaled
