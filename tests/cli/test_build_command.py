"""``audiocapbench build`` and the published tool's command, with a Hub on loopback."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from needs import needs

needs("huggingface_hub", "pyarrow")

from audiocapbench.build_dataset import app as seed
from audiocapbench.cli import main
from audiocapbench.data import open_folder
from command import COMMAND, run_command
from fakes.http_server import Request, Response
from fakes.hub_repositories import MUSIC, repositories, write_lists
from fakes.hub_server import HubServer
from forks import Forked

OURS = [*COMMAND, "build"]
SEED = [sys.executable, "-m", "audiocapbench.build_dataset"]


@pytest.fixture
def server() -> Iterator[HubServer]:
    with HubServer(repositories()) as running:
        yield running


def call(server: HubServer, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """In this process: what needs one of its own is started by itself."""
    published = words[: len(SEED)] == tuple(SEED)
    return run_command(
        *words[len(COMMAND) :],
        cwd=folder,
        env=environment(server, folder),
        program=partial(seed, prog_name="build_dataset") if published else main,
    )


def environment(server: HubServer, folder: Path) -> dict[str, str]:
    settings = {"HF_ENDPOINT": server.url, "HF_HOME": str(folder / "home"), "COLUMNS": "100"}
    kept = {name: value for name, value in os.environ.items() if name != "HF_TOKEN"}
    return kept | settings


def test_a_build_makes_a_folder_and_says_how_to_go_on(server: HubServer, tmp_path: Path) -> None:
    write_lists(tmp_path / "ids")
    done = call(server, tmp_path, *OURS, "audiocapbench", "--out", "data", "--ids-dir", "ids")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "data: 17 of 17 clips present." in done.stderr
    assert "audiocapbench run audiocapbench --data data" in done.stderr
    assert len(open_folder(tmp_path / "data").entries) == 17


def test_json_is_one_document_with_every_part(server: HubServer, tmp_path: Path) -> None:
    write_lists(tmp_path / "ids")
    words = ["audiocapbench", "--out", "data", "--ids-dir", "ids", "--limit", "2", "--json"]
    done = call(server, tmp_path, *OURS, *words, "--speech", "1")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["wanted"], document["present"], document["dry_run"]) == (7, 7, False)
    assert [(part["part"], part["fetched"]) for part in document["parts"]] == [
        ("clotho", 2),
        ("audiocaps", 2),
        ("music", 2),
        ("speech", 1),
    ]
    assert document["parts"][2]["commit"] == server.repositories[MUSIC].commit


def test_missing_clips_are_exit_code_1(server: HubServer, tmp_path: Path) -> None:
    write_lists(tmp_path / "ids")
    del server.repositories[MUSIC]
    done = call(server, tmp_path, *OURS, "audiocapbench", "--out", "data", "--ids-dir", "ids")
    assert done.returncode == 1
    assert f"music: {MUSIC} is not at {server.url}" in done.stderr
    assert "13 of 17 clips present" in done.stderr
    assert "4 are missing; manifest.json says why" in done.stderr


def test_a_dry_run_previews_and_writes_nothing(server: HubServer, tmp_path: Path) -> None:
    write_lists(tmp_path / "ids")
    words = ["audiocapbench", "--out", "data", "--ids-dir", "ids", "--dry-run"]
    done = call(server, tmp_path, *OURS, *words)
    assert done.returncode == 0, done.stderr
    commit = server.repositories[MUSIC].commit
    assert "music: 4 wanted, 0 there, 4 to fetch (" in done.stderr
    assert f"from {MUSIC} at {commit[:12]}" in done.stderr
    assert "Nothing was written." in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["mecca", "--out", "data"], "'mecca' cannot be built; did you mean 'mecat'"),
        (["audiocapbench"], "--out"),
        (["audiocapbench", "--out", "d", "--ids-dir", "none"], "none/clotho_eval.csv: cannot be"),
        (["audiocapbench", "--out", "d", "--limit", "0"], "--limit"),
        (["audiocapbench", "--out", "d", "--clip", "loud"], "--clip"),
        (["audiocapbench", "--out", "d", "--revision", "main"], "is not PART=REV"),
        (["audiocapbench", "--out", "d", "--revision", "x=main"], "there is no part 'x'"),
        (["audiocapbench", "--out", "d", "--credentials", "no"], "no: cannot be read"),
    ],
)
def test_wrong_use_is_one_message_with_exit_code_2(
    server: HubServer, tmp_path: Path, words: list[str], reason: str
) -> None:
    done = call(server, tmp_path, *OURS, *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_network_is_one_sentence_with_exit_code_2(tmp_path: Path) -> None:
    write_lists(tmp_path / "ids")
    with HubServer({}) as gone:
        pass
    done = call(gone, tmp_path, *OURS, "audiocapbench", "--out", "data", "--ids-dir", "ids")
    assert done.returncode == 2
    assert f"audiocapbench: {gone.url} cannot be reached or breaks off" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [[*OURS, "audiocapbench", "--out", "data"], [*SEED, "--output-dir", "data"]],
    ids=["ours", "seed"],
)
def test_an_interrupt_is_exit_code_130_and_keeps_what_came(
    server: HubServer, tmp_path: Path, command: list[str]
) -> None:
    write_lists(tmp_path / "ids")
    answer, reached = server.respond, threading.Event()

    def stall(request: Request) -> Response:
        if MUSIC in request.path:
            reached.set()
            server.stopping.wait()
        return answer(request)

    server.respond = stall
    child = Forked(
        *command[1:],
        "--ids-dir",
        "ids",
        cwd=tmp_path,
        env=environment(server, tmp_path),
        stderr=subprocess.PIPE,
    )
    assert reached.wait(120)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=120)
    assert child.returncode == 130
    assert "what was done is kept" in said
    assert len(open_folder(tmp_path / "data").entries) == 10


def test_the_published_command_writes_the_published_metadata_too(
    server: HubServer, tmp_path: Path
) -> None:
    write_lists(tmp_path / "ids")
    counts = ["--sound-clotho", "2", "--sound-audiocaps", "1", "--music", "1", "--speech", "3"]
    words = ["--output-dir", "data", "--ids-dir", "ids", "--cache-dir", "cache", *counts]
    done = call(server, tmp_path, *SEED, *words)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "data" / "metadata.json").read_text(encoding="utf-8"))
    assert document["total_samples"] == 7
    assert document["categories"] == {
        "sound": {"count": 3, "sources": ["clotho_v2_test", "audiocaps_test"]},
        "music": {"count": 1, "sources": ["musiccaps_eval"]},
        "speech": {"count": 3, "sources": ["emo_speech_caption_test"]},
    }
    music = document["samples"][3]
    assert music["audio_file"] == "music/musiccaps_0.wav"
    assert (music["ytid"], music["aspect_list"]) == ("m0", "['slow', \"it's\"]")
    assert document["samples"][4]["transcript"] == "Hello there."
    ours = open_folder(tmp_path / "data")
    (tmp_path / "data" / "metadata.jsonl").unlink()
    theirs = open_folder(tmp_path / "data")
    assert [one.row.references for one in theirs.entries] == [
        one.row.references for one in ours.entries
    ]


def test_a_dry_run_of_the_published_command_writes_nothing(
    server: HubServer, tmp_path: Path
) -> None:
    write_lists(tmp_path / "ids")
    words = ["--output-dir", "data", "--ids-dir", "ids", "--dry-run", "--music", "2"]
    done = call(server, tmp_path, *SEED, *words)
    assert done.returncode == 0, done.stderr
    assert "music: 2 wanted" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_credentials_file_opens_a_gated_repository(server: HubServer, tmp_path: Path) -> None:
    write_lists(tmp_path / "ids")
    server.repositories[MUSIC].gated = True
    server.token = "hf_tokentoken"
    secret = tmp_path / "credentials.env"
    secret.write_text("export HF_TOKEN=hf_tokentoken\n")
    secret.chmod(0o644)
    words = ["--output-dir", "data", "--ids-dir", "ids", "--credentials", str(secret)]
    done = call(server, tmp_path, *SEED, *words)
    assert done.returncode == 0, done.stderr
    assert "can be read by others" in done.stderr
    assert "hf_tokentoken" not in done.stderr


def test_importing_the_command_imports_nothing_heavy() -> None:
    script = "import audiocapbench.cli.build, audiocapbench.build_dataset, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=180
    )
    heavy = {"huggingface_hub", "pyarrow", "numpy", "pydantic", "soundfile", "rich.progress"}
    assert not heavy & set(done.stdout.split())
