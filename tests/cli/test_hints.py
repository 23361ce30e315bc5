"""Commands that are suggested mean the store that was asked, and judges that there are."""

import re
import shutil
from pathlib import Path

import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.store import DEFAULT_STORE, Store
from command import run_command
from made_store import MadeRun, made_samples, put_run

SAMPLES = made_samples(4)
SCORES = {one.id: 0.5 for one in SAMPLES}
GRADES = {"elements": {one.id: {"accuracy": 4.0} for one in SAMPLES}}
NAME = "my other.db"

SUGGESTED = re.compile(r"audiocapbench (?:run|runs|score|report|compare|judges check)\b[^\n]*")
ASKED = [
    ("leaderboard", "--judge", "openai/gpt-4.1"),
    ("leaderboard", "--judge", "elements"),
    ("leaderboard", "--metric", "bleu_4"),
    ("leaderboard", "--benchmark", "nobody"),
    ("compare", "1", "2", "--metrics", "bleu_4"),
    ("compare", "1", "2"),
    ("compare", "1", "9"),
    ("compare", "1", "4"),
    ("report", "3"),
    ("report", "4"),
    ("report", "9"),
    ("runs", "show", "9"),
    ("score", "9"),
    ("score", "1", "--metrics", "rouge_l"),
    ("score", "1", "--judge", "elements"),
    ("export", "9", "--out", "result.json"),
    ("mecat", "drop", "9"),
    ("run", "demo", "--model", "control/safe", "--limit", "1", "--judge", "elements"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of four runs, which is copied and never opened again."""
    path = tmp_path_factory.mktemp("made") / "made.db"
    failed = dict.fromkeys(SCORES, Status.FAILED)
    with Store.open(str(path)) as kept:
        put_run(kept, MadeRun("first", {"rouge_l": SCORES}, GRADES), SAMPLES)
        put_run(kept, MadeRun("second", {"rouge_l": SCORES}), SAMPLES)
        put_run(kept, MadeRun("third"), SAMPLES)
        put_run(kept, MadeRun("hopeless", statuses=failed), SAMPLES)
    return path


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A folder with that store under two names."""
    for name in (NAME, DEFAULT_STORE):
        shutil.copy(made, tmp_path / name)
    return tmp_path


def hints(folder: Path, *words: str) -> list[str]:
    done = run_command(*words, cwd=folder)
    assert "Traceback" not in done.stderr
    return SUGGESTED.findall(f"{done.stdout}\n{done.stderr}")


def test_every_command_that_is_suggested_names_the_store_that_was_asked(folder: Path) -> None:
    found = [hint for words in ASKED for hint in hints(folder, *words, "--store", NAME)]
    found += hints(folder, "runs", "--store", NAME, "--tag", "none")
    found += hints(folder, "leaderboard", "--store", "not there.db")
    Store.open(str(folder / "empty one.db")).close()
    found += hints(folder, "runs", "--store", "empty one.db")
    assert len(found) >= len(ASKED)
    assert [one for one in found if not re.search(r"--store '[a-z ]+\.db'", one)] == []


def test_the_default_store_is_named_only_where_another_is_set(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plain,) = hints(folder, "runs", "show", "9")
    assert "--store" not in plain
    monkeypatch.setenv("AUDIOCAPBENCH_STORE", NAME)
    (other,) = hints(folder, "runs", "show", "9", "--store", "audiocapbench.db")
    assert "--store audiocapbench.db" in other


@pytest.mark.parametrize("judge", ["elemnts", "Elements", "element"])
@pytest.mark.parametrize("words", [("leaderboard",), ("compare", "1", "2")])
def test_a_mistyped_judge_is_put_right_and_not_offered_for_money(
    folder: Path, words: tuple[str, ...], judge: str
) -> None:
    done = run_command(*words, "--judge", judge, cwd=folder)
    assert done.returncode == 2
    assert "did you mean 'elements'?" in done.stderr
    assert "audiocapbench score" not in done.stderr


def test_a_judge_of_no_likeness_is_not_offered_either(folder: Path) -> None:
    done = run_command("leaderboard", "--judge", "zzz", cwd=folder)
    assert done.returncode == 2
    assert "elements" in done.stderr
    assert "audiocapbench score" not in done.stderr
