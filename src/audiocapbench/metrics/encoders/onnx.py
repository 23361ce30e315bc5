"""Sentence encoders as ONNX files, run by ONNX Runtime without torch, and made by torch once.

sentence-transformers has an ONNX backend too, which needs torch and optimum for every run.
"""

import json
import logging
import os
import shutil
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.files import cache_folder
from audiocapbench.metrics.encoders.encoder import (
    BLOCK,
    Vectors,
    encode_distinct,
    fingerprint,
    label_of,
    loading,
    require,
)
from audiocapbench.metrics.spreading import NamedWeights

SUFFIX = ".onnx"
MADE = {"minilm-onnx": 16, "minilm-int8": 1}
"""Encoders that are made on this machine, and how many sentences of one length go together: what
8 bits stand for depends on all that is in a batch, so that each sentence goes alone."""

_BATCH = 16
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_BESIDE = ("tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json")
_LONGEST = 256
_CORES = os.cpu_count() or 1
_MEAN = "pooling_mode_mean_tokens"


class OnnxEncoder(NamedWeights):
    """The mean over a sentence's tokens of what the network makes of them, at unit length."""

    def __init__(self, name: str, session: Any, tokenizer: Any, batch: int = _BATCH) -> None:
        self.name = name
        self._session = session
        self._tokenizer = tokenizer
        self._batch = batch
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
        step = self._batch
        batches = [own[n : n + step] for own in groups.values() for n in range(0, len(own), step)]

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


def load_made(name: str, find_source: Callable[[], Path]) -> OnnxEncoder:
    """Load an encoder that is made from torch's weights the first time, and kept in the cache."""
    folder = cache_folder() / name
    file = folder / f"model{SUFFIX}"
    if file.is_file():
        return load_onnx(file, name)
    source, what = find_source(), f"Making the encoder {name!r}"
    require(what, "sbert", "torch", "transformers")
    require(what, "onnx", "onnx", "onnxruntime")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place, loading("network", source):
        made = Path(place) / "made"
        for part in _BESIDE:
            (made / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / part, made / part)
        heads, size = _export(source, made / file.name)
        if MADE[name] == 1:
            _quantise(made / file.name, heads, size)
        if not folder.exists():
            made.rename(folder)
    return load_onnx(file, name)


def _quantise(file: Path, heads: int, size: int) -> None:
    """Cut weights to 8 bits, with attention as one operation and GELU by its approximation."""
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers.fusion_options import FusionOptions
    from onnxruntime.transformers.optimizer import optimize_model

    fusions = FusionOptions("bert")
    fusions.enable_gelu_approximation = True
    kinds = {"DefaultTensorType": TensorProto.FLOAT}
    weights: dict[str, Any] = {"weight_type": QuantType.QInt8, "extra_options": kinds}
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # it recommends what changes nothing here
    try:
        fused = optimize_model(str(file), "bert", heads, size, fusions, opt_level=0)
        fused.save_model_to_file(str(file))
        quantize_dynamic(file, file, per_channel=True, **weights)
    finally:
        logging.disable(before)


def _export(source: Path, file: Path) -> tuple[int, int]:
    """Write the network as it is; returns its heads and its width."""
    import torch
    from transformers import AutoModel

    class States(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
        """The network as one that takes its inputs by place and gives one thing."""

        def __init__(self) -> None:
            super().__init__()
            network = AutoModel.from_pretrained(source, attn_implementation="eager")
            self.network = network.float().eval()

        def forward(self, *given: Any) -> Any:
            return self.network(**dict(zip(_INPUTS, given, strict=True))).last_hidden_state

    ones = torch.ones((2, 7), dtype=torch.int64)
    names, states = [*_INPUTS, "last_hidden_state"], States()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            states,
            (ones, ones, ones * 0),
            str(file),
            input_names=names[:-1],
            output_names=names[-1:],
            dynamic_axes={one: {0: "batch", 1: "tokens"} for one in names},
            dynamo=False,
        )
    config = states.network.config
    return config.num_attention_heads, config.hidden_size


def load_onnx(file: Path, name: str = "") -> OnnxEncoder:
    """Load a network; its tokenizer.json lies beside it or in the folder above."""
    folder, above = file.parent, file.parent.parent
    if not (folder / "tokenizer.json").is_file():
        folder = above
    if not (folder / "tokenizer.json").is_file():
        raise MetricError(f"{file} has no tokenizer.json beside it or in the folder above")
    require("An encoder in ONNX", "onnx", "onnxruntime")
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        alone = SessionOptions()
        alone.intra_op_num_threads = 1
        session = InferenceSession(str(file), alone, providers=["CPUExecutionProvider"])
        pooling, settings = folder / "1_Pooling" / "config.json", folder / _BESIDE[1]
        if pooling.is_file() and not json.loads(pooling.read_bytes()).get(_MEAN, True):
            raise ValueError("it does not take the mean of its tokens")
        known = json.loads(settings.read_bytes()) if settings.is_file() else {}
        tokenizer.enable_truncation(int(known.get("max_seq_length") or _LONGEST))
    except Exception as error:  # a damaged file can fail in any way
        reason = str(error).strip().partition("\n")[0]
        raise MetricError(f"the encoder {file} cannot be loaded ({reason})") from error
    tokenizer.no_padding()
    label = name or f"{label_of(folder)}-{file.stem}"
    digest = fingerprint([file, folder / "tokenizer.json"])
    return OnnxEncoder(f"{label}@{digest}", session, tokenizer, MADE.get(name, _BATCH))
