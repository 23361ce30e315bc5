"""Static encoders: each token has a vector of its own, and a sentence is their sum."""

import re
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct
from audiocapbench.metrics.parallel import NamedWeights

_SENTENCES_AT_ONCE = 8192
_WORDS_KEPT = 100_000
_LONGEST_KEPT = 64
_TEXTS_KEPT, _LONGEST_TEXT = 20_000, 2_000


class StaticEncoder(NamedWeights):
    """Sum of a sentence's token vectors, which are rows of the table, at unit length.

    Words between spaces are cut into tokens each on its own, but for texts that match ``whole``.
    """

    def __init__(
        self,
        name: str,
        table: Vectors,
        cut: Callable[[list[str]], list[list[int]]],
        whole: re.Pattern[str] | None = None,
    ) -> None:
        self.name, self.table, self.cut, self._whole = name, table, cut, whole
        self._known: dict[str, list[int]] = {}
        self._read: dict[str, list[int]] = {}

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences; a row depends on its own sentence alone, to the last bit."""
        return encode_distinct(sentences, self.table.shape[1], self._sums)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Rows of the table; each word is cut once, and each text read once."""
        if len(self._known) > _WORDS_KEPT or len(self._read) > _TEXTS_KEPT:
            self._known, self._read = {}, {}
        known, whole = self._known, self._whole
        fresh = list(dict.fromkeys(text for text in texts if text not in self._read))
        words = [[text] if whole and whole.search(text) else text.split(" ") for text in fresh]
        new = list({word for own in words for word in own} - known.keys())
        cut = dict(zip(new, self.cut(new), strict=True))
        known.update((word, ids) for word, ids in cut.items() if len(word) <= _LONGEST_KEPT)
        rows = (
            [one for word in own for one in cut.get(word) or known.get(word, [])] for own in words
        )
        read = dict(zip(fresh, rows, strict=True))
        found = [read[text] if text in read else self._read[text] for text in texts]
        self._read.update((text, own) for text, own in read.items() if len(text) <= _LONGEST_TEXT)
        return found

    def _sums(self, sentences: list[str]) -> Vectors:
        sums = np.empty((len(sentences), self.table.shape[1]), dtype=np.float32)
        for first in range(0, len(sentences), _SENTENCES_AT_ONCE):
            tokens = self.tokens(sentences[first : first + _SENTENCES_AT_ONCE])
            lengths = np.array([len(own) for own in tokens], dtype=np.int64)
            ids = np.fromiter(chain.from_iterable(tokens), dtype=np.int64)
            starts = np.cumsum(lengths) - lengths
            longest = np.argsort(-lengths, kind="stable")
            left = np.searchsorted(-lengths[longest], -np.arange(lengths.max(initial=0)))
            block = np.zeros((len(tokens), self.table.shape[1]), dtype=np.float32)
            # Token after token, in all sentences that have so many: no neighbour matters.
            for place, count in enumerate(left.tolist()):
                block[:count] += self.table[ids[starts[longest[:count]] + place]]
            sums[first + longest] = block
        return sums
