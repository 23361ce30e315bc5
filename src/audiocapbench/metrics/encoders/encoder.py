"""What a sentence encoder promises, and the handling of text that all of them share."""

import hashlib
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.result import check_texts
from audiocapbench.metrics.spreading import spread

Vectors = NDArray[np.float32]

BLOCK = 8192
"""Sentences that a costly encoder gets at once."""


class Encoder(Protocol):
    """Turns sentences into vectors of unit length."""

    @property
    def name(self) -> str:
        """Name and fingerprint of the weights, as signatures show it: ``minilm@53aa5117``."""
        ...

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences, shape (n, dimensions).

        A row has unit length, except that a blank sentence is the zero vector: it is like nothing,
        so its cosine with anything is 0. White space around a sentence has no meaning.
        """
        ...


def encode_distinct(
    sentences: Sequence[str],
    dimensions: int,
    encode: Callable[[list[str]], Vectors],
    at_once: int | None = None,
) -> Vectors:
    """Encode each distinct sentence once, whatever the order in which sentences come.

    ``encode`` gets distinct, stripped, non-blank sentences, from the shortest to the longest; so
    many at once, where that is worth another machine's work.
    """
    check_texts(sentences, "An encoder")
    texts = [readable(sentence) for sentence in sentences]
    distinct = sorted({text for text in texts if text}, key=lambda text: (len(text), text))
    vectors = np.zeros((len(distinct) + 1, dimensions), dtype=np.float32)
    if distinct:
        size = at_once or len(distinct)
        blocks = [distinct[start : start + size] for start in range(0, len(distinct), size)]
        vectors[:-1] = _unit(np.concatenate(list(spread(encode, blocks))))
    place = {text: row for row, text in enumerate(distinct)}
    return vectors[[place.get(text, -1) for text in texts]]


def fingerprint(contents: Iterable[Path | bytes]) -> str:
    """Eight hexadecimal digits that stand for the contents of files, in the order given."""
    digest = hashlib.sha256()
    for content in contents:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:8]


def readable(sentence: str) -> str:
    """Strip a sentence; JSON may hold halves of surrogate pairs, which no tokenizer takes."""
    if not sentence.isascii():
        sentence = sentence.encode("utf-8", "replace").decode("utf-8")
    return sentence.strip()


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    scaled: Vectors = np.divide(vectors, np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled
