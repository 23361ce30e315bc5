"""``judges calibrate``: what people would have given, how far a judge is off, and what it saved."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench.store import Store
from command import run_command
from made_store import MadeRun, made_samples, put_run

SAMPLES = made_samples(400, categories=("sound", "music"))
FEW = SAMPLES[:60]
DIMENSIONS = ("accuracy", "completeness", "hallucination")
MODELS = {"openai/one": 5.0, "gemini/two": 6.0, "gemini/three": 6.1}
JUDGE = "openai/judge"


@pytest.fixture(scope="module")
def truth() -> dict[str, dict[str, float]]:
    """What people think of every answer."""
    generator = np.random.default_rng(8)
    easy = generator.normal(0, 1.5, 400)
    return {
        model: dict(
            zip(
                (one.id for one in SAMPLES),
                (level + easy + generator.normal(0, 0.6, 400)).clip(0, 10).tolist(),
                strict=True,
            )
        )
        for model, level in MODELS.items()
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, truth: dict[str, dict[str, float]]) -> Path:
    """A store with a judge that likes its own family and music, a useless one, and ratings."""
    root = tmp_path_factory.mktemp("calibrate")
    generator = np.random.default_rng(9)
    kept = Store.open(str(root / "made.db"))
    for model, values in truth.items():
        verdicts: dict[str, dict[str, dict[str, float]]] = {JUDGE: {}, "coin": {}}
        for number, sample in enumerate(SAMPLES):
            own = 2.0 if model.startswith("openai") else 0.0
            level = values[sample.id] + own + number % 2 + generator.normal(0, 0.5)
            verdicts[JUDGE][sample.id] = dict.fromkeys(DIMENSIONS, float(np.clip(level, 0, 10)))
            verdicts["coin"][sample.id] = dict.fromkeys(DIMENSIONS, float(generator.integers(11)))
        put_run(kept, MadeRun(model, grades=verdicts), SAMPLES)
    kept.close()
    rows = [
        {"item": sample.id, "model": model, "person": person, "dimension": name, "value": value}
        for model, values in truth.items()
        for place, sample in enumerate(generator.permutation(np.array(SAMPLES, dtype=object))[:60])
        for person in ("abcdef"[place % 6], "abcdef"[(place + 1) % 6])
        for name in DIMENSIONS
        for value in [round(values[sample.id], 2)]
    ]
    write(root / "ratings.csv", rows)
    return root


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of one run on the first samples, for what does not depend on many."""
    root = tmp_path_factory.mktemp("small")
    verdicts = {
        one.id: dict.fromkeys(DIMENSIONS, float(number % 11)) for number, one in enumerate(FEW)
    }
    with Store.open(str(root / "made.db")) as kept:
        put_run(kept, MadeRun("openai/one", grades={JUDGE: verdicts}), FEW)
    return root


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def calibrate(place: Path, *words: str) -> dict[str, Any]:
    done = run_command(
        *("judges", "calibrate", "1", "2", "3", "--store", "made.db"),
        *("--ratings", "ratings.csv", "--json", *words),
        cwd=place,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_what_people_would_have_given_is_found_with_fewer_ratings(
    place: Path, truth: dict[str, dict[str, float]]
) -> None:
    found = calibrate(place, "--judge", JUDGE, "--width", "0.5")
    assert found["adds"]
    assert [one["model"] for one in found["models"]][-1] == "openai/one"
    for one in found["models"]:
        low, high = one["calibrated"]["ci"]
        assert low < np.mean(list(truth[one["model"]].values())) < high
        wide = one["people"]["ci"]
        assert high - low < 0.7 * (wide[1] - wide[0])
        assert (one["ratings"], one["rated"], one["raters"]) == (120, 60, 6)
        assert one["worth"] > 120
        assert (one["needed"] > 120) == (high - low > 0.5)
    # The judge alone puts its own family first.
    assert max(found["models"], key=lambda one: one["judge"])["model"] == "openai/one"
    assert found["signature"].startswith("calibrated|")


def test_the_judges_bias_is_told_by_category_and_family(place: Path) -> None:
    found = calibrate(place, "--judge", JUDGE)
    by_name = {one["where"]: one["judge less people"]["value"] for one in found["bias"]}
    assert by_name["category music"] - by_name["category sound"] == pytest.approx(1, abs=0.4)
    assert by_name["family openai"] - by_name["family gemini"] == pytest.approx(2, abs=0.4)
    own = found["own_family"]["judge less people"]
    assert own["ci"][0] > 1


def test_a_judge_that_adds_nothing_says_so(place: Path) -> None:
    assert not calibrate(place, "--judge", "coin")["adds"]
    words = ("--ratings", "ratings.csv", "--judge", "coin")
    shown = run_command(
        "judges", "calibrate", "1", "2", "3", "--store", "made.db", *words, cwd=place
    )
    assert "adds nothing" in shown.stdout


def test_a_leaderboard_ranks_by_what_people_would_have_given(place: Path) -> None:
    words = ("--judge", JUDGE, "--calibrated", "ratings.csv", "--store", "made.db")
    shown = run_command("leaderboard", *words, cwd=place)
    assert shown.returncode == 0, shown.stderr
    rows = [line.split() for line in shown.stdout.splitlines() if "/" in line and "." in line]
    assert rows[2][0] == "3"
    assert "openai/one" in rows[2]
    for more in (("--fail-under", "9"), ("--out", "x.md")):
        assert run_command("leaderboard", *words, *more, cwd=place).returncode == 2


def test_a_gate_that_could_never_close_is_refused(place: Path) -> None:
    words = ("--judge", JUDGE, "--fail-under", "nan", "--store", "made.db")
    assert run_command("leaderboard", *words, cwd=place).returncode == 2


@pytest.mark.parametrize(
    ("rows", "words", "says"),
    [
        ([{"item": "s0001", "model": "openai/one", "value": 11}], (), "no number from 0 to 10"),
        ([{"item": "s0001", "model": "openai/one", "value": "good"}], (), "no number"),
        ([{"item": "", "model": "openai/one", "value": 1}], (), "is missing"),
        ([{"item": "x", "model": "openai/one", "value": 1}], (), "has no sample x"),
        ([{"item": "s0001", "model": "openai/on", "value": 1}], (), "none of run 1"),
        ([{"item": "s0001", "model": "openai/one", "value": 1}] * 2, (), "rated twice"),
        ([{"item": "s0001", "value": 1}], ("--dimension", "taste"), "nobody rated 'taste'"),
        ([{"item": "s0001", "value": 1}], ("--scale", "5:1"), "no scale"),
        ([{"item": "s0001", "value": 1}], ("--scale", "0:inf"), "no scale"),
        (
            [{"item": "s0001", "model": name, "value": 1} for name in ("1", "openai/one")],
            (),
            "a rating is of one answer",
        ),
        ([{"item": "s0001", "value": 1}], ("--judge", "nobody"), "nobody has not judged"),
    ],
)
def test_what_is_wrong_with_ratings_is_said(
    small: Path, rows: list[dict[str, Any]], words: tuple[str, ...], says: str
) -> None:
    write(small / "wrong.csv", rows)
    judge = () if "--judge" in words else ("--judge", JUDGE)
    done = run_command(
        *("judges", "calibrate", "1", "--store", "made.db", "--ratings", "wrong.csv"),
        *(*words, *judge),
        cwd=small,
    )
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())


