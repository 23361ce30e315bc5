"""A file that is not what it says costs its own clip, a bound of memory, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

import audiocapbench
from audiocapbench import audio
from audiocapbench.data import Clip, facts_of, open_folder
from audiocapbench.engine.retrying_client import prepare
from audiocapbench.errors import AudioError
from audiocapbench.models import AudioContract
from command import run_command
from folders import write_folder, write_lines, write_tone
from needs import needs
from odd_audio import broken, encoded, flac_that_claims, liars, noise, sound, write_audio


@pytest.mark.parametrize("name", sound())
def test_an_odd_file_that_is_whole_is_read_to_its_end(tmp_path: Path, name: str) -> None:
    path = write_audio(tmp_path / name, sound()[name])
    assert audio.probe(path).duration_s == pytest.approx(3.0, abs=0.06)
    assert audio.decode(path).duration_s == pytest.approx(3.0, abs=0.06)
    clip = open_clip(path)
    sent = prepare(clip, AudioContract("pcm16", rate=16_000))
    assert sent is not None
    assert sent.duration_s == pytest.approx(3.0, abs=0.06)


def test_a_flac_of_unknown_length_gives_the_very_samples_of_the_known_one(tmp_path: Path) -> None:
    known = write_audio(tmp_path / "known.flac", encoded(noise(), "FLAC"))
    piped = write_audio(tmp_path / "piped.flac", flac_that_claims(0))
    assert audio.probe(piped) == audio.probe(known)
    assert np.array_equal(audio.decode(piped).samples, audio.decode(known).samples)


@pytest.mark.parametrize("name", liars())
def test_a_header_that_lies_is_a_failure_of_that_clip(tmp_path: Path, name: str) -> None:
    content, reason = liars()[name]
    path = write_audio(tmp_path / name, content)
    facts = facts_of(path)
    assert 0 < facts.duration_s < 30
    with pytest.raises(AudioError, match=reason) as error:
        prepare(open_clip(path), AudioContract("wav"))
    assert str(error.value).startswith(f"{name}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", broken())
def test_what_is_no_audio_is_refused_by_every_reader(tmp_path: Path, name: str) -> None:
    content, reason = broken()[name]
    path = write_audio(tmp_path / name, content)
    for read in (audio.probe, audio.decode, facts_of):
        with pytest.raises(AudioError, match=reason) as error:
            read(path)
        assert "\n" not in str(error.value)


def test_a_run_over_lying_files_fails_those_clips_alone_and_is_reported(tmp_path: Path) -> None:
    files = {name: content for name, (content, _) in liars().items()} | sound()
    rows = []
    for name, content in files.items():
        write_audio(tmp_path / "set" / name, content)
        rows.append({"file_name": name, "references": ["Something hisses."], "category": "sound"})
    write_lines(tmp_path / "set", rows)
    asked = run_command("run", "set", "--model", "listener", "--json", cwd=tmp_path)
    assert asked.returncode == 1, asked.stderr
    assert "Traceback" not in asked.stderr
    statuses = json.loads(asked.stdout)["runs"][0]["statuses"]
    assert statuses == {"ok": len(sound()), "failed": len(liars())}
    for choice in ("none", "link", "embed"):
        words = ("report", "1", "--audio", choice, "--out", f"{choice}.html")
        reported = run_command(*words, cwd=tmp_path)
        assert reported.returncode == 0, reported.stderr
    needs("vl_convert")
    assert run_command("figures", "1", "--out", "figures", cwd=tmp_path).returncode == 0


def test_a_clip_that_changed_since_the_benchmark_was_opened_is_not_asked_about(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.wav"
    write_tone(path)
    clip = open_clip(path)
    write_tone(path, hertz=300.0)
    for container in ("wav", "pcm16", "file"):
        with pytest.raises(AudioError, match=r"a\.wav: has changed since the run began"):
            prepare(clip, AudioContract(container))
    assert prepare(clip, AudioContract("none")) is None


def test_clips_that_were_replaced_are_named_and_begin_a_new_run(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "set", 3)
    words = ("run", "set", "--model", "listener")
    first = run_command(*words, cwd=tmp_path)
    again = run_command(*words, cwd=tmp_path)
    assert "changed since" not in first.stderr + again.stderr
    write_tone(root / "clips" / "1.wav", hertz=2_000)
    changed = run_command(*words, cwd=tmp_path)
    assert changed.returncode == 0, changed.stderr
    said = " ".join(changed.stderr.split())
    assert "1 clip has changed since run 1, so this is a new run: clips/1.wav" in said
    assert "changed since" not in run_command(*words, cwd=tmp_path).stderr


def test_a_clip_replaced_while_a_run_goes_on_fails_alone_with_its_reason(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "set", 3)
    opened = audiocapbench.open_benchmark(str(root))
    write_tone(root / "clips" / "1.wav", hertz=2_000)
    result = audiocapbench.run(opened, "listener", store=tmp_path / "a.db", metrics="rouge_l")
    outcomes = result.summary.table.outcomes
    statuses = {key: str(one.reply.status) for key, one in outcomes.items()}
    assert statuses == {"tone_0": "ok", "tone_1": "failed", "tone_2": "ok"}
    assert "clips/1.wav: has changed since" in str(outcomes["tone_1"].reply.error)


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and devices in the file system")
@pytest.mark.parametrize("other", ["pipe", "device", "folder", "link to itself", "gone", "locked"])
def test_what_takes_a_clips_place_is_neither_waited_for_nor_read(
    tmp_path: Path, other: str
) -> None:
    path = tmp_path / "a.wav"
    write_tone(path)
    clip = open_clip(path)
    path.unlink()
    if other == "pipe":
        os.mkfifo(path)
    elif other == "device":
        path.symlink_to("/dev/zero")
    elif other == "folder":
        path.mkdir()
    elif other == "link to itself":
        path.symlink_to(path)
    elif other == "locked":
        write_tone(path)
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
    for container in ("wav", "file"):
        with pytest.raises(AudioError, match=r"is not a file|is a folder|cannot be read"):
            prepare(clip, AudioContract(container))
    for read in (audio.probe, audio.decode, audio.sha256, facts_of):
        with pytest.raises(AudioError, match=r"is not a file|is a folder|cannot be read"):
            read(path)


def test_a_clip_longer_than_its_header_says_is_refused_where_the_contract_refuses(
    tmp_path: Path,
) -> None:
    path = write_audio(tmp_path / "a.flac", flac_that_claims(0, noise(5.0)))
    clip = Clip(path, "a.flac", audio.sha256(path), 1.0, 44_100, 1)
    with pytest.raises(AudioError, match="is longer than 2 s, and than its header says"):
        prepare(clip, AudioContract("wav", longest_s=2.0))
    cut = prepare(clip, AudioContract("wav", longest_s=4.5))
    assert cut is not None
    assert cut.duration_s == 4.5


MEASURE = """
import resource, sys
from pathlib import Path
import numpy, soundfile, soxr
from audiocapbench import audio
from audiocapbench.data import Clip
from audiocapbench.engine.retrying_client import prepare
from audiocapbench.errors import AudioError
from audiocapbench.models import AudioContract
path = Path(sys.argv[1])
clip = Clip(path, path.name, audio.sha256(path), 240.0, 44_100, 2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
prepare(clip, AudioContract("pcm16", rate=16_000, longest_s=120.0, past_limit="truncate"))
try:
    prepare(clip, AudioContract("wav", largest_bytes=1_000_000))
except AudioError as error:
    assert "is 21.2 MB as sent" in str(error), error
audio.probe(path)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in Linux's units")
def test_a_long_clip_takes_the_memory_of_what_is_sent_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "long.flac"
    with soundfile.SoundFile(path, "w", 44_100, 2) as file:
        for _ in range(4):
            file.write(np.zeros((44_100 * 60, 2), "i2"))
    content = bytearray(path.read_bytes())
    content[21:26] = (content[21] >> 4 << 36).to_bytes(5, "big")
    path.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True
    )
    # As float32, its samples are 85 MB.
    assert float(done.stdout) < 30


