"""LAION's CLAP by transformers, on a tiny model with random weights: nothing is downloaded."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench import audio
from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap import AudioTextEncoder, clap_scores, identity, load_encoder
from audiocapbench.metrics.clap.laion import LogMel
from audiocapbench.store import Store
from folders import write_tone
from needs import needs
from tiny_clap import RATE, pictures, save_tiny_clap

torch = needs("torch", "safetensors")
transformers = needs("transformers")

ODD_TEXTS = ["a dog", "x" * 100_000, "a\0b", "صوت المطر", "🎧", "人们在说话"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_clap(tmp_path_factory.mktemp("models") / "tiny clap|1")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> AudioTextEncoder:
    return load_encoder("laion", {"path": str(folder)}, "cpu")


def sounds(rate: int, seconds: float) -> np.ndarray:
    """Tones, a tone beside silence, noise, a click and silence."""
    times = np.arange(round(rate * seconds)) / rate
    noise = np.random.default_rng(0).normal(0, 0.1, len(times))
    rows = [0.9 * np.sin(2 * np.pi * hertz * times) for hertz in (80, 440, 1_900)]
    rows += [rows[1] * (times < seconds / 2), noise, (times == 0) * 1.0, times * 0]
    return np.stack(rows).astype(np.float32)


def plain_embedding(folder: Path, window: np.ndarray) -> np.ndarray:
    """transformers' own way, for one window, without any of our code."""
    extractor = transformers.ClapFeatureExtractor.from_pretrained(folder)
    model = transformers.ClapModel.from_pretrained(folder).eval()
    inputs = extractor(window, sampling_rate=RATE, return_tensors="pt")
    with torch.inference_mode():
        found = model.get_audio_features(**inputs)
    embedding: np.ndarray = getattr(found, "pooler_output", found)[0].numpy()
    return embedding


@pytest.mark.parametrize("truncation", ["rand_trunc", "fusion"])
def test_pictures_equal_those_of_the_feature_extractor(truncation: str) -> None:
    extractor = transformers.ClapFeatureExtractor(truncation=truncation, max_length_s=2)
    waves = sounds(48_000, 2)
    ours = pictures(LogMel(extractor, "cpu"), torch.from_numpy(waves)).numpy()
    theirs = extractor(list(waves), sampling_rate=48_000, return_tensors="np")["input_features"]
    assert ours.shape == theirs.shape == (7, 1 if truncation == "rand_trunc" else 4, 201, 64)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_embeddings_equal_those_of_transformers(encoder: AudioTextEncoder, folder: Path) -> None:
    waves = sounds(RATE, 10)
    ours = encoder.encode_audio(waves)
    theirs = np.stack([plain_embedding(folder, wave) for wave in waves])
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert np.linalg.norm(ours[0] - ours[4]) > 0.1  # it tells a tone from noise


def test_neighbours_and_batches_change_less_than_single_precision_shows(
    encoder: AudioTextEncoder,
) -> None:
    waves = np.concatenate([sounds(RATE, 10)] * 3)
    together = encoder.encode_audio(waves)
    alone = np.concatenate([encoder.encode_audio(wave[np.newaxis]) for wave in waves])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_array_equal(together, encoder.encode_audio(waves))


def test_a_fusion_model_has_no_lottery(tmp_path: Path) -> None:
    fused = load_encoder("laion", {"path": str(save_tiny_clap(tmp_path, fused=True))}, "cpu")
    waves = sounds(RATE, 10)
    first = fused.encode_audio(waves)
    np.testing.assert_array_equal(fused.encode_audio(waves), first)
    alone = np.concatenate([fused.encode_audio(wave[np.newaxis]) for wave in waves])
    np.testing.assert_allclose(alone, first, atol=1e-5)


def test_any_text_has_an_embedding(encoder: AudioTextEncoder) -> None:
    found = encoder.encode_text(ODD_TEXTS)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    alone = np.concatenate([encoder.encode_text([text]) for text in ODD_TEXTS])
    np.testing.assert_allclose(found, alone, atol=1e-5)


def test_the_windows_are_laions_and_the_rate_is_the_models(encoder: AudioTextEncoder) -> None:
    windows = encoder.windows
    assert (windows.rate, windows.window_s, windows.hop_s, windows.input_s) == (RATE, 7, 1, 10)
    assert encoder.dimensions == 24


def test_real_clips_score_the_same_in_batches_and_one_at_a_time(
    encoder: AudioTextEncoder, folder: Path, shared: Path
) -> None:
    clips = sorted((shared / "audio").glob("*/*.flac"))[:6]
    clips += sorted((shared / "audio" / "clotho").glob("*.wav"))[:2]
    captions = [f"Sound number {number}." for number in range(len(clips))]
    together = clap_scores(clips, captions, encoder, batch=16)
    assert together.heard == tuple(range(len(clips)))
    one_by_one = [
        clap_scores([clip], [caption], encoder, batch=1).by_seed[0, 0]
        for clip, caption in zip(clips, captions, strict=True)
    ]
    np.testing.assert_allclose(together.by_seed[0], one_by_one, atol=1e-5)
    first = audio.decode(clips[0]).mono().resampled(RATE).samples[:, 0]
    starts = encoder.windows.starts(len(first))[:-1]
    cuts = [np.resize(first[start : start + 7 * RATE], 10 * RATE) for start in starts]
    last = first[len(cuts) * RATE :][: 7 * RATE]
    plain = [plain_embedding(folder, cut) for cut in [*cuts, np.resize(last, 10 * RATE)]]
    mean, text = np.mean(plain, axis=0), encoder.encode_text([captions[0]])[0]
    cosine = mean @ text / np.linalg.norm(mean)
    assert together.by_seed[0, 0] == pytest.approx(max(0.0, float(cosine)), abs=1e-5)


