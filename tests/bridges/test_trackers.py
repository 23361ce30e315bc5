"""Trackers get a run's scores, answers and clips, once each, read back with their own packages."""

import json
import os
import resource
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from audiocapbench.bridges import trackers
from audiocapbench.scores.table import TableReader
from command import run_command
from folders import write_folder
from needs import needs
from report_pages import scored_runs

SECRET = "sk-0123456789-very-secret"
ALL = ("--track", "wandb=sounds", "--track", "mlflow", "--track", "tensorboard=board")
METRICS = "rouge_l,date[subtask=sound]"


class Place(NamedTuple):
    """Where three tones were asked about and logged, then scored once more and logged again."""

    folder: Path
    env: dict[str, str]
    said: list[str]
    document: dict[str, Any]


def offline(folder: Path) -> dict[str, str]:
    """An environment in which no tracker leaves the folder, or the machine."""
    own = {f"WANDB_{name}_DIR": str(folder / "own") for name in ("DATA", "CACHE", "CONFIG")}
    known = {name: one for name, one in os.environ.items() if "WANDB" not in name}
    return {
        **known,
        **own,
        "WANDB_MODE": "offline",
        "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "ASKED_API_KEY": SECRET,
        "NETRC": str(folder / "netrc"),
        "HOME": str(folder),
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    for name in ("wandb", "mlflow", "tensorboard"):
        needs(name)
    import wandb

    folder = tmp_path_factory.mktemp("trackers")
    env = offline(folder)
    tones = write_folder(folder / "tones", 3)
    lines = (tones / "metadata.jsonl").read_text().replace('"A ', f'"{SECRET} A ', 1)
    (tones / "metadata.jsonl").write_text(lines)
    command = ("run", "tones", "--model", "control/right", "--judge", "elements", *ALL)
    first = run_command(*command, "--metrics", METRICS, "--json", cwd=folder, env=env)
    assert first.returncode == 0, first.stderr
    again = run_command("score", "1", "--metrics", "rouge_l", *ALL, cwd=folder, env=env)
    assert again.returncode == 0, again.stderr
    yield Place(folder, env, [first.stderr, again.stderr], json.loads(first.stdout)["runs"][0])
    wandb.teardown()


def records(path: Path) -> Iterator[Any]:
    """The records of an offline run, which is a log of LevelDB's kind behind a header."""
    needs("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, whole = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        left = 32_768 - at % 32_768
        if left < 7:
            at += left
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # a whole one, or the last part of one
            record = Record()
            record.ParseFromString(whole)
            whole = b""
            yield record


@pytest.mark.slow
def test_wandb_has_numbers_configuration_and_answers_with_audio(place: Place) -> None:
    files = sorted(place.folder.glob("wandb/offline-run-*/*.wandb"))
    assert len({one.name for one in files}) == 1, "logged again it is the same run"
    kept = list(records(files[0]))
    (run,) = [one.run for one in kept if one.WhichOneof("record_type") == "run"]
    assert (run.project, run.display_name) == ("sounds", "control/right on folder/tones")
    config = {one.key: json.loads(one.value_json) for one in run.config.update}
    assert config["metrics/rouge_l/signature"].startswith("rouge_l|")
    (history,) = [one.history for one in kept if one.WhichOneof("record_type") == "history"]
    items = {
        one.key or "/".join(one.nested_key): json.loads(one.value_json) for one in history.item
    }
    rouge = place.document["metrics"]["rouge_l"]
    assert items["metrics/rouge_l/score"] == rouge["score"]
    assert items["metrics/rouge_l/coverage"] == 1.0
    assert "metrics/date_subtask_sound/score" in items
    assert "judges/elements/scores/overall/score" in items
    assert items["output_tokens"] == 0
    assert items["answers/nrows"] == 3, sorted(items)
    artifacts = [one.artifact for one in kept if one.WhichOneof("record_type") == "artifact"]
    logged = [entry.path for one in artifacts for entry in one.manifest.contents]
    assert sum(path.endswith(".wav") for path in logged) == 3


@pytest.mark.slow
def test_mlflow_has_one_run_with_numbers_parameters_a_table_and_clips(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", place.env["MLFLOW_TRACKING_URI"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow

        client = mlflow.MlflowClient()
        experiment = client.get_experiment_by_name("audiocapbench")
        (run,) = client.search_runs([experiment.experiment_id])
        table = client.load_table(experiment.experiment_id, "answers.json", [run.info.run_id])
        clips = [client.list_artifacts(run.info.run_id, f"audio/{row}") for row in range(3)]
    rouge = place.document["metrics"]["rouge_l"]
    assert run.data.metrics["metrics/rouge_l/score"] == rouge["score"]
    assert run.data.metrics["metrics/date_subtask_sound/score"] >= 0
    assert run.data.params["model"] == "control/right"
    assert run.info.status == "FINISHED"
    assert list(table["prediction"]) != [None] * 3
    assert len(table) == 3, "logged again there are no more rows"
    assert [one.path for found in clips for one in found] == list(table["audio"])


@pytest.mark.slow
def test_tensorboard_has_scalars_texts_and_sound(place: Place) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (folder,) = (place.folder / "board").iterdir()
    assert len(list(folder.iterdir())) == 1, "logged again it takes the old one's place"
    board = EventAccumulator(str(folder))
    board.Reload()
    (score,) = board.Scalars("metrics/rouge_l/score")
    assert score.value == pytest.approx(place.document["metrics"]["rouge_l"]["score"])
    (answers,) = board.Tensors("answers")
    cells = [one.decode() for one in answers.tensor_proto.string_val]
    assert cells[0] == "id"
    assert answers.tensor_proto.tensor_shape.dim[0].size == 4
    assert len(board.Tags()["audio"]) == 3
    (sound,) = board.Audio(board.Tags()["audio"][0])
    assert sound.encoded_audio_string[:4] == b"RIFF"
    assert sound.content_type == "audio/wav"


@pytest.mark.slow
def test_no_key_and_no_command_line_is_logged(place: Place) -> None:
    assert SECRET in (place.folder / "tones" / "metadata.jsonl").read_text()
    written = [
        one for name in ("wandb", "mlruns", "board", "own") for one in place.folder.glob(name)
    ]
    files = [one for folder in written for one in folder.rglob("*") if one.is_file()]
    files.append(place.folder / "mlflow.db")
    assert len(files) > 10
    for one in files:
        content = one.read_bytes()
        assert SECRET.encode() not in content, one
        assert b"--judge" not in content, one


@pytest.mark.slow
def test_where_it_was_logged_is_said_and_json_stays_json(place: Place) -> None:
    for said in place.said:
        lines = [one for one in said.splitlines() if one.startswith("Logged with")]
        assert [one.split()[2] for one in lines] == ["wandb:", "mlflow:", "tensorboard:"]
        assert "Warning" not in said
        assert "alembic" not in said


@pytest.mark.slow
def test_a_tracker_that_fails_is_one_warning_and_the_results_stand(place: Place) -> None:
    import wandb

    wandb.teardown()  # which forgets how it was set up
    broken = place.env | {"WANDB_MODE": "online", "MLFLOW_TRACKING_URI": "http://127.0.0.1:9"}
    broken["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"
    done = run_command("score", "1", "--metrics", "rouge_l", *ALL, cwd=place.folder, env=broken)
    assert done.returncode == 0, done.stderr
    assert "rouge_l" in done.stdout
    warned = [one for one in done.stderr.splitlines() if one.startswith("Warning: ")]
    assert [one.split()[1] for one in warned] == ["wandb", "mlflow"]
    assert "run 'wandb login', or set WANDB_MODE=offline" in warned[0]
    assert "Logged with tensorboard" in done.stderr


def test_captions_from_files_are_logged_under_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("tensorboard")
    (tmp_path / "mine.csv").write_text("id,prediction\na,a dog barks\nb,rain\n")
    (tmp_path / "refs.csv").write_text("id,reference\na,a dog\nb,rain falls\nc,wind\n")
    files = ("--predictions", "mine.csv", "--references", "refs.csv", "--track", "tensorboard")
    for metrics in ("rouge_l", "rouge_l,meteor"):
        done = run_command("score", *files, "--metrics", metrics, cwd=tmp_path)
        assert done.returncode == 1, "one caption is missing, logged or not"
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("mine-")
    assert "(3 of 3 answers, 0 with audio)" in done.stderr
    monkeypatch.setattr(trackers, "MOST_ANSWERS", 2)
    done = run_command("score", *files, "--metrics", "rouge_l", cwd=tmp_path)
    assert "(2 of 3 answers, 0 with audio)" in done.stderr
    before = [one.name for one in folder.iterdir()]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # as on a disk that is full
    try:
        done = run_command("score", *files, "--metrics", "rouge_l", cwd=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "Warning: tensorboard has not got all of this" in done.stderr
    assert "Traceback" not in done.stderr
    assert [one.name for one in folder.iterdir()] == before


def test_only_so_many_clips_and_bytes_are_logged_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("tensorboard")
    write_folder(tmp_path / "tones", 3)
    command = ("run", "tones", "--model", "control/right", "--metrics", "rouge_l")
    monkeypatch.setattr(trackers, "MOST_CLIPS", 2)
    done = run_command(*command, "--track", "tensorboard", cwd=tmp_path)
    assert "(3 of 3 answers, 2 with audio)" in done.stderr
    size = (tmp_path / "tones" / "clips" / "0.wav").stat().st_size
    monkeypatch.setattr(trackers, "MOST_BYTES", size)
    done = run_command(*command, "--track", "tensorboard", cwd=tmp_path)
    assert "(3 of 3 answers, 1 with audio)" in done.stderr


def test_clips_that_cannot_be_played_and_names_that_look_alike_lose_nothing_else(
    tmp_path: Path,
) -> None:
    needs("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    tones = write_folder(tmp_path / "tones", 4)
    lines = [json.loads(one) for one in (tones / "metadata.jsonl").read_text().splitlines()]
    for row, category in zip(lines, ("a b", "a_b", "a_b", "wind"), strict=True):
        row["category"] = category
    (tones / "metadata.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    asked = ("run", "tones", "--model", "control/right", "--metrics", "rouge_l")
    assert run_command(*asked, cwd=tmp_path).returncode == 0
    (tones / "clips" / "0.wav").write_bytes(b"no sound")
    (tones / "clips" / "1.wav").unlink()
    done = run_command("score", "1", "--metrics", "rouge_l", "--track", "tensorboard", cwd=tmp_path)
    assert "Logged with tensorboard" in done.stderr, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    board = EventAccumulator(str(folder))
    board.Reload()
    assert len(board.Tags()["audio"]) == 2
    names = [one for one in board.Tags()["scalars"] if one.startswith("by_group/")]
    assert {one.rpartition("/")[2] for one in names} >= {"score", "score_"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wanb", "did you mean 'wandb'?"),
        ("comet", "there are wandb, mlflow, tensorboard"),
        ("wandb=", "there is no tracker 'wandb='"),
        ("mlflow", "--track needs mlflow: pip install 'audiocapbench[mlflow]'"),
    ],
)
def test_a_tracker_that_cannot_be_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    done = run_command("run", "demo", "--model", "control/right", "--track", name, cwd=tmp_path)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir())


def test_only_clips_that_are_what_they_were_are_logged(tmp_path: Path) -> None:
    write_folder(tmp_path, 3)
    store, (run,) = scored_runs(tmp_path, "control/right")
    (tmp_path / "clips" / "0.wav").write_bytes(b"something else")
    (tmp_path / "clips" / "1.wav").unlink()
    with store:
        log = trackers.run_log({}, TableReader(store).read(run))
    assert [path and path.name for _, path in log.answers] == [None, None, "2.wav"]
