"""Sentence encoders by name; nothing here downloads unless it is asked to, in so many words."""

import threading
from pathlib import Path

from audiocapbench.errors import MetricError, did_you_mean
from audiocapbench.metrics.encoders.encoder import PRECISIONS, Encoder
from audiocapbench.metrics.parallel import NamedWeights

__all__ = ["DEFAULT", "ENCODERS", "Encoder", "load"]

ENCODERS = {
    "caption2vec": "static vectors of word pieces, tuned on captions, in this package, no torch",
    "minilm": "sentence-transformers/all-MiniLM-L6-v2",
    "tinybert": "sentence-transformers/paraphrase-TinyBERT-L6-v2, the encoder of FENSE",
    "wordllama": "static vectors of the package wordllama, the default of older signatures",
}

DEFAULT = "caption2vec"
_STATIC = (DEFAULT, "wordllama")

_loaded: dict[str, Encoder] = {}
_loading = threading.Lock()


def load(encoder: str = DEFAULT, *, download: bool = False) -> Encoder:
    """Load one of ``ENCODERS``, or of a sentence-transformers folder or .onnx file, once a process.

    With ``-tf32`` or ``-bf16`` at its end (``minilm-bf16``), one with torch computes so rounded.
    MetricError where it is unknown, lacks its package, or is not on disk and ``download`` is off.
    """
    key = encoder if encoder in ENCODERS else str(Path(encoder).absolute())
    with _loading:
        if key not in _loaded:
            _loaded[key] = loaded = _load(encoder, download=download)
            if isinstance(loaded, NamedWeights):
                loaded.loaded_by = (load, (key if Path(encoder).exists() else encoder,))
        return _loaded[key]


def _load(name: str, *, download: bool) -> Encoder:
    if name == "wordllama":
        from audiocapbench.metrics.encoders.wordllama import load_wordllama

        return load_wordllama()
    if name == "caption2vec":
        from audiocapbench.metrics.encoders.caption2vec import load_caption2vec

        return load_caption2vec()
    from audiocapbench.metrics.encoders import sbert

    plain, _, precision = name.rpartition("-")
    if precision not in PRECISIONS[1:] or plain in _STATIC or Path(name).exists():
        plain, precision = name, "exact"
    if plain in ENCODERS:
        folder = sbert.find_folder(plain, ENCODERS[plain].split(",")[0], download=download)
        return sbert.load_folder(folder, plain, precision)
    if plain.strip() and "\0" not in plain and Path(plain).is_dir():
        return sbert.load_folder(Path(plain), precision=precision)
    if name.endswith(".onnx") and "\0" not in name and Path(name).is_file():
        return sbert.load_onnx(Path(name))
    raise MetricError(
        f"There is no sentence encoder called {name[:200]!r}{did_you_mean(name, ENCODERS)}: "
        f"choose one of {', '.join(ENCODERS)}, or give the path of a sentence-transformers folder "
        "or of an .onnx file."
    )
