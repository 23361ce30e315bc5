"""Every number of a terminal's table has its signature below it."""

from pathlib import Path

import pytest

from audiocapbench.judges.elements import Elements
from audiocapbench.metrics import compute
from audiocapbench.metrics.encoders import load
from command import run_command


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("signed")
    (place / "p.csv").write_text("id,prediction\na,A dog barks.\nb,Rain falls.\n")
    (place / "r.csv").write_text("id,reference\na,A dog is barking.\nb,It rains.\n")
    (place / "pairs.csv").write_text(
        "audio,caption_a,caption_b,preferred,reference\n"
        "x.wav,A dog barks.,A cat.,a,A dog barks.\ny.wav,Rain.,Rain falls.,b,Rain falls down.\n"
    )
    return place


LINES = (
    "run demo --limit 12 --model control/safe --model control/wrong --metrics rouge_l "
    "--judge elements",
    "score 1 --metrics rouge_l --judge elements",
    "leaderboard --metric rouge_l",
    "compare 1 2 --metrics rouge_l",
    "score --predictions p.csv --references r.csv --metrics rouge_l",
    "meta csv --pairs pairs.csv --scorer metric:rouge_l",
    "judges check elements --repeats 1 --limit 4",
)


def test_a_table_is_followed_by_the_signatures_of_its_numbers(place: Path) -> None:
    # A trial adds its own fields before the protocol.
    rouge = str(compute(["rouge_l"], ["a b"], [["a"]])[0].signature).rpartition("|")[0]
    judge = str(Elements(load("caption2vec")).signature)
    for line in LINES:
        done = run_command(*line.split(), cwd=place)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        wanted = [judge] if "judges" in line else [rouge]
        for one in [*wanted, *([judge] if "--judge" in line else [])]:
            assert f"Signature: {one}" in done.stdout, line


def test_nothing_scored_is_said_and_not_an_empty_table(place: Path) -> None:
    (place / "none.csv").write_text("id,prediction\n")
    words = "score --predictions none.csv --references r.csv --metrics rouge_l".split()
    done = run_command(*words, cwd=place)
    assert "Nothing was scored: none.csv holds no prediction that can be read." in done.stdout
    assert "metric" not in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize("words", ["", "run", "score", "runs show", "judges check", "mecat"])
def test_the_short_form_of_help_works_everywhere(words: str) -> None:
    done = run_command(*words.split(), "-h")
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout
