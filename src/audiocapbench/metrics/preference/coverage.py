"""How much of what the references say a caption covers, word by word, by static vectors."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import chain
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
    encoder = static_vectors()
    ours = [sorted(set(own)) for own in tokens_of(predictions, encoder)]
    theirs = _bags(references, encoder)
    used = sorted({*chain(*ours), *chain.from_iterable(bag.tokens for bag in theirs.values())})
    table, row = _unit_vectors(encoder.table[used]), np.zeros(len(encoder.table), dtype=np.int64)
    row[used] = np.arange(len(used))
    shares = np.zeros(len(predictions))
    for place, (own, held_to) in enumerate(zip(ours, references, strict=True)):
        bag = theirs[tuple(held_to)]
        if own and bag.total > 0:
            cosines = _cosines(table, row[bag.tokens], table[row[own]].T)
            nearest = np.concatenate([block.max(axis=1) for block in cosines])
            shares[place] = bag.weights @ nearest.astype(np.float64) / bag.total
    return np.clip(shares, 0, 1)


class _Bag(NamedTuple):
    """Distinct tokens of a clip's references in order, what each weighs there, and all together."""

    tokens: list[int]
    weights: FloatArray
    total: float


def _bags(
    references: Sequence[Sequence[str]], encoder: WordLlamaEncoder
) -> dict[tuple[str, ...], _Bag]:
    distinct = list(dict.fromkeys(map(tuple, references)))
    texts = list(dict.fromkeys(chain.from_iterable(distinct)))
    tokens = dict(zip(texts, tokens_of(texts, encoder), strict=True))
    values, found = load_weights().values, {}
    for held_to in distinct:
        counts = Counter(chain.from_iterable(tokens[text] for text in held_to))
        wanted = sorted(counts)
        weights = values[wanted] * np.array([counts[one] for one in wanted])
        found[held_to] = _Bag(wanted, weights, weights.sum())
    return found


def static_vectors() -> WordLlamaEncoder:
    """The encoder whose tokens have a vector each."""
    return cast(WordLlamaEncoder, load("wordllama"))


def tokens_of(texts: Sequence[str], encoder: WordLlamaEncoder) -> list[list[int]]:
    """Numbers of the tokens of texts, in lower case and without the final full stop."""
    plain = {text: readable(text).rstrip(_FULL_STOPS).lower() for text in texts}
    found = dict(zip(plain, encoder.tokens(list(plain.values())), strict=True))
    return [found[text] for text in texts]


def _cosines(table: Vectors, wanted: Ids, own: Vectors) -> Iterator[Vectors]:
    """The cosine of each wanted token with each of one's own."""
    for start in range(0, len(wanted), _WORDS_AT_ONCE):
        yield table[wanted[start : start + _WORDS_AT_ONCE]] @ own


def _unit_vectors(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = rows / np.maximum(lengths, np.float32(1e-9))
    return scaled
