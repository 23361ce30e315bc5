"""The embedded demo benchmark is whole, true to its metadata, and made by its own script."""

import hashlib
import json
import os
import re
import runpy
import subprocess
import sys
from collections import Counter
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from command import run_command
from needs import needs_program

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "audiocapbench" / "benchmarks" / "demo_clips"
MAKER = ROOT / "tools" / "make_demo_clips.py"
ESPEAK = "eSpeak NG text-to-speech: 1.51"
CLEAR_BEATS = {"drums", "electronic drums", "acoustic guitar", "piano", "music box"}

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "metadata.jsonl").read_text("utf-8").splitlines()
]
MANIFEST: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
BEATS = [row for row in ROWS if CLEAR_BEATS & set(row.get("instruments", []))]


@cache
def samples(folder: Path, name: str) -> tuple[NDArray[np.float64], int]:
    sound, rate = soundfile.read(folder / name, dtype="float64")
    return sound, rate


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def level_db(sound: NDArray[np.float64]) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(sound**2)) + 1e-12))


def flux(sound: NDArray[np.float64], rate: int, hop_s: float = 0.01) -> NDArray[np.float64]:
    """How much louder each moment is than the one before, summed over the spectrum."""
    hop, size = round(rate * hop_s), 1024
    starts = range(0, sound.size - size, hop)
    frames = np.stack([sound[i : i + size] for i in starts]) * np.hanning(size)
    spectrum = np.log1p(100 * np.abs(np.fft.rfft(frames, axis=1)))
    return np.asarray(np.maximum(np.diff(spectrum, axis=0), 0).sum(axis=1))


def measured_bpm(sound: NDArray[np.float64], rate: int) -> float:
    """Sixty over the lag, between 0.3 and 1.2 s, at which the onsets repeat themselves best."""
    onsets = flux(sound, rate)
    onsets = np.convolve(onsets - onsets.mean(), np.hanning(7), "same")
    same = np.correlate(onsets, onsets, "full")[onsets.size - 1 :]
    same = same / np.arange(onsets.size, 0, -1)
    best = 30 + int(np.argmax(same[30:121]))
    before, at, after = same[best - 1 : best + 2]
    best_exact = best + 0.5 * (before - after) / (before - 2 * at + after)
    return float(60 / (best_exact * 0.01))


def changes(sound: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """Twenty times a second, by how many decibels 16 bands differ between before and after."""
    window, step = round(0.35 * rate), rate // 20
    hz = np.fft.rfftfreq(window, 1 / rate)
    edges = np.searchsorted(hz, np.geomspace(60, rate / 2, 17)[:-1])
    starts = range(0, sound.size - window + 1, step)
    frames = np.stack([sound[i : i + window] for i in starts]) * np.hanning(window)
    power = np.add.reduceat(np.abs(np.fft.rfft(frames, axis=1)) ** 2, edges, axis=1)
    decibels = 10 * np.log10(power + 1e-6)
    width = window // step
    inner = np.abs(decibels[width:] - decibels[:-width]).mean(axis=1)
    return np.concatenate((np.zeros(width), inner))


def test_the_thirty_clips_stand_in_order_with_the_promised_split() -> None:
    assert [row["position"] for row in ROWS] == list(range(30))
    assert Counter(row["category"] for row in ROWS) == {
        "sound": 10,
        "music": 8,
        "speech": 8,
        "mixed": 2,
        "silence": 2,
    }
    assert len({row["id"] for row in ROWS}) == 30
    assert all(next(iter(row)) == "file_name" for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_every_clip_has_five_different_references_and_its_events(row: dict[str, Any]) -> None:
    references = {text.strip().lower() for text in row["references"]}
    assert len(row["references"]) == len(references) == 5
    assert all(references)
    assert row["events"]
    assert all(row["events"])
    assert row["onsets_s"] == sorted(row["onsets_s"])
    assert len(row["onsets_s"]) == len(row["events"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_manifest_tells_the_truth_about_every_file(row: dict[str, Any]) -> None:
    entry = MANIFEST["files"][row["file_name"]]
    content = (FOLDER / row["file_name"]).read_bytes()
    sound, rate = samples(FOLDER, row["file_name"])
    assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    assert entry["bytes"] == len(content)
    assert (rate, sound.ndim) == (entry["sample_rate"], entry["channels"])
    assert sound.size / rate == pytest.approx(entry["duration_s"], abs=0.001)
    assert 4 <= entry["duration_s"] <= 10
    assert row["onsets_s"][-1] < entry["duration_s"]
    assert np.abs(sound).max() < 0.95


def test_the_manifest_lists_the_files_of_the_folder_and_no_others() -> None:
    on_disk = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.ogg")}
    assert list(MANIFEST["files"]) == [row["file_name"] for row in ROWS]
    assert on_disk == set(MANIFEST["files"])
    assert MANIFEST["missing"] == []


def test_the_whole_folder_stays_under_three_megabytes() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 3_000_000


def test_clips_with_speech_have_a_transcript_that_a_reference_quotes() -> None:
    spoken = [row for row in ROWS if row["category"] in ("speech", "mixed")]
    for row in spoken:
        start = words(row["transcript"])[:5]
        quotes = [
            text
            for text in row["references"]
            if any(words(text)[i : i + 5] == start for i in range(len(words(text))))
        ]
        assert quotes, row["id"]
    assert not any("transcript" in row for row in ROWS if row not in spoken)


def test_music_has_a_tempo_a_key_and_instruments() -> None:
    for row in (row for row in ROWS if row["category"] == "music"):
        assert 60 <= row["tempo_bpm"] <= 160
        assert row["key"]
        assert row["instruments"]


@pytest.mark.parametrize("row", BEATS, ids=lambda row: row["id"])
def test_the_tempo_that_is_heard_is_the_one_that_is_stated(row: dict[str, Any]) -> None:
    heard = measured_bpm(*samples(FOLDER, row["file_name"]))
    off = [abs(heard / (row["tempo_bpm"] * octave) - 1) for octave in (0.5, 1, 2)]
    assert min(off) < 0.04, f"heard {heard:.1f}, stated {row['tempo_bpm']}"


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["category"] == "sound"], ids=lambda row: row["id"]
)
def test_the_sound_changes_where_an_event_is_said_to_start(row: dict[str, Any]) -> None:
    change = changes(*samples(FOLDER, row["file_name"]))
    for event, onset in zip(row["events"], row["onsets_s"], strict=True):
        if onset < 0.35:
            continue
        at = round(onset * 20)
        here = change[at - 3 : at + 4].max()
        assert np.mean(change < here) > 0.65, f"{event} is not heard to start at {onset} s"


def test_digital_silence_stays_silent_and_the_noise_floor_is_low_but_there() -> None:
    nothing, _ = samples(FOLDER, "clips/silence_01_digital.ogg")
    floor, _ = samples(FOLDER, "clips/silence_02_noise_floor.ogg")
    assert level_db(nothing) < -80
    assert -80 < level_db(floor) < -50


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["category"] != "silence"], ids=lambda row: row["id"]
)
def test_what_should_be_heard_is_loud_enough(row: dict[str, Any]) -> None:
    sound, _ = samples(FOLDER, row["file_name"])
    assert -27 < level_db(sound) < -12


