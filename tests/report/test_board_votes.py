"""People's votes beside the scores of a leaderboard, and how far the two go together."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import ReportError, TrialError
from audiocapbench.library.comparing import leaderboard
from audiocapbench.store import Store
from audiocapbench.store.ratings import Rating
from cells import cells, headings
from command import run_command
from made_store import MadeRun, made_samples, put_run

SAMPLES = made_samples(40)
MODELS = ("one", "two", "three <b>", "four", "five")
HEAD = ["audio", "caption_a", "caption_b", "preferred", "person", "model_a", "model_b"]


def put_models(store: Store, models: tuple[str, ...] = MODELS) -> None:
    for place, model in enumerate(models):
        drawn = np.random.default_rng(place).normal(0.2 + 0.1 * place, 0.05, 40).clip(0, 1)
        values = dict(zip((one.id for one in SAMPLES), drawn.tolist(), strict=True))
        put_run(store, MadeRun(model, {"rouge_l": values}), SAMPLES)


def write_votes(path: Path, models: tuple[str, ...] = MODELS, people: int = 6) -> str:
    """Later models win more often; of eleven votes between two, the better has seven or eight."""
    draw, rows = np.random.default_rng(3), [HEAD]
    for who in range(people):
        for clip in range(40):
            first, second = draw.choice(len(models), 2, replace=False).tolist()
            chance = 1 / (1 + np.exp(0.8 * (second - first)))
            said = "ab"[int(draw.random() > chance)]
            about = [f"person {who}", models[first], models[second]]
            rows.append([f"{clip}.wav", "a dog", "a cat", said, *about])
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return str(path)


def test_votes_stand_beside_the_score_with_their_correlation(tmp_path: Path) -> None:
    place = str(tmp_path / "s.db")
    with Store.open(place) as store:
        put_models(store)
    votes = write_votes(tmp_path / "v.csv")
    found = leaderboard(store=place, votes=[votes])
    (board,) = found.to_dict()["boards"]
    assert (board["votes"]["votes"], board["votes"]["people"], board["votes"]["models"]) == (
        240,
        6,
        5,
    )
    for name in ("kendall", "spearman"):
        low, high = board["votes"][f"{name}_ci"]
        assert low < board["votes"][name] <= high
    for run in board["runs"]:
        low, high = run["people_ci"]
        assert 0 < low < run["people"] < high < 1
    (table,) = found.tables()
    assert {"people prefer %", "votes"} <= {*headings(table)}
    assert sum(one["people_votes"] for one in board["runs"]) == 2 * 240
    assert "three <b>" not in found._repr_html_()
    assert sum(one["people"] for one in found.records()) == pytest.approx(2.5)
    said = run_command("leaderboard", "--store", place, "--votes", votes, "--json")
    assert json.loads(said.stdout)["boards"][0]["votes"] == json.loads(json.dumps(board["votes"]))
    without = leaderboard(store=place).to_dict()["boards"][0]
    assert without["votes"] is None
    assert {one["people"] for one in without["runs"]} == {None}


def test_few_models_have_no_interval_of_the_correlation(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "s.db")) as store:
        put_models(store, MODELS[:3])
        votes = write_votes(tmp_path / "v.csv", MODELS[:3], people=4)
        (board,) = leaderboard(store=store, votes=[votes]).boards
        assert board.votes is not None
        assert board.votes["kendall"] is not None
        assert board.votes["kendall_ci"] is None
        notes = " ".join(board.notes)
        assert "over 3 models; an interval takes 5" in notes
        assert "takes 5 people" in notes
        put_models(store, MODELS[:1])
        (both,) = leaderboard(store=store, votes=[votes], all_runs=True).boards
        assert (len(both.entries), len(both.people)) == (4, 2), "which run of 'one' is not said"
        other = write_votes(tmp_path / "o.csv", ("x", "y"))
        with pytest.raises(ReportError, match="of a model that was voted on, such as"):
            leaderboard(store=store, votes=[other])
        with pytest.raises(TrialError, match="no such rating project"):
            leaderboard(store=store, votes=["nowhere"])
    done = run_command(
        "leaderboard", "--store", f"{tmp_path}/s.db", "--votes", votes, "--table", "1"
    )
    assert "--votes adds to a leaderboard" in done.stderr


def test_projects_of_two_runs_rank_many_together(tmp_path: Path) -> None:
    people = [f"person {n}" for n in range(6)]
    with Store.open(str(tmp_path / "s.db")) as store:
        put_models(store, MODELS[:3])
        for name, first, second in (("ab", 0, 1), ("bc", 1, 2)):
            items = {
                f"item {n}": {
                    "audio": f"{n}.wav",
                    "captions": ["a dog", "a cat"],
                    "systems": [MODELS[first], MODELS[second]],
                    "runs": [first + 1, second + 1],
                    "sample": str(n),
                    "group": "",
                    "gold": "a" if n == 9 else "",
                    "references": [],
                }
                for n in range(10)
            }
            store.ratings.begin(name, "pairs", 0, items, people)
            for place, who in enumerate(people):
                for n in range(10):
                    vote = ("b", "b", "a", "tie")[(n + place) % 4]
                    key = f"{name}-{place:08d}-{n:08d}"
                    store.ratings.claim(name, who, lambda _, n=n: f"item {n}", 60)  # type: ignore[misc]
                    rating = Rating(who, f"item {n}", key, {"vote": vote}, 1.0, 1.0, "")
                    assert store.ratings.put(name, rating, None, 0.0) == "kept"
        (board,) = leaderboard(store=store, votes=["ab", "bc"]).boards
        assert board.votes is not None
        assert board.votes["votes"] == 108, "answers to gold questions are no votes"
        assert board.votes["kendall"] == pytest.approx(1)
        shown = cells(leaderboard(store=store, votes=["ab", "bc"]).tables()[0])
        assert shown