def test_loading_and_scoring_print_nothing_and_the_store_is_used(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_tone(tmp_path / "a.wav", 300, 12)
    store = Store.open(str(tmp_path / "kept.db"))
    named = f"laion[path={folder}]"
    first = clap_scores([tmp_path / "a.wav"], ["a tone"], named, store=store, device="cpu")
    assert capfd.readouterr() == ("", "")
    deaf: Any = load_encoder("laion", {"path": str(folder)}, "cpu")
    deaf.encode_audio = deaf.encode_text = None
    again = clap_scores([tmp_path / "a.wav"], ["a tone"], deaf, store=store)
    np.testing.assert_array_equal(first.by_seed, again.by_seed)
    assert first.signature == again.signature


def test_the_name_is_the_folders_and_the_fingerprint_the_weights(
    encoder: AudioTextEncoder, folder: Path, tmp_path: Path
) -> None:
    assert identity(encoder).startswith("tiny_clap_1@")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    same = load_encoder("laion", {"path": str(copy)}, "cpu")
    assert (same.name, same.fingerprint) == ("copy", encoder.fingerprint)
    other = load_encoder("laion", {"path": str(save_tiny_clap(tmp_path / "b", seed=1))}, "cpu")
    assert other.fingerprint != encoder.fingerprint
    settings = json.loads((copy / "preprocessor_config.json").read_text())
    (copy / "preprocessor_config.json").write_text(json.dumps(settings | {"hop_length": 1500}))
    changed = load_encoder("laion", {"path": str(copy)}, "cpu")
    assert changed.fingerprint != encoder.fingerprint


def test_a_model_that_lacks_weights_is_refused_and_not_filled_at_random(
    folder: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    weights = load_file(copy / "model.safetensors")
    del weights["audio_projection.linear1.weight"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MetricError, match=r"lacks 1 weights, such as audio_projection\.linear1"):
        load_encoder("laion", {"path": str(copy)}, "cpu")


def test_a_damaged_folder_is_one_sentence(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(MetricError, match=r"cannot be loaded .* fetch the folder again"):
        load_encoder("laion", {"path": str(copy)}, "cpu")
    (copy / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(MetricError, match="holds no CLAP model of transformers"):
        load_encoder("laion", {"path": str(copy)}, "cpu")
    with pytest.raises(MetricError, match="holds no CLAP model of transformers"):
        load_encoder("laion", {"path": str(tmp_path / "nowhere")}, "cpu")


def test_wrong_options_are_one_sentence(folder: Path) -> None:
    with pytest.raises(MetricError, match="give path or model, not both"):
        load_encoder("laion", {"path": str(folder), "model": "laion/x"})
    with pytest.raises(MetricError, match="download is yes or no"):
        load_encoder("laion", {"path": str(folder), "download": "maybe"})
    with pytest.raises(MetricError, match="has no option colour"):
        load_encoder("laion", {"path": str(folder), "colour": "blue"}, "cpu")
    with pytest.raises(MetricError, match="the CLAP model a b/c is not on this disk"):
        load_encoder("laion", {"model": "a b/c"})
    with pytest.raises(MetricError, match=r"a b/c cannot be downloaded .*: check its name"):
        load_encoder("laion", {"model": "a b/c", "download": "yes"})
    if not torch.cuda.is_available():
        with pytest.raises(MetricError, match="torch finds no GPU here"):
            load_encoder("laion", {"path": str(folder)}, "cuda")


def error_of(code: str, **environment: str) -> str:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from audiocapbench.errors import MetricError\n"
            "from audiocapbench.metrics.clap import load_encoder\n"
            f"try:\n    {code}\nexcept MetricError as error:\n    print(error)\n",
        ],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def test_a_model_that_is_not_on_disk_names_the_alternatives(tmp_path: Path) -> None:
    message = error_of("load_encoder('laion')", HF_HOME=str(tmp_path))
    assert "laion/clap-htsat-unfused is not on this disk, and downloads are off" in message
    assert "[download=yes]" in message
    assert "[path=FOLDER]" in message


def test_a_download_that_fails_is_one_sentence(tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:9"
    call = "load_encoder('laion', {'download': 'yes', 'model': 'laion/larger_clap_general'})"
    message = error_of(call, HF_HOME=str(tmp_path), HF_ENDPOINT=nobody)
    assert message.startswith("laion/larger_clap_general cannot be downloaded (")
    assert "check its name, the network, HF_ENDPOINT" in message


def test_a_missing_package_is_one_sentence_with_the_extra_to_install() -> None:
    message = error_of("import sys; sys.modules['transformers'] = None; load_encoder('laion')")
    assert message.strip() == "CLAP needs transformers: pip install 'audiocapbench[local]'"
