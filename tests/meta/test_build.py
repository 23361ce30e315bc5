"""A trial built as BRACE was: pairs of every type, a table to vote in, and what the votes leave."""

import csv
import json
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.errors import TrialError
from audiocapbench.meta.build import (
    build_pairs,
    filter_pairs,
    read_votes,
    refuse_filters,
    vote_table,
)
from audiocapbench.meta.corrupt.captions import caption_set
from audiocapbench.meta.pairs import CaptionPair, pair_set, read_csv_pairs, read_pairs
from audiocapbench.meta.scorers.scorer import create_scorer
from audiocapbench.meta.trial import try_scorer
from audiocapbench.stats.correlation import rated_kappa
from command import run_command
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from plugin import environment

PLACES = ("in a hall", "near a road", "by a river", "on a stage", "at night", "outside")
SCORERS = ("metric:bleu_1", "control:longer", "control:likelier", "control:rarer-noun")
VERBS = ("barks", "growls", "whines", "howls")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What everybody says of twelve clips, and the table to vote in; tests have copies."""
    folder = tmp_path_factory.mktemp("made")
    write_sayings(folder)
    pairs_of(folder)
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Twelve clips with three references, and what three systems say of them."""
    write_sayings(tmp_path)
    return tmp_path


@pytest.fixture
def built(made: Path, tmp_path: Path) -> Path:
    """The same, with the table to vote in."""
    return Path(shutil.copytree(made, tmp_path / "built"))


