"""MS-CLAP and M2D-CLAP by the packages of those who made them, where these are installed.

``ms-clap-2022`` and ``ms-clap-2023`` come by ``msclap``, ``m2d-clap`` by ``portable_m2d``.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from audiocapbench.audio import Samples
from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap.encoder import choose_device
from audiocapbench.metrics.clap.windows import PRESETS
from audiocapbench.metrics.encoders.encoder import Vectors, fingerprint

_Encode = Callable[[Any], Any]


class PackageEncoder:
    """A model of another package: functions that embed windows and texts as torch tensors."""

    def __init__(self, name: str, weights: Path, audio: _Encode, text: _Encode) -> None:
        self.name, self.fingerprint = name, fingerprint([weights])
        self.windows = PRESETS[name]
        self._audio, self._text = audio, text
        self.dimensions = int(self.encode_text(["sound"]).shape[1])

    def encode_audio(self, windows: Samples) -> Vectors:
        """Embed windows of shape (n, samples)."""
        return _array(self._audio(windows))

    def encode_text(self, texts: list[str]) -> Vectors:
        """Embed sentences."""
        return _array(self._text(texts))


def load_package(name: str, options: dict[str, str], device: str) -> PackageEncoder:
    """Load one of ``PACKAGES``; ``path`` (its weights) and ``download`` are taken out of options.

    Raises:
        MetricError: The package is not installed, or no weights are named and none may be fetched.
    """
    package, hint, load = PACKAGES[name]
    if importlib.util.find_spec(package) is None:
        raise MetricError(f"{name} needs the package {package}, which is not installed: {hint}")
    path, download = options.pop("path", ""), options.pop("download", "no") == "yes"
    if path and not Path(path).is_file():
        raise MetricError(f"{name}: there is no file of weights {path}")
    if not path and not (download and package == "msclap"):
        also = ", or allow a download with [download=yes]" if package == "msclap" else ""
        raise MetricError(f"{name}: name its file of weights with [path=FILE]{also}")
    try:
        return load(name, path, choose_device(device))
    except MetricError:
        raise
    except Exception as error:  # another's package may raise anything
        raise MetricError(f"{name}: the package {package} could not load it ({error})") from error


def _load_msclap(name: str, path: str, device: str) -> PackageEncoder:
    from msclap import CLAP

    version = name.rpartition("-")[2]
    model = CLAP(model_fp=path or None, version=version, use_cuda=device == "cuda")
    rate = PRESETS[name].rate

    def audio(windows: Samples) -> Any:
        # The package reads files alone; a window is as long as it wants, so that it cuts nothing.
        import soundfile

        with TemporaryDirectory(prefix="audiocapbench-") as folder:
            files = [str(Path(folder, f"{place}.wav")) for place in range(len(windows))]
            for file, window in zip(files, windows, strict=True):
                soundfile.write(file, np.asarray(window), rate, subtype="FLOAT")
            return model.get_audio_embeddings(files, resample=True)

    return PackageEncoder(name, Path(model.model_fp), audio, model.get_text_embeddings)


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

    return PackageEncoder(name, Path(path), audio, text)


def _array(tensor: Any) -> Vectors:
    found: Vectors = tensor.detach().float().cpu().numpy()
    return found


_M2D_HINT = "put portable_m2d.py of the M2D project on the Python path"
PACKAGES: dict[str, tuple[str, str, Callable[[str, str, str], PackageEncoder]]] = {
    "ms-clap-2022": ("msclap", "pip install msclap", _load_msclap),
    "ms-clap-2023": ("msclap", "pip install msclap", _load_msclap),
    "m2d-clap": ("portable_m2d", _M2D_HINT, _load_m2d),
}
"""The package of each model, how to get it, and how the model is loaded."""
