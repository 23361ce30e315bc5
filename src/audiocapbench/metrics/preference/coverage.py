"""How much of what the references say a caption covers, word by word, by static vectors."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.encoder import Vectors, readable
from audiocapbench.metrics.encoders.wordllama import WordLlamaEncoder
from audiocapbench.metrics.inputs import check_captions
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign

_WORDS_AT_ONCE = 1024
_FULL_STOPS = " .。"

Ids = NDArray[np.int64]


class TokenWeights(NamedTuple):
    """How much each token of the vocabulary says: the log of how rare it is in captions."""

    name: str
    values: FloatArray


@cache
def load_weights() -> TokenWeights:
    """Load the counts that come with the package; tools/train_preference.py makes them."""
    file = resources.files("audiocapbench.metrics.preference") / "weights" / "tokens.npz"
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            captions, counts = int(arrays["captions"]), np.zeros(int(arrays["vocabulary"]))
            counts[arrays["tokens"]] = arrays["counts"]
    except (OSError, KeyError, ValueError, IndexError) as error:
        raise MetricError(
            f"The counts of tokens in captions cannot be read ({error}): reinstall audiocapbench."
        ) from error
    return TokenWeights(f"tokens@{digest}", np.log((captions + 1) / (counts + 1)))


def coverage(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score predictions by how much of their references they cover, from 0 to 1.

    Each token of each reference counts with the cosine of the nearest token of the prediction, and
    the more, the rarer it is in captions. What a prediction says beyond its references costs
    nothing. A blank prediction scores 0; a blank reference is no reference.
    """
    encoder = static_vectors()
    signature = sign("coverage", encoder=encoder.name, idf=load_weights().name)
    return MetricResult.of_means("coverage", signature, covered_shares(predictions, references))


def covered_shares(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
    """The weighted share of the references' tokens that each prediction covers, shape (n,)."""
    check_captions(predictions, references, words_needed=True)
    encoder, weights, table = static_vectors(), load_weights().values, _unit_vectors()
    ours = tokens_of(predictions, encoder)
    theirs = iter(tokens_of([text for own in references for text in own], encoder))
    shares = np.zeros(len(predictions))
    for place, (own, held_to) in enumerate(zip(ours, references, strict=True)):
        wanted, counts = np.unique(
            np.concatenate([next(theirs) for _ in held_to]), return_counts=True
        )
        weight = weights[wanted] * counts
        if len(own) and weight.sum() > 0:
            nearest = np.concatenate(list(_nearest(table, wanted, np.unique(own))))
            shares[place] = weight @ nearest / weight.sum()
    return np.clip(shares, 0, 1)


def static_vectors() -> WordLlamaEncoder:
    """The encoder whose tokens have a vector each."""
    return cast(WordLlamaEncoder, load("wordllama"))


def tokens_of(texts: Sequence[str], encoder: WordLlamaEncoder) -> list[Ids]:
    """Numbers of the tokens of texts, in lower case and without the final full stop."""
    plain = {text: readable(text).rstrip(_FULL_STOPS).lower() for text in texts}
    lines = encoder.tokenizer.encode_batch(list(plain.values()), add_special_tokens=False)
    last = len(encoder.table) - 1
    ids = [np.minimum(np.array(line.ids, dtype=np.int64), last) for line in lines]
    found = dict(zip(plain, ids, strict=True))
    return [found[text] for text in texts]


def _nearest(table: Vectors, wanted: Ids, own: Ids) -> Iterator[FloatArray]:
    """The cosine of each wanted token with the nearest of one's own."""
    mine = table[own].T
    for start in range(0, len(wanted), _WORDS_AT_ONCE):
        block = table[wanted[start : start + _WORDS_AT_ONCE]]
        yield (block @ mine).max(axis=1).astype(np.float64)


@cache
def _unit_vectors() -> Vectors:
    table = static_vectors().table
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    scaled: Vectors = table / np.maximum(lengths, np.float32(1e-9))
    return scaled
