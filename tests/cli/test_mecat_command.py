"""``audiocapbench mecat``: five analyses from the command line, on a store and on files."""

import json
import os
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from audiocapbench.store import Store
from command import run_command
from mecat_runs import items, right, stored_run


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mecat")
    kept = Store.open(str(folder / "audiocapbench.db"))
    asked = [one for one in items(5) if one.details["domain"] in ("000", "S00", "SMA")]
    stored_run(kept, right, asked, model="made/right")
    kept.close()
    return folder


def call(place: Path, *words: str) -> CompletedProcess[str]:
    return run_command("mecat", *words, cwd=place, env=os.environ | {"COLUMNS": "200"})


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["weights", "1"], "kendall_tau"),
        (["split", "1"], "models"),
        (["drop", "made/right"], "drops"),
        (["stability", "1", "--group", "pure_speech", "--rounds", "2"], "groups"),
        (["silence", "made/right"], "offending"),
    ],
)
def test_json_is_one_document(place: Path, words: list[str], key: str) -> None:
    done = call(place, *words, "--json")
    assert done.returncode == 0, done.stderr
    assert key in json.loads(done.stdout)


def test_the_users_model_is_in_the_table_and_the_others_are_marked(place: Path) -> None:
    done = call(place, "split", "1")
    assert done.returncode == 0, done.stderr
    assert "made/right" in done.stdout
    assert done.stdout.count("published, not run here") >= 17
    assert "its encoder is caption2vec" in done.stdout
    assert "Signature: date|variant:code|" in done.stdout
    assert "published" not in call(place, "split", "1", "--no-published").stdout


def test_the_published_models_need_no_store(tmp_path: Path) -> None:
    done = call(tmp_path, "weights")
    assert done.returncode == 0, done.stderr
    assert "17 models: 0.897" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_prediction_files_are_probed_without_a_store(tmp_path: Path) -> None:
    names = ("short", "long", "speech", "music", "sound", "environment")
    fields = {name: ["None", "Silence.", "Quiet."] for name in names} | {"domain": "000"}
    lines = [json.dumps({f"clip{number}": fields}) for number in range(3)]
    (tmp_path / "000.jsonl").write_text("\n".join(lines))
    answers = ["clip0,A man says hello.", "clip1,No speech.", "clip2,A guitar plays."]
    (tmp_path / "speech.csv").write_text("\n".join(answers))
    done = call(tmp_path, "silence", "speech.csv", "--references", "000.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["subtasks"]["speech"]["claimed"] == {
        "speech": 1,
        "music": 1,
        "sound": 0,
        "any": 2,
    }
    assert [one["id"] for one in document["offending"]] == ["clip0/speech", "clip2/speech"]


@pytest.fixture
def silent(tmp_path: Path) -> Path:
    """References of three silent clips, and answers of two models to all that is asked."""
    names = ("short", "long", "speech", "music", "sound", "environment")
    fields = {name: ["None", "Silence.", "Quiet."] for name in names} | {"domain": "000"}
    lines = [json.dumps({f"clip{number}": fields}) for number in range(3)]
    (tmp_path / "000.jsonl").write_text("\n".join(lines))
    for model, text in (("a", "A man talks."), ("b", "Silence.")):
        (tmp_path / model).mkdir()
        answers = json.dumps({f"clip{number}": text for number in range(3)})
        (tmp_path / f"{model}.jsonl").write_text(answers)
        (tmp_path / model / "same.json").write_text(answers)
        (tmp_path / model / "long.json").write_text(answers)
    return tmp_path


def probe(place: Path, *files: str) -> CompletedProcess[str]:
    return call(place, "silence", *files, "--references", "000.jsonl", "--json")


