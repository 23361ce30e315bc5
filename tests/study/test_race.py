"""``audiocapbench race``: as few questions as it takes; the rest of a run is left for later."""

import json
from pathlib import Path
from typing import Any

import pytest

from command import run_command
from folders import write_folder, write_lines

WORDS = "dog cat bird horse train child door bell river engine drum".split()
DEEDS = "barks sings roars runs rings cries slams squeaks hums whistles crackles".split()
MODELS = [word for name in ("right", "wrong", "empty") for word in ("--model", f"control/{name}")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("race")
    write_folder(root / "tones", 120)
    write_lines(root / "tones", [told(number) for number in range(120)])
    return root


def told(number: int) -> dict[str, Any]:
    """A clip whose two references share words that those of others do not have."""
    who, does = WORDS[number % 11], DEEDS[number // 11]
    return {
        "file_name": f"clips/{number}.wav",
        "id": f"tone_{number}",
        "category": "music" if number % 3 else "sound",
        "references": [f"{who} {does} loudly.", f"{who} {does}."],
    }


def race(place: Path, *words: str) -> dict[str, Any]:
    done = run_command("race", "tones", *words, "--json", cwd=place)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_race_asks_less_and_goes_on_where_it_stopped(place: Path) -> None:
    found = race(place, *MODELS)
    assert found["decided"]
    assert found["best"] == ["control/right"]
    assert found["asked"] < found["fixed"] == 360
    empty = next(one for one in found["models"] if one["model"] == "control/empty")
    assert empty["asked"] == empty["out_after"] < 120
    assert race(place, *MODELS) == found


def test_run_asks_the_rest_of_a_race(place: Path) -> None:
    race(place, *MODELS)
    done = run_command("run", "tones", "--model", "control/empty", "--json", cwd=place)
    [run] = json.loads(done.stdout)["runs"]
    assert run["run"] == 3
    assert run["metrics"]["meteor"]["coverage"] == 1.0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "control/right"], "takes more models"),
        ([*MODELS, "--top", "3"], "takes more models"),
        ([*MODELS, "--metric", "meteor", "--judge", "elements"], "one score"),
        ([*MODELS, "--metric", "nothing"], "nothing"),
        ([*MODELS, "--metric", "bleu_coco_4"], "whole corpus"),
        (["--model", "control/empty", "--model", "control/empty"], "takes more"),
    ],
)
def test_what_cannot_be_raced_is_refused(place: Path, words: list[str], says: str) -> None:
    done = run_command("race", "tones", *words, cwd=place)
    assert done.returncode == 2
    assert says in done.stderr


def test_the_table_says_who_is_out_and_what_was_saved(place: Path) -> None:
    done = run_command("race", "tones", *MODELS, "--judge", "elements", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "out after" in done.stdout
    assert "Decided: control/right is the best" in done.stdout
    assert "of the 360 questions" in done.stdout
