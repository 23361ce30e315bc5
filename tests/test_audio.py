"""Reading, converting and writing audio: every odd file has a tested answer."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import soundfile

from audiocapbench import audio
from audiocapbench.audio import Waveform
from audiocapbench.audio.waveform import WavHeader, plain_wav
from audiocapbench.errors import AudioError


def tone(seconds: float = 0.5, rate: int = 16_000, hertz: float = 440.0) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)).astype("f4")


@pytest.mark.parametrize(
    ("name", "subtype", "tolerance"),
    [
        ("a.wav", "PCM_16", 1e-4),
        ("a.wav", "PCM_24", 1e-6),
        ("a.wav", "FLOAT", 1e-7),
        ("a.wav", "DOUBLE", 1e-7),
        ("a.wav", "PCM_U8", 1e-2),
        ("a.flac", "PCM_16", 1e-4),
        ("a.flac", "PCM_24", 1e-6),
        ("a.ogg", "VORBIS", 0.1),
        ("a.mp3", "MPEG_LAYER_III", 0.5),
    ],
)
def test_every_common_format_is_decoded(
    tmp_path: Path, name: str, subtype: str, tolerance: float
) -> None:
    path = tmp_path / name
    soundfile.write(path, tone(), 16_000, subtype=subtype)
    decoded = audio.decode(path)
    assert decoded.rate == 16_000
    assert decoded.channels == 1
    assert decoded.samples.dtype == np.float32
    assert abs(decoded.duration_s - 0.5) < 0.1
    assert np.abs(decoded.samples[:7000, 0] - tone()[:7000]).max() < tolerance


@pytest.mark.parametrize("rate", [8_000, 22_050, 192_000])
def test_any_rate_is_resampled_to_any_other(tmp_path: Path, rate: int) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, tone(rate=rate), rate)
    assert audio.probe(path).rate == rate
    converted = audio.decode(path).resampled(24_000)
    assert converted.rate == 24_000
    assert len(converted.samples) == 12_000
    spectrum = np.abs(np.fft.rfft(converted.samples[:, 0]))
    assert np.argmax(spectrum) * 24_000 / len(converted.samples) == pytest.approx(440, abs=2)


def test_stereo_is_mixed_down_by_its_mean(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    left, right = tone(hertz=300), tone(hertz=500)
    soundfile.write(path, np.stack([left, right], axis=1), 16_000, subtype="FLOAT")
    mixed = audio.decode(path).mono()
    assert mixed.channels == 1
    assert np.array_equal(mixed.samples[:, 0], (left + right) / 2)


def test_one_sample_is_audio(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.array([0.25], dtype="f4"), 44_100, subtype="FLOAT")
    decoded = audio.decode(path)
    assert decoded.samples.tolist() == [[0.25]]
    assert len(decoded.resampled(16_000).samples) == 1
    assert len(decoded.resampled(192_000).samples) == 4


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"not audio at all", "cannot be decoded"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "cannot be decoded"),
        (b"fLaC" + bytes(64), "cannot be decoded"),
        (b"\x00" * 4096, "cannot be decoded"),
    ],
)
def test_a_broken_file_is_one_clear_error_that_names_it(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "broken.wav"
    path.write_bytes(content)
    for read in (audio.decode, audio.probe):
        with pytest.raises(AudioError, match=reason) as error:
            read(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


def test_a_file_without_samples_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "none.wav"
    soundfile.write(path, np.zeros(0, dtype="f4"), 16_000)
    with pytest.raises(AudioError, match="holds no samples"):
        audio.decode(path)
    with pytest.raises(AudioError, match="holds no samples"):
        audio.probe(path)


def test_samples_that_are_not_numbers_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "nan.wav"
    soundfile.write(path, np.array([0.0, np.nan], dtype="f4"), 16_000, subtype="FLOAT")
    with pytest.raises(AudioError, match="not finite"):
        audio.decode(path)


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="cannot be read"):
        audio.decode(tmp_path / "nowhere.wav")
    with pytest.raises(AudioError, match="is a folder"):
        audio.decode(tmp_path)
    with pytest.raises(AudioError, match="cannot be read"):
        audio.probe(tmp_path / "nul\0byte.wav")


def test_pcm_clips_and_rounds(tmp_path: Path) -> None:
    loud = Waveform(np.array([[2.0], [-2.0], [0.0], [0.5]], dtype=np.float32), 24_000)
    content, _ = audio.encode([loud.samples], loud.rate, 1, "pcm16")
    assert np.frombuffer(content, "<i2").tolist() == [32767, -32767, 0, 16384]


def test_wav_is_read_back_as_it_was(tmp_path: Path) -> None:
    stereo = Waveform(np.stack([tone(), tone(hertz=100)], axis=1), 16_000)
    path = tmp_path / "out.wav"
    path.write_bytes(audio.wav(stereo))
    again = audio.decode(path)
    assert again.rate == 16_000
    assert np.abs(again.samples - stereo.samples).max() < 1e-4
    assert soundfile.info(path).subtype == "PCM_16"


def test_the_fingerprint_is_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert audio.sha256(path) == audio.sha256(b"abc") == known
    with pytest.raises(AudioError, match="cannot be read"):
        audio.sha256(tmp_path / "nowhere")


def test_real_recordings_are_decoded(shared: Path) -> None:
    paths = [
        path for path in (shared / "audio").rglob("*") if path.suffix in (".wav", ".flac", ".ogg")
    ]
    assert len(paths) > 40
    for path in paths:
        info, decoded = audio.probe(path), audio.decode(path)
        assert info.frames == len(decoded.samples)
        assert decoded.mono().resampled(16_000).duration_s == pytest.approx(
            info.duration_s, abs=1e-3
        )


def test_a_plain_wav_header_says_what_the_decoder_says(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, (101, 2))
    for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"):
        path = tmp_path / f"{subtype}.wav"
        soundfile.write(path, noise, 22_050, subtype=subtype)
        info, size, digest = audio.probe_and_hash(path)
        assert info == audio.probe(path)
        assert (size, digest) == (
            path.stat().st_size,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )


@pytest.mark.parametrize("channels", [1, 2, 5])
def test_a_plain_wav_is_decoded_and_encoded_as_libsndfile_does(
    tmp_path: Path, channels: int
) -> None:
    path = tmp_path / "clip.wav"
    numbers = np.arange(-32768, 32768, dtype=np.int16)[: 65_535 // channels * channels]
    soundfile.write(path, numbers.reshape(-1, channels), 11_025, subtype="PCM_16")
    for source in (path, path.read_bytes()):
        decoded = audio.decode(source).samples
        assert decoded.dtype == np.float32
        assert np.array_equal(decoded, soundfile.read(path, dtype="float32", always_2d=True)[0])
    whole = np.rint(np.clip(decoded, -1, 1) * 32767.0).astype(np.int16)
    soundfile.write(path, whole, 11_025, subtype="PCM_16")
    assert audio.wav(audio.Waveform(decoded, 11_025)) == path.read_bytes()


def test_whatever_is_odd_about_a_wav_file_is_left_to_the_decoder(tmp_path: Path) -> None:
    path = tmp_path / "clip.wav"
    soundfile.write(path, np.zeros((100, 2)), 16_000, subtype="PCM_16")
    whole = path.read_bytes()
    assert plain_wav(whole, len(whole)) == WavHeader(100, 16_000, 2, 16, 44)
    extra = b"LIST\x04\0\0\0INFO"
    riff = (len(whole) + len(extra) - 8).to_bytes(4, "little")
    listed = whole[:4] + riff + whole[8:36] + extra + whole[36:]
    path.write_bytes(listed)
    assert audio.probe_and_hash(path)[0] == audio.probe(path)
    assert plain_wav(listed, len(listed)) == WavHeader(100, 16_000, 2, 16, 56)
    odd = [whole[:-1], whole + b"\0", whole[:40], b"", b"RIFX" + whole[4:], whole[:12]]
    # Each field in turn is zero, or as large as can be.
    spans = [(4, 8), (16, 20), (20, 22), (22, 24), (24, 28), (28, 32), (32, 34), (34, 36), (40, 44)]
    for begin, end in spans:
        odd += [whole[:begin] + one * (end - begin) + whole[end:] for one in (b"\0", b"\xff")]
    assert [one for one in odd if plain_wav(one, len(one)) is not None] == []


def noise(seed: int, seconds: float = 2.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.1, int(seconds * 16_000)).astype("f4")


FIRST, SECOND = noise(1), noise(2)
SILENT, HALF = np.zeros_like(FIRST), len(FIRST) // 2
TURNED = np.concatenate([FIRST[:HALF], -FIRST[HALF:]])
FIRST_HALF, SECOND_HALF = FIRST.copy(), SECOND.copy()
STEP = np.repeat(np.array([0.3, -0.3], np.float32), [12_800, 19_200])
FIRST_HALF[HALF:], SECOND_HALF[:HALF] = 0, 0


@pytest.mark.parametrize(
    ("channels", "heard"),
    [
        ([FIRST, FIRST], [0, 1]),
        ([FIRST, SECOND], [0, 1]),
        ([FIRST, SILENT], [0, 1]),
        ([SILENT, SILENT], [0, 1]),
        ([FIRST_HALF, SECOND_HALF], [0, 1]),
        ([FIRST, SECOND] * 3, [0, 1, 2, 3, 4, 5]),
        ([FIRST, SILENT, SILENT], [0, 1, 2]),
        ([FIRST, -FIRST], [0]),
        ([FIRST, -FIRST * 1.2], [1]),
        ([1e-4 * FIRST, -1e-4 * FIRST], [0]),
        ([FIRST, TURNED], [0]),
        ([SILENT, SILENT, FIRST, SILENT, SILENT, SILENT], [2]),
        ([SILENT, FIRST, 1e-3 * SECOND, -FIRST, SILENT, SILENT], [1]),
        # Two who speak in turn from both sides of six channels are both heard.
        ([FIRST_HALF, SECOND_HALF, *[1e-3 * noise(3)] * 4], [0, 1]),
        # An offset is not heard, whether it stays or jumps.
        ([FIRST + 0.035, 0.035 - FIRST], [0]),
        ([FIRST + 0.3, 0.3 - FIRST], [0]),
        ([FIRST + STEP, STEP - FIRST], [0]),
        ([FIRST + 0.4, FIRST - 0.4], [0, 1]),
        ([SILENT + 0.4, SILENT - 0.4], [0, 1]),
        ([SILENT, SILENT, FIRST, SILENT + 0.3, SILENT, SILENT], [2]),
    ],
)
def test_channels_that_cancel_are_not_mixed(
    tmp_path: Path, channels: list[np.ndarray], heard: list[int]
) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.stack(channels, axis=1), 16_000, subtype="FLOAT")
    wave = audio.decode(path)
    mix = wave.mix()
    assert [*mix.channels] == (heard if len(heard) < len(channels) else [])
    assert bool(mix.note) == (len(heard) < len(channels))
    expected = wave.samples[:, heard].mean(axis=1, dtype=np.float32)
    assert np.array_equal(wave.mono().samples[:, 0], expected)
    assert np.array_equal(audio.decode(path, mono=True).samples[:, 0], expected)
    for rate in (8_000, 44_100):
        converted = audio.decode(path, mono=True, rate=rate).samples
        assert np.array_equal(converted, wave.mono().resampled(rate).samples)
    plain = audio.decode(path, mono="mean").samples[:, 0]
    assert np.array_equal(plain, wave.samples.mean(axis=1, dtype=np.float32))


def test_what_is_heard_of_a_clip_decides_in_blocks_as_at_once() -> None:
    samples = np.stack([np.tile(FIRST, 20), np.tile(TURNED, 20)], axis=1)
    whole = audio.Mix.of([samples], 16_000, 2)
    for size in (1, 4_095, 6_400, 100_000):
        few = samples[: 3 * size + 20_000]
        blocks = [few[at : at + size] for at in range(0, len(few), size)][:4_000]
        joined = np.concatenate(blocks)
        assert audio.Mix.of(blocks, 16_000, 2) == audio.Mix.of([joined], 16_000, 2)
    assert whole.note == "the mean of its 2 channels loses 24.6 dB; heard by channel 1"


def test_a_clip_too_long_to_be_held_is_heard_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.flac"
    joined = np.concatenate([np.stack([FIRST, SECOND], 1), *[np.stack([FIRST, -FIRST], 1)] * 4])
    soundfile.write(path, joined, 16_000)
    held = {}
    for seconds in (2.0, 5.0, None):
        with audio.open_stream(path, mono=True, seconds=seconds) as stream:
            held[seconds] = (stream.note, np.concatenate(list(stream.blocks)))
    assert [bool(note) for note, _ in held.values()] == [False, True, True]
    monkeypatch.setattr("audiocapbench.audio.reader._HELD_BLOCKS", 1)
    for seconds, (note, samples) in held.items():
        with audio.open_stream(path, mono=True, seconds=seconds) as stream:
            assert stream.note == note
            assert np.array_equal(np.concatenate(list(stream.blocks)), samples)
