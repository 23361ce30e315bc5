"""Builds against a Hub on loopback: what arrives, what is kept, and what is never fetched twice."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from needs import needs

needs("huggingface_hub", "pyarrow")

from audiocapbench.benchmarks.captioning import load_audiocapbench
from audiocapbench.data import open_folder
from audiocapbench.data.build.audiocapbench import BuildSettings, build
from audiocapbench.data.build.hub import Hub
from audiocapbench.data.build.id_lists import read_id_lists
from audiocapbench.errors import DatasetError
from fakes.hub_repositories import (
    AUDIOCAPS,
    MUSIC,
    MUSIC_TIMES,
    RATE,
    SOUND_NAMES,
    VIDEOS,
    build_from,
    manifest_of,
    music_files,
    origin_of,
    ramp,
    repositories,
    rows_of,
    tone,
    write_lists,
)
from fakes.hub_server import HubServer, Repository, parquet


@pytest.fixture
def ids(tmp_path: Path) -> Path:
    return write_lists(tmp_path / "ids")


def test_all_four_layouts_become_one_folder(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        end = build_from(server, tmp_path / "out", ids)
    assert (end.present, end.wanted) == (17, 17)
    folder = open_folder(tmp_path / "out")
    assert [entry.row.id for entry in folder.entries] == [
        *(f"clotho_{i}" for i in range(5)),
        *(f"audiocaps_{i}" for i in range(5)),
        *(f"musiccaps_{i}" for i in range(4)),
        *(f"speech_{i}" for i in range(3)),
    ]
    assert [entry.position for entry in folder.entries] == list(range(17))
    rows = rows_of(tmp_path / "out")
    assert all(next(iter(row)) == "file_name" for row in rows.values())
    assert [rows[f"clotho_{i}"]["audio_name"] for i in range(5)] == SOUND_NAMES
    assert [rows[f"audiocaps_{i}"]["youtube_id"] for i in range(5)] == VIDEOS
    assert rows["clotho_2"]["references"] == [f"Caption {i} of sound 2." for i in range(5)]
    assert rows["musiccaps_0"]["references"] == ["Music m0.", "slow, it's"]
    assert rows["speech_0"]["references"] == [
        "A calm voice, number 0.",
        'A calm voice, number 0. The speaker says: "Hello there."',
    ]


def test_sound_and_speech_are_written_as_they_come(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids)
    out = tmp_path / "out"
    assert (out / "sound/clotho_2.wav").read_bytes() == tone(2)
    assert (out / "sound/audiocaps_0.flac").read_bytes() == tone(51, kind="FLAC")
    assert (out / "speech/speech_0.mp3").read_bytes() == tone(200, kind="MP3")


def test_no_key_of_a_list_ever_becomes_a_path(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids", "out"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "manifest.json",
        "metadata.jsonl",
        "music",
        "sound",
        "speech",
    ]


def test_of_two_rows_with_one_transcript_the_one_with_the_listed_caption_is_taken(
    tmp_path: Path, ids: Path
) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids)
    # Rows 2 and 3 share a transcript, and so do 4 and 5; the list names the captions of 3 and 5.
    assert (tmp_path / "out/speech/speech_1.mp3").read_bytes() == tone(203, kind="MP3")
    assert (tmp_path / "out/speech/speech_2.mp3").read_bytes() == tone(205, kind="MP3")


def test_music_is_the_part_that_the_annotation_describes_to_the_sample(
    tmp_path: Path, ids: Path
) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids)
    whole, _ = soundfile.read(io.BytesIO(ramp()), dtype="int16")
    for number in range(len(MUSIC_TIMES)):
        path = tmp_path / f"out/music/musiccaps_{number}.wav"
        samples, rate = soundfile.read(path, dtype="int16")
        assert rate == RATE
        assert np.array_equal(samples, whole[: 10 * RATE])
        row = rows_of(tmp_path / "out")[f"musiccaps_{number}"]
        assert (row["clip_s"], row["duration_s"]) == ([0.0, 10.0], 10.0)


def test_music_as_published_is_cut_where_the_times_fall_into_the_file(
    tmp_path: Path, ids: Path
) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids, clip="published")
    whole, _ = soundfile.read(io.BytesIO(ramp()), dtype="int16")
    starts = {"m0": None, "m1": 10, "m2": None, "m3": 20}
    for number, start in enumerate(starts.values()):
        path = tmp_path / f"out/music/musiccaps_{number}.wav"
        if start is None:
            assert path.read_bytes() == ramp()
        else:
            samples, _ = soundfile.read(path, dtype="int16")
            assert np.array_equal(samples, whole[start * RATE : (start + 10) * RATE])
    assert origin_of(tmp_path / "out")["clip"] == "published"


@pytest.mark.parametrize("metadata", [True, False])
def test_a_repository_of_single_files_gives_the_same_clips(
    tmp_path: Path, ids: Path, metadata: bool
) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "tables", ids)
    with HubServer(repositories() | {MUSIC: music_files(metadata=metadata)}) as server:
        build_from(server, tmp_path / "files", ids)
        asked = [one.path.rsplit("/", 1)[-1] for one in server.fetched(MUSIC)]
    assert len(asked) == 4 + metadata
    first, second = manifest_of(tmp_path / "tables"), manifest_of(tmp_path / "files")
    assert first.files == second.files


def test_what_is_not_wanted_is_not_downloaded(tmp_path: Path, ids: Path) -> None:
    rows = [
        {"youtube_id": f"v{i}", "caption": "One.", "audio": tone(i, 2.0, "FLAC")}
        for i in range(400)
    ]
    table = parquet(rows, group=20)
    shards = {f"data/test-0000{i}-of-00002.parquet": table for i in range(2)}
    listed = [{"youtube_id": "v25", "num_captions": 1}, {"youtube_id": "v41", "num_captions": 1}]
    lists = write_lists(tmp_path / "few", audiocaps=listed)
    with HubServer({**repositories(), AUDIOCAPS: Repository(shards)}) as server:
        counts = {"clotho": 0, "music": 0, "speech": 0}
        end = build_from(server, tmp_path / "out", lists, counts=counts)
        assert end.present == 2
        assert {one.path.rsplit("/", 1)[-1] for one in server.fetched()} == {
            "data/test-00000-of-00002.parquet".rsplit("/", 1)[-1]
        }
        # Two groups of twenty, and the names and captions of the first groups of one file.
        assert server.bytes_sent() < 0.25 * len(table)
        assert end.parts[1].bytes_total < 0.11 * len(table)


def test_commits_lists_and_settings_are_in_the_manifest(tmp_path: Path, ids: Path) -> None:
    known = repositories()
    with HubServer(known) as server:
        build_from(server, tmp_path / "out", ids)
        revisions = [one.path for one in server.fetched()]
    origin = origin_of(tmp_path / "out")
    for name, repository in known.items():
        assert origin[name] == repository.commit
    assert origin["clip"] == "annotation"
    for path in ids.iterdir():
        assert origin[path.name] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert all(any(one.commit in path for one in known.values()) for path in revisions)


def test_audiocaps_may_name_its_clips_by_file_name(tmp_path: Path, ids: Path) -> None:
    rows = [
        {"file_name": name, "audio": tone(number), "caption": f"Video {number}."}
        for number, name in enumerate(VIDEOS)
    ]
    table = Repository({"test/0.parquet": parquet(rows)})
    lists = write_lists(ids, audiocaps=[{"youtube_id": name} for name in VIDEOS])
    with HubServer(repositories() | {AUDIOCAPS: table}) as server:
        assert build_from(server, tmp_path / "out", lists).present == 17


def test_what_is_not_the_clip_on_the_list_is_missing(tmp_path: Path) -> None:
    whole = tone(1, 2.0)
    claims = whole[:200]  # of a header that says two seconds
    sounds = {
        "fine": whole,
        "claims": claims,
        "cut": whole[:-8_000],
        "tiny": tone(2, 0.01),
        "long": tone(3, 2.5),
        "flac": tone(4, 2.0, "FLAC")[:-2_000],
    }
    captions = dict.fromkeys(sounds, 5) | {"three": 3, "seven": 7}
    rows = [
        {"youtube_id": name, "caption": f"Caption {turn}.", "audio": sounds.get(name, whole)}
        for name, count in captions.items()
        for turn in range(count)
    ]
    listed = [{"youtube_id": name, "duration_s": 2.0, "num_captions": 5} for name in captions]
    lists = write_lists(tmp_path / "ids", audiocaps=listed)
    table = Repository({"test.parquet": parquet(rows)})
    counts = {"clotho": 0, "music": 0, "speech": 0}
    with HubServer(repositories() | {AUDIOCAPS: table}) as server:
        end = build_from(server, tmp_path / "out", lists, counts=counts)
    assert (end.present, end.wanted) == (1, 8)
    missing = {one.id: one.reason for one in manifest_of(tmp_path / "out").missing}
    assert "is cut short (" in missing["audiocaps_1"]
    assert "is cut short (" in missing["audiocaps_2"]
    assert missing["audiocaps_3"] == "it lasts 0.01 s; the ID list says 2 s"
    assert missing["audiocaps_4"] == "it lasts 2.50 s; the ID list says 2 s"
    assert "audiocaps_5" in missing
    assert missing["audiocaps_6"] == "it has 3 captions; the ID list says 5"
    assert missing["audiocaps_7"] == "it has 7 captions; the ID list says 5"


def test_music_that_ends_before_its_annotation_is_missing(tmp_path: Path, ids: Path) -> None:
    rows = [{"ytid": name, "audio": ramp(4 if name == "m2" else 30)} for name in MUSIC_TIMES]
    table = Repository({"data/train-0.parquet": parquet(rows)})
    for clip in ("annotation", "published"):
        with HubServer(repositories() | {MUSIC: table}) as server:
            end = build_from(server, tmp_path / clip, ids, clip=clip)
        (lost,) = end.parts[2].missing
        said = (lost.id, lost.reason)
        assert said == ("musiccaps_2", "it lasts 4.00 s; the ID list says 10 s")


def test_clips_of_the_same_bytes_count_when_built_and_when_opened(
    tmp_path: Path, ids: Path
) -> None:
    rows = [
        {"youtube_id": name, "caption": f"Caption {turn}.", "audio": tone(1)}
        for name in VIDEOS[:4]
        for turn in range(5)
    ]
    table = Repository({"test.parquet": parquet(rows)})
    with HubServer(repositories() | {AUDIOCAPS: table}) as server:
        end = build_from(server, tmp_path / "out", ids)
    assert (end.present, end.wanted) == (16, 17)
    said = load_audiocapbench(tmp_path / "out").presence
    assert "16 of 17 clips present; 1 missing (not in " in said


def test_what_an_earlier_build_kept_wrongly_is_fetched_again(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids)
        path = tmp_path / "out" / "metadata.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        rows[0]["references"] = rows[0]["references"][:3]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        end = build_from(server, tmp_path / "out", ids)
    assert [part.fetched for part in end.parts] == [1, 0, 0, 0]
    assert len(rows_of(tmp_path / "out")["clotho_0"]["references"]) == 5


def test_a_dry_run_says_what_would_come_and_writes_nothing(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        settings = BuildSettings(ids_dir=ids)
        end = build(tmp_path / "out", settings, dry_run=True, hub=Hub(server.url))
    assert not (tmp_path / "out").exists()
    assert [part.found for part in end.parts] == [5, 5, 4, 3]
    assert all(part.bytes_total > 0 for part in end.parts)
    assert end.present == 0


def test_clips_that_cannot_be_had_are_in_the_manifest_with_the_reason(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"youtube_id": "fine", "caption": "Fine.", "audio": tone(1)},
        {"youtube_id": "no audio", "caption": "Silent.", "audio": None},
        {"youtube_id": "broken", "caption": "Broken.", "audio": b"RIFF\0\0\0\0WAVEjunk"},
        {"youtube_id": "text", "caption": "Text.", "audio": b"<html>"},
        {"youtube_id": "unsaid", "caption": "", "audio": tone(2)},
        {"youtube_id": "nul", "caption": "a\0b", "audio": tone(3)},
    ]
    names = [row["youtube_id"] for row in rows] + ["removed"]
    listed = [{"youtube_id": name, "num_captions": 1} for name in names]
    lists = write_lists(tmp_path / "ids", audiocaps=listed)
    table = Repository({"test.parquet": parquet(rows)})
    with HubServer(repositories() | {AUDIOCAPS: table}) as server:
        end = build_from(server, tmp_path / "out", lists)
    assert (end.present, end.wanted) == (13, 19)
    missing = {one.id: one.reason for one in manifest_of(tmp_path / "out").missing}
    assert list(missing) == [f"audiocaps_{i}" for i in range(1, 7)]
    assert missing["audiocaps_1"] == "the repository has no audio for it"
    assert missing["audiocaps_2"].startswith("its audio cannot be decoded (")
    assert missing["audiocaps_3"] == "its bytes are not WAV, FLAC, OGG, MP3 or AIFF"
    assert missing["audiocaps_4"] == "it has 0 captions; the ID list says 1"
    assert missing["audiocaps_5"] == "references[0] holds a NUL character"
    assert missing["audiocaps_6"] == f"not in {AUDIOCAPS} at {table.commit[:12]} (test)"
    benchmark = load_audiocapbench(tmp_path / "out")
    assert (len(benchmark.samples), len(benchmark.missing)) == (13, 6)
    assert sorted(path.name for path in (tmp_path / "out/sound").glob("audiocaps*")) == [
        "audiocaps_0.wav"
    ]


def test_progress_counts_clips_and_bytes(tmp_path: Path, ids: Path) -> None:
    last: dict[str, tuple[int, int, int, int | None]] = {}

    def note(part: str, *figures: int | None) -> None:
        last[part] = figures  # type: ignore[assignment]

    with HubServer(repositories()) as server:
        settings = BuildSettings(ids_dir=ids)
        build(tmp_path / "out", settings, hub=Hub(server.url), progress=note)
    assert list(last) == ["clotho", "audiocaps", "music", "speech"]
    assert [figures[:2] for figures in last.values()] == [(5, 5), (5, 5), (4, 4), (3, 3)]
    for _, _, received, size in last.values():
        assert size is not None
        assert 0 < received <= size


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path, ids: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "metadata.jsonl").write_text('{"file_name": "mine.wav", "references": ["Mine."]}\n')
    with HubServer(repositories()) as server, pytest.raises(DatasetError, match="another dataset"):
        build_from(server, out, ids)
    assert server.requests == []
    assert [path.name for path in out.iterdir()] == ["metadata.jsonl"]


def test_a_folder_is_never_mixed_from_two_recipes(tmp_path: Path, ids: Path) -> None:
    other = write_lists(tmp_path / "other", audiocaps=[{"youtube_id": "zzz"}])
    mixed = r"was built with .*; choose another folder"
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids, limit=1)
        with pytest.raises(DatasetError, match=mixed):
            build_from(server, tmp_path / "out", ids, clip="published")
        with pytest.raises(DatasetError, match=mixed):
            build_from(server, tmp_path / "out", other)


def test_own_lists_do_not_carry_the_name_of_the_benchmark(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids, limit=1)
    assert load_audiocapbench(tmp_path / "out").name == "audiocapbench-custom"


def test_an_unknown_part_is_named(tmp_path: Path, ids: Path) -> None:
    with pytest.raises(DatasetError, match="there is no part 'noise'; there are clotho"):
        build(tmp_path / "out", BuildSettings(ids_dir=ids, counts={"noise": 1}))


def test_the_published_lists_build_the_benchmark_of_a_thousand_clips(
    tmp_path: Path, shared: Path
) -> None:
    ids = shared / "audiocapbench"
    with HubServer(_thousand(ids)) as server:
        end = build_from(server, tmp_path / "out", ids)
    assert (end.present, end.wanted) == (1000, 1000)
    benchmark = load_audiocapbench(tmp_path / "out")
    assert benchmark.name == "audiocapbench"
    assert [one.position for one in benchmark.samples] == list(range(1000))
    counts = [
        sum(one.category == name for one in benchmark.samples)
        for name in ("sound", "music", "speech")
    ]
    assert counts == [400, 300, 300]
    assert {len(one.references) for one in benchmark.samples[:400]} == {5}
    assert {len(one.references) for one in benchmark.samples[400:]} == {2}


def click(number: int, seconds: float) -> bytes:
    """Mostly silence, so that it is small however long it is."""
    samples = np.zeros(round(seconds * 1_000))
    samples[number] = 0.5
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, 1_000, format="FLAC")
    return buffer.getvalue()


def _thousand(ids: Path) -> dict[str, Repository]:
    """Repositories with a click of the listed length for every clip of the published lists."""
    found: dict[str, Repository] = {}
    number = 0
    for ids_of in read_id_lists(ids):
        rows = []
        source = ids_of.source
        for one in ids_of.entries:
            number += 1
            sound = click(number, float(one.fields.get("duration_s", 10)))
            for turn in range(5 if source.gathers else 1):
                caption = f"Caption {turn}." if source.gathers else one.fields["caption"]
                row = {source.key_columns[0]: one.key, "audio": sound}
                rows.append(row | {"caption": caption})
        files = {f"data/{source.split}-00000-of-00001.parquet": parquet(rows)}
        found[source.repository] = Repository(files)
    return found
