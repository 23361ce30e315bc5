"""The default encoder: wordllama's static vectors, two data files of its wheel; never downloads.

Release 0.1.0 has a wheel for every machine; later ones hold the same vectors and will do as well.
"""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct, fingerprint

DIMENSIONS = 256
_SENTENCES_AT_ONCE = 8192
_WORDS_KEPT = 100_000
_LONGEST_KEPT = 64
_WHOLE = re.compile(r"^ |  |[<▁]| \Z")
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_PACKAGE = "wordllama==0.1.0"


class WordLlamaEncoder:
    """Mean of a sentence's token vectors, which are rows of the table, at unit length."""

    def __init__(self, name: str, table: Vectors, tokenizer: Any) -> None:
        self.name = name
        self.table = table
        self.tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences; a row depends on its own sentence alone, to the last bit."""
        return encode_distinct(sentences, DIMENSIONS, self._sums)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Rows of the table; no token goes on beyond a space, so that words are cut once."""
        if len(self._known) > _WORDS_KEPT:
            self._known = {}
        known = self._known
        words = [[text] if _WHOLE.search(text) else text.split(" ") for text in texts]
        new = list({word for own in words for word in own} - known.keys())
        lines = self.tokenizer.encode_batch(new, add_special_tokens=False)
        last = len(self.table) - 1
        cut = {
            word: [min(one, last) for one in line.ids]
            for word, line in zip(new, lines, strict=True)
        }
        known.update((word, ids) for word, ids in cut.items() if len(word) <= _LONGEST_KEPT)
        return [[one for word in own for one in cut.get(word) or known[word]] for own in words]

    def _sums(self, sentences: list[str]) -> Vectors:
        sums = np.empty((len(sentences), DIMENSIONS), dtype=np.float32)
        for first in range(0, len(sentences), _SENTENCES_AT_ONCE):
            tokens = self.tokens(sentences[first : first + _SENTENCES_AT_ONCE])
            lengths = np.array([len(own) for own in tokens], dtype=np.int64)
            ids = np.fromiter(chain.from_iterable(tokens), dtype=np.int64)
            starts = np.cumsum(lengths) - lengths
            longest = np.argsort(-lengths, kind="stable")
            left = np.searchsorted(-lengths[longest], -np.arange(lengths.max(initial=0)))
            block = np.zeros((len(tokens), DIMENSIONS), dtype=np.float32)
            # Token after token, in all sentences that have so many: no neighbour matters.
            for place, count in enumerate(left.tolist()):
                block[:count] += self.table[ids[starts[longest[:count]] + place]]
            sums[first + longest] = block
        return sums


def load_wordllama() -> WordLlamaEncoder:
    """Load the vectors that the wordllama wheel carries, and not the package itself."""
    spec = find_spec("wordllama")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    weights_file, tokenizer_file = folder / _WEIGHTS, folder / _TOKENIZER
    if not (spec and weights_file.is_file() and tokenizer_file.is_file()):
        raise MetricError(
            "The encoder 'wordllama' needs two data files of its package; choose another, or: "
            f"pip install --force-reinstall {_PACKAGE}."
        )
    from safetensors import safe_open
    from tokenizers import Tokenizer

    with safe_open(weights_file, framework="np", device="cpu") as weights:
        table = np.ascontiguousarray(weights.get_tensor("embedding.weight"), dtype=np.float32)
    # Releases differ in whether this file ends with a line break.
    described = tokenizer_file.read_bytes().rstrip() + b"\n"
    name = f"wordllama@{fingerprint([weights_file, described])}"
    return WordLlamaEncoder(name, table, Tokenizer.from_buffer(described))
