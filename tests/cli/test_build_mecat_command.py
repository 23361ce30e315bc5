"""``audiocapbench build mecat``: real processes, shards on disk and a Hub on loopback."""

import json
import os
from pathlib import Path

import pytest

from needs import needs

needs("huggingface_hub")

from audiocapbench.benchmarks import open_benchmark
from command import run_command
from fakes.hub_server import HubServer
from fakes.mecat_shards import CAPTION, caption_files, question_files, repositories, tar


def call(folder: Path, *words: str, hub: str = "http://127.0.0.1:9") -> tuple[int, str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "HF_TOKEN"}
    env = kept | {"HF_ENDPOINT": hub, "COLUMNS": "100"}
    done = run_command("build", "mecat", *words, cwd=folder, env=env)
    return done.returncode, done.stdout, done.stderr


def test_a_folder_from_local_shards_is_a_benchmark(tmp_path: Path) -> None:
    (tmp_path / "captions.tar.gz").write_bytes(tar(caption_files("S00", range(2))))
    (tmp_path / "questions.tar").write_bytes(tar(question_files("00A", range(2)), zipped=False))
    code, _, said = call(tmp_path, "--out", "data", "--shards", "captions.tar.gz")
    assert code == 0, said
    assert "data: 2 of 2 clips present." in said
    assert "audiocapbench run mecat-caption --data data" in said
    assert len(open_benchmark("mecat-caption", tmp_path / "data").samples) == 8
    code, _, said = call(tmp_path, "--out", "qa", "--part", "qa", "--shards", "questions.tar")
    assert code == 0, said
    assert len(open_benchmark("mecat-qa", tmp_path / "qa").samples) == 10


def test_both_parts_come_from_the_hub_into_two_folders(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        words = ["--out", "data", "--part", "both", "--domains", "00A,S00", "--limit", "2"]
        code, out, said = call(tmp_path, *words, "--json", hub=server.url)
        commit = server.repositories[CAPTION].commit
    assert code == 0, said
    folders = json.loads(out)["folders"]
    assert [(one["name"], one["present"]) for one in folders] == [
        ("mecat-caption", 4),
        ("mecat-qa", 4),
    ]
    assert folders[0]["parts"][0]["commit"] == commit
    assert len(open_benchmark("mecat-caption", tmp_path / "data" / "caption").samples) == 16


def test_what_the_hub_lacks_is_exit_code_1_and_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        words = ["--out", "data", "--domains", "000"]
        code, _, said = call(tmp_path, *words, "--dry-run", hub=server.url)
        assert (code, list(tmp_path.glob("data"))) == (0, [])
        assert "000: 179 wanted, 0 there, 179 to fetch" in said
        code, _, said = call(tmp_path, *words, hub=server.url)
    assert code == 1
    assert f"000: {CAPTION} has 2 of 179 rows" in said


def test_a_damaged_local_shard_is_told_and_is_exit_code_1(tmp_path: Path) -> None:
    whole = tar(caption_files("S00", range(4)), zipped=False)
    (tmp_path / "cut.tar").write_bytes(whole[:6_000])
    code, out, said = call(tmp_path, "--out", "data", "--shards", "cut.tar", "--json")
    assert code == 1
    assert "cut.tar" in said
    assert "is damaged or cut short" in said
    document = json.loads(out)
    assert document["present"] < document["wanted"]
    last = document["parts"][-1]
    assert last["part"] == "local shards"
    assert "is damaged or cut short" in last["missing"][0]["reason"]


def test_a_file_that_is_no_shard_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text('{"a": 1}\n' * 200)
    code, _, said = call(tmp_path, "--out", "data", "--shards", "lines.jsonl")
    assert code == 2
    assert "audiocapbench: no clip of 000, " in said
    assert "is in the shards: lines.jsonl@" in said
    assert "the shard is not a tar" in said
    assert [one.name for one in tmp_path.iterdir()] == ["lines.jsonl"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--out", "d", "--domains", "X"], "there is no domain 'X'"),
        (["--out", "d", "--domains", ","], "--domains names none"),
        (["--out", "d", "--music", "3"], "mecat takes no --music"),
        (["--out", "d", "--ids-dir", "."], "mecat takes no --ids-dir"),
        (["--out", "d", "--clip", "published"], "mecat takes no --clip"),
        (["--out", "d", "--protocol", "published"], "mecat takes no --protocol published"),
        (["--out", "d", "--part", "both", "--shards", "x"], "say which with --part"),
        (["--out", "d", "--shards", "none.tar"], "no such file or folder"),
        (["--out", "d", "--revision", "music=main"], "there is no part 'music'"),
    ],
)
def test_wrong_use_is_one_message_with_exit_code_2(
    tmp_path: Path, words: list[str], reason: str
) -> None:
    code, _, said = call(tmp_path, *words)
    assert code == 2
    assert reason in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
