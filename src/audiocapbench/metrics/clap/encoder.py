"""Models that embed audio and text in one space: what they promise, and which there are.

Packages bring models of their own by the entry point ``audiocapbench.audio_text_encoders``: a
function that takes the options of the name and the device, and returns an ``AudioTextEncoder``.
``docs/extending.md`` has one. An option that the function leaves in the dictionary is refused.
"""

import importlib.util
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Samples
from audiocapbench.errors import MetricError, check_known
from audiocapbench.metrics.clap.laion import load_laion, yes_no
from audiocapbench.metrics.clap.windows import PRESETS, Windows
from audiocapbench.metrics.encoders.encoder import Vectors, choose_device, fingerprint
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.plugins import plugin_failures, plugins

LAION = {
    "laion": "laion/clap-htsat-unfused",
    "laion-fused": "laion/clap-htsat-fused",
    "laion-general": "laion/larger_clap_general",
    "laion-music": "laion/larger_clap_music",
    "laion-music-speech": "laion/larger_clap_music_and_speech",
}
"""LAION's models by short name, and where the Hugging Face hub keeps them."""

_M2D_HINT = "put portable_m2d.py of the M2D project on the Python path"
PACKAGES = {
    "ms-clap-2022": ("msclap", "pip install msclap"),
    "ms-clap-2023": ("msclap", "pip install msclap"),
    "m2d-clap": ("portable_m2d", _M2D_HINT),
}
"""Models by the packages of those who made them, and how to get these."""

LOADED_BY = "_loaded_by"  # an encoder's attribute: other machines load it by that, too
DEVICES = ("auto", "cpu", "cuda")


@runtime_checkable
class AudioTextEncoder(Protocol):
    """Embeds windows of audio and sentences in one space.

    Embeddings are kept under its name and the fingerprint of its weights and settings. One that
    computes while clips are read also has ``begin``, ``batch`` and ``in_flight`` of LaionEncoder.
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


class PackageEncoder:
    """A model of another package: functions that embed windows and texts as torch tensors."""

    def __init__(
        self, name: str, weights: str, audio: Callable[[Samples], Any], text: Callable[..., Any]
    ) -> None:
        self.name, self.fingerprint = name, fingerprint([Path(weights)])
        self.windows = PRESETS[name]
        self._audio, self._text = audio, text
        self.dimensions = int(self.encode_text(["sound"]).shape[1])

    def encode_audio(self, windows: Samples) -> Vectors:
        return np.asarray(self._audio(windows).detach().float().cpu())

    def encode_text(self, texts: list[str]) -> Vectors:
        return np.asarray(self._text(texts).detach().float().cpu())


def identity(encoder: AudioTextEncoder) -> str:
    """Name and fingerprint, as signatures and the store have it: ``laion@53aa5117``."""
    return f"{encoder.name}@{encoder.fingerprint}"


def encoder_name(text: str) -> ScorerName:
    """Read an encoder's name with its options; MetricError where there is none of that name."""
    found, known = parse_name(text, "an encoder"), (*LAION, *PACKAGES)
    own = sorted(plugins("audio_text_encoders"))
    check_known("audio-text encoder", found.name, (*known, *own), MetricError)
    return found


def load_encoder(
    name: str, options: Mapping[str, str] | None = None, device: str = "auto"
) -> AudioTextEncoder:
    """Load one of ``LAION``'s models, of ``PACKAGES`` or a plug-in's; MetricError says why not.

    Options are ``path`` (a folder on disk), ``model`` (a name on the Hugging Face hub) and
    ``download`` (yes or no), or a plug-in's own; devices are ``cpu``, ``cuda`` and ``auto``.
    """
    check_known("device", device, DEVICES, MetricError)
    given = dict(options or {})
    left = given.copy()
    if name in LAION:
        encoder: AudioTextEncoder = load_laion(name, LAION[name], left, device)
    elif name in PACKAGES:
        encoder = _load_package(name, left, device)
    else:
        encoder = _load_plugin(name, left, device)
    if left:
        raise MetricError(f"the audio-text encoder {name!r} has no option {', '.join(left)}")
    if given.get("path"):
        given["path"] = str(Path(given["path"]).absolute())
    with suppress(AttributeError):  # a plug-in's may take none, and then travels as it is
        setattr(encoder, LOADED_BY, (name, given, device))
    return encoder


def _load_plugin(name: str, options: dict[str, str], device: str) -> AudioTextEncoder:
    points, what = plugins("audio_text_encoders"), f"audio-text encoder {name!r}"
    encoder_name(name)
    with plugin_failures(f"{what}: its plug-in {points[name].value}", MetricError):
        encoder = points[name].load()(options, device)
    if not isinstance(encoder, AudioTextEncoder) or not isinstance(encoder.windows, Windows):
        raise MetricError(f"{what}: {points[name].value} returned something else")
    return encoder


def _load_package(name: str, options: dict[str, str], device: str) -> PackageEncoder:
    """Load one of ``PACKAGES``; ``path`` (its weights) and ``download`` leave the options."""
    package, hint = PACKAGES[name]
    if importlib.util.find_spec(package) is None:
        raise MetricError(f"{name} needs the package {package}, which is not installed: {hint}")
    path, download = options.pop("path", ""), yes_no(name, "download", options)
    if path and not Path(path).is_file():
        raise MetricError(f"{name}: there is no file of weights {path}")
    if not path and not (download and package == "msclap"):
        also = ", or allow a download with [download=yes]" if package == "msclap" else ""
        raise MetricError(f"{name}: name its file of weights with [path=FILE]{also}")
    load = _load_msclap if package == "msclap" else _load_m2d
    with plugin_failures(f"{name}: the package {package}", MetricError):
        return load(name, path, choose_device(device))


def _load_msclap(name: str, path: str, device: str) -> PackageEncoder:
    from msclap import CLAP

    version = name.rpartition("-")[2]
    model = CLAP(model_fp=path or None, version=version, use_cuda=device == "cuda")

    def audio(windows: Samples) -> Any:
        # The package reads files alone; a window is as long as it wants, so that it cuts nothing.
        import soundfile

        with TemporaryDirectory(prefix="audiocapbench-") as folder:
            files = [str(Path(folder, f"{place}.wav")) for place in range(len(windows))]
            for file, window in zip(files, windows, strict=True):
                soundfile.write(file, np.asarray(window), PRESETS[name].rate, subtype="FLOAT")
            return model.get_audio_embeddings(files, resample=True)

    return PackageEncoder(name, model.model_fp, audio, model.get_text_embeddings)


def _load_m2d(name: str, path: str, device: str) -> PackageEncoder:
    import torch
    from portable_m2d import PortableM2D

    model = PortableM2D(path, flat_features=True).to(device).eval()

    def audio(windows: Samples) -> Any:
        with torch.inference_mode():
            waves = torch.from_numpy(np.ascontiguousarray(windows, dtype=np.float32))
            return model.encode_clap_audio(waves.to(device))

    def text(texts: list[str]) -> Any:
        with torch.inference_mode():
            return model.encode_clap_text(texts, truncate=True)

    return PackageEncoder(name, path, audio, text)
