"""The default encoder: wordllama's static vectors, which come with its wheel; never downloads."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct, fingerprint

DIMENSIONS = 256
_SENTENCES_AT_ONCE = 8192
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


class WordLlamaEncoder:
    """Mean of a sentence's token vectors, which are rows of the table, at unit length."""

    def __init__(self, name: str, table: Vectors, tokenizer: Any) -> None:
        self.name = name
        self.table = table
        self.tokenizer = tokenizer

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences; a row depends on its own sentence alone, to the last bit."""
        return encode_distinct(sentences, DIMENSIONS, self._sums)

    def _sums(self, sentences: list[str]) -> Vectors:
        sums = np.empty((len(sentences), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(sentences), _SENTENCES_AT_ONCE):
            block = sentences[start : start + _SENTENCES_AT_ONCE]
            sums[start : start + len(block)] = self._block_sums(block)
        return sums

    def _block_sums(self, sentences: list[str]) -> Vectors:
        from scipy.sparse import csr_array

        lines = self.tokenizer.encode_batch(sentences, add_special_tokens=False)
        tokens = [line.ids for line in lines]
        ends = np.cumsum([0, *map(len, tokens)])
        ids = np.minimum(np.concatenate(tokens).astype(np.int64), len(self.table) - 1)
        ones = np.ones(len(ids), dtype=np.float32)
        # A sparse product adds up one row at a time: no padding, and no neighbour matters.
        bags = csr_array((ones, ids, ends), shape=(len(tokens), len(self.table)))
        sums: Vectors = bags @ self.table
        return sums


def load_wordllama() -> WordLlamaEncoder:
    """Load the vectors that the wordllama wheel carries."""
    try:
        with _root_logger_left_alone():
            import wordllama
    except ImportError as error:
        raise MetricError(
            "The encoder 'wordllama' needs the package wordllama: pip install wordllama."
        ) from error
    folder = Path(wordllama.__file__).parent
    files = [folder / _WEIGHTS, folder / _TOKENIZER]
    for file in files:
        if not file.is_file():
            raise MetricError(
                f"The installed wordllama lacks {file.name}: reinstall it (pip install "
                "--force-reinstall 'wordllama>=0.4,<0.5'), or choose another encoder."
            )
    # Without cache_dir, its offline look-up misses the tokenizer that lies in its own folder.
    model = wordllama.WordLlama.load(dim=DIMENSIONS, cache_dir=folder, disable_download=True)
    model.tokenizer.no_padding()
    return WordLlamaEncoder(f"wordllama@{fingerprint(files)}", model.embedding, model.tokenizer)


@contextmanager
def _root_logger_left_alone() -> Iterator[None]:
    """Undo the logging.basicConfig that wordllama calls when it is imported."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