@pytest.mark.parametrize("files", [("a.jsonl", "b.jsonl"), ("a/same.json", "b/same.json")])
def test_each_file_is_a_model_of_its_own(silent: Path, files: tuple[str, str]) -> None:
    done = probe(silent, *files)
    assert done.returncode == 0, done.stderr
    reports = json.loads(done.stdout)["reports"]
    assert [one["model"] for one in reports] == list(files)
    assert [one["subtasks"]["all"]["share"] for one in reports] == [1.0, 0.0]
    assert [one["bad_lines"] for one in reports] == [[], []]


def test_files_of_sub_tasks_are_one_model_beside_the_others(silent: Path) -> None:
    (silent / "music.csv").write_text("clip0,A guitar.\nclip1,None\nclip2,None")
    done = probe(silent, "music.csv", "long=a.jsonl", "b.jsonl")
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)["reports"]
    assert first["model"] == "music.csv, a.jsonl"
    assert list(first["subtasks"]) == ["long", "music", "all"]
    assert [one["answers"] for one in first["subtasks"].values()] == [3, 3, 6]
    assert second["model"] == "b.jsonl"


def test_a_sub_task_in_the_names_of_several_models_keeps_them_apart(silent: Path) -> None:
    for name in ("a-long", "b-long"):
        (silent / f"{name}.jsonl").write_text((silent / "a.jsonl").read_text())
    (silent / "a_short.csv").write_text("clip0,A guitar.\nclip1,None\nclip2,None")
    done = probe(silent, "a-long.jsonl", "b-long.jsonl", "a_short.csv")
    assert done.returncode == 0, done.stderr
    models = [one["model"] for one in json.loads(done.stdout)["reports"]]
    assert models == ["a-long.jsonl, a_short.csv", "b-long.jsonl"]
    assert "b-long.jsonl is taken for answers to long, by its name; write all=b" in done.stderr
    assert "by its name" not in probe(silent, "long=b-long.jsonl", "a.jsonl").stderr


def test_two_files_of_one_sub_task_are_not_one_model(silent: Path) -> None:
    done = probe(silent, "a/long.json", "b/long.json")
    assert done.returncode == 2
    assert "a/long.json and b/long.json both answer long" in done.stderr


def test_the_lines_that_were_left_out_are_told_and_are_exit_code_1(silent: Path) -> None:
    lines = ["clip0,None", "clip2,Silence.", *(f"clip1,wrong,{number}" for number in range(9))]
    (silent / "short.csv").write_text("\n".join(lines))
    done = probe(silent, "short.csv", "b.jsonl")
    assert done.returncode == 1
    first, second = json.loads(done.stdout)["reports"]
    assert len(first["bad_lines"]) == 9
    assert second["bad_lines"] == []
    assert "… and 4 more bad lines; --json lists them all" in done.stderr
    assert done.stderr.count("has 3 fields and not 2") == 5
    stable = ("stability", "short.csv", "--references", "000.jsonl", "--rounds", "2")
    again = call(silent, *stable, "--group", "short", "--json")
    assert again.returncode == 1, again.stderr
    assert len(json.loads(again.stdout)["bad_lines"]) == 9


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["silence", "x.csv"], "'x.csv' is not a run; files need --references"),
        (["standings", "none.csv"], "'none.csv' is not a run; give --rescore"),
        (["weights", "9"], "has no run 9"),
        (["weights", "nobody"], "no run of the name, tag or model 'nobody'"),
        (["silence", "nobody"], "no run of the name, tag or model 'nobody'"),
        (["split", "--group", "loud"], "there is no group 'loud'"),
        (["stability", "1", "--percent", "a"], "is not a list such as"),
        (["drop", "--metric", "bleu_1", "1"], "bleu_1 is not DATE"),
        (["silence"], "RUN"),
        (["standings", "1", "--benchmark", "mecat-qa"], "is scored on mecat-caption, not on"),
    ],
)
def test_wrong_use_is_one_message_with_exit_code_2(
    place: Path, words: list[str], reason: str
) -> None:
    done = call(place, *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
