"""``audiocapbench subset``: fewer clips that say the same, and how well they do it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench.errors import ReportError
from audiocapbench.store import Store
from audiocapbench.study.subset import anchors, balanced, draw, measure, read_subset
from command import run_command
from folders import write_folder
from made_store import MadeRun, made_samples, put_run

SAMPLES = made_samples(300, categories=("sound", "music", "speech"))
CATEGORIES = [one.category for one in SAMPLES]
MODELS = 8


def made_scores(models: int, clips: int, seed: int = 0) -> Any:
    """Models of known ability on clips of known difficulty, of which some suit some models."""
    generator = np.random.default_rng(seed)
    ability = np.linspace(0.35, 0.65, models)[:, np.newaxis]
    hard = generator.normal(0, 0.15, clips)
    taste = generator.normal(0, 0.06, (models, 1)) * generator.normal(0, 1, clips)
    noise = generator.normal(0, 0.08, (models, clips))
    return (ability - hard + taste + noise).clip(0, 1)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("subset")
    kept = Store.open(str(root / "made.db"))
    for number, row in enumerate(made_scores(MODELS, 300)):
        scores = dict(zip((one.id for one in SAMPLES), row.tolist(), strict=True))
        put_run(kept, MadeRun(f"m{number}", {"rouge_l": scores}), SAMPLES)
    kept.close()
    return root


def call(place: Path, *words: str) -> Any:
    return run_command("subset", *words, "--store", "made.db", "--metric", "rouge_l", cwd=place)


@pytest.mark.parametrize("choose", [anchors, balanced, draw])
def test_weights_stand_for_the_whole_and_every_category_has_its_share(choose: Any) -> None:
    scores = made_scores(MODELS, 300)
    chosen = choose(scores, CATEGORIES, 60, 1)
    assert chosen.weights.sum() == pytest.approx(1)
    assert len(set(chosen.places.tolist())) == len(chosen.places) <= 60
    found = [CATEGORIES[place] for place in chosen.places.tolist()]
    assert {found.count(name) for name in set(CATEGORIES)} == {20}
    if choose is balanced:
        whole = scores.mean(axis=1)
        assert np.abs(chosen.estimate(scores) - whole).max() < 0.02


@pytest.mark.slow
def test_a_hundred_of_a_thousand_rank_thirteen_models_nearly_as_all_do() -> None:
    categories = ["sound"] * 400 + ["music"] * 300 + ["speech"] * 300
    found = measure(made_scores(13, 1000), categories, 100, 0)
    assert found["balanced"].error < found["draw"].error
    assert found["balanced"].rank_error < 0.5
    print(found)  # noqa: T201


def test_the_subset_is_written_and_says_how_far_it_is_off(place: Path) -> None:
    numbers = [str(number) for number in range(1, MODELS)]
    done = call(place, *numbers, "--size", "60", "--out", "small.json")
    assert done.returncode == 0, done.stderr
    assert "places off on average" in done.stdout
    told = json.loads((place / "small.json").read_text())
    assert told["size"] == 60
    assert told["method"] == min(told["held_out"], key=lambda one: told["held_out"][one]["error"])
    # The last model was not among those that it was chosen by.
    used = call(place, str(MODELS), "--use", "small.json", "--json")
    [one] = json.loads(used.stdout)["models"]
    low, high = one["by_the_subset"]["ci"]
    assert low < one["on_all_clips"]["value"] < high
    assert high - low < 0.3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["1", "2", "3"], "4 runs at least"),
        (["1", "2", "3", "4", "--size", "300"], "would be no smaller"),
        (["1", "2", "3", "4", "--size", "2"], "leaves out whole categories"),
        (["1", "--use", "broken.json"], "is no subset"),
        (["1", "--use", "none.json"], "is no subset"),
        (["1", "2", "3", "4", "--seed", "-1"], "greater than or equal to 0"),
        (["1", "--use", "none.json", "--out", "other.json"], "only estimates"),
    ],
)
def test_what_cannot_be_chosen_or_used_is_refused(place: Path, words: list[str], says: str) -> None:
    (place / "broken.json").write_text('{"ids": ["a"]}')
    done = call(place, *words)
    assert done.returncode == 2
    assert says in done.stderr


def test_run_asks_only_the_subset(tmp_path: Path) -> None:
    write_folder(tmp_path / "tones", 12)
    models = [
        word
        for name in ("right", "safe", "wrong", "empty")
        for word in ("--model", f"control/{name}")
    ]
    run_command("run", "tones", *models, cwd=tmp_path)
    chosen = run_command(
        "subset", "1", "2", "3", "4", "--size", "4", "--out", "s.json", cwd=tmp_path
    )
    assert chosen.returncode == 0, chosen.stderr
    done = run_command(
        "run", "tones", "--model", "listener", "--only", "s.json", "--json", cwd=tmp_path
    )
    [run] = json.loads(done.stdout)["runs"]
    assert run["metrics"]["meteor"]["n"] == 4
    used = run_command("subset", "5", "--use", "s.json", cwd=tmp_path)
    assert used.returncode == 0, used.stderr
    assert "listener" in used.stdout
    write_folder(tmp_path / "others", 13)
    done = run_command("run", "others", "--model", "listener", "--only", "s.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "not of this data" in done.stderr


@pytest.mark.parametrize(
    "changes",
    [{"models": []}, {"error": float("nan")}, {"error": -5}, {"error": "x"}, {"error": 1e999}],
)
def test_a_subset_that_was_tampered_with_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    held = {"draw": {"error": 0.1, "rank_error": 0.0, "kendall": 1.0} | changes}
    held["draw"].pop("models", None)
    told = {
        "benchmark": "made", "dataset": "x", "scorer": "meteor", "signature": "s", "of": 9,
        "method": "draw", "held_out": held, "ids": ["a"], "weights": [1.0],
        "models": changes.get("models", ["m", "n"]),
    }  # fmt: skip
    (tmp_path / "s.json").write_text(json.dumps(told))
    with pytest.raises(ReportError, match="is no subset"):
        read_subset(tmp_path / "s.json")


def test_models_that_fare_alike_on_many_clips_still_get_the_clips_asked_for() -> None:
    generator = np.random.default_rng(3)
    scores = (generator.random((4, 60)) < 0.5).astype(float)
    categories = ["sound", "music"] * 30
    chosen = anchors(scores, categories, 40, 2**40)
    assert len(set(chosen.places.tolist())) == 40
    assert chosen.weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(chosen.estimate(scores), scores.mean(axis=1), atol=1e-12)
