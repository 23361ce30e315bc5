"""LAION's CLAP by transformers' ClapModel, from a folder on disk; torch is loaded here."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.audio import Samples
from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap.encoder import choose_device
from audiocapbench.metrics.clap.windows import PRESETS, Windows
from audiocapbench.metrics.encoders.encoder import Vectors, fingerprint
from audiocapbench.metrics.encoders.hub import label_of, loading, require, snapshot

_DEFINING = ("config.json", "preprocessor_config.json", "processor_config.json", "tokenizer.json")
_AT_ONCE = 16
_FLOOR = 1e-10
_YES_NO = {"yes": True, "no": False}


class LogMel:
    """Log-mel pictures as a ClapFeatureExtractor makes them, in batches on any device.

    It is computed in double precision: quiet bands beside a loud tone would otherwise be noise.
    Values equal the extractor's to within 1e-3 dB.
    """

    def __init__(self, extractor: Any, device: str) -> None:
        import torch

        fused = extractor.truncation == "fusion"
        filters = extractor.mel_filters if fused else extractor.mel_filters_slaney
        self._length = int(extractor.fft_window_size)
        self._hop = int(extractor.hop_length)
        self._filters = torch.as_tensor(filters, dtype=torch.float64, device=device)
        self._window = torch.hann_window(self._length, dtype=torch.float64, device=device)
        # A fusion model looks at four pictures; those of a clip that fits are all the same.
        self._pictures = 4 if fused else 1

    def __call__(self, waves: Any) -> Any:
        """Pictures of shape (n, pictures, frames, bands) for waves of shape (n, samples)."""
        import torch

        return torch.cat([self._pictures_of(part) for part in torch.split(waves, _AT_ONCE)])

    def _pictures_of(self, waves: Any) -> Any:
        import torch

        how = {"center": True, "pad_mode": "reflect", "return_complex": True}
        spectrum = torch.stft(waves.double(), self._length, self._hop, window=self._window, **how)
        power = spectrum.real.square() + spectrum.imag.square()
        bands = power.transpose(1, 2) @ self._filters
        decibels = 10 * torch.log10(bands.clamp_min(_FLOOR))
        return decibels.float().unsqueeze(1).expand(-1, self._pictures, -1, -1)


class LaionEncoder:
    """A ClapModel in single precision, with no randomness left in it.

    Windows always fit the model's input, so that a fusion model (``laion-fused``) gets its four
    equal pictures and fuses nothing; ClapFeatureExtractor would let it fuse one clip of a batch,
    chosen at random.
    """

    def __init__(self, name: str, fingerprint: str, folder: Path, device: str = "cpu") -> None:
        from transformers import AutoTokenizer, ClapFeatureExtractor

        self.name, self.fingerprint, self._device = name, fingerprint, device
        extractor = ClapFeatureExtractor.from_pretrained(folder, local_files_only=True)
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model = _whole_model(folder).float().eval().to(device)
        self._log_mel = LogMel(extractor, device)
        self.dimensions = int(self._model.config.projection_dim)
        self.windows = _windows(extractor)
        text = self._model.config.text_config
        places = text.max_position_embeddings - text.pad_token_id - 1
        self._longest = min(self._tokenizer.model_max_length, places)

    def encode_audio(self, windows: Samples) -> Vectors:
        """Embed windows of shape (n, samples), at unit length."""
        import torch

        with self._computing():
            waves = torch.from_numpy(np.ascontiguousarray(windows)).to(self._device)
            alone = torch.zeros(len(windows), 1, dtype=torch.bool, device=self._device)
            pictures = self._log_mel(waves)
            found = self._model.get_audio_features(input_features=pictures, is_longer=alone)
            return _vectors(found)

    def encode_text(self, texts: list[str]) -> Vectors:
        """Embed sentences, at unit length; what is longer than the model reads is cut off."""
        tokens = self._tokenizer(
            texts, padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        )
        inputs = {key: tokens[key].to(self._device) for key in ("input_ids", "attention_mask")}
        with self._computing():
            return _vectors(self._model.get_text_features(**inputs))

    @contextmanager
    def _computing(self) -> Iterator[None]:
        import torch

        # By default a GPU rounds the inputs of convolutions to 10 bits.
        exact = torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False)
        try:
            with torch.inference_mode(), exact:
                yield
        except torch.cuda.OutOfMemoryError:
            raise MetricError(
                f"{self.name}: the GPU has too little memory for a batch; give a smaller batch=N, "
                "or device=cpu"
            ) from None


def load_laion(
    name: str, repository: str, options: dict[str, str], device: str = "auto"
) -> LaionEncoder:
    """Load one of LAION's models, or any other that ClapModel reads.

    ``path``, ``model`` and ``download`` are taken out of the options.
    """
    path, hub = options.pop("path", ""), options.pop("model", "")
    download = _YES_NO.get(options.pop("download", "no"))
    if download is None:
        raise MetricError(f"{name}: download is yes or no")
    if path and hub:
        raise MetricError(f"{name}: give path or model, not both")
    require("CLAP", "local", "torch", "transformers")
    repository = hub or repository
    folder = Path(path) if path else snapshot(repository, download=download)
    if folder is None:
        raise MetricError(
            f"the CLAP model {repository} is not on this disk, and downloads are off: allow one "
            "with [download=yes], or name a folder that holds it with [path=FOLDER]; a metric of "
            "text alone, such as similarity, needs no download"
        )
    label = label_of(path or hub) if path or hub else name
    _check_folder(folder)
    chosen = choose_device(device)
    with loading("CLAP model", folder):
        return LaionEncoder(label, fingerprint(_defining(folder)), folder, chosen)


def _windows(extractor: Any) -> Windows:
    """LAION's published windows, at the rate and input length that this model has."""
    published = PRESETS["laion-clap"]
    longest = extractor.nb_max_samples / extractor.sampling_rate
    window = min(published.window_s, longest)
    hop = min(published.hop_s, window)
    rate = int(extractor.sampling_rate)
    return replace(published, rate=rate, window_s=window, hop_s=hop, input_s=longest)


def _whole_model(folder: Path) -> Any:
    """The model; one whose file lacks weights is refused, not filled with random numbers."""
    from transformers import ClapModel

    model, found = ClapModel.from_pretrained(
        folder, local_files_only=True, output_loading_info=True
    )
    absent = set(found["missing_keys"]) & {name for name, _ in model.named_parameters()}
    if absent:
        raise MetricError(
            f"the CLAP model in {folder} lacks {len(absent)} weights, such as {min(absent)}: fetch "
            "the folder again"
        )
    return model


def _vectors(found: Any) -> Vectors:
    # transformers 4 returned the embeddings themselves, 5 returns them among other things.
    embeddings = getattr(found, "pooler_output", found)
    vectors: Vectors = embeddings.float().cpu().numpy()
    return vectors


def _check_folder(folder: Path) -> None:
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        config = None
    if not isinstance(config, dict) or config.get("model_type") != "clap":
        raise MetricError(
            f"{folder} holds no CLAP model of transformers: its config.json is missing or is of "
            "another kind. Save one with ClapModel.save_pretrained and ClapProcessor's, or give "
            "the folder of a snapshot."
        )


def _defining(folder: Path) -> list[Path]:
    """The files that decide what numbers come out: weights, features, vocabulary."""
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    vocabulary = ["vocab.json", "merges.txt"]
    files = [*weights, *(folder / name for name in (*_DEFINING, *vocabulary))]
    return [file for file in files if file.is_file()]
