"""The stages split, audit and show: a benchmark that run takes, and people's say about it."""

import csv
import json
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import expert_plugin
from annotate.conftest import Merger, write_place
from annotate.test_merge import annotate, heard, merged
from annotations import SOUNDS
from audiocapbench.annotate.split import assign, read_shares
from audiocapbench.benchmarks.mecat.dataset import read_items
from audiocapbench.errors import AnnotationError
from audiocapbench.store import Store
from command import run_command
from forks import Forked
from needs import needs

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of which everything passed, and beside it what was in it then."""
    place = write_place(tmp_path_factory.mktemp("checked") / "place")
    heard(place)
    with Merger() as merger:
        merged(place, merger)
    done = annotate(place, "check", "clips", "--clap", "none")
    assert done.returncode == 0, done.stderr
    shutil.copytree(place, place.with_name("kept"))
    return place


@pytest.fixture
def checked(passed: Path) -> Path:
    """The folder as it was, in the same place: a store knows clips by where they are."""
    shutil.rmtree(passed)
    shutil.copytree(passed.with_name("kept"), passed)
    return passed


def split(place: Path, *words: str) -> Any:
    return annotate(place, "split", "clips", "--out", "made", *words)


def test_the_benchmark_is_run_judged_and_scored_unchanged(checked: Path) -> None:
    done = split(checked, "--shares", "test=1", "--licence", "CC BY <b>4.0</b> | mine")
    assert done.returncode == 0, done.stderr
    assert "run mecat-caption --data made/test" in done.stderr
    told = ("--data", "made/test", "--model", "control/right", "--json")
    ran = run_command("run", "mecat-caption", *told, cwd=checked)
    assert ran.returncode == 0, ran.stderr
    answers = run_command("run", "mecat-qa", *told, cwd=checked)
    assert answers.returncode == 0, answers.stderr
    listed = run_command("runs", "--json", cwd=checked)
    names = {one["benchmark"] for one in json.loads(listed.stdout)["runs"]}
    assert names == {"mecat-caption[split=clips-test]", "mecat-qa[split=clips-test]"}
    words = ("judges", "check", "elements", "--data", "made/test/caption", "--json")
    check = run_command(*words, cwd=checked)
    assert check.returncode == 0, check.stderr
    assert json.loads(check.stdout)["ordered"], check.stdout
    plain = run_command("run", "made/test/caption", "--model", "control/right", cwd=checked)
    assert plain.returncode == 0, plain.stderr
    assert len(read_items("mecat-caption", checked / "made/test/mecat")) == 72
    assert len(read_items("mecat-qa", checked / "made/test/mecat")) == 60
    sheet = (checked / "made/DATASHEET.md").read_text()
    assert "CC BY \\<b\\>4.0\\</b\\> \\| mine" in sheet
    assert "- CC0: 12 clips" in sheet
    assert "diary\\|1" in sheet
    assert "| all | 12 |" in sheet
    assert "| another clip's captions | 12 | 12 |" in sheet.replace("\\", "")
    assert "| refusal | 24 | 24 |" in sheet


def test_no_source_is_in_two_splits_and_domains_have_their_shares(checked: Path) -> None:
    done = split(checked, "--shares", "train=0.5,test=0.5", "--json")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)["splits"]
    assert sum(map(sum, (one.values() for one in counts.values()))) == 12
    sources: dict[str, set[str]] = {}
    for part in ("train", "test"):
        for line in (checked / f"made/{part}/caption/metadata.jsonl").read_text().splitlines():
            number = int(Path(json.loads(line)["original"]).stem)
            sources.setdefault(f"tape {number // 2}", set()).add(part)
    assert all(len(parts) == 1 for parts in sources.values())


def test_shares_hold_within_what_whole_sources_allow() -> None:
    clips = {
        f"clip {n}": (f"source {n // 3}", ("S00", "0M0", "00A")[n // 3 % 3]) for n in range(900)
    }
    found = assign(clips, read_shares("train=8,test=2"), seed=5)
    for domain in ("S00", "0M0", "00A"):
        own = Counter(found[clip] for clip, (_, one) in clips.items() if one == domain)
        assert own["test"] == pytest.approx(60, abs=3)
    assert found == assign(dict(reversed(clips.items())), read_shares("train=8,test=2"), seed=5)
    assert found != assign(clips, read_shares("train=8,test=2"), seed=6)


@pytest.mark.parametrize(
    "text", ["", "test", "test=0", "test=-1", "test=1,test=2", "../x=1", "t=nan"]
)
def test_shares_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(AnnotationError):
        read_shares(text)


def test_a_second_split_leaves_nothing_of_the_first(checked: Path) -> None:
    assert split(checked, "--shares", "train=1,test=1").returncode == 0
    before = (checked / "made/test/caption/metadata.jsonl").read_text()
    assert split(checked, "--shares", "train=1,test=1").returncode == 0
    assert (checked / "made/test/caption/metadata.jsonl").read_text() == before
    assert split(checked, "--shares", "train=1,test=3").returncode == 0
    lines = [
        json.loads(line)["original"]
        for part in ("train", "test")
        for line in (checked / f"made/{part}/caption/metadata.jsonl").read_text().splitlines()
    ]
    assert len(lines) == len(set(lines)) == 12
    assert len(list((checked / "made").rglob("caption/*/*.wav"))) == 12
    listed = [
        key
        for path in (checked / "made").rglob("caption_test/*.jsonl")
        for line in path.read_text().splitlines()
        for key in json.loads(line)
    ]
    assert len(listed) == len(set(listed)) == 12
    fewer = split(checked, "--shares", "test=1")
    assert fewer.returncode == 2
    assert "has a split 'train'" in fewer.stderr


def test_a_killed_split_goes_on(checked: Path) -> None:
    dying = (
        "import os, sys\n"
        "from audiocapbench.data.build import ledger\n"
        "whole, left = ledger.Ledger.keep, [5]\n"
        "def keep(self, row, content):\n"
        "    left[0] -= 1\n"
        "    if not left[0]: os.kill(os.getpid(), 9)\n"
        "    whole(self, row, content)\n"
        "ledger.Ledger.keep = keep\n"
        "from audiocapbench.cli import main\n"
        "sys.argv = ['audiocapbench', 'annotate', 'split', 'clips', '--out', 'made']\n"
        "main()\n"
    )
    assert Forked("-c", dying, cwd=checked).wait(120) == -signal.SIGKILL
    assert split(checked).returncode == 0
    clips = list((checked / "made").rglob("caption/*/*.wav"))
    assert len(clips) == 12


def test_nothing_is_published_below_the_bar_unless_somebody_accepts_it(checked: Path) -> None:
    with Store.open(str(checked / "audiocapbench.db")) as store:
        project = str((checked / "clips").resolve())
        settings = store.annotations.settings(project)["check"]
        for one in settings["self_test"][:8]:
            one["recall"] = 0.5
        store.annotations.put_settings(project, "check", settings)
    refused = split(checked)
    assert refused.returncode == 2
    assert "give --accept-quality" in refused.stderr
    assert not (checked / "made").exists()
    assert split(checked, "--accept-quality").returncode == 0


@pytest.mark.parametrize("written", [False, True])
def test_a_clip_that_changed_since_it_was_heard_is_refused(checked: Path, written: bool) -> None:
    assert not written or split(checked).returncode == 0
    (checked / "clips/03.wav").write_bytes((checked / "clips/04.wav").read_bytes())
    done = split(checked)
    assert done.returncode == 2
    assert "changed since it was heard" in done.stderr
    inside = annotate(checked, "split", "clips", "--out", "clips/made")
    assert inside.returncode == 2
    assert "lies in the folder" in inside.stderr


def fill(path: Path, column: str, value: Any) -> None:
    rows = list(csv.DictReader(path.open(newline="")))
    for row in rows:
        row[column] = value(row)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_people_compare_blind_and_rate_and_the_papers_statistics_come_out(checked: Path) -> None:
    made = annotate(checked, "audit", "clips", "--out", "sheets", "--person", "ann", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout) == {
        "files": {"ab.csv": 24, "rel.csv": 12},
        "opponents": {"safe": 12, "wrong": 12},
    }
    text = (checked / "sheets/ab.csv").read_text()
    assert "safe" not in text
    assert "wrong" not in text

    def better(row: dict[str, str]) -> str:
        return "a" if SOUNDS[int(Path(row["audio"]).stem)] in row["caption_a"] else "b"

    fill(checked / "sheets/ab.csv", "preferred", better)
    fill(checked / "sheets/rel.csv", "rating", lambda row: 1 if row["audio"] < "02" else 5)
    told = ("audit", "clips", "--ratings", "sheets/ab.csv", "--ratings", "sheets/rel.csv", "--json")
    done = annotate(checked, *told)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [one["first_wins"]["value"] for one in said["wins"]["types"]] == [1.0, 1.0, 1.0]
    shares = {one["annotations"]: one["share"] for one in said["shares"]}
    assert shares["no match (1)"]["value"] == pytest.approx(2 / 12)
    assert shares["rejected: below a basic match (3)"]["ci"] is not None
    groups = {one["group"] for one in said["ratings"]["groups"]}
    assert groups == {"all", "S00", "0M0", "00A", "SMA"}
    assert said["ratings"]["comparisons"][0]["first"] == "S00+SMA"
    assert said["unrated"] == 0
    assert set(said["rejected"]) == {"00.wav", "01.wav"}
    assert said["residual_ci"][0] < 2 / 12 < said["residual_ci"][1]
    made = split(checked, "--shares", "test=1", "--json")
    assert json.loads(made.stdout)["clips"] == 10
    sheet = (checked / "made/DATASHEET.md").read_text()
    assert "| accepted by people | 10 | 2 |" in sheet
    assert "People rated 12 annotations drawn by lot and found 2 below" in sheet
    again = annotate(checked, *told)
    assert again.returncode == 0, again.stderr
    assert set(json.loads(again.stdout)["rejected"]) == {"00.wav", "01.wav"}
    needs("fastapi")
    from audiocapbench.web.rating.project import read_project

    assert read_project(checked / "sheets/rel.toml").people == ("ann",)


def test_people_are_sent_the_clips_that_are_in_doubt(checked: Path) -> None:
    told = ("--per-domain", "1", "--doubts", "2", "--pairs", "0", "--json")
    made = annotate(checked, "audit", "clips", "--out", "sheets", *told)
    assert json.loads(made.stdout)["files"] == {"ab.csv": 0, "rel.csv": 12}


def test_what_people_said_of_a_clip_that_is_gone_by_now_still_counts(checked: Path) -> None:
    annotate(checked, "audit", "clips", "--out", "sheets")
    fill(checked / "sheets/ab.csv", "preferred", lambda row: row["id"] and "tie")
    fill(checked / "sheets/rel.csv", "rating", lambda row: 1 if row["audio"] == "03.wav" else 4)
    (checked / "clips/03.wav").unlink()
    told = ("audit", "clips", "--ratings", "sheets/ab.csv", "--ratings", "sheets/rel.csv", "--json")
    said = json.loads(annotate(checked, *told).stdout)
    assert set(said["rejected"]) == {"03.wav"}
    assert said["ratings"]["groups"][0]["n"] == 12


def test_ratings_of_items_that_are_on_no_sheet_are_refused(checked: Path) -> None:
    annotate(checked, "audit", "clips", "--out", "sheets")
    rel, ab = (
        (checked / f"sheets/{name}.csv").read_text().splitlines()[1].partition(",")[0]
        for name in ("rel", "ab")
    )
    odd = (f"id,rating\n{rel},7\n", "id,rating\nnobody,3\n", f"id,preferred\n{ab},c\n")
    for rows in (*odd, f"id,rating\n{ab},3\n"):
        (checked / "odd.csv").write_text(rows)
        done = annotate(checked, "audit", "clips", "--ratings", "odd.csv")
        assert done.returncode == 2
        assert "odd.csv" in done.stderr


def test_a_sheet_of_an_earlier_draw_is_never_read_as_todays(checked: Path) -> None:
    def sides() -> dict[str, list[str]]:
        with (checked / "sheets/ab.csv").open(newline="") as stream:
            return {
                one["id"]: [one["caption_a"], one["caption_b"]] for one in csv.DictReader(stream)
            }

    annotate(checked, "audit", "clips", "--out", "sheets")
    first = sides()
    annotate(checked, "audit", "clips", "--out", "sheets", "--seed", "1")
    second = sides()
    assert set(first) != set(second)
    assert all(first[one] == second[one] for one in set(first) & set(second))


def test_a_clip_shows_how_far_it_got_and_what_experts_said(checked: Path) -> None:
    shown = annotate(checked, "show", "clips", "00.wav", "--json")
    assert shown.returncode == 0, shown.stderr
    said = json.loads(shown.stdout)
    assert {name: one["status"] for name, one in said["stages"].items()} == {
        "hear": "ok",
        "merge": "ok",
        "check": "ok",
    }
    assert said["experts"]["diary"]["document"]["mood"] == "calm"
    assert "barking" in said["stages"]["merge"]["document"]["annotation"]["captions"]["long"][0]
    plain = annotate(checked, "show", "clips", "00.wav")
    assert '"mood": "calm"' in plain.stdout
    wrong = annotate(checked, "show", "clips", "0.wav")
    assert wrong.returncode == 2
    assert "did you mean" in wrong.stderr


def test_provenance_goes_with_every_caption(checked: Path) -> None:
    split(checked, "--shares", "test=1")
    lines = (checked / "made/test/caption/metadata.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert all(row["provenance"]["experts"]["diary"] == "diary|1" for row in rows)
    assert expert_plugin.heard(checked)