def make(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the maker as a user would, against the package in this checkout."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(
        [sys.executable, str(MAKER), "--out", str(out), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def assert_reproduced(folder: Path, rows: list[dict[str, Any]]) -> None:
    done = make(folder, "--only", *(row["id"] for row in rows))
    assert done.returncode == 0, done.stderr
    lines = (folder / "metadata.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows
    for row in rows:
        shipped, rate = samples(FOLDER, row["file_name"])
        made, made_rate = samples(folder, row["file_name"])
        assert (made_rate, made.size) == (rate, shipped.size), row["id"]
        # Another build of numpy or of the codec may round differently, but not audibly.
        assert level_db(made - shipped) < max(level_db(shipped) - 20, -100), row["id"]


@pytest.mark.slow
def test_the_maker_reproduces_the_shipped_sounds_and_music(tmp_path: Path) -> None:
    assert_reproduced(tmp_path / "first", [row for row in ROWS if "transcript" not in row])
    again = make(tmp_path / "second", "--only", "sound_03", "music_03", "silence_02")
    assert again.returncode == 0, again.stderr
    clips = list((tmp_path / "second").rglob("*.ogg"))
    assert len(clips) == 3
    for clip in clips:  # byte for byte
        first = tmp_path / "first" / clip.relative_to(tmp_path / "second")
        assert clip.read_bytes() == first.read_bytes()


@pytest.mark.slow
def test_the_maker_reproduces_the_shipped_speech(tmp_path: Path) -> None:
    needs_program("espeak-ng")
    version = subprocess.run(["espeak-ng", "--version"], capture_output=True, text=True, check=True)
    if ESPEAK not in version.stdout:
        pytest.skip(f"the clips were spoken by {ESPEAK}; here is {version.stdout.strip()}")
    assert_reproduced(tmp_path, [row for row in ROWS if "transcript" in row])


def test_without_espeak_the_maker_says_what_to_install(tmp_path: Path) -> None:
    # In this process: another one takes a second to begin.
    given = ["--out", str(tmp_path), "--only", "speech_01"]
    maker = partial(runpy.run_path, str(MAKER), run_name="__main__")
    env = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": str(MAKER.parent)}
    done = run_command(*given, env=env, program=maker)
    assert done.returncode == 2
    assert "install" in done.stderr
    assert "espeak-ng" in done.stderr
    assert "Traceback" not in done.stderr
