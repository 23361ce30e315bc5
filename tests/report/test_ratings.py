"""What people said of captions: the MECAT paper's tables F.1 and F.3, digit by digit."""

import csv
import json
from itertools import combinations
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from audiocapbench.data.opinions import read_opinions
from audiocapbench.errors import ReportError
from audiocapbench.meta.pairs import read_pairs
from audiocapbench.metrics import compute
from audiocapbench.report.ratings import agreement_report, rating_report, win_report
from command import run_command
from needs import needs

stats = needs("scipy.stats")

# Ratings 1 to 5 of 100 clips each: the only counts that give the four figures of table F.3.
COUNTS = {
    "00A": (7, 19, 19, 32, 23),
    "0M0": (4, 16, 13, 33, 34),
    "0MA": (8, 13, 22, 28, 29),
    "S00": (0, 5, 19, 37, 39),
    "S0A": (2, 10, 20, 33, 35),
    "SM0": (0, 6, 15, 45, 34),
    "SMA": (3, 10, 18, 37, 32),
}
PRINTED = {
    "00A": (3.45, 0.74, 0.365, 0.422),
    "0M0": (3.77, 0.80, 0.644, 0.648),
    "0MA": (3.57, 0.79, 0.453, 0.511),
    "S00": (4.10, 0.95, 1.247, 0.935),
    "S0A": (3.89, 0.88, 0.838, 0.788),
    "SM0": (4.07, 0.94, 1.250, 0.915),
    "SMA": (3.85, 0.87, 0.790, 0.744),
}
WINS = {"safe": (52, 49), "wrong": (47, 46), "human": (51, 29)}


def call(*words: object) -> CompletedProcess[str]:
    return run_command(*map(str, words))


