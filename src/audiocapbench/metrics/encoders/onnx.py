"""Sentence encoders as ONNX files, run by ONNX Runtime without torch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders.encoder import BLOCK, Vectors, encode_distinct, fingerprint
from audiocapbench.metrics.encoders.hub import label_of, require
from audiocapbench.metrics.spreading import NamedWeights

SUFFIX = ".onnx"
_BATCH = 64
_LONGEST = 256
_MEAN = "pooling_mode_mean_tokens"


class OnnxEncoder(NamedWeights):
    """The mean over a sentence's tokens of what the network makes of them, at unit length."""

    def __init__(self, name: str, session: Any, tokenizer: Any) -> None:
        self.name = name
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {given.name for given in session.get_inputs()}
        self._dimensions = len(self._encode(["a"])[0])

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences; order has no effect, batches and neighbours less than 1e-6."""
        return encode_distinct(sentences, self._dimensions, self._encode, BLOCK)

    def _encode(self, sentences: list[str]) -> Vectors:
        batches = range(0, len(sentences), _BATCH)
        return np.concatenate([self._batch(sentences[one : one + _BATCH]) for one in batches])

    def _batch(self, sentences: list[str]) -> Vectors:
        lines = self._tokenizer.encode_batch(sentences)
        ids = np.array([line.ids for line in lines], dtype=np.int64)
        mask = np.array([line.attention_mask for line in lines], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        fed = {name: value for name, value in given.items() if name in self._inputs}
        states = self._session.run(None, fed)[0]
        counted = mask[:, :, np.newaxis].astype(np.float32)
        means: Vectors = (states * counted).sum(axis=1) / counted.sum(axis=1)
        return means


def load_onnx(file: Path) -> OnnxEncoder:
    """Load a network; its tokenizer.json lies beside it or in the folder above.

    Raises:
        MetricError: A part is missing or damaged, or ONNX Runtime is not installed.
    """
    folder = next(
        (own for own in (file.parent, file.parent.parent) if (own / "tokenizer.json").is_file()),
        None,
    )
    if folder is None:
        raise MetricError(f"{file} has no tokenizer.json beside it or in the folder above")
    require("An encoder in ONNX", "onnx", "onnxruntime")
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        session = InferenceSession(str(file), providers=["CPUExecutionProvider"])
        longest = _longest(folder)
    except Exception as error:  # a damaged file can fail in any way
        reason = str(error).strip().partition("\n")[0]
        raise MetricError(f"the encoder {file} cannot be loaded ({reason})") from error
    tokenizer.enable_truncation(longest)
    tokenizer.enable_padding()
    parts = [file, folder / "tokenizer.json"]
    name = f"{label_of(folder)}-{file.stem}@{fingerprint(parts)}"
    return OnnxEncoder(name, session, tokenizer)


def _longest(folder: Path) -> int:
    """How many tokens are read; only the mean of the tokens is computed here."""
    pooling = folder / "1_Pooling" / "config.json"
    if pooling.is_file() and not json.loads(pooling.read_text("utf-8")).get(_MEAN, True):
        raise ValueError("it does not take the mean of its tokens")
    settings = folder / "sentence_bert_config.json"
    if not settings.is_file():
        return _LONGEST
    return int(json.loads(settings.read_text("utf-8")).get("max_seq_length") or _LONGEST)
