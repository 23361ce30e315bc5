"""Builds that do not go smoothly: faults, interruptions, kill -9, and going on afterwards."""

import io
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from needs import needs

needs("huggingface_hub", "pyarrow")

from audiocapbench.data import open_folder
from audiocapbench.data.build.audiocapbench import NOT_YET, BuildSettings, build
from audiocapbench.data.build.hub import Hub, HubError, NetworkError
from audiocapbench.data.build.ledger import JOURNAL
from audiocapbench.errors import DatasetError
from fakes.faults import Plan, half, hang, reset, status, throttled
from fakes.hub_repositories import (
    AUDIOCAPS,
    CLOTHO,
    MUSIC,
    SPEECH,
    audiocaps,
    build_from,
    manifest_of,
    repositories,
    tone,
    tree,
    write_lists,
)
from fakes.hub_server import HubServer, Repository, parquet
from forks import Forked


@pytest.fixture
def ids(tmp_path: Path) -> Path:
    return write_lists(tmp_path / "ids")


def test_a_folder_goes_on_at_the_commit_that_it_began_with(tmp_path: Path, ids: Path) -> None:
    known = repositories()
    with HubServer(known) as server:
        build_from(server, tmp_path / "out", ids, limit=1)
        old = known[SPEECH].commit
        server.repositories[SPEECH].files["new"] = b"changed"
        end = build_from(server, tmp_path / "out", ids)
        problems = [part.problem for part in end.parts]
        assert problems == [None, None, None, f"{SPEECH} has no revision {old!r}"]
        with pytest.raises(DatasetError, match="choose another folder"):
            build_from(server, tmp_path / "out", ids, revisions={"speech": "main"})


def test_a_second_build_asks_for_nothing(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids)
        before = tree(tmp_path / "out")
        server.requests.clear()
        end = build_from(server, tmp_path / "out", ids)
        assert server.requests == []
    assert (end.present, [part.fetched for part in end.parts]) == (17, [0, 0, 0, 0])
    assert tree(tmp_path / "out") == before


def test_a_damaged_or_deleted_clip_is_fetched_again_and_no_other(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "out", ids)
        before = tree(tmp_path / "out")
        (tmp_path / "out/sound/audiocaps_1.flac").write_bytes(b"damaged")
        (tmp_path / "out/speech/speech_2.mp3").unlink()
        end = build_from(server, tmp_path / "out", ids)
    assert [part.fetched for part in end.parts] == [0, 1, 0, 1]
    assert tree(tmp_path / "out") == before


def test_a_limited_build_grows_into_the_full_one(tmp_path: Path, ids: Path) -> None:
    with HubServer(repositories()) as server:
        end = build_from(server, tmp_path / "out", ids, limit=2)
        assert (end.present, end.wanted) == (8, 8)
        positions = [entry.position for entry in open_folder(tmp_path / "out").entries]
        assert positions == [0, 1, 5, 6, 10, 11, 14, 15]
        build_from(server, tmp_path / "out", ids)
        build_from(server, tmp_path / "out", ids, limit=1)
        build_from(server, tmp_path / "whole", ids)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


FAULTS = {
    "unavailable once": Plan([None, None, status(503), status(502), None, reset()]),
    "asked too much": Plan([throttled("1"), None, throttled()]),
    "cut in the middle of a file": Plan([None] * 4 + [half(), None, half(), half()]),
}


@pytest.mark.parametrize("plan", FAULTS.values(), ids=FAULTS)
def test_passing_faults_change_nothing(tmp_path: Path, ids: Path, plan: Plan) -> None:
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "calm", ids)
    with HubServer(repositories(), plan) as server:
        end = build_from(server, tmp_path / "rough", ids)
    assert end.present == 17
    assert plan.take() is None
    assert tree(tmp_path / "rough") == tree(tmp_path / "calm")


