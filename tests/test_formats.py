"""Files of phones, cameras and the web are read with an extra, or name it."""

import contextlib
import io
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench import audio
from audiocapbench.data import facts_of
from audiocapbench.errors import AudioError
from command import run_command
from folders import write_lines
from needs import needs
from odd_audio import half, write_audio

av = needs("av")

RATE = 48_000
KINDS = {
    "a.m4a": ("ipod", "aac"),
    "a.mp4": ("mp4", "aac"),
    "a.3gp": ("3gp", "aac"),
    "a.mov": ("mov", "pcm_s16le"),
    "a.aac": ("adts", "aac"),
    "opus.webm": ("webm", "libopus"),
    "a.mka": ("matroska", "libopus"),
    "a.wma": ("asf", "wmav2"),
    "a.avi": ("avi", "mp3"),
    "a.caf": ("caf", "alac"),
    "a.ts": ("mpegts", "aac"),
    "a.flv": ("flv", "aac"),
}


def made(
    kind: str, codec: str, *, channels: int = 2, picture: bool = False, path: Path | None = None
) -> bytes:
    """Two seconds of a tone in a container, left louder than right, with or without pictures."""
    layout = "stereo" if channels == 2 else "mono"
    times = np.arange(2 * RATE) / RATE
    tone = 0.4 * np.sin(2 * np.pi * 440 * times).astype("f4")
    samples = np.stack([tone / (1 + channel) for channel in range(channels)])
    buffer = io.BytesIO()
    # Only of a file can the header be put first, once it is known.
    how = {"movflags": "faststart"} if path else {}
    with av.open(str(path) if path else buffer, "w", format=kind, options=how) as file:
        pictures: Any = _picture_stream(file) if picture else None
        sound: Any = file.add_stream(codec, rate=RATE, layout=layout) if codec else None
        if codec == "wmav2":
            sound.bit_rate = 64_000
        if pictures is not None:
            image = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), "u1"), format="rgb24")
            for packet in (*pictures.encode(image), *pictures.encode(None)):
                file.mux(packet)
        if sound is not None:
            for frame in _frames(samples, layout, sound):
                for packet in sound.encode(frame):
                    file.mux(packet)
            for packet in sound.encode(None):
                file.mux(packet)
    return buffer.getvalue()


def _picture_stream(file: Any) -> Any:
    stream = file.add_stream("mpeg4", rate=Fraction(1))
    stream.width = stream.height = 32
    stream.pix_fmt = "yuv420p"
    return stream


def _frames(samples: np.ndarray, layout: str, sound: Any) -> list[Any]:
    whole = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples), "fltp", layout)
    whole.sample_rate = RATE
    if not sound.codec_context.is_open:
        sound.codec_context.open()
    size = sound.codec_context.frame_size or 1024
    form = sound.codec_context.format.name
    resampler = av.AudioResampler(format=form, layout=layout, rate=RATE, frame_size=size)
    return [*resampler.resample(whole), *resampler.resample(None)]


@pytest.mark.parametrize("name", KINDS)
def test_every_common_container_is_read(tmp_path: Path, name: str) -> None:
    path = write_audio(tmp_path / name, made(*KINDS[name]))
    facts, decoded = facts_of(path), audio.decode(path)
    assert (facts.sample_rate, facts.channels) == (decoded.rate, decoded.channels) == (RATE, 2)
    assert facts.duration_s == pytest.approx(2.0, abs=0.1)
    assert decoded.duration_s == pytest.approx(2.0, abs=0.1)
    middle = decoded.samples[RATE // 2 : RATE * 3 // 2]
    assert np.argmax(np.abs(np.fft.rfft(middle[:, 0]))) == 440
    left, right = np.abs(middle).mean(axis=0)
    assert 1.5 < left / right < 3.0


def test_a_container_is_known_by_its_bytes_whatever_its_name(tmp_path: Path) -> None:
    path = write_audio(tmp_path / "a.wav", made("mp4", "aac"))
    assert audio.probe(path).duration_s == pytest.approx(2.0, abs=0.1)


def test_pictures_are_passed_over(tmp_path: Path) -> None:
    path = write_audio(tmp_path / "a.mp4", made("mp4", "aac", picture=True))
    assert audio.decode(path).duration_s == pytest.approx(2.0, abs=0.1)


def test_a_film_without_sound_is_one_clear_error(tmp_path: Path) -> None:
    path = write_audio(tmp_path / "a.mp4", made("mp4", "", picture=True))
    for read in (audio.probe, audio.decode):
        with pytest.raises(AudioError, match=r"a\.mp4: has no audio stream"):
            read(path)


@pytest.mark.parametrize("name", ["a.mp4", "opus.webm", "a.wma", "a.aac", "a.avi"])
def test_a_damaged_container_is_an_audio_error_or_what_is_left(tmp_path: Path, name: str) -> None:
    whole = made(*KINDS[name])
    path = tmp_path / name
    for content in (whole[:60], whole[:40] + bytes(3_000), half(whole)):
        path.write_bytes(content)
        for read in (audio.probe, audio.decode):
            with contextlib.suppress(AudioError):
                assert read(path).duration_s < 3


def test_an_mp4_that_was_copied_in_part_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    made("mp4", "aac", path=path)
    content = path.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    path.write_bytes(half(content))
    assert audio.probe(path).duration_s == pytest.approx(2.0, abs=0.1)
    with pytest.raises(AudioError, match=r"a\.mp4: (is cut short|cannot be decoded)"):
        audio.decode(path)


def test_without_the_extra_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_audio(tmp_path / "a.m4a", made("ipod", "aac"))
    monkeypatch.setitem(sys.modules, "av", None)
    needed = r"a\.m4a: is MP4, which needs PyAV: pip install 'audiocapbench\[formats\]'"
    with pytest.raises(AudioError, match=needed):
        audio.probe(path)
    write_lines(tmp_path, [{"file_name": "a.m4a", "references": ["A tone."]}])
    asked = run_command("run", str(tmp_path), "--model", "listener", cwd=tmp_path)
    assert asked.returncode == 2
    assert "pip install 'audiocapbench[formats]'" in asked.stderr


def test_a_folder_of_phone_recordings_is_a_benchmark(tmp_path: Path) -> None:
    rows = []
    for name in ("a.m4a", "opus.webm", "a.wma"):
        write_audio(tmp_path / "set" / name, made(*KINDS[name]))
        rows.append({"file_name": name, "references": ["A steady tone hums."]})
    write_lines(tmp_path / "set", rows)
    asked = run_command("run", "set", "--model", "listener", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    reported = run_command("report", "1", "--audio", "embed", "--out", "page.html", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
