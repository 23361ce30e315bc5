"""MS-CLAP and M2D-CLAP through packages of their own, on stand-ins that are called as these are."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap import clap_scores, identity, load_encoder
from folders import write_tone
from needs import needs

torch = needs("torch")

# Both embed loudness and length, so that what arrives can be told from the embedding.
MSCLAP = """
import soundfile
import torch

class CLAP:
    def __init__(self, model_fp=None, version="2023", use_cuda=False):
        assert version in ("2022", "2023")
        self.model_fp, self.seconds = model_fp, {"2022": 5, "2023": 7}[version]

    def get_audio_embeddings(self, audio_files, resample=True):
        rows = []
        for file in audio_files:
            wave, rate = soundfile.read(file, dtype="float32")
            assert rate == 44_100 and len(wave) == self.seconds * rate
            rows.append([float((wave ** 2).mean()), 1.0, float(len(wave)) / rate])
        return torch.tensor(rows)

    def get_text_embeddings(self, class_labels):
        return torch.tensor([[float(len(text)), 1.0, 2.0] for text in class_labels])
"""
PORTABLE_M2D = """
import torch

class PortableM2D(torch.nn.Module):
    def __init__(self, weight_file, num_classes=None, freeze_embed=False, flat_features=None):
        super().__init__()
        assert flat_features

    def encode_clap_audio(self, batch_audio):
        assert batch_audio.shape[1] == 160_000
        return torch.stack([(batch_audio ** 2).mean(1), torch.ones(len(batch_audio))], 1)

    def encode_clap_text(self, batch_text, truncate=False):
        assert truncate
        return torch.tensor([[float(len(text)), 1.0] for text in batch_text])
"""


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "msclap").mkdir()
    (tmp_path / "msclap/__init__.py").write_text(MSCLAP)
    (tmp_path / "portable_m2d.py").write_text(PORTABLE_M2D)
    (tmp_path / "weights.pth").write_bytes(b"weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / "weights.pth"
    for name in ("msclap", "portable_m2d"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["ms-clap-2022", "ms-clap-2023", "m2d-clap"])
def test_a_model_of_another_package_hears_windows_as_published(
    weights: Path, tmp_path: Path, name: str
) -> None:
    encoder = load_encoder(name, {"path": str(weights)}, "cpu")
    assert identity(encoder) == f"{name}@{encoder.fingerprint}"
    window = np.full((2, encoder.windows.input), 0.5, dtype=np.float32)
    found = encoder.encode_audio(window)
    assert found.shape == (2, encoder.dimensions)
    assert found[:, 0] == pytest.approx(0.25)
    write_tone(tmp_path / "tone.wav")
    scores = clap_scores([tmp_path / "tone.wav"] * 2, ["a tone", "a"], encoder)
    assert np.isfinite(scores.by_seed).all()


def test_weights_are_named_or_a_download_is_allowed(weights: Path) -> None:
    with pytest.raises(MetricError, match=r"path=FILE\], or allow a download"):
        load_encoder("ms-clap-2023", {}, "cpu")
    with pytest.raises(MetricError, match=r"path=FILE\]$"):
        load_encoder("m2d-clap", {"download": "yes"}, "cpu")
    with pytest.raises(MetricError, match="download is yes or no"):
        load_encoder("ms-clap-2023", {"download": "true"}, "cpu")
    with pytest.raises(MetricError, match="no file of weights"):
        load_encoder("m2d-clap", {"path": str(weights.with_name("none.pth"))}, "cpu")
    with pytest.raises(MetricError, match="has no option"):
        load_encoder("m2d-clap", {"path": str(weights), "colour": "red"}, "cpu")


@pytest.mark.parametrize("name", ["ms-clap-2023", "m2d-clap"])
def test_a_package_that_is_not_installed_is_named(name: str) -> None:
    with pytest.raises(MetricError, match="is not installed"):
        load_encoder(name, {}, "cpu")
