"""Dataset folders: read as they are meant, or refused with every reason at once."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import soundfile

from audiocapbench import import_run, open_benchmark, run
from audiocapbench.benchmarks.captioning import load_audiocapbench
from audiocapbench.data import InvalidDataError, Manifest, MissingClip, facts_of, open_folder
from audiocapbench.data.folder import write_manifest
from audiocapbench.errors import BenchmarkError, DatasetError
from audiocapbench.scores.estimate import Missing
from command import run_command
from folders import write_folder, write_lines, write_ten_faults, write_tone
from needs import needs


def problems(root: Path) -> list[str]:
    with pytest.raises(InvalidDataError) as error:
        open_folder(root)
    return [str(problem) for problem in error.value.problems]


def test_a_folder_with_file_name_and_references_is_enough(tmp_path: Path) -> None:
    write_tone(tmp_path / "dog.wav")
    write_lines(tmp_path, [{"file_name": "dog.wav", "references": ["A dog barks."]}])
    folder = open_folder(tmp_path)
    (entry,) = folder.entries
    assert folder.name == tmp_path.name
    assert entry.row.key == "dog.wav"
    assert entry.row.category == "other"
    assert entry.position == 0
    assert entry.clip.duration_s == 0.25
    assert entry.clip.rate == 16_000


def test_what_the_dataset_adds_is_kept(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    row = {"file_name": "a.wav", "references": ["x y"], "transcript": "hello", "domain": "S00"}
    write_lines(tmp_path, [row | {"position": 7}])
    (entry,) = open_folder(tmp_path).entries
    assert entry.row.details == {"transcript": "hello", "domain": "S00"}
    assert entry.position == 7


def test_the_seeds_metadata_is_read(tmp_path: Path) -> None:
    write_tone(tmp_path / "audio" / "speech_0.wav")
    sample = {
        "id": "speech_0",
        "category": "speech",
        "source": "emo_speech",
        "audio_file": "audio/speech_0.wav",
        "duration_s": 0.25,
        "reference_captions": ["A calm voice.", 'A calm voice. The speaker says: "hi"'],
        "transcript": "hi",
    }
    document = {"description": "", "categories": {}, "total_samples": 1, "samples": [sample]}
    (tmp_path / "metadata.json").write_text(json.dumps(document))
    (entry,) = open_folder(tmp_path).entries
    assert entry.row.key == "speech_0"
    assert entry.row.references == sample["reference_captions"]
    assert entry.row.details["transcript"] == "hi"


def test_problems_of_the_seeds_metadata_use_its_own_names(tmp_path: Path) -> None:
    document = {"samples": [{"id": "a", "audio_file": "a.wav"}, {"reference_captions": ["x"]}]}
    (tmp_path / "metadata.json").write_text(json.dumps(document))
    assert problems(tmp_path) == [
        "metadata.json samples[0]: reference_captions: is missing",
        "metadata.json samples[1]: audio_file: is missing",
    ]


def test_all_problems_are_reported_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    found = problems(write_ten_faults(tmp_path))
    assert found[:-1] == [
        "metadata.jsonl line 2: id: 'good' is already used by metadata.jsonl line 1",
        "metadata.jsonl line 3: references: is empty; give at least one caption",
        "metadata.jsonl line 4: references[1]: is blank",
        "metadata.jsonl line 5: file_name: is missing",
        "metadata.jsonl line 6: file_name: '../outside.wav' leads out of the folder",
        "metadata.jsonl line 7: file_name: 'nowhere.wav' does not exist",
        "metadata.jsonl line 8: file_name: 'empty.wav' is empty (0 bytes)",
        "metadata.jsonl line 9: file_name: 'broken.wav' cannot be decoded (Format not recognised)",
        "metadata.jsonl line 10: file_name: "
        "'changed.wav' has another SHA-256 than in manifest.json",
    ]
    assert found[-1].startswith("metadata.jsonl line 11: is not JSON (")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'["a.wav"]', "line 1: is not a JSON object"),
        (b'{"file_name": "a.wav", "references": "A dog."}', "line 1: references: is not a list"),
        (b'{"file_name": "a.wav", "references": [3]}', "line 1: references[0]: is not text"),
        (b'{"file_name": 3, "references": ["x"]}', "line 1: file_name: is not text"),
        (b'{"file_name": "a.wav", "references": ["x"], "position": -1}', "line 1: position: "),
        (
            b'{"file_name": "a.wav", "references": ["x"], "position": 1e999}',
            "1e999 is not a JSON number",
        ),
        (b'{"file_name": "a.wav", "references": ["\\ud800"]}', "surrogate"),
        (b'{"file_name": "a\\u0000.wav", "references": ["x"]}', "NUL"),
        (b'{"file_name": "/etc/hostname", "references": ["x"]}', "leads out of the folder"),
        (b'{"file_name": "C:\\\\a.wav", "references": ["x"]}', "leads out of the folder"),
        (b'{"file_name": "link.wav", "references": ["x"]}', "leads out of the folder"),
        (b'{"file_name": "a.wav", "references": ["\xff"]}', "is not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"file_name": "%s.wav", "references": ["x"]}' % (b"a" * 5000), "cannot be reached"),
        (b'{"file_name": "loop.wav", "references": ["x"]}', "loop.wav"),
        (b'{"file_name": "a.wav", "references": ["x"], "position": 1%s}' % (b"0" * 30), "position"),
        (b'{"file_name": "a.wav", "file_name": "b.wav", "references": ["x"]}', "stands twice"),
        (b'{"file_name": ".", "references": ["x"]}', "is a folder"),
        (b"", "its metadata holds no samples"),
    ],
)
def test_a_hostile_line_is_explained(tmp_path: Path, line: bytes, expected: str) -> None:
    root = tmp_path / "set"
    root.mkdir()
    write_tone(root / "a.wav")
    write_tone(tmp_path / "secret.wav")
    (root / "link.wav").symlink_to(tmp_path / "secret.wav")
    (root / "loop.wav").symlink_to(root / "loop.wav")
    (root / "metadata.jsonl").write_bytes(line + b"\n")
    found = problems(root)
    assert len(found) == 1
    assert expected in found[0]


def test_two_lines_that_ask_the_same_of_one_file_are_a_problem(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    row = {"file_name": "a.wav", "references": ["x"]}
    write_lines(tmp_path, [row | {"id": "one"}, row | {"id": "two"}])
    assert problems(tmp_path) == [
        "metadata.jsonl line 2: file_name: 'a.wav' is already used by metadata.jsonl line 1"
    ]
    write_lines(tmp_path, [row | {"id": "one"}, row | {"id": "two", "instruction": "How long?"}])
    assert len(open_folder(tmp_path).entries) == 2


def test_two_spellings_of_one_file_are_one_file(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    rows = [{"file_name": name, "references": ["x"]} for name in ("a.wav", "./a.wav")]
    write_lines(tmp_path, rows)
    assert problems(tmp_path) == [
        "metadata.jsonl line 2: file_name: 'a.wav' is already used by metadata.jsonl line 1"
    ]


def test_a_clip_of_one_sample_at_a_high_rate_is_a_clip(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", [0.1], 4_000_000)
    write_lines(tmp_path, [{"file_name": "a.wav", "references": ["x"]}])
    assert open_folder(tmp_path).entries[0].clip.duration_s > 0


def test_two_samples_in_one_place_are_a_problem(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    rows = [json.loads(line) for line in (tmp_path / "metadata.jsonl").read_text().splitlines()]
    write_lines(tmp_path, [row | {"position": 3} for row in rows])
    assert problems(tmp_path) == [
        "metadata.jsonl line 2: position: 3 is already used by metadata.jsonl line 1"
    ]


def test_what_the_manifest_calls_missing_is_counted_not_refused(tmp_path: Path) -> None:
    write_folder(tmp_path, 3)
    (tmp_path / "clips" / "1.wav").unlink()
    gone = MissingClip(id="tone_1", file_name="clips/1.wav", reason="the video was removed")
    files = {f"clips/{i}.wav": facts_of(tmp_path / f"clips/{i}.wav") for i in (0, 2)}
    write_manifest(tmp_path, Manifest(name="three", files=files, missing=[gone]))
    folder = open_folder(tmp_path)
    assert [entry.row.key for entry in folder.entries] == ["tone_0", "tone_2"]
    assert [entry.position for entry in folder.entries] == [0, 2]
    assert folder.missing == (gone,)
    assert folder.name == "three"


def test_a_folder_with_a_broken_clip_says_how_to_leave_it_out(tmp_path: Path) -> None:
    write_folder(tmp_path, 3)
    (tmp_path / "clips" / "1.wav").write_bytes(b"no audio")
    with pytest.raises(InvalidDataError) as error:
        open_folder(tmp_path)
    said = '{"missing": [{"id": "tone_1", "reason": "damaged"}]}'
    assert str(error.value).endswith(f"leave clips out in manifest.json: {said}")
    (tmp_path / "manifest.json").write_text(said)
    folder = open_folder(tmp_path)
    assert [one.row.key for one in folder.entries] == ["tone_0", "tone_2"]
    assert [one.id for one in folder.missing] == ["tone_1"]


def test_many_absent_clips_are_one_line_and_may_be_skipped(tmp_path: Path) -> None:
    write_folder(tmp_path, 20)
    for number in range(2, 19):
        (tmp_path / "clips" / f"{number}.wav").unlink()
    (tmp_path / "clips" / "19.wav").write_bytes(b"")
    with pytest.raises(InvalidDataError) as error:
        open_folder(tmp_path)
    assert len(error.value.problems) == 18
    assert str(error.value).splitlines()[:3] == [
        f"{tmp_path}: 18 problems; nothing was done",
        "  metadata.jsonl line 3: file_name: 'clips/2.wav' does not exist "
        "(and 16 more of this kind, 'clips/3.wav', 'clips/4.wav')",
        "  metadata.jsonl line 20: file_name: 'clips/19.wav' is empty (0 bytes)",
    ]
    assert "go on with the 2 other clips by `skip_missing`" in str(error.value)
    folder = open_folder(tmp_path, skip_missing=True)
    assert [one.row.key for one in folder.entries] == ["tone_0", "tone_1"]
    lost = {one.id: one.reason for one in folder.missing}
    assert lost.pop("tone_19") == "is empty (0 bytes)"
    assert lost == dict.fromkeys((f"tone_{i}" for i in range(2, 19)), "no such file")
    assert {(one.category, one.file_name) for one in folder.missing} >= {("sound", "clips/2.wav")}


def test_one_cause_is_one_line_whatever_it_names_besides(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "set", 12)
    for number in range(12):
        path, target = root / "clips" / f"{number}.wav", tmp_path / f"{'abc' * number}.wav"
        path.rename(target)
        path.symlink_to(target)
    with pytest.raises(InvalidDataError) as error:
        open_folder(root)
    _, said = str(error.value).splitlines()
    assert "is a link that leads out of the folder, to " in said
    assert "(and 11 more of this kind, 'clips/1.wav', 'clips/2.wav')" in said


def test_names_with_apostrophes_are_of_one_cause_too(tmp_path: Path) -> None:
    names = [f"{'a' * number}'s bird.wav" for number in range(30)]
    write_lines(tmp_path, [{"file_name": name, "references": ["x"]} for name in names])
    with pytest.raises(InvalidDataError) as error:
        open_folder(tmp_path)
    assert len(str(error.value).splitlines()) == 2


def test_as_many_go_on_as_was_promised_and_every_missing_one_is_counted(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "set", 8)
    clips = root / "clips"
    (clips / "0.wav").unlink()
    (clips / "1.wav").write_bytes(b"")
    (clips / "2.wav").write_text("<html>Not found</html>")
    (clips / "3.wav").write_bytes((clips / "3.wav").read_bytes()[:500])
    with pytest.raises(InvalidDataError, match="go on with the 4 other clips"):
        load_audiocapbench(root)
    opened = load_audiocapbench(root, skip_missing=True)
    assert len(opened.samples) == 4
    counts = re.findall(r"(\d+) (?:missing|for other)", opened.presence)
    assert sum(map(int, counts)) == 4


def test_the_library_a_study_and_the_seeds_command_go_on_with_what_is_there(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "set", 3)
    (root / "clips" / "1.wav").unlink()
    how: Any = {"store": tmp_path / "a.db", "metrics": "rouge_l"}
    with pytest.raises(InvalidDataError, match="`skip_missing`"):
        run(root, "control/right", **how)
    result = run(root, "control/right", skip_missing=True, **how)
    assert [*result.answers] == ["tone_0", "tone_2"]
    assert result.to_dict()["missing_clips"] == 1
    assert "missing and not in these numbers: 1 clip" in str(result)
    text = 'name = "x"\nbenchmark = "set"\nmodels = ["control/safe"]\nskip_missing = true\n'
    (tmp_path / "x.toml").write_text(text)
    done = run_command("study", "check", "x.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    opened = load_audiocapbench(root, skip_missing=True)
    assert opened.presence == "audiocapbench: 2 of 3 clips present; 1 missing (no such file)."
    with pytest.raises(BenchmarkError, match="demo takes no `skip_missing`"):
        open_benchmark("demo", skip_missing=True)


def test_what_claims_more_than_its_bytes_is_missing(tmp_path: Path) -> None:
    write_folder(tmp_path, 4)
    lines = [json.loads(one) for one in (tmp_path / "metadata.jsonl").read_text().splitlines()]
    for number, kept in ((1, 0.02), (2, 0.5), (3, 0.97)):
        path = tmp_path / "clips" / f"{number}.wav"
        samples, rate = soundfile.read(path)
        lines[number]["file_name"] = f"clips/{number}.flac"
        soundfile.write(path.with_suffix(".flac"), samples, rate)
        whole = path.with_suffix(".flac").read_bytes()
        path.with_suffix(".flac").write_bytes(whole[: int(len(whole) * kept)])
    wav = (tmp_path / "clips" / "1.wav").read_bytes()
    (tmp_path / "clips" / "1.wav").write_bytes(wav[:200])
    lines.append({"file_name": "clips/1.wav", "id": "wav", "references": ["A tone."]})
    (tmp_path / "metadata.jsonl").write_text("\n".join(map(json.dumps, lines)))
    folder = open_folder(tmp_path, skip_missing=True)
    assert [one.row.key for one in folder.entries] == ["tone_0"]
    reasons = [one.reason.partition(" (")[0] for one in folder.missing]
    assert set(reasons[1:]) == {"is cut short"}


def test_captions_of_clips_whose_audio_is_missing_are_said_to_be(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "set", 4)
    for number in (2, 3):
        (root / "clips" / f"{number}.wav").unlink()
    how: Any = {"benchmark": root, "model": "m", "metrics": "rouge_l", "skip_missing": True}
    for form in ("tone_{}", "clips/{}.wav", "{}.wav", "TONE_{}.wav"):
        lines = [json.dumps({"id": form.format(at), "prediction": "x"}) for at in range(4)]
        (tmp_path / "p.jsonl").write_text("\n".join(lines))
        result = import_run(tmp_path / "p.jsonl", store=tmp_path / "a.db", **how)
        assert (result.end.absent, result.end.surplus) == (("tone_2", "tone_3"), ())
        assert "2 of 4 clips present" in result.notes[-1]
        assert [*result.answers.values()] == ["x", "x"]
    said = run_command(
        *"import p.jsonl --benchmark set --model m --metrics rouge_l --skip-missing".split(),
        cwd=tmp_path,
    ).stderr
    assert "2 captions of clips whose audio is missing, left out" in said
    assert "about no sample" not in said
    (tmp_path / "q.jsonl").write_text('{"id": "tone_0", "prediction": "x"}')
    few = import_run(tmp_path / "q.jsonl", store=tmp_path / "a.db", **how)
    assert few["rouge_l"].missing == {Missing.SKIPPED: 1}


def test_what_is_wrong_with_the_metadata_is_never_skipped(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataError) as error:
        open_folder(write_ten_faults(tmp_path), skip_missing=True)
    assert len(error.value.problems) == 5


def test_a_broken_manifest_is_a_problem(tmp_path: Path) -> None:
    write_folder(tmp_path, 1)
    (tmp_path / "manifest.json").write_text("{")
    assert len(problems(tmp_path)) == 1
    (tmp_path / "manifest.json").write_text('{"version": 2, "surprise": true}')
    found = problems(tmp_path)
    assert [line.split(":")[1].strip() for line in found] == ["version", "surprise"]


def test_a_folder_without_metadata_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"has no metadata\.jsonl\. Write one line a clip"):
        open_folder(tmp_path)
    with pytest.raises(DatasetError, match="no such folder"):
        open_folder(tmp_path / "nowhere")


def test_a_byte_order_mark_and_blank_lines_are_forgiven(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    line = b'\xef\xbb\xbf{"file_name": "a.wav", "references": ["x"]}\r\n\r\n'
    (tmp_path / "metadata.jsonl").write_bytes(line)
    assert len(open_folder(tmp_path).entries) == 1


@pytest.mark.parametrize(
    "table",
    [
        "file_name,caption,category\na.wav,A dog.,sound\nb.wav,A cat.,\n",
        "file_name;caption_1;caption_2;category\na.wav;A dog.;;sound\nb.wav;A cat.;;\n",
        "﻿audio\treferences\tcategory\r\na.wav\tA dog.\tsound\r\nb.wav\tA cat.\t\r\n",
    ],
)
def test_a_folder_with_metadata_csv_is_read_as_audiofolder_does(tmp_path: Path, table: str) -> None:
    for name in ("a.wav", "b.wav"):
        write_tone(tmp_path / name, 200 + ord(name[0]))
    (tmp_path / "metadata.csv").write_text(table, encoding="utf-8", newline="")
    rows = [
        (one.row.key, one.row.references, one.row.category) for one in open_folder(tmp_path).entries
    ]
    assert rows == [("a.wav", ["A dog."], "sound"), ("b.wav", ["A cat."], "other")]


def test_metadata_parquet_is_read(tmp_path: Path) -> None:
    pyarrow = needs("pyarrow")
    from pyarrow import parquet

    for name in ("a", "b"):
        write_tone(tmp_path / f"{name}.wav", 200.0 + ord(name))
    rows = {
        "file_name": ["a.wav", "b.wav"],
        "references": [["A tone.", "A hum."], ["A note."]],
        "category": ["music", None],
    }
    parquet.write_table(pyarrow.table(rows), tmp_path / "metadata.parquet")
    entries = open_folder(tmp_path).entries
    assert [entry.row.references for entry in entries] == [["A tone.", "A hum."], ["A note."]]
    assert entries[0].row.category == "music"
    (tmp_path / "metadata.parquet").write_bytes(b"PAR1 or not")
    with pytest.raises(DatasetError, match="is no table that can be read"):
        open_folder(tmp_path)


def test_metadata_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "metadata.jsonl")
    with pytest.raises(DatasetError, match=r"has no metadata\.jsonl"):
        open_folder(tmp_path)


def test_several_rows_of_one_file_are_captions_of_one_clip(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    (tmp_path / "metadata.csv").write_text("file_name,caption\na.wav,A dog.\na.wav,It barks.\n")
    (entry,) = open_folder(tmp_path).entries
    assert entry.row.references == ["A dog.", "It barks."]


def test_a_mark_of_what_is_missing_is_no_caption_of_a_folder(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    table = tmp_path / "metadata.csv"
    table.write_text("file_name,caption\na.wav,A dog.\na.wav,nan\n")
    (entry,) = open_folder(tmp_path).entries
    assert entry.row.references == ["A dog."]
    table.write_text("file_name,caption\na.wav,nan\n")
    with pytest.raises(InvalidDataError, match=r"line 2: references: is missing or blank"):
        open_folder(tmp_path)


def test_metadata_of_folders_below_is_read_where_the_folder_itself_has_none(tmp_path: Path) -> None:
    for number, part in enumerate(("test", "train")):
        write_tone(tmp_path / part / "a.wav", 200 + 50 * number)
    (tmp_path / "test" / "metadata.csv").write_text("file_name,caption\na.wav,A dog.\n")
    line = {"audio": {"path": "a.wav"}, "caption": "A cat."}
    write_lines(tmp_path / "train", [line | {"file_name": "a.wav"}])
    found = {one.row.key: one.row.references for one in open_folder(tmp_path).entries}
    assert found == {"test/a.wav": ["A dog."], "train/a.wav": ["A cat."]}


def test_text_that_no_database_keeps_is_refused_in_keys_and_values_however_deep(
    tmp_path: Path,
) -> None:
    write_tone(tmp_path / "a.wav")
    for fields in (
        '"\\ud800": 1',
        '"x": {"\\udc00": 1}',
        '"x": ["\\ud83d"]',
        '"category": "\\udfff"',
        '"id": "\\ud800"',
        '"x\\u0000": 1',
        '"x": [{"y": "\\u0000"}]',
    ):
        line = f'{{"file_name": "a.wav", "references": ["x"], {fields}}}\n'
        (tmp_path / "metadata.jsonl").write_text(line)
        (said,) = problems(tmp_path)
        assert "surrogate" in said or "NUL" in said


SAMPLE = {"file_name": "a.wav", "references": ["A dog barks."]}


@pytest.mark.parametrize("name", ["metadata.json", "metadata.jsonl"])
@pytest.mark.parametrize(
    ("document", "key"),
    [
        ([SAMPLE], "a.wav"),
        ([{"audio": "a.wav", "caption": "A dog barks."}], "a.wav"),
        ({"data": [SAMPLE], "version": 1}, "a.wav"),
        ({"samples": [SAMPLE]}, "a.wav"),
        ({"dog": SAMPLE}, "dog"),
        ({"dog": {"audio": "a.wav", "caption": "A dog barks."}}, "dog"),
        ({"a.wav": {"references": ["A dog barks."]}}, "a.wav"),
        (SAMPLE, "a.wav"),
    ],
)
def test_a_pretty_printed_document_of_samples_is_read(
    tmp_path: Path, name: str, document: object, key: str
) -> None:
    write_tone(tmp_path / "a.wav")
    (tmp_path / name).write_text(json.dumps(document, indent=2))
    (entry,) = open_folder(tmp_path).entries
    assert entry.row.key == key
    assert entry.row.references == ["A dog barks."]


@pytest.mark.parametrize("between", ["\n", ",\n"])
def test_pretty_printed_objects_that_are_no_document_are_one_problem(
    tmp_path: Path, between: str
) -> None:
    write_tone(tmp_path / "a.wav")
    text = between.join([json.dumps(SAMPLE, indent=2)] * 9)
    (tmp_path / "metadata.jsonl").write_text(text)
    (found,) = problems(tmp_path)
    assert "write one object a line" in found


@pytest.mark.parametrize("words", ["benchmarks show set", "meta controls set --metrics rouge_l"])
def test_every_command_that_advises_to_skip_clips_can(tmp_path: Path, words: str) -> None:
    root = write_folder(tmp_path / "set", 4)
    (root / "clips" / "1.wav").unlink()
    refused = run_command(*words.split(), cwd=tmp_path)
    assert "--skip-missing" in refused.stderr
    done = run_command(*words.split(), "--skip-missing", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
