"""What a model that embeds audio and text in one space promises."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Samples
from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap.windows import Windows
from audiocapbench.metrics.encoders.encoder import Vectors

DEVICES = ("auto", "cpu", "cuda")
DEFAULT_BATCH = 16


@runtime_checkable
class AudioTextEncoder(Protocol):
    """Embeds windows of audio and sentences in one space.

    Embeddings are kept under its name and its fingerprint, which stands for weights and settings:
    another one, another model. One that cuts windows on its device, and computes while clips are
    read, has more, as ``LaionEncoder`` has: ``begin``, ``batch`` and ``in_flight``.
    """

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def windows(self) -> Windows: ...

    def encode_audio(self, windows: Samples) -> NDArray[Any]:
        """Embed windows of shape (n, ``windows.input``); returns shape (n, dimensions)."""

    def encode_text(self, texts: list[str]) -> NDArray[Any]:
        """Embed sentences, none of them blank; returns shape (n, dimensions)."""


def identity(encoder: AudioTextEncoder) -> str:
    """Name and fingerprint, as signatures and the store have it: ``laion@53aa5117``."""
    return f"{encoder.name}@{encoder.fingerprint}"


def checked(vectors: object, count: int, encoder: AudioTextEncoder) -> Vectors:
    """Embeddings in single precision, or an error where they are not what was promised."""
    found = np.asarray(vectors, dtype=np.float32)
    wanted = (count, encoder.dimensions)
    if found.shape != wanted:
        shape = found.shape
        raise MetricError(f"{identity(encoder)} gave embeddings of shape {shape}, not {wanted}")
    if not np.isfinite(found).all():
        raise MetricError(f"{identity(encoder)} gave embeddings that are not finite numbers")
    return found


def choose_device(device: str) -> str:
    """``cpu`` or ``cuda``; ``auto`` takes the GPU where torch finds one."""
    import torch

    found = torch.cuda.is_available()
    if device == "cuda" and not found:
        raise MetricError("device=cuda: torch finds no GPU here; use device=cpu")
    return "cuda" if found and device != "cpu" else "cpu"