def test_blocks_give_bit_for_bit_what_the_whole_gives(tmp_path: Path) -> None:
    for kind in ("WAV", "FLAC", "OGG", "MP3"):
        path = write_audio(tmp_path / kind, encoded(noise(4.0, channels=2), kind))
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
        whole = audio.Waveform(samples, rate)
        assert np.array_equal(audio.decode(path).samples, samples)
        for wanted in (16_000, 24_000, 48_000):
            at_once = whole.mono().resampled(wanted).samples
            assert np.array_equal(audio.decode(path, mono=True, rate=wanted).samples, at_once)
            sent = prepare(open_clip(path), AudioContract("wav", rate=wanted))
            assert sent is not None
            assert sent.content == audio.wav(audio.Waveform(at_once, wanted))


def test_resampling_equals_the_librarys_own_of_all_samples(tmp_path: Path) -> None:
    soxr = needs("soxr")
    samples = noise(3.1)
    blocks = audio.Waveform(samples, 44_100).resampled(16_000).samples
    assert np.array_equal(blocks, soxr.resample(samples, 44_100, 16_000)[: len(blocks)])


def test_a_folder_with_a_device_in_it_is_refused_at_once(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    (tmp_path / "clips" / "1.wav").unlink()
    os.mkfifo(tmp_path / "clips" / "1.wav")
    asked = run_command("run", str(tmp_path), "--model", "listener", cwd=tmp_path)
    assert asked.returncode == 2
    assert "'clips/1.wav' is not a file" in asked.stderr


def open_clip(path: Path) -> Clip:
    facts = facts_of(path)
    shape = (facts.duration_s, facts.sample_rate, facts.channels)
    return Clip(path, path.name, facts.sha256, *shape)


def test_a_folder_of_odd_files_is_opened_with_what_was_measured(tmp_path: Path) -> None:
    write_audio(tmp_path / "unknown.flac", flac_that_claims(0))
    write_lines(tmp_path, [{"file_name": "unknown.flac", "references": ["A hiss."]}])
    [entry] = open_folder(tmp_path).entries
    assert entry.clip.duration_s == 3.0
