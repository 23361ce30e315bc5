"""Sentence encoders as ONNX files, run by ONNX Runtime without torch.

sentence-transformers has an ONNX backend too, which needs torch and optimum for every run.
"""

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders.encoder import (
    BLOCK,
    Vectors,
    encode_distinct,
    fingerprint,
    label_of,
    require,
)
from audiocapbench.metrics.parallel import NamedWeights

_BATCH = 16
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_LONGEST = 256
_CORES = os.cpu_count() or 1
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
        """Sentences of one length go together, so that nothing is filled up; one batch a core."""
        tokens = [line.ids for line in self._tokenizer.encode_batch(sentences)]
        groups = defaultdict[int, list[int]](list)
        for place, ids in enumerate(tokens):
            groups[len(ids)].append(place)
        batches = [
            own[start : start + _BATCH]
            for own in groups.values()
            for start in range(0, len(own), _BATCH)
        ]

        def run(places: list[int]) -> Vectors:
            ids = np.array([tokens[place] for place in places], dtype=np.int64)
            inputs = dict(zip(_INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
            fed = {name: value for name, value in inputs.items() if name in self._inputs}
            means: Vectors = self._session.run(None, fed)[0].mean(axis=1)
            return means

        with ThreadPoolExecutor(_CORES) as cores:
            vectors = np.concatenate(list(cores.map(run, batches)))
        found = np.empty_like(vectors)
        found[[place for places in batches for place in places]] = vectors
        return found


def load_onnx(file: Path) -> OnnxEncoder:
    """Load a network; its tokenizer.json lies beside it or in the folder above."""
    folders = (file.parent, file.parent.parent)
    folder = next((one for one in folders if (one / "tokenizer.json").is_file()), None)
    if folder is None:
        raise MetricError(f"{file} has no tokenizer.json beside it or in the folder above")
    require("An encoder in ONNX", "onnx", "onnxruntime")
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        alone = SessionOptions()
        alone.intra_op_num_threads = 1
        session = InferenceSession(str(file), alone, providers=["CPUExecutionProvider"])
        pooling, settings = folder / "1_Pooling/config.json", folder / "sentence_bert_config.json"
        if pooling.is_file() and not json.loads(pooling.read_bytes()).get(_MEAN, True):
            raise ValueError("it does not take the mean of its tokens")
        known = json.loads(settings.read_bytes()) if settings.is_file() else {}
        tokenizer.enable_truncation(int(known.get("max_seq_length") or _LONGEST))
    except Exception as error:  # a damaged file can fail in any way
        reason = str(error).strip().partition("\n")[0]
        raise MetricError(f"the encoder {file} cannot be loaded ({reason})") from error
    tokenizer.no_padding()
    digest = fingerprint([file, folder / "tokenizer.json"])
    return OnnxEncoder(f"{label_of(folder)}-{file.stem}@{digest}", session, tokenizer)