def write(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    rows = [
        [group, rating]
        for group, counts in COUNTS.items()
        for rating, count in enumerate(counts, 1)
        for _ in range(count)
    ]
    return write(tmp_path / "audit.csv", [["domain", "REL"], *rows])


@pytest.mark.slow
def test_the_audit_of_the_paper_is_reproduced(audit: Path) -> None:
    sides = "S00+S0A+SM0+SMA:00A+0MA+S0A+SMA"
    done = call("meta", "ratings", audit, "--compare", sides, "--json")
    said = json.loads(done.stdout)
    groups = {one["group"]: one for one in said["groups"]}
    for name, printed in PRINTED.items():
        keys = ("mean", "at_least_baseline", "cohens_d", "rank_biserial")
        assert [groups[name][key]["value"] for key in keys] == pytest.approx(printed, abs=5e-4)
        assert groups[name]["p_bonferroni"] == pytest.approx(7 * groups[name]["p"])
        assert groups[name]["p"] < 0.001
    whole = groups["all"]
    figures = [whole[key]["value"] for key in ("mean", "at_least_baseline", "lowest")]
    assert figures == pytest.approx([3.81, 0.853, 0.034], abs=5e-3)
    assert whole["lowest"]["ci"] == pytest.approx([0.023, 0.051], abs=5e-4)
    assert whole["rank_biserial"]["value"] == pytest.approx(0.714, abs=5e-4)
    assert whole["cohens_d"]["value"] == pytest.approx(0.734, abs=5e-4)
    [one] = said["comparisons"]
    assert (one["n_first"], one["n_second"]) == (400, 400)
    assert one["mean_first"] == pytest.approx(3.98, abs=5e-3)
    assert one["mean_second"] == pytest.approx(3.69, abs=5e-3)
    assert one["p"] == pytest.approx(1.37e-3, abs=5e-6)
    assert one["cliffs_delta"]["value"] == pytest.approx(0.125, abs=5e-4)
    assert one["cohens_d"]["value"] == pytest.approx(0.267, abs=5e-4)
    assert "both sides" in " ".join(said["notes"])


def test_an_item_that_several_people_rated_counts_once(tmp_path: Path) -> None:
    rows: list[list[object]] = [["item", "rater", "group", "rating"]]
    rows += [[f"clip{n}", who, "ab"[n % 2], 1 + (n + who) % 5] for n in range(18) for who in (0, 1)]
    found = rating_report(read_opinions(write(tmp_path / "r.csv", rows)), 3.0)
    whole, first, _ = found.to_dict()["groups"]
    assert (whole["n"], first["n"]) == (18, 9)
    means = [np.mean([1 + n % 5, 1 + (n + 1) % 5]) for n in range(18)]
    assert whole["mean"]["value"] == pytest.approx(np.mean(means))
    assert whole["p"] == pytest.approx(
        stats.wilcoxon([m - 3 for m in means if m != 3], alternative="greater").pvalue
    )
    assert [one["first"] for one in found.to_dict()["comparisons"]] == ["a"], "two are compared"
    assert "18 have several" in " ".join(found.to_dict()["notes"])


def test_wrong_ratings_and_groups_are_refused_in_words(audit: Path, tmp_path: Path) -> None:
    for words, reason in (("S00", "does not name two"), ("S00:S9", "no group 'S9'")):
        with pytest.raises(ReportError, match=reason):
            rating_report(read_opinions(audit), 3.0, [words])
    bad = write(tmp_path / "bad.csv", [["rating"], [3], ["good"], [""], ["inf"]])
    done = call("meta", "ratings", bad)
    assert done.returncode == 2
    assert all(f"line {line}" in done.stderr for line in (3, 5))
    far = call("meta", "ratings", write(tmp_path / "far.csv", [["rating"], ["1e308"], ["-1e308"]]))
    assert far.returncode == 2
    assert "line 2: rating: is '1e308', no number" in far.stderr
    for baseline in (float("nan"), float("inf"), 1e308):
        with pytest.raises(ReportError, match="is no baseline"):
            rating_report(read_opinions(audit), baseline)
    few: list[list[object]] = [
        [group, 1 + n % 5] for group in ("S00", "SMA", "00A") for n in range(7)
    ]
    three = write(tmp_path / "few.csv", [["group", "rating"], *few])
    once, twice = (
        rating_report(read_opinions(three), 3.0, ["S00:SMA"] * times) for times in (1, 2)
    )
    assert once.to_dict() == twice.to_dict(), "the same comparison is one test"
    zeros = write(tmp_path / "zeros.jsonl", [])
    zeros.write_text('{"rating": 0}\n{"rating": 4}\n')
    assert (
        rating_report(read_opinions(zeros), 3.0).to_dict()["groups"][0]["mean"]["value"] == 2.0
    ), "0 is a rating"
    none = call("meta", "ratings", write(tmp_path / "none.csv", [["rating"]]))
    assert "holds no ratings" in none.stderr


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows: list[list[object]] = [
        ["audio", "caption_a", "caption_b", "preferred", "type", "reference_1"]
    ]
    for kind, (size, won) in WINS.items():
        for number in range(size):
            good = f"A {kind} dog number {number} barks at gate {number}"
            texts = [good, "Something is heard"]
            preferred = "a" if number < won else "b"
            rows.append([f"{kind}{number}.wav", *texts, preferred, kind, f"{good} loudly"])
    return write(tmp_path / "ab.csv", rows)


def test_the_win_rates_of_table_f1_are_reproduced(pairs: Path) -> None:
    said = json.loads(call("meta", "wins", pairs, "--json").stdout)
    printed = {
        "all": (150, 82.7, 75.8, 87.9),
        "safe": (52, 94.2, 84.4, 98.0),
        "wrong": (47, 97.9, 88.9, 99.6),
        "human": (51, 56.9, 43.3, 69.5),
    }
    assert [one["pairs"] for one in said["types"]] == list(printed)
    for one in said["types"]:
        share = one["first_wins"]
        found = (one["n"], *(100 * part for part in (share["value"], *share["ci"])))
        assert found == pytest.approx(printed[one["pairs"]], abs=0.05)


def test_scores_of_preferred_captions_are_those_of_the_metric(pairs: Path) -> None:
    found = win_report(read_pairs("csv", [pairs]), ["rouge_l", "date"])
    rouge, date = found.to_dict()["metrics"]
    chosen = [one if one.answer == 0 else one.swapped() for one in read_pairs("csv", [pairs])]
    for side, texts in (
        ("preferred", [one.first for one in chosen]),
        ("other", [one.second for one in chosen]),
    ):
        own = compute(["rouge_l", "date"], texts, [one.references_first for one in chosen])
        assert [rouge[side]["value"], date[side]["value"]] == pytest.approx(
            [one.score for one in own]
        )
        low, high = rouge[side]["ci"]
        assert low < rouge[side]["value"] < high
    assert rouge["preferred"]["value"] > rouge["other"]["value"]
    assert rouge["difference"]["ci"][0] > 0
    assert rouge["n"] == 150


def test_undecided_pairs_are_counted_apart(tmp_path: Path) -> None:
    head: list[object] = ["audio", "caption_a", "caption_b", "preferred"]
    rows: list[list[object]] = [
        head,
        ["1.wav", "a dog", "a cat", "a"],
        ["2.wav", "a dog", "a cat", "tie"],
    ]
    [one] = win_report(read_pairs("csv", [write(tmp_path / "p.csv", rows)])).to_dict()["types"]
    assert (one["n"], one["undecided"], one["first_wins"]["value"]) == (1, 1, 1.0)
    done = call("meta", "wins", tmp_path / "p.csv", "--metrics", "rouge_l")
    assert done.returncode == 2
    assert "no references" in done.stderr
    only_ties = write(tmp_path / "t.csv", [head, rows[2]])
    assert "all are undecided" in call("meta", "wins", only_ties).stderr


def test_agreement_of_a_file_comes_with_intervals(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    heard = draw.normal(size=40)
    rows: list[list[object]] = [["item", "person", "dimension", "value", "type"]]
    for who in ("<b>ana</b>", "ben", "caro"):
        grades = np.digitize(heard + 0.5 * draw.normal(size=40), [-1, -0.3, 0.3, 1])
        rows += [[n, who, "rel", one + 1, ""] for n, one in enumerate(grades)]
        rows += [[n, who, "vote", "ab"[int(one > 2)], "HM"[n % 2]] for n, one in enumerate(grades)]
    said = json.loads(
        call("ratings", "agreement", write(tmp_path / "r.csv", rows), "--json").stdout
    )
    rel, vote = said["agreement"]
    for name in ("alpha", "alpha_ordinal", "kappa", "icc", "icc_mean"):
        low, high = rel[f"{name}_ci"]
        assert 0 < low < rel[name] < high < 1, name
    assert (rel["people"], rel["items"]) == (3, 40)
    assert (vote["icc"], vote["alpha_ordinal"]) == (None, None), "names have no order"
    assert vote["alpha"] == pytest.approx(vote["kappa"], abs=0.02)
    assert 50 < vote["one_against_rest_ci"][0] < vote["one_against_rest"] < 100
    assert rel["one_against_rest"] is None
    person = said["ceiling"]["vote"]
    assert set(person["by_type"]) == {"H", "M"}
    assert person["all"]["accuracy"] == vote["one_against_rest"]
    assert set(person["by_strength"]) == {"2"}, "of three, the two others agree"
    shuffled = [rows[0], *(rows[1:][n] for n in draw.permutation(len(rows) - 1))]
    again = agreement_report(read_opinions(write(tmp_path / "s.csv", shuffled))).to_dict()
    rows_again = {one["dimension"]: one for one in again["agreement"]}
    for name, value in rel.items():
        assert rows_again["rel"][name] == pytest.approx(value), name
    nobody = write(tmp_path / "n.csv", [["item", "value"], [1, 3]])
    assert "does not say who rated" in call("ratings", "agreement", nobody).stderr


def voted(models: dict[str, float], people: int = 6, clips: int = 30) -> list[list[object]]:
    """A row a vote: people with tastes of their own, models of so much strength."""
    draw, names = np.random.default_rng(7), list(models)
    rows: list[list[object]] = [
        ["audio", "caption_a", "caption_b", "preferred", "person", "model_a", "model_b"]
    ]
    for who in range(people):
        taste = dict(zip(names, draw.normal(0, 0.2, len(names)), strict=True))
        for clip in range(clips):
            one, other = draw.permutation(names)[:2].tolist()
            chance = 1 / (1 + np.exp(models[other] + taste[other] - models[one] - taste[one]))
            said = "tie" if draw.random() < 0.1 else "ab"[int(draw.random() > chance)]
            rows.append([f"{clip}.wav", "a dog", "a cat", said, f"person {who}", one, other])
    return rows


def test_wins_are_told_of_models_by_name_with_intervals_clustered(tmp_path: Path) -> None:
    models = {"strong": 1.5, "<b>weak</b>\x1b[31m": 0.0, "middle": 0.7}
    rows = voted(models)
    said = json.loads(call("meta", "wins", write(tmp_path / "v.csv", rows), "--json").stdout)
    assert said["strengths"][0]["model"] == "strong"
    shares = [one["preferred"]["value"] for one in said["strengths"]]
    assert sum(shares) == pytest.approx(1.5), "of three, with ties as halves"
    for one in (*said["strengths"], *said["models"]):
        low, high = one["preferred"]["ci"]
        assert low < one["preferred"]["value"] < high
    assert {frozenset((one["model"], one["to"])) for one in said["models"]} == {
        frozenset(pair) for pair in combinations(models, 2)
    }
    assert sum(one["votes"] for one in said["models"]) == 180
    assert said["types"][0]["n"] + said["types"][0]["undecided"] == 180
    text = call("meta", "wins", tmp_path / "v.csv").stdout
    assert "strong" in text
    assert "first" not in text
    assert "\x1b[31m" not in text
    mixed = [rows[0], *(rows[1:][n] for n in np.random.default_rng(1).permutation(180))]
    again = win_report(read_pairs("csv", [write(tmp_path / "m.csv", mixed)])).to_dict()
    assert [one["preferred"]["value"] for one in again["strengths"]] == pytest.approx(shares)
    assert "<b>weak" not in win_report(read_pairs("csv", [tmp_path / "m.csv"]))._repr_html_()


def test_columns_of_votes_are_of_whom_they_name(tmp_path: Path) -> None:
    head = ["audio", "caption_a", "caption_b", "source_a", "source_b"]
    people = [f"vote_{who}" for who in ("ana", "ben", "caro", "dan", "eva")]
    rows: list[list[object]] = [
        [
            f"{n}.wav",
            "a dog",
            "a cat",
            "one",
            "two",
            *("ab"[(n * who) % 3 == 1] for who in range(5)),
        ]
        for n in range(12)
    ]
    named = win_report(read_pairs("csv", [write(tmp_path / "p.csv", [[*head, *people], *rows])]))
    assert named.to_dict()["models"][0]["preferred"]["ci"] is not None
    numbered = [f"vote_{n}" for n in range(5)]
    known = win_report(read_pairs("csv", [write(tmp_path / "q.csv", [[*head, *numbered], *rows])]))
    assert known.to_dict()["models"][0]["preferred"]["ci"] is None
    assert "do not say whose they are" in str(known)


@pytest.mark.parametrize(
    "votes", ["a,a,b\nb,b,b\na,a,\na,a,tie\n", "A,1,second\nb,B,b\nfirst,A,NA\na,a,Tie\n"]
)
@pytest.mark.parametrize("head", ["vote_1,vote_2,vote_3", "Vote ana,vote-ben,VOTE_cy"])
def test_columns_of_votes_are_people_whatever_they_call_a_vote(
    tmp_path: Path, votes: str, head: str
) -> None:
    rows: list[list[object]] = [["preferred", *head.split(",")]]
    rows += [["a", *line.split(",")] for line in votes.splitlines()]
    found = agreement_report(read_opinions(write(tmp_path / "v.csv", rows))).to_dict()
    (row,) = found["agreement"]
    assert (row["people"], row["items"]) == (3, 4)
    assert row["alpha"] == pytest.approx(1 - (4 / 11) / (68 / 110))
    assert row["one_against_rest"] == pytest.approx(100 * 7 / 8)
