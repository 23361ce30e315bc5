"""Models that embed audio and text in one space: what they promise, and finding them by name.

Packages bring models of their own by the entry point ``audiocapbench.audio_text_encoders``: a
function that takes the options of the name and the device, and returns an ``AudioTextEncoder``.
For Microsoft's CLAP this is the whole plug-in::

    # clap_plugin.py
    from pathlib import Path

    import torch
    from audiocapbench.metrics.clap import PRESETS, choose_device
    from audiocapbench.metrics.encoders.encoder import fingerprint
    from msclap import CLAP

    class MicrosoftClap:
        dimensions = 1024

        def __init__(self, version, device):
            self.name = f"ms-clap-{version}"
            self.windows = PRESETS[self.name]
            self._device = choose_device(device)
            self._model = CLAP(version=version, use_cuda=self._device == "cuda")
            self.fingerprint = fingerprint([Path(self._model.model_fp)])

        def encode_audio(self, windows):
            # Shape (n, samples) in; msclap wants a channel between the two.
            batch = torch.from_numpy(windows).unsqueeze(1).to(self._device)
            return self._model._get_audio_embeddings(batch).cpu().numpy()

        def encode_text(self, texts):
            return self._model.get_text_embeddings(texts).cpu().numpy()

    def create(options, device):
        return MicrosoftClap(options.pop("version", "2023"), device)

    # pyproject.toml
    [project.entry-points."audiocapbench.audio_text_encoders"]
    msclap = "clap_plugin:create"

It is then named ``msclap`` or ``msclap[version=2022]``. An option that ``create`` leaves in the
dictionary is refused as unknown.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Samples
from audiocapbench.errors import AudioCapBenchError, MetricError
from audiocapbench.metrics.clap.windows import Windows
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.plugins import plugins

DEVICES = ("auto", "cpu", "cuda")

LAION = {
    "laion": "laion/clap-htsat-unfused",
    "laion-fused": "laion/clap-htsat-fused",
    "laion-general": "laion/larger_clap_general",
    "laion-music": "laion/larger_clap_music",
    "laion-music-speech": "laion/larger_clap_music_and_speech",
}
"""LAION's models by short name, and where the Hugging Face hub keeps them."""


@runtime_checkable
class AudioTextEncoder(Protocol):
    """Embeds windows of audio and sentences in one space.

    Attributes:
        name: What signatures call it.
        fingerprint: Stands for the weights and settings: another one, another model. Embeddings
            are kept under both.
        dimensions: Length of an embedding.
        windows: What it wants to hear.
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


def load_encoder(
    name: str, options: Mapping[str, str] | None = None, device: str = "auto"
) -> AudioTextEncoder:
    """Load a model.

    Args:
        name: One of ``LAION``, or the name of a plug-in.
        options: For LAION's models ``path`` (a folder on disk), ``model`` (a name on the Hugging
            Face hub) and ``download`` (yes or no); for a plug-in, its own.
        device: ``cpu``, ``cuda``, or ``auto`` for the GPU where there is one.

    Raises:
        MetricError: There is no such model, it is not on this disk, or it cannot be loaded.
    """
    if device not in DEVICES:
        raise MetricError(f"there is no device {device!r}; choose {', '.join(DEVICES)}")
    left = dict(options or {})
    encoder = _load(name, left, device)
    if left:
        raise MetricError(f"the audio-text encoder {name!r} has no option {', '.join(left)}")
    return encoder


def identity(encoder: AudioTextEncoder) -> str:
    """Name and fingerprint, as signatures and the store have it: ``laion@53aa5117``."""
    return f"{encoder.name}@{encoder.fingerprint}"


def checked(vectors: object, count: int, encoder: AudioTextEncoder) -> Vectors:
    """Embeddings in single precision, or an error where they are not what was promised."""
    found = np.asarray(vectors, dtype=np.float32)
    wanted = (count, encoder.dimensions)
    if found.shape != wanted:
        raise MetricError(
            f"{identity(encoder)} gave embeddings of shape {found.shape}, not {wanted}"
        )
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


def _load(name: str, options: dict[str, str], device: str) -> AudioTextEncoder:
    if name in LAION:
        from audiocapbench.metrics.clap.laion import load_laion

        return load_laion(name, LAION[name], options, device)
    found = plugins("audio_text_encoders").get(name)
    if found is None:
        known = ", ".join([*LAION, *sorted(plugins("audio_text_encoders"))])
        raise MetricError(f"there is no audio-text encoder {name!r}; there are {known}")
    try:
        encoder = found.load()(options, device)
    except AudioCapBenchError:
        raise
    except Exception as error:  # a plug-in may raise anything
        raise MetricError(
            f"audio-text encoder {name!r}: its plug-in {found.value} fails ({error})"
        ) from error
    if not isinstance(encoder, AudioTextEncoder) or not isinstance(encoder.windows, Windows):
        raise MetricError(f"audio-text encoder {name!r}: {found.value} returned something else")
    return encoder
