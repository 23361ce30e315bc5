"""Clips that are links are read where they stay in the folder, or where the user says so."""

import json
import os
from pathlib import Path

import pytest

import audiocapbench
from audiocapbench.data import InvalidDataError, open_folder
from audiocapbench.errors import BenchmarkError, TrialError
from audiocapbench.meta.scorers.scorer import find_clip
from command import run_command
from folders import write_folder, write_lines, write_tone

HINT = "`follow_links` reads such links"


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A dataset as a Hugging Face cache lays it out: every file is a link to a blob."""
    repository = tmp_path / "hub" / "datasets--me--tones"
    root = repository / "snapshots" / "0123abcd"
    write_folder(root, 2)
    (repository / "blobs").mkdir()
    for number, path in enumerate(sorted(one for one in root.rglob("*") if one.is_file())):
        blob = repository / "blobs" / f"{number:064x}"
        path.rename(blob)
        path.symlink_to(os.path.relpath(blob, path.parent))
    return root


def problems(root: Path, *, follow_links: bool = False) -> list[str]:
    with pytest.raises(InvalidDataError) as error:
        open_folder(root, follow_links=follow_links)
    return [str(one) for one in error.value.problems]


def test_a_hugging_face_cache_is_refused_with_the_way_to_read_it(snapshot: Path) -> None:
    found = problems(snapshot)
    assert len(found) == 2
    blobs = snapshot.parents[1] / "blobs"
    for line in found:
        assert f"is a link that leads out of the folder, to {blobs}" in line
        assert HINT in line
    assert len(open_folder(snapshot, follow_links=True).entries) == 2


def test_what_was_run_through_links_is_reported_through_them(
    snapshot: Path, tmp_path: Path
) -> None:
    refused = run_command("run", str(snapshot), "--model", "listener", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--follow-links reads such links" in refused.stderr
    words = ("run", str(snapshot), "--model", "listener", "--follow-links", "--json")
    asked = run_command(*words, cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["runs"][0]["statuses"] == {"ok": 2}
    for choice in ("embed", "link"):
        page = tmp_path / f"{choice}.html"
        words = ("report", "1", "--audio", choice, "--out", str(page))
        assert run_command(*words, cwd=tmp_path).returncode == 0
        assert "has changed since the run" not in page.read_text()
    write_tone(tmp_path / "other.wav", hertz=3000)
    (tmp_path / "other.wav").replace((snapshot / "clips" / "1.wav").resolve())
    words = ("report", "1", "--audio", "embed", "--out", "changed.html")
    assert run_command(*words, cwd=tmp_path).returncode == 0


def test_the_library_and_every_command_that_opens_a_folder_take_the_word(
    snapshot: Path, tmp_path: Path
) -> None:
    result = audiocapbench.run(
        snapshot, "control/right", follow_links=True, store=tmp_path / "a.db", metrics="rouge_l"
    )
    assert len(result.answers) == 2
    with pytest.raises(InvalidDataError, match="`follow_links`"):
        audiocapbench.run(snapshot, "control/right", store=tmp_path / "a.db")
    checked = ("judges", "check", "elements", "--data", str(snapshot))
    assert run_command(*checked, cwd=tmp_path).returncode == 2
    done = run_command(*checked, "--follow-links", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with pytest.raises(BenchmarkError, match="demo takes no `follow_links`"):
        audiocapbench.open_benchmark("demo", follow_links=True)


def test_links_within_the_folder_and_a_linked_folder_need_no_word(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "set", 1)
    (root / "again.wav").symlink_to("clips/0.wav")
    (root / "more").symlink_to("clips")
    rows = [{"file_name": name, "references": ["x"]} for name in ("again.wav", "more/0.wav")]
    write_lines(root, rows)
    assert len(open_folder(root).entries) == 2
    (tmp_path / "link").symlink_to(root)
    folder = open_folder(tmp_path / "link")
    assert (len(folder.entries), folder.name) == (2, "set")


@pytest.mark.parametrize("follow_links", [False, True])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../secret.wav", "leads out of the folder"),
        ("clips/../../secret.wav", "leads out of the folder"),
        ("away/../secret.wav", "leads out of the folder"),
        ("{outside}/secret.wav", "leads out of the folder"),
        ("loop.wav", "loop.wav"),
        ("dangling.wav", "dangling.wav"),
        ("password.wav", "password.wav"),
        ("device.wav", "device.wav"),
        ("away", "away"),
    ],
)
def test_whatever_the_word_a_name_never_leads_out_and_a_link_must_lead_to_audio(
    tmp_path: Path, name: str, reason: str, follow_links: bool
) -> None:
    outside, root = tmp_path / "outside", tmp_path / "set"
    write_tone(outside / "secret.wav")
    write_tone(outside / "folder" / "a.wav")
    write_tone(tmp_path / "secret.wav")
    write_tone(root / "clips" / "a.wav")
    for link, target in {
        "loop.wav": root / "loop.wav",
        "dangling.wav": outside / "nowhere.wav",
        "password.wav": Path("/etc/passwd"),
        "device.wav": Path("/dev/zero"),
        "away": outside / "folder",
    }.items():
        (root / link).symlink_to(target)
    write_lines(root, [{"file_name": name.format(outside=outside), "references": ["x"]}])
    [found] = problems(root, follow_links=follow_links)
    assert reason in found


def test_clips_of_pairs_follow_the_same_rule(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    write_tone(tmp_path / "blob.wav")
    write_tone(tmp_path / "secret.wav")
    root.mkdir()
    (root / "a.wav").symlink_to("../blob.wav")
    with pytest.raises(TrialError, match="`follow_links` reads such links"):
        find_clip(root, "a")
    assert find_clip(root, "a", follow_links=True) == root / "a.wav"
    with pytest.raises(TrialError, match="leads out of the folder"):
        find_clip(root, "../secret.wav", follow_links=True)
