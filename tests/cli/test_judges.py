"""``--judge`` and ``audiocapbench judges``: verdicts, their evidence, and their absence."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from audiocapbench.cli.progress import warn_about
from audiocapbench.store import DEFAULT_STORE, Store
from command import run_command
from fakes.mecat_shards import build_shards, caption_files, clip, clip_key, pair, question, tar
from folders import write_folder, write_lines, write_tone
from made_store import MadeRun, made_samples, put_run
from mecat_data import clips, write_references
from plugin import environment, install_package

JUDGE_PLUGIN = """
from audiocapbench import sign
from audiocapbench.judges import Verdict


class Upside:
    name = "upside-down"
    signature = sign("upside-down")
    dimensions = ("accuracy",)

    def judge(self, prediction, references, category, transcript):
        return Verdict({"accuracy": 10.0 - min(10, len(set(prediction) & set(references[0])))}, "x")


def create(options):
    return Upside()
"""


class Checked(NamedTuple):
    """A folder in whose store a judge was checked, and how that command ended."""

    place: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """A check of the offline judge; whoever asks anything more does it in a copy of the store."""
    place = tmp_path_factory.mktemp("checked")
    return Checked(place, call(place, "judges", "check", "elements", "--limit", "12", "--json"))


def call(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(*words, cwd=place, env=environment(place))


def install_judge(place: Path) -> None:
    install_package(place / "site", "upside", JUDGE_PLUGIN, judges="upside-down = upside:create")


def test_judges_are_listed(tmp_path: Path) -> None:
    install_judge(tmp_path)
    names = [one["name"] for one in json.loads(call(tmp_path, "judges", "--json").stdout)["judges"]]
    assert names == ["elements", "PROVIDER/MODEL", "upside-down"]
    assert "elements" in call(tmp_path, "judges").stdout


def test_an_old_run_is_judged_once(tmp_path: Path) -> None:
    call(tmp_path, "run", "demo", "--model", "control/safe", "--limit", "6")
    first = call(tmp_path, "score", "1", "--judge", "elements", "--json")
    assert first.returncode == 0, first.stderr
    judge = json.loads(first.stdout)["judges"]["elements"]
    assert judge["coverage"] == 1.0
    assert judge["signature"].startswith("judge-elements|")
    assert set(judge["scores"]) == {"accuracy", "completeness", "hallucination", "overall"}
    again = call(tmp_path, "score", "1", "--judge", "elements", "--json")
    assert again.stdout == first.stdout
    assert "6 already judged" in again.stderr
    assert "elements has not been checked" in first.stderr
    assert "has not been checked" not in again.stderr


def test_a_judge_that_knows_right_from_wrong_passes_its_check(
    checked: Checked, tmp_path: Path
) -> None:
    done = checked.done
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["ordered"] is True
    assert document["warning"] is None
    assert document["auc_right_safe"] > 0.8
    assert document["auc_safe_wrong"] > 0.8
    shutil.copy(checked.place / DEFAULT_STORE, tmp_path)
    shown = call(tmp_path, "judges", "check", "elements", "--limit", "12")
    for kind in ("right answers", "safe answers", "wrong answers", "right answers, padded"):
        assert f"elements: {kind} " in shown.stderr
    padded = (
        r"a right answer that is padded, less the same as it was: [+-]\d\.\d\d \(.*12 answers\)"
    )
    assert re.search(padded, shown.stdout)
    words = ("--limit", "2", "--judge", "elements")
    after = call(tmp_path, "run", "demo", "--model", "control/safe", *words)
    assert "has not been checked" not in after.stderr
    assert "Judge elements, 0 to 10" in after.stdout


def test_a_judge_that_does_not_is_warned_about_wherever_it_is_shown(tmp_path: Path) -> None:
    install_judge(tmp_path)
    done = call(tmp_path, "judges", "check", "upside-down", "--limit", "3")
    assert done.returncode == 0, done.stderr
    assert "upside-down does not order right > safe > wrong" in done.stderr
    words = ("--limit", "2", "--judge", "upside-down")
    after = call(tmp_path, "run", "demo", "--model", "control/safe", *words)
    assert "Warning: upside-down does not order right > safe > wrong" in after.stderr


def test_wrong_use_is_one_sentence(tmp_path: Path) -> None:
    for words, reason in (
        (["run", "demo", "--model", "listener", "--judge", "nobody"], "nobody"),
        (["score", "--judge", "elements"], "score needs a RUN"),
        (["judges", "check", "nobody/knows"], "nobody/knows"),
    ):
        done = call(tmp_path, *words)
        assert done.returncode == 2, words
        assert reason in done.stderr
        assert "Traceback" not in done.stderr


def test_the_runs_of_a_check_stay_out_of_the_way(checked: Checked) -> None:
    assert checked.done.returncode == 0
    listed = call(checked.place, "runs")
    assert "6 runs of trials not shown; --trials does." in listed.stderr
    assert "control/right" not in listed.stdout
    assert json.loads(call(checked.place, "runs", "--json").stdout)["runs"] == []
    shown = json.loads(call(checked.place, "runs", "--trials", "--json").stdout)["runs"]
    assert {one["benchmark"] for one in shown} == {"trial/check/demo"}
    refused = call(checked.place, "score", "1")
    assert refused.returncode == 2
    assert "run 1 is of trial/check/demo: its answers are no captions to score" in refused.stderr


def test_mecat_s_judge_is_checked_on_mecat_s_own_questions(tmp_path: Path) -> None:
    shards = tmp_path / "shards.tar.gz"
    shards.write_bytes(tar([*caption_files("S00", range(1)), *caption_files("00A", range(1))]))
    build_shards(tmp_path / "data", shards)
    words = ["judges", "check", "elements", "--benchmark", "mecat-caption", "--data", "data"]
    done = call(tmp_path, *words, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kinds"]["right"]["n"] == 4 * 2


def test_a_benchmark_is_checked_without_a_folder_where_it_needs_none(tmp_path: Path) -> None:
    done = call(tmp_path, "judges", "check", "elements", "--benchmark", "demo", "--limit", "2")
    assert done.returncode == 0, done.stderr
    (tmp_path / "mecat-qa").mkdir()
    (tmp_path / "mecat-qa" / "000.jsonl").touch()
    none = call(tmp_path, "judges", "check", "elements", "--benchmark", "mecat-qa")
    assert none.returncode == 2
    assert "mecat-qa: has no metadata.jsonl, so no clips; make a folder with" in none.stderr


def test_a_judge_is_checked_on_questions_with_one_answer(tmp_path: Path) -> None:
    shards = tmp_path / "shards.tar.gz"
    members = [
        member
        for number in range(2)
        for turn in range(2)
        for member in pair(
            f"{clip_key('S00', number)}_{number:04x}{turn:04x}",
            question("S00", number, turn, answer=f"A dog, {turn} times {number}."),
            clip("S00", number),
        )
    ]
    shards.write_bytes(tar(members))
    build_shards(tmp_path / "data", shards, part="qa")
    words = ["judges", "check", "elements", "--benchmark", "mecat-qa", "--data", "data"]
    done = call(tmp_path, *words, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["left_in"] is True
    assert {name: one["n"] for name, one in document["kinds"].items()} == dict.fromkeys(
        ("right", "safe", "wrong"), 2 * 2
    )
    assert "the reference itself, left in" in call(tmp_path, *words).stdout
    refused = call(
        tmp_path, "run", "mecat-qa", "--data", "data", "--model", "listener", "--judge", "elements"
    )
    assert refused.returncode == 2
    assert "elements does not judge this benchmark" in refused.stderr


def test_predictions_for_mecat_are_judged_group_by_group(tmp_path: Path) -> None:
    install_judge(tmp_path)
    write_references(tmp_path / "refs", "caption", clips(2))
    for name in ("long", "short"):
        texts = {key: own[name][0] for key, own in clips(2).items()}
        (tmp_path / f"{name}.json").write_text(json.dumps(texts))
    words = [
        "score",
        "--benchmark",
        "mecat-caption",
        "--references",
        "refs",
        "--metrics",
        "rouge_l",
    ]
    files = ["--predictions", "long=long.json", "--predictions", "short.json"]
    done = call(tmp_path, *words, *files, "--judge", "upside-down", "--json")
    document = json.loads(done.stdout)
    assert document["model"] == "long"
    groups = document["judges"]["upside-down"]["by_group"]
    assert {name: groups[name]["overall"]["scored"] for name in ("long", "short")} == {
        "long": 16,
        "short": 16,
    }


def test_a_run_without_any_answer_is_shown_with_nothing_judged(tmp_path: Path) -> None:
    lonely = tmp_path / "lonely"
    write_tone(lonely / "tone.wav")
    write_lines(lonely, [{"file_name": "tone.wav", "references": ["A tone."]}])
    words = ["run", "lonely", "--model", "control/right", "--judge", "elements", "--json"]
    done = call(tmp_path, *words)
    assert done.returncode == 1, done.stderr
    [run] = json.loads(done.stdout)["runs"]
    assert (run["answered"], run["judges"]["elements"]["judged"]) == (0, 0)
    assert run["metrics"]["meteor"]["bounds"] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("benchmark", "words"),
    [
        ("demo", "audiocapbench judges check elements"),
        ("folder/mine", "audiocapbench judges check elements --data ROOT"),
        (
            "mecat-caption[prompts=i1]",
            "audiocapbench judges check elements --benchmark 'mecat-caption[prompts=i1]' "
            "--data ROOT",
        ),
        ("halls[size=2]", None),  # of a file, or a plug-in that is gone: no command would find it
        ("trial/check/demo", None),
    ],
)
def test_the_check_that_is_advised_can_be_given_as_it_is(
    tmp_path: Path, benchmark: str, words: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = made_samples(1)
    grades = {"elements": {samples[0].id: {"accuracy": 5.0}}}
    kept = Store.open(str(tmp_path / "runs.db"))
    put_run(kept, MadeRun("mine", grades=grades), samples, benchmark)
    root = kept.dataset(kept.run(1).dataset, benchmark).root
    warn_about(kept, ["elements"], [1])
    assert capsys.readouterr().err == ""
    warn_about(kept, ["elements"], [1], advise=True)
    kept.close()
    said = capsys.readouterr().err.strip()
    if words is None:
        assert said == ""
    else:
        assert said.endswith(f"this does: {words.replace('ROOT', root)} --store {kept.name}")


def test_the_check_that_is_advised_skips_what_the_run_skipped(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "set", 4)
    (root / "clips" / "1.wav").unlink()
    words = "run set --model control/right --metrics rouge_l --judge elements --skip-missing"
    done = call(tmp_path, *words.split())
    assert f"judges check elements --data {root} --skip-missing" in done.stderr, done.stderr


def test_how_a_model_is_asked_is_refused_where_no_judge_is_one(tmp_path: Path) -> None:
    call(tmp_path, "run", "demo", "--model", "control/safe", "--limit", "2")
    for words in (
        ("score", "1", "--judge", "elements", "--protocol", "published"),
        ("score", "1", "--judge-prompt", "tool"),
        ("run", "demo", "--model", "control/safe", "--judge", "elements", "--judge-prompt", "tool"),
        ("judges", "check", "elements", "--protocol", "published"),
    ):
        done = call(tmp_path, *words)
        assert done.returncode == 2
        assert "is about a judge that is a model, and none is named" in done.stderr
    words = ("--limit", "2", "--judge", "elements", "--protocol", "published")
    done = call(tmp_path, "run", "demo", "--model", "control/safe", *words)
    assert done.returncode == 0, "the protocol is the model's too"


def test_a_check_that_was_advised_is_not_advised_again(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,caption\na,A dog.\n")
    (tmp_path / "r.csv").write_text("id,reference\na,A dog barks.\n")
    call(tmp_path, "import", "p.csv", "--references", "r.csv", "--model", "mine")
    first = call(tmp_path, "score", "1", "--judge", "elements")
    advised = first.stderr.partition("this does: audiocapbench ")[2].split()
    assert advised[:2] == ["judges", "check"]
    assert call(tmp_path, *advised[:3], "--limit", "2").returncode == 0
    (tmp_path / "p.csv").write_text("id,caption\na,A cat.\n")
    call(tmp_path, "import", "p.csv", "--references", "r.csv", "--model", "other")
    second = call(tmp_path, "score", "2", "--judge", "elements")
    assert "has not been checked" not in second.stderr