def test_a_part_that_is_not_random_and_another_scale_are_warned_of(
    place: Path, truth: dict[str, dict[str, float]]
) -> None:
    best = sorted(truth["openai/one"].items(), key=lambda one: -one[1])[:80]
    write(place / "best.csv", [{"item": key, "value": min(one / 2, 5)} for key, one in best])
    words = ("--ratings", "best.csv", "--judge", JUDGE, "--store", "made.db")
    shown = run_command("judges", "calibrate", "1", *words, cwd=place)
    assert "not like a random part" in shown.stdout
    assert "if that is their scale" in shown.stdout


def rated(model: str, values: list[float], **more: str) -> list[dict[str, Any]]:
    return [
        {"item": one.id, "model": model, "value": value, **more}
        for one, value in zip(SAMPLES, values, strict=False)
    ]


@pytest.mark.parametrize(
    ("rows", "mean", "says"),
    [
        (rated("openai/one", [9, 1]), 5.0, "an interval takes 20 rated answers"),
        (rated("openai/one", [5] * 40), 5.0, "all its ratings are the same"),
    ],
)
def test_ratings_that_are_too_few_or_alike_give_their_mean_and_say_nothing_of_the_judge(
    small: Path, rows: list[dict[str, Any]], mean: float, says: str
) -> None:
    write(small / "few.csv", rows)
    words = ("--judge", JUDGE, "--store", "made.db", "--ratings", "few.csv", "--json")
    done = run_command("judges", "calibrate", "1", *words, cwd=small)
    found = json.loads(done.stdout)
    assert found["adds"] is None
    [model] = found["models"]
    assert model["calibrated"]["value"] == pytest.approx(mean)
    assert model["calibrated"].get("ci") is None
    assert any(says in one for one in found["notes"])


