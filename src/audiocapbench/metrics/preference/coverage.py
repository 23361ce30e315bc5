"""How much of its references a caption covers, token by token: the metric ``coverage``."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import DEFAULT, Encoder, load
from audiocapbench.metrics.encoders.static import StaticEncoder
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.metrics.shipped import shipped_weights
from audiocapbench.metrics.text import plain_captions
from audiocapbench.signature import sign

OLD = "wordllama"  # whose weights are those of protocol 2

_WORDS_AT_ONCE = 1024
_TOKENS_AT_ONCE = 512

Ids = NDArray[np.int64]


@cache
def load_weights(encoder: StaticEncoder) -> tuple[str, FloatArray]:
    """A name, and how much each token says, the log of how rare it is in captions.

    Of the counts that come with the package; tools/train_preference.py makes them.
    """
    file = "wordllama.npz" if encoder.name.startswith(OLD) else "tokens.npz"
    with shipped_weights("preference", file, "The counts of tokens") as (name, held):
        counts = np.zeros(int(held["vocabulary"]))
        counts[held["tokens"]] = held["counts"]
        return f"tokens@{name}", np.log((int(held["captions"]) + 1) / (counts + 1))


def coverage(
    predictions: Sequence[str], references: Sequence[Sequence[str]], encoder: str = DEFAULT
) -> MetricResult:
    """Score predictions by how much of their references they cover, from 0 to 1.

    Each token of each reference counts with the cosine of the nearest token of the prediction, and
    the more, the rarer it is in captions. What is said beyond the references costs nothing. A blank
    prediction scores 0; a blank reference is no reference. The encoder is a static one.
    """
    model, protocol = read_by(static_vectors(encoder))
    samples = covered_shares(*plain_captions(predictions, references), model)
    fields = {"encoder": model.name, "idf": load_weights(model)[0]}
    signature = sign("coverage", protocol=protocol, **fields)
    return MetricResult.of_means("coverage", signature, samples)


def covered_shares(
    predictions: Sequence[str], references: Sequence[Sequence[str]], encoder: StaticEncoder
) -> FloatArray:
    """The weighted share of the references' tokens that each prediction covers, shape (n,)."""
    keys = list(map(tuple, references))
    clips = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    texts = list(dict.fromkeys(chain(predictions, *clips)))
    tokens = dict(zip(texts, encoder.tokens(texts), strict=True))
    ours = token_bags([tokens[text] for text in predictions])
    theirs = token_bags([list(chain.from_iterable(tokens[text] for text in key)) for key in clips])
    used, rows = np.unique(np.concatenate([ours.tokens, theirs.tokens]), return_inverse=True)
    # In 64 bits, so that every processor's matrix products agree in the digits that count.
    table, wanted = encoder.table[used].astype(np.float64), rows[len(ours.tokens) :]
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    weights = load_weights(encoder)[1][theirs.tokens] * theirs.counts
    clip = np.array([clips[key] for key in keys], dtype=np.int64)
    shares = np.zeros(len(predictions))
    for samples in _alike(np.diff(ours.starts), np.diff(theirs.starts)[clip]):
        own, held_to = table[rows[ours.places(samples)]], theirs.places(clip[samples])
        cuts = range(_WORDS_AT_ONCE, held_to.shape[1], _WORDS_AT_ONCE)
        vectors = (table[wanted[part]] for part in np.split(held_to, cuts, axis=1))
        likest = [(own @ part.swapaxes(1, 2)).max(axis=1) for part in vectors]
        nearest = np.hstack(likest)
        totals = weights[held_to].sum(axis=1)
        covered = (weights[held_to] * nearest).sum(axis=1)
        np.divide(covered, totals, out=covered, where=totals > 0)
        shares[samples] = np.where(totals > 0, covered, 0)
    return np.clip(shares, 0, 1)


class TokenBags(NamedTuple):
    """Distinct tokens of text i, tokens[starts[i]:starts[i + 1]], and how often each is there."""

    tokens: Ids
    counts: Ids
    starts: Ids

    def places(self, texts: Ids) -> Ids:
        """Where the tokens of texts of equal length stand, a row a text."""
        first = self.starts[texts][:, None]
        return first + np.arange(self.starts[texts[0] + 1] - first[0, 0])


def token_bags(texts: Sequence[Sequence[int]]) -> TokenBags:
    lengths = [len(own) for own in texts]
    every = np.fromiter(chain.from_iterable(texts), dtype=np.int64, count=sum(lengths))
    size = every.max(initial=0) + 1
    keys, counts = np.unique(
        np.repeat(np.arange(len(texts)), lengths) * size + every, return_counts=True
    )
    return TokenBags(keys % size, counts, np.searchsorted(keys, np.arange(len(texts) + 1) * size))


def _alike(ours: Ids, theirs: Ids) -> Iterator[Ids]:
    """Samples with equally many tokens on each side, and some on both, not too many at once."""
    order = np.lexsort((ours, theirs))
    order = order[(ours[order] > 0) & (theirs[order] > 0)]
    new = (np.diff(ours[order]) != 0) | (np.diff(theirs[order]) != 0)
    for samples in np.split(order, np.flatnonzero(new) + 1) if len(order) else ():
        most = max(1, _TOKENS_AT_ONCE // int(ours[samples[0]] + theirs[samples[0]]))
        for start in range(0, len(samples), most):
            yield samples[start : start + most]


def static_vectors(encoder: str = DEFAULT) -> StaticEncoder:
    """Load an encoder that has a vector for each token; MetricError where it has not."""
    found = load(encoder)
    if isinstance(found, StaticEncoder):
        return found
    raise MetricError(f"coverage compares tokens, and {encoder} has no vectors of them")


def read_by(encoder: Encoder) -> tuple[StaticEncoder, int]:
    """What tokens are compared by, the default unless the encoder is static, and the protocol."""
    old = encoder.name.startswith(OLD)
    return static_vectors(OLD if old else DEFAULT), 7 if old else 8