def write_sayings(tmp_path: Path) -> None:
    """References of twelve clips, and a table for each of three systems."""
    clips = [(f"{n}.wav", VERBS[n % 4], PLACES[n % 6]) for n in range(12)]
    with (tmp_path / "captions.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["id", "reference"])
        for name, verb, where in clips:
            says = (f"A dog {verb} {where}", f"dog {verb} loudly", f"A dog {verb} as a man speaks")
            table.writerows([name, text] for text in says)
    for system, form in (("one", "A dog {}"), ("two", "A dog {} loudly"), ("three", "Two dogs {}")):
        lines = [f"{name},{form.format(verb)}" for name, verb, _ in clips]
        (tmp_path / f"{system}.csv").write_text("\n".join(["id,prediction", *lines]))


def build(place: Path, *words: str, **settings: str) -> Any:
    done = run_command("meta", "build", *words, cwd=place, env=environment(place, **settings))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if "--json" in words else done


def pairs_of(place: Path, *words: str) -> Any:
    systems = [
        word for name in ("one", "two", "three") for word in ("--machine", f"{name}={name}.csv")
    ]
    return build(place, "--captions", "captions.csv", *systems, "--out", "sheet.csv", *words)


def vote(place: Path, votes: dict[str, tuple[str, str, str]]) -> None:
    """Fill the table in, by type of pair."""
    with (place / "sheet.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with (place / "voted.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, rows[0])
        table.writeheader()
        for row in rows:
            cast = votes.get(row["type"], ("", "", ""))
            table.writerow(row | dict(zip(("vote_1", "vote_2", "vote_3"), cast, strict=True)))


def test_every_type_of_pair_is_made_and_sides_are_drawn(place: Path) -> None:
    made = pairs_of(place, "--sources", "key.csv", "--json")
    assert set(made["made"]) == {"HH", "HM_1", "HM_2", "MM_1", "MM_2", "MM_3"}
    assert made["filter"] is None
    with (place / "sheet.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sum(made["kept"].values()) == len(rows)
    assert not any("source" in name for name in rows[0])
    for row in rows:
        assert not row["vote_1"]
        assert bool(row["preferred"]) is (row["type"] in ("HM_2", "MM_2"))
        assert row["caption_a"].endswith(".")
        assert row["caption_b"].endswith(".")
        assert row["caption_a"] != row["caption_b"]
    with (place / "key.csv").open(encoding="utf-8", newline="") as stream:
        key = {row["id"]: (row["source_a"], row["source_b"]) for row in csv.DictReader(stream)}
    assert set(key) == {row["id"] for row in rows}
    for row in rows:
        broken = [source.endswith("broken") for source in key[row["id"]]]
        assert row["preferred"] == ("" if not any(broken) else "b" if broken[0] else "a")
    first = {key[row["id"]][0] == "human" for row in rows if row["type"] == "HM_1"}
    assert first == {True, False}


def test_the_same_seed_builds_the_same_table(made: Path, place: Path) -> None:
    once = (made / "sheet.csv").read_bytes()
    pairs_of(place, "--json")
    assert (place / "sheet.csv").read_bytes() == once
    pairs_of(place, "--seed", "7", "--json")
    assert (place / "sheet.csv").read_bytes() != once


def test_a_table_in_json_lines_holds_the_same_pairs_and_can_be_voted_in(built: Path) -> None:
    place = built
    same = read_csv_pairs(place / "sheet.csv")
    pairs_of(place, "--out", "sheet.jsonl", "--json")
    assert [replace(one, dataset="") for one in read_csv_pairs(place / "sheet.jsonl")] == [
        replace(one, dataset="") for one in same
    ]
    lines = [json.loads(line) for line in (place / "sheet.jsonl").read_text().splitlines()]
    assert lines[0]["vote_1"] == ""
    assert isinstance(lines[0]["references"], list)
    # Votes may be numbers, as BRACE has them, or null.
    voted = [one | {"vote_1": 1, "vote_2": "a", "vote_3": None} for one in lines]
    (place / "voted.jsonl").write_text("\n".join(map(json.dumps, voted)))
    told = build(place, "--votes", "voted.jsonl", "--out", "kept.jsonl", "--json")
    assert told["kept"] == told["read"]
    assert {one.answer for one in read_csv_pairs(place / "kept.jsonl")} == {0}
    (place / "voted.jsonl").write_text(json.dumps(voted[0] | {"caption_a": ["A dog", {}]}))
    done = run_command("meta", "build", "--votes", "voted.jsonl", "--out", "x.csv", cwd=place)
    assert done.returncode == 2
    assert "is neither text nor a number" in done.stderr


@pytest.mark.parametrize("out", ["kept.csv", "kept.jsonl", "kept.json"])
def test_votes_decide_what_is_kept_and_kappa_is_told_before_and_after(
    built: Path, out: str
) -> None:
    place = built
    vote(place, {"HH": ("a", "a", "b"), "HM_1": ("a", "a", "a"), "MM_1": ("b", "b", "tie")})
    told = build(place, "--votes", "voted.csv", "--out", out, "--json")
    assert "HH" not in told["kept"]
    assert told["kept"]["HM_1"] == told["read"]["HM_1"]
    # What was set when a pair was made is no vote.
    assert told["unvoted"] == sum(told["read"][one] for one in ("HM_2", "MM_2", "MM_3"))
    votes = [pair.votes for pair in read_csv_pairs(place / "voted.csv") if pair.votes]
    kept = [one for one in votes if abs(sum(one)) >= 2]
    for name, rows in (("before", votes), ("after", kept)):
        assert told["kappa"][name] == pytest.approx(rated_kappa(_columns(rows)).value)
    # The set has a report of its own: what a person would get, and what words give away.
    assert told["ceiling"]["by_subtype"]["HM_1"]["accuracy"] == 100
    assert told["controls"]["all"]["longer"].keys() >= {"accuracy", "ci", "turned_round"}
    kind = "brace-main" if out.endswith(".json") else "csv"
    pairs = read_pairs(kind, [place / out])
    assert len(pairs) == sum(told["kept"].values())
    assert {pair.answer for pair in pairs if pair.subtype == "HM_1"} == {0}
    assert {pair.answer for pair in pairs if pair.subtype == "MM_1"} == {1}
    done = run_command("meta", kind, "--pairs", out, "--scorer", "control:longer", cwd=place)
    assert done.returncode == 0, done.stderr


def test_the_scorer_that_chose_the_pairs_is_not_tried_on_them(place: Path) -> None:
    pairs_of(place, "--filter", "metric:rouge_l")
    vote(place, dict.fromkeys(("HH", "HM_1", "HM_2", "MM_1", "MM_2", "MM_3"), ("a", "a", "a")))
    for out, kind in (("kept.csv", "csv"), ("kept.json", "brace-main")):
        build(place, "--votes", "voted.csv", "--out", out)
        words = ["meta", kind, "--pairs", out, "--scorer"]
        refused = run_command(*words, "control:longer", "--scorer", "metric:rouge_l", cwd=place)
        assert refused.returncode == 2
        assert "metric:rouge_l chose these pairs" in refused.stderr
        assert run_command(*words, "metric:bleu_4", cwd=place).returncode == 0


@pytest.mark.parametrize(
    ("filtered_by", "scorer"),
    [
        ("metric:preference[contrast=none]", "metric:preference"),
        ("metric:similarity", "metric:fluent_similarity"),
        ("metric:similarity", "metric:preference"),
        ("metric:preference", "judge:elements"),
        ("metric:bleu_4", None),
        ("metric:not-here", None),
    ],
)
def test_no_scorer_is_tried_on_pairs_that_a_part_of_it_chose(
    filtered_by: str, scorer: str | None
) -> None:
    pair = CaptionPair("1", "a.wav", "A dog", "A cat", 0, "HM", "HM", filtered_by=filtered_by)
    check = refuse_filters([pair])
    if scorer is None:
        check(create_scorer("metric:preference"))
        return
    with pytest.raises(TrialError, match="chose these pairs"):
        check(create_scorer(scorer))


def test_random_votes_leave_every_scorer_at_chance(tmp_path: Path) -> None:
    draw = random.Random(3)
    things = ("A dog barks", "A cat meows", "A car passes", "A man speaks", "A bell rings")
    clips = [
        (f"{n}.wav", "", [f"{draw.choice(things)} {where}" for where in draw.sample(PLACES, 3)])
        for n in range(120)
    ]
    systems = {
        name: {key: draw.choice(texts) for key, _, texts in clips} for name in ("one", "two")
    }
    pairs, _ = build_pairs(caption_set(clips), systems, 1)
    assert any(pair.answer is not None for pair in pairs)
    kept = filter_pairs(pairs, create_scorer("metric:rouge_l"))
    voted = [
        replace(pair, votes=() if pair.answer_set else tuple(draw.choices((1, -1), k=3)))
        for pair in kept
    ]
    (tmp_path / "voted.csv").write_text(vote_table(".csv", voted, 3))
    found = [one for one in read_votes(tmp_path / "voted.csv", 1) if one.answer is not None]
    assert all(one.votes for one in found)
    voted_on = pair_set("csv", read_pairs("csv", [tmp_path / "voted.csv"]))
    tried = {name: try_scorer(create_scorer(name), voted_on) for name in SCORERS}
    for name, trial in tried.items():
        accuracy = trial.whole["accuracy"]
        assert accuracy.interval is not None
        assert accuracy.interval.low <= trial.chance <= accuracy.interval.high, name
    # Who does not choose is wrong as published, and what chance gives is said.
    assert tried["control:rarer-noun"].chance < 45
    assert tried["control:longer"].chance == 50
    # The table as people voted in it has no set answers either.
    assert len(voted_on.decided) == len(found)


@pytest.mark.parametrize(
    ("machine", "is_broken"),
    [("A dog barks loudly", True), ("Two dogs bark", False), ("A cat meows", False)],
)
def test_only_what_people_say_too_is_made_wrong(machine: str, is_broken: bool) -> None:
    clips = caption_set([("1", "1.wav", ["A dog barks loudly", "loud barking of a dog"])])
    pairs, _ = build_pairs(clips, {"one": {"1": machine}}, 1)
    assert any(pair.subtype == "HM_2" for pair in pairs) is is_broken


def _columns(rows: list[tuple[int, ...]]) -> Any:
    import numpy as np

    return np.array(rows, dtype=np.float64).T


@pytest.mark.slow
def test_a_model_that_changes_its_mind_leaves_the_pair_out(place: Path) -> None:

    def reply(request: Request) -> dict[str, Any]:
        text = json.dumps(request.json["messages"])
        a, b = (re.search(rf"{letter}[:.)] ?\W*(\w.*?)(?:\\n|\.)", text) for letter in "AB")
        assert a
        assert b
        # It always likes what stands first, but for captions that speak of a man or a place.
        return completion("B" if len(b[1]) > len(a[1]) + 5 else "A")

    with OpenAIServer(key=None, reply=reply) as server:
        name = f"model:endpoint/gpt@{server.base_url}[audio=no]"
        made = pairs_of(place, "--filter", name, "--yes", "--json")
        asked = len(server.requests)
        again = pairs_of(place, "--filter", name, "--yes", "--json")
    assert made["filter"] == name
    assert asked == 2 * sum(made["made"].values())
    assert sum(made["kept"].values()) < sum(made["made"].values())
    assert again == made
    assert len(server.requests) == asked


def test_money_is_not_spent_unseen(place: Path) -> None:
    words = ["--captions", "captions.csv", "--machine", "one=one.csv", "--out", "sheet.csv"]
    paid = ["--filter", "model:openai/gpt-4o-audio-preview[audio=no]"]
    settings = environment(place, OPENAI_API_KEY="none")
    done = run_command("meta", "build", *words, *paid, cwd=place, env=settings)
    assert done.returncode == 2
    assert "Add --yes to agree" in done.stderr
    assert not (place / "sheet.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "sheet.csv"], "give --captions and --machine SYSTEM=FILE, or --votes"),
        (["--captions", "captions.csv", "--out", "sheet.csv"], "or --votes"),
        (
            ["--captions", "captions.csv", "--machine", "one.csv", "--out", "sheet.csv"],
            "--machine 'one.csv' is not SYSTEM=FILE",
        ),
        (
            ["--captions", "captions.csv", "--machine", "=one.csv", "--out", "sheet.csv"],
            "--machine '=one.csv' is not SYSTEM=FILE",
        ),
        (
            ["--captions", "captions.csv", "--machine", "one=one.csv", "--out", "sheet.json"],
            "are written as .csv, .tsv, .jsonl",
        ),
        (
            ["--captions", "captions.csv", "--machine", "one=one.csv", "--out", "one.csv"],
            "is read by this command",
        ),
        (
            ["--captions", "captions.csv", "--machine", "one=other.csv", "--out", "sheet.csv"],
            "has no caption of any of the 12 clips",
        ),
        (["--votes", "blank.csv", "--out", "kept.csv"], "nobody voted"),
        (["--votes", "ties.csv", "--out", "kept.csv"], "all votes are ties"),
    ],
)
def test_wrong_use_is_explained(place: Path, words: list[str], message: str) -> None:
    (place / "other.csv").write_text("id,prediction\nelsewhere.wav,A dog barks\n")
    (place / "blank.csv").write_text(
        "audio,caption_a,caption_b,preferred,vote_1\na.wav,A dog,A cat,,\n"
    )
    (place / "ties.csv").write_text((place / "blank.csv").read_text().replace(",,\n", ",,tie\n"))
    done = run_command("meta", "build", *words, cwd=place)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