@pytest.mark.parametrize(
    ("people", "says"),
    [
        (["ana"], "rated by 1 person: no interval, it takes 5"),
        (["ana", "ben", "cem"], "rated by 3 people: no interval, it takes 5"),
        ([""], "add a column person"),
    ],
)
def test_below_five_people_there_is_no_interval_and_it_says_how_many_there_are(
    small: Path, people: list[str], says: str
) -> None:
    rows = rated("openai/one", [4, 6, 7] * 20)
    named = [row | {"person": people[n % len(people)]} for n, row in enumerate(rows)]
    write(small / "people.csv", named)
    words = ("--judge", JUDGE, "--store", "made.db", "--ratings", "people.csv", "--json")
    found = json.loads(run_command("judges", "calibrate", "1", *words, cwd=small).stdout)
    [model] = found["models"]
    assert (model["calibrated"]["ci"], model["people"]["ci"]) == (None, None)
    assert any(says in one for one in found["notes"])
    assert all(one["judge less people"]["ci"] is None for one in found["bias"])


def test_ratings_of_one_category_are_no_random_part(small: Path) -> None:
    rows = [
        {"item": one.id, "value": 5 + place % 3, "person": "abcde"[place % 5]}
        for place, one in enumerate(FEW)
        if one.category == "music"
    ]
    write(small / "music.csv", rows)
    words = ("--judge", JUDGE, "--store", "made.db", "--ratings", "music.csv")
    shown = " ".join(run_command("judges", "calibrate", "1", *words, cwd=small).stdout.split())
    assert "not like a random part: 0% of it is sound, and 50% of all" in shown
    assert "a random part is called so in 1% of calibrations" in shown


def test_ratings_that_count_for_nothing_are_counted(small: Path) -> None:
    rows = rated("openai/one", [4, 6] * 15, dimension="accuracy")
    rows += rated("openai/one", [4, 6] * 12, dimension="completeness")
    rows += rated("acme/four", [1, 2, 3], dimension="accuracy")
    write(small / "more.csv", rows)
    words = ("--judge", JUDGE, "--store", "made.db", "--ratings", "more.csv")
    shown = run_command("judges", "calibrate", "1", *words, cwd=small)
    assert "do not give all of overall are not used: 9." in shown.stdout
    one = ("--dimension", "accuracy")
    shown = run_command("judges", "calibrate", "1", *words, *one, cwd=small)
    assert "Ratings that are of acme/four are not used: 3." in shown.stdout
    shown = run_command("judges", "calibrate", "1", *words, "--category", "speech", cwd=small)
    assert (shown.returncode, "no category 'speech'" in shown.stderr) == (2, True)


def test_a_calibrated_board_refuses_what_it_would_leave_out(place: Path) -> None:
    words = ("--judge", JUDGE, "--calibrated", "ratings.csv", "--store", "made.db")
    for more in (("--format", "csv"), ("--by-category",), ("--published",)):
        done = run_command("leaderboard", *words, *more, cwd=place)
        assert (done.returncode, "--json alone" in done.stderr) == (2, True), more
