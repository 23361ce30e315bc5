"""MECAT from shards: rows as the benchmark reads them, nothing fetched twice, no damage unseen."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from needs import needs

needs("huggingface_hub")

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.benchmarks.mecat.build import MecatSettings, build_mecat
from audiocapbench.data import open_folder
from audiocapbench.data.build.hub import Hub, NetworkError
from audiocapbench.errors import DatasetError
from fakes.faults import Plan, half, reset, status
from fakes.http_server import Request, Response
from fakes.hub_repositories import manifest_of, origin_of, rows_of, tree
from fakes.hub_server import HubServer, Repository
from fakes.mecat_shards import (
    CAPTION,
    QA,
    SIZES,
    build_hub,
    build_shards,
    caption_files,
    captions,
    clip,
    clip_key,
    pair,
    question,
    question_files,
    repositories,
    tar,
)
from forks import Forked


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the Hub's library that is not the test's own."""
    for name in ("HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "no-token"))


S00 = "S00/test_0000-0000000.tar.gz"


def reasons(root: Path) -> dict[str, str]:
    return {one.id: one.reason for one in manifest_of(root).missing}


def test_captions_become_a_row_a_clip(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        end = build_hub(server, tmp_path / "out")
        commit = server.repositories[CAPTION].commit
    assert (end.name, end.present, end.wanted) == ("mecat-caption", 9, 9)
    folder = open_folder(tmp_path / "out")
    assert [entry.row.category for entry in folder.entries] == ["000"] * 2 + ["00A"] * 3 + [
        "S00"
    ] * 4
    row = rows_of(tmp_path / "out")[clip_key("S00", 3)]
    assert row["file_name"] == f"S00/{clip_key('S00', 3)}.flac"
    assert row["references"] == row["captions"]["long"] == captions("S00", 3)["long"]
    assert (row["domain"], row["category"]) == ("S00", "S00")
    assert origin_of(tmp_path / "out")[CAPTION] == commit
    assert not (tmp_path / "out" / ".shards").exists()


def test_questions_about_a_clip_share_its_file(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        end = build_hub(server, tmp_path / "out", part="qa")
    assert (end.name, end.present, end.wanted) == ("mecat-qa", 45, 45)
    folder = open_folder(tmp_path / "out")
    assert len({entry.clip.file_name for entry in folder.entries}) == 9
    assert len(list((tmp_path / "out").rglob("*.flac"))) == 9
    row = rows_of(tmp_path / "out")[f"{clip_key('00A', 1)}_00010002"]
    assert row["instruction"] == row["question"] == "Question 2 about 00A 1?"
    assert row["references"] == ["Answer 2."]
    assert row["clip"] == clip_key("00A", 1)
    assert (row["qa_category"], row["difficulty"]) == ("quality_assessment", "advanced")


def test_local_shards_give_the_same_rows_as_the_hub(tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    for path, content in repositories()[CAPTION].files.items():
        if "/test" in path:
            (shards / path).parent.mkdir(parents=True, exist_ok=True)
            (shards / path).write_bytes(content)
    build_shards(tmp_path / "local", shards)
    with HubServer(repositories()) as server:
        build_hub(server, tmp_path / "hub")
    ours, theirs = rows_of(tmp_path / "local"), rows_of(tmp_path / "hub")
    for row in (*ours.values(), *theirs.values()):
        del row["shard"], row["position"]
    assert list(ours) == list(theirs)
    assert ours == theirs


def test_a_second_build_fetches_nothing(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        build_hub(server, tmp_path / "out")
        before = tree(tmp_path / "out")
        server.requests.clear()
        end = build_hub(server, tmp_path / "out")
        assert server.fetched() == []
    assert (end.present, sum(part.fetched for part in end.parts)) == (9, 0)
    assert tree(tmp_path / "out") == before


def test_a_damaged_clip_costs_its_own_shard_again(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        build_hub(server, tmp_path / "out")
        before = tree(tmp_path / "out")
        (tmp_path / "out" / "00A" / f"{clip_key('00A', 1)}.flac").write_bytes(b"damaged")
        server.requests.clear()
        end = build_hub(server, tmp_path / "out")
        assert {one.path.split("resolve/")[1][41:44] for one in server.fetched()} == {"00A"}
    assert [part.fetched for part in end.parts] == [0, 1, 0]
    assert tree(tmp_path / "out") == before


def test_domains_and_a_limit_choose_and_can_grow(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        end = build_hub(server, tmp_path / "out", domains=("S00", "00A"), limit=2)
        assert {part.part: part.fetched for part in end.parts} == {"S00": 2, "00A": 2}
        assert not [one for one in server.fetched() if "/000/" in one.path]
        build_hub(server, tmp_path / "out")
        build_hub(server, tmp_path / "whole")
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "whole")


def test_passing_faults_change_nothing(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        build_hub(server, tmp_path / "calm")
    plan = Plan([None, status(503), None, half(), reset()])
    with HubServer(repositories(), plan) as server:
        assert build_hub(server, tmp_path / "rough").present == 9
    assert tree(tmp_path / "rough") == tree(tmp_path / "calm")


def test_what_came_before_the_network_went_is_kept_and_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audiocapbench.data.build.hub.Hub._patiently.__defaults__", ((),))
    monkeypatch.setattr("audiocapbench.data.build.shards._PIECE", 1024)
    with HubServer(repositories()) as server:
        answer = server.respond
        served = []

        def dies(request: Request) -> Response:
            if S00 in request.path and "/cdn/" in request.path:
                served.append(request)
                if len(served) > 2:
                    return Response(b"", 500)
            return answer(request)

        server.respond = dies
        with pytest.raises(NetworkError):
            build_hub(server, tmp_path / "out")
        assert len(open_folder(tmp_path / "out").entries) >= 5
        server.respond = answer
        server.requests.clear()
        assert build_hub(server, tmp_path / "out").present == 9
        first = next(one for one in server.fetched() if S00 in one.path)
        assert first.headers["range"].startswith("bytes=2048-")
        build_hub(server, tmp_path / "whole")
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


KILLED = """
import os, signal, sys
from pathlib import Path
from audiocapbench.data.build.ledger import Ledger
from fakes.mecat_shards import build_shards
keep, count = Ledger.keep, 0
def add(self, row, content):
    global count
    keep(self, row, content)
    count += 1
    if count == 4:
        os.kill(os.getpid(), signal.SIGKILL)
Ledger.keep = add
build_shards(Path(sys.argv[1]), *map(Path, sys.argv[2:]))
"""


def test_a_build_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    good = tmp_path / "good.tar.gz"
    bad = tmp_path / "bad.tar"
    broken = pair("odd", b"{", clip("000", 0))
    bad.write_bytes(tar([*broken, *caption_files("000", range(2))], zipped=False))
    good.write_bytes(tar(caption_files("S00", range(4))))
    words = ["-c", KILLED, str(tmp_path / "out"), str(bad), str(good)]
    paths = os.pathsep.join(sys.path)
    died = Forked(*words, env=os.environ | {"PYTHONPATH": paths})
    assert died.wait(120) == -signal.SIGKILL
    assert not (tmp_path / "out" / "metadata.jsonl").exists()
    end = build_shards(tmp_path / "out", bad, good)
    assert {part.part: part.kept for part in end.parts if part.kept} == {"000": 2, "S00": 2}
    assert end.present == 6
    assert list(reasons(tmp_path / "out")) == ["odd"], "what was bad before the kill is known still"
    build_shards(tmp_path / "whole", bad, good)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_a_shard_that_was_damaged_on_disk_is_fetched_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HubServer(repositories()) as server:
        build_hub(server, tmp_path / "whole")
        monkeypatch.setattr("audiocapbench.data.build.hub.Hub._patiently.__defaults__", ((),))
        answer = server.respond
        server.respond = lambda request: (
            Response(b"", 500) if S00 in request.path else answer(request)
        )
        with pytest.raises(NetworkError):
            build_hub(server, tmp_path / "out")
        (spool,) = (tmp_path / "out" / ".shards").iterdir()
        spool.write_bytes(b"\x1f\x8b" + b"damaged" * 9)
        server.respond = answer
        assert build_hub(server, tmp_path / "out").present == 9
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def changed(**changes: Any) -> bytes:
    return json.dumps(captions("000", 0, **changes)).encode()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (b"{", "its JSON cannot be read"),
        (b"\xff", "its JSON is not UTF-8 (byte 1)"),
        (b"[]", "its JSON is not an object"),
        (b"[" * 100_000, "its JSON cannot be read"),
        (changed(domain="XYZ"), "its domain is 'XYZ', not one of 000, 00A, "),
        (
            changed(speech=["a", "b\0c", "d"]),
            "its speech is not a list of captions with words in each",
        ),
        (changed(music=["a", " ", "c"]), "its music is not a list of captions with words in each"),
        (changed(sound="a"), "its sound is not a list of captions"),
        (changed(long=[]), "its long is not a list of captions"),
        (changed(short=["\ud800"]), "half of a surrogate pair"),
        (json.dumps({"domain": "000"}).encode(), "its long is not a list of captions"),
    ],
)
def test_json_that_cannot_be_used_is_in_the_manifest(
    tmp_path: Path, fields: bytes, reason: str
) -> None:
    shard = tmp_path / "s.tar"
    shard.write_bytes(tar([*pair("bad", fields, clip("000", 0)), *caption_files("000", [1])]))
    end = build_shards(tmp_path / "out", shard)
    assert (end.present, len(open_folder(tmp_path / "out").entries)) == (1, 1)
    assert reason in reasons(tmp_path / "out")["bad"]


def cut_clip() -> bytes:
    whole = clip("000", 0)
    return whole[: len(whole) * 2 // 3]


@pytest.mark.parametrize("audio", [b"", b"no audio at all", cut_clip()])
def test_audio_that_cannot_be_decoded_is_in_the_manifest(tmp_path: Path, audio: bytes) -> None:
    shard = tmp_path / "s.tar"
    shard.write_bytes(tar([*pair("bad", captions("000", 0), audio), *caption_files("000", [1])]))
    build_shards(tmp_path / "out", shard)
    assert list(reasons(tmp_path / "out")) == ["bad"]
    assert len(list((tmp_path / "out").rglob("*.flac"))) == 1


def test_nothing_of_a_shard_lands_outside_its_folder(tmp_path: Path) -> None:
    files = pair("../../escape", captions("000", 0), clip("000", 0))
    shard = tmp_path / "s.tar"
    shard.write_bytes(tar([*files, *caption_files("000", [1])]))
    build_shards(tmp_path / "deep" / "out", shard)
    assert not list(tmp_path.rglob("*escape*"))
    assert all("its name is not" in one for one in reasons(tmp_path / "deep" / "out").values())


def test_a_shard_that_breaks_off_gives_what_stands_before_and_says_so(tmp_path: Path) -> None:
    def break_off(content: bytes) -> bytes:
        return content[: len(content) // 2]

    known = repositories()
    known[CAPTION].files[S00] = break_off(known[CAPTION].files[S00])
    with HubServer(known) as server:
        end = build_hub(server, tmp_path / "out")
    last = end.parts[-1]
    assert 0 < last.fetched < 4
    assert (last.problem or "").startswith(f"{S00}: the shard is damaged or cut short")
    assert end.present < end.wanted
    assert S00 in reasons(tmp_path / "out")
    open_folder(tmp_path / "out")


def cut_shard(path: Path) -> Path:
    """A shard of four clips of S00 that breaks off in the middle of one."""
    path.write_bytes(tar(caption_files("S00", range(4)), zipped=False)[:6_000])
    return path


def test_a_local_shard_that_breaks_off_is_counted_until_a_whole_one_takes_its_place(
    tmp_path: Path,
) -> None:
    shard = cut_shard(tmp_path / "s.tar")
    for _ in range(2):
        end = build_shards(tmp_path / "out", shard)
        assert 0 < end.present < 4
        assert end.wanted == end.present + 1
        last = end.parts[-1]
        assert (last.part, len(last.missing)) == ("local shards", 1)
        assert "the shard is damaged or cut short" in (last.problem or "")
    shard.write_bytes(tar(caption_files("S00", range(4)), zipped=False))
    end = build_shards(tmp_path / "out", shard)
    assert (end.present, end.wanted, end.parts[-1].problem) == (4, 4, None)
    assert reasons(tmp_path / "out") == {}


def test_a_file_that_is_no_shard_is_counted_beside_one_that_is(tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text('{"a": 1}\n' * 200)
    (tmp_path / "s.tar").write_bytes(tar(caption_files("000", range(2))))
    end = build_shards(tmp_path / "out", tmp_path / "lines.jsonl", tmp_path / "s.tar")
    assert (end.present, end.wanted) == (2, 3)
    assert "lines.jsonl" in (end.parts[-1].problem or "")
    assert "is not a tar" in (end.parts[-1].problem or "")


@pytest.mark.parametrize("content", [b"", b'{"a": 1}\n' * 200, b"\x1f\x8bno", tar([])])
def test_shards_that_give_nothing_at_all_are_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.tar").write_bytes(content)
    with pytest.raises(DatasetError, match=r"no clip .*s\.tar@|s\.tar@.* hold no clip"):
        build_shards(tmp_path / "out", tmp_path / "s.tar")
    assert not (tmp_path / "out").exists()


def test_a_clip_in_the_shard_of_another_domain_is_not_taken(tmp_path: Path) -> None:
    known = repositories()
    known[CAPTION].files["000/test_0000-0000000.tar.gz"] = tar(caption_files("00A", [7]))
    with HubServer(known) as server:
        end = build_hub(server, tmp_path / "out")
    assert reasons(tmp_path / "out")[clip_key("00A", 7)] == "it is of 00A in a shard of 000"
    assert end.parts[0].problem == f"{CAPTION} has 0 of 2 rows"


def test_a_key_in_two_shards_is_taken_once(tmp_path: Path) -> None:
    for name in ("a.tar", "b.tar"):
        extra = [0] if name == "a.tar" else [0, 1]
        (tmp_path / name).write_bytes(tar(caption_files("000", extra), zipped=False))
    assert build_shards(tmp_path / "out", tmp_path / "a.tar", tmp_path / "b.tar").present == 2
    open_folder(tmp_path / "out")


def test_shards_that_come_later_are_added_without_a_clash(tmp_path: Path) -> None:
    for number, name in enumerate(("b.tar", "a.tar")):
        (tmp_path / name).write_bytes(tar(caption_files("000", [number])))
    build_shards(tmp_path / "out", tmp_path / "b.tar")
    build_shards(tmp_path / "out", tmp_path / "a.tar", tmp_path / "b.tar")
    assert len(open_folder(tmp_path / "out").entries) == 2


def test_two_clips_of_one_name_are_both_kept(tmp_path: Path) -> None:
    key = clip_key("000", 0)
    files = question_files("000", [0])[:2]
    files += pair(f"{key}_ffffffff", question("000", 0, 3), clip("000", 1))
    (tmp_path / "s.tar").write_bytes(tar(files))
    build_shards(tmp_path / "out", tmp_path / "s.tar", part="qa")
    assert len({entry.clip.sha256 for entry in open_folder(tmp_path / "out").entries}) == 2


def test_a_dry_run_looks_up_and_writes_nothing(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        settings = MecatSettings(part="qa", domains=("00A",), sizes=SIZES)
        end = build_mecat(tmp_path / "out", settings, dry_run=True, hub=Hub(server.url))
        assert server.fetched() == []
        size = len(server.repositories[QA].files["00A/test_0000-0000000.tar.gz"])
    assert [(part.wanted, part.found, part.bytes_total) for part in end.parts] == [(15, 15, size)]
    assert not (tmp_path / "out").exists()


def wrong_domain(tmp_path: Path) -> None:
    build_shards(tmp_path / "out", tmp_path, domains=("0M",))


def no_shard(tmp_path: Path) -> None:
    build_shards(tmp_path / "out", tmp_path)


def no_file(tmp_path: Path) -> None:
    build_shards(tmp_path / "out", tmp_path / "none.tar")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (wrong_domain, "there is no domain '0M'"),
        (no_shard, "holds no shards"),
        (no_file, "no such file or folder"),
    ],
)
def test_wrong_use_is_one_sentence(
    tmp_path: Path, call: Callable[[Path], None], reason: str
) -> None:
    with pytest.raises(DatasetError, match=reason):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_captions_is_not_built_on_with_questions(tmp_path: Path) -> None:
    (tmp_path / "s.tar").write_bytes(tar(caption_files("000", [0])))
    build_shards(tmp_path / "out", tmp_path / "s.tar")
    with pytest.raises(DatasetError, match="holds another dataset"):
        build_shards(tmp_path / "out", tmp_path / "s.tar", part="qa")


def test_a_gated_repository_says_what_to_do(tmp_path: Path) -> None:
    known = repositories()
    known[CAPTION].gated = True
    with HubServer(known) as server:
        end = build_hub(server, tmp_path / "out")
    assert end.present == 0
    assert all("is gated: accept its terms" in (part.problem or "") for part in end.parts)


def test_the_train_split_says_so_and_is_never_taken_for_test(tmp_path: Path) -> None:
    made = repositories()
    files = dict(made[CAPTION].files)
    files["S00/train_0000-0000000.tar.gz"] = tar(caption_files("S00", range(10, 13)))
    made[CAPTION] = Repository(files)
    with HubServer(made) as server:
        end = build_hub(server, tmp_path / "train", split="train", domains=("S00",))
        assert (end.present, end.wanted) == (3, 3)
        with pytest.raises(DatasetError, match="of the other split; choose another folder"):
            build_hub(server, tmp_path / "train", domains=("S00",))
        build_hub(server, tmp_path / "test", domains=("S00",))
        with pytest.raises(DatasetError, match="of the other split"):
            build_hub(server, tmp_path / "test", split="train")
    benchmark = open_benchmark("mecat-caption", tmp_path / "train")
    assert benchmark.name == "mecat-caption[split=train]"
    assert open_benchmark("mecat-caption", tmp_path / "test").name == "mecat-caption"


def test_questions_link_to_the_audio_of_captions_where_it_is_the_same(tmp_path: Path) -> None:
    with HubServer(repositories()) as server:
        build_hub(server, tmp_path / "caption", domains=("00A",))
        changed = next((tmp_path / "caption" / "00A").iterdir())
        changed.write_bytes(b"something else")
        build_hub(server, tmp_path / "qa", part="qa", domains=("00A",), reuse=tmp_path / "caption")
    clips = sorted((tmp_path / "qa" / "00A").iterdir())
    assert len(clips) == 3
    links = {one.name: one.stat().st_nlink for one in clips}
    assert sorted(links.values()) == [1, 2, 2]
    assert links[changed.name] == 1, "another file of the same name is not its audio"
    assert changed.read_bytes() == b"something else"
    assert len(open_benchmark("mecat-qa", tmp_path / "qa").samples) == 15