def test_a_gated_repository_costs_its_part_and_says_what_to_do(
    tmp_path: Path, ids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = repositories()
    known[AUDIOCAPS].gated = True
    with HubServer(known, token="hf_secretsecret") as server:
        end = build_from(server, tmp_path / "out", ids)
        (problem,) = [part.problem for part in end.parts if part.problem]
        assert problem == (
            f"{AUDIOCAPS} is gated: accept its terms at {server.url}/datasets/{AUDIOCAPS} "
            "and set HF_TOKEN"
        )
        assert (end.present, end.wanted) == (12, 17)
        reasons = {one.reason for one in manifest_of(tmp_path / "out").missing}
        assert reasons == {problem}
        monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
        assert build_from(server, tmp_path / "out", ids).present == 17
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"hf_secretsecret" not in path.read_bytes()


def test_an_absent_repository_is_one_sentence(tmp_path: Path, ids: Path) -> None:
    known = repositories()
    del known[MUSIC]
    with HubServer(known) as server:
        end = build_from(server, tmp_path / "out", ids)
        assert end.parts[2].problem == (
            f"{MUSIC} is not at {server.url}, or is private: check HF_ENDPOINT and HF_TOKEN"
        )
    assert end.present == 13


BROKEN = {
    "neither parquet nor audio files": lambda: Repository({"test/notes.txt": b"nothing"}),
    "has no files for the split 'test'": lambda: Repository({"data/train-0.parquet": b""}),
    "test.parquet cannot be read (": lambda: Repository(
        {"test.parquet": b"PAR1 but not really PAR1"}
    ),
    "but audio and youtube_id or file_name are needed": lambda: Repository(
        {"test.parquet": parquet([{"name": "x", "audio": tone(1)}])}
    ),
    "its first line names a column twice": lambda: Repository(
        {"test/metadata.csv": b"file_name,file_name\na.wav,b.wav\n", "test/a.wav": tone(1)}
    ),
    "metadata.jsonl cannot be read (metadata.jsonl line 2: is not JSON": lambda: Repository(
        {"test/metadata.jsonl": b'{"file_name": "a.wav"}\n{\n', "test/a.wav": tone(1)}
    ),
    "lacks a file that it lists": lambda: Repository(audiocaps().files, listed=False),
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_a_repository_of_another_shape_is_one_sentence(
    tmp_path: Path, ids: Path, sentence: str
) -> None:
    with HubServer(repositories() | {AUDIOCAPS: BROKEN[sentence]()}) as server:
        end = build_from(server, tmp_path / "out", ids)
    problem = end.parts[1].problem
    assert problem is not None
    assert sentence in problem
    assert "\n" not in problem
    assert end.present == 12


def test_a_damaged_parquet_file_costs_its_part_only(tmp_path: Path, ids: Path) -> None:
    known = audiocaps()
    ((path, content),) = known.files.items()
    damaged = bytearray(content)
    damaged[4 : len(damaged) // 2] = bytes(len(damaged) // 2 - 4)
    with HubServer(repositories() | {AUDIOCAPS: Repository({path: bytes(damaged)})}) as server:
        end = build_from(server, tmp_path / "out", ids)
    assert end.parts[1].problem is not None
    assert end.parts[1].problem.startswith(f"{AUDIOCAPS}: {path} cannot be read (")
    assert end.present == 12


def test_without_a_network_the_build_stops_with_one_sentence_and_no_trace(
    tmp_path: Path, ids: Path
) -> None:
    with HubServer({}) as server:
        gone = server.url
    with pytest.raises(NetworkError, match="cannot be reached") as raised:
        build(tmp_path / "out", BuildSettings(ids_dir=ids), hub=Hub(gone))
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_when_the_network_goes_what_was_fetched_is_kept(
    tmp_path: Path, ids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audiocapbench.data.build.hub.FIRST_PAUSES_S", ())
    with HubServer(repositories()) as server:

        def pull_the_plug(part: str, *_: int | None) -> None:
            if part == "music":
                server.plan = Plan(always=reset())

        settings = BuildSettings(ids_dir=ids)
        with pytest.raises(NetworkError):
            build(tmp_path / "out", settings, hub=Hub(server.url), progress=pull_the_plug)
        folder = open_folder(tmp_path / "out")
        assert len(folder.entries) == 10
        assert {one.reason for one in folder.missing} == {NOT_YET}
        assert len(folder.missing) == 7
        server.plan = Plan()
        build_from(server, tmp_path / "out", ids)
        build_from(server, tmp_path / "whole", ids)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_an_interrupted_build_keeps_what_it_has(tmp_path: Path, ids: Path) -> None:
    def interrupt(part: str, clips: int, *_: int | None) -> None:
        if part == "audiocaps" and clips == 3:
            raise KeyboardInterrupt

    with HubServer(repositories()) as server:
        settings = BuildSettings(ids_dir=ids)
        with pytest.raises(KeyboardInterrupt):
            build(tmp_path / "out", settings, hub=Hub(server.url), progress=interrupt)
        assert len(open_folder(tmp_path / "out").entries) == 8
        end = build_from(server, tmp_path / "out", ids)
    assert [part.fetched for part in end.parts] == [0, 2, 4, 3]


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.85, 0.99])
def test_a_killed_build_goes_on_to_the_same_folder(tmp_path: Path, ids: Path, share: float) -> None:
    out = tmp_path / "out"
    command = ["-m", "audiocapbench.build_dataset"]
    command += ["--output-dir", str(out), "--ids-dir", str(ids), "--clip", "annotation"]
    with HubServer(repositories()) as server:
        build_from(server, tmp_path / "whole", ids)
        answered = int(share * len(server.requests))
        server.requests.clear()
        server.plan = Plan([None] * answered + [hang()])
        environment = os.environ | {"HF_ENDPOINT": server.url}
        child = Forked(*command, env=environment, stderr=subprocess.DEVNULL)
        while len(server.requests) <= answered:
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert (out / JOURNAL).exists()
        assert not (out / "metadata.jsonl").exists()
        written = (out / JOURNAL).read_bytes().count(b'"facts"')
        with (out / JOURNAL).open("ab") as journal:
            journal.write(b'{"row": {"id": "torn')
        server.plan = Plan()
        end = build_from(server, out, ids)
    assert sum(part.kept for part in end.parts) == written
    assert tree(out) == tree(tmp_path / "whole")


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path, ids: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with HubServer(repositories()) as server, pytest.raises(DatasetError, match="cannot be"):
        build_from(server, tmp_path / "file" / "out", ids)


def test_a_range_outside_a_file_is_never_asked_for(tmp_path: Path) -> None:
    with HubServer({CLOTHO: Repository({"a.bin": b"0123456789"})}) as server:
        repository = Hub(server.url).repository(CLOTHO)
        with repository.open("a.bin") as stream:
            assert stream.read(4) == b"0123"
            stream.seek(-3, io.SEEK_END)
            assert stream.read(100) == b"789"
            assert stream.read(100) == b""
            stream.seek(50)
            assert stream.read() == b""
        assert len(server.fetched()) == 2


def test_an_unknown_revision_is_one_sentence() -> None:
    refused = pytest.raises(HubError, match=r"has no revision 'v9'$")
    with HubServer({CLOTHO: Repository({"a": b"x"})}) as server, refused:
        Hub(server.url).repository(CLOTHO, "v9")


def test_a_large_file_comes_in_pieces_and_a_cut_costs_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("audiocapbench.data.build.hub.PIECE", 1_000)
    content = bytes(range(256)) * 22
    arrived: list[int] = []
    # A lookup, then two requests a piece: the Hub, which sends on, and the other host.
    plan = Plan([None] * 4 + [half()])
    with HubServer({CLOTHO: Repository({"a.bin": content})}, plan) as server:
        repository = Hub(server.url).repository(CLOTHO)
        assert repository.open("a.bin", arrived.append).read() == content
        assert len(server.fetched()) == 6 + 1
    assert arrived == [1_000] * 5 + [632]
