"""``audiocapbench variance`` and ``power``: noise by its source, and what would be seen."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.signature import Signature
from audiocapbench.store import Store
from audiocapbench.store.records import Judgement
from audiocapbench.store.unsaved import AnswerRecord
from command import run_command
from made_store import MadeRun, begin_run, made_samples, put_run

CLIPS, REPEATS = 60, 3
SAMPLES = made_samples(CLIPS)
IDS = [one.id for one in SAMPLES]
JUDGE = Signature.parse("judge-gpt")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Runs 1–3 repeat each other, with two rounds of a judge; 4 and 5 are of other models."""
    path = str(tmp_path_factory.mktemp("noise") / "noise.db")
    draw = np.random.default_rng(3)
    easy = draw.normal(0.5, 0.1, CLIPS)

    def scores(noise: float) -> dict[str, float]:
        made = easy + draw.normal(0, noise, CLIPS)
        return dict(zip(IDS, np.clip(made, 0, 1).tolist(), strict=True))

    with Store.open(path) as kept:
        for repeat in range(REPEATS):
            again = {"repeat": repeat} if repeat else {}
            made = scores(0.1)
            lost = {IDS[0]: Status.FAILED} if repeat == 1 else {}
            metrics: Mapping[str, Any] = {
                "meteor": {key: one for key, one in made.items() if key not in lost},
                "cider_d": {key: (one, 1.0) for key, one in made.items() if key not in lost},
            }
            run = put_run(
                kept,
                MadeRun("drawn", metrics, parameters=again, cost_usd=0.01, statuses=lost),
                SAMPLES,
            )
            said = [
                Judgement(
                    *("gpt", key, turn, JUDGE, Status.OK),
                    {"accuracy": float(np.clip(10 * one + draw.normal(0, 0.5), 0, 10))},
                    latency_s=1.0,
                    cost_usd=0.02,
                )
                for turn in range(2)
                for key, one in made.items()
                if key not in lost
            ]
            kept.add_judgements(run.id, said)
        put_run(kept, MadeRun("free", {"meteor": scores(0.2)}), SAMPLES)
        put_run(kept, MadeRun("other", {"meteor": scores(0.2)}), SAMPLES)
    return path


def call(store: str, *words: str) -> tuple[int, str, str]:
    found = run_command(*words, "--store", store, env=os.environ | {"COLUMNS": "180"})
    return found.returncode, found.stdout, found.stderr


def told(store: str, *words: str) -> dict[str, Any]:
    code, out, err = call(store, *words, "--json")
    assert code == 0, err
    document: dict[str, Any] = json.loads(out)
    return document


def parts(document: Mapping[str, Any], of: str) -> dict[str, Any]:
    return {row["source"]: row for row in document["variance"] if row["of"] == of}


def test_decoding_is_told_from_clips_where_answers_were_repeated(store: str) -> None:
    document = told(store, "variance", "1", "2", "3", "--metric", "meteor", "--spend", "6")
    found = parts(document, "drawn (runs 1–3)")
    assert (found["clips"]["n"], found["decoding"]["n"]) == (60, 180)  # what failed counts as 0
    assert found["clips"]["sd"] == pytest.approx(0.1, abs=0.03)
    assert found["decoding"]["sd"] == pytest.approx(0.1, abs=0.03)
    assert found["clips"]["share"] + found["decoding"]["share"] == pytest.approx(1)
    assert found["judge"]["note"] == "none: the same answer has the same score"
    # A question costs a cent: a clip three of them, a repeat sixty.
    assert (found["clips"]["buys"], found["decoding"]["buys"]) == (200, 10)
    [entry] = document["entries"]
    error = entry["standard_error"]
    expected = found["clips"]["variance"] / 60 + found["decoding"]["variance"] / 180
    assert error == pytest.approx(expected**0.5)
    assert found["clips"]["then"] == pytest.approx(error * (60 / 260) ** 0.5)
    assert found["decoding"]["then"] == pytest.approx(
        (found["clips"]["variance"] / 60 + found["decoding"]["variance"] / 780) ** 0.5
    )
    assert entry["next"] == "clips"


def test_rounds_of_a_judge_are_a_source_of_their_own(store: str) -> None:
    document = told(store, "variance", "1", "2", "3", "--judge", "gpt", "--spend", "9")
    found = parts(document, "drawn (runs 1–3)")
    assert list(found) == ["clips", "decoding", "judge"]
    assert found["judge"]["sd"] == pytest.approx(0.5, abs=0.1)
    # 180 answers at a cent, 358 verdicts at two.
    assert found["judge"]["buys"] == int(9 // 3.6)
    code, out, _ = call(store, "variance", "1", "--judge", "gpt")
    assert code == 0
    assert "'run … --repeats 3' asks the model again" in out


def test_what_costs_nothing_is_advised_by_questions(store: str) -> None:
    code, out, _ = call(store, "variance", "4", "--metric", "meteor")
    assert code == 0
    assert "The next 100 questions: 100 more clips (" in " ".join(out.split())
    assert "standard error 0.0268." in out
    newest = told(store, "variance", "--metric", "meteor")
    assert [one["of"] for one in newest["entries"]] == ["drawn (runs 1–3)", "free", "other"]


def test_raters_are_a_source_beside_clips(store: str, tmp_path: Path) -> None:
    draw, rows = np.random.default_rng(5), ["item,person,value"]
    offsets, clips = draw.normal(0, 1, 12), draw.normal(5, 1, 40)
    for clip, person in np.ndindex(40, 12):
        rows.append(f"s{clip},p{person},{clips[clip] + offsets[person] + draw.normal(0, 0.5)}")
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(rows))
    words = ("variance", "4", "--metric", "meteor", "--ratings", str(path))
    found = parts(told(store, *words, "--rating-usd", "0.5", "--spend", "40"), str(path))
    assert found["raters"]["variance"] == pytest.approx(offsets.var(ddof=1), rel=0.1)
    assert found["rest"]["sd"] == pytest.approx(0.5, rel=0.1)
    assert (found["raters"]["buys"], found["clips"]["buys"]) == (2, 6)
    assert found["raters"]["then"] < found["clips"]["then"]
    path.write_text("item,person,value\na,p,1\nb,p,2\n")
    code, _, err = call(store, *words)
    assert (code, "takes clips that several people rated" in " ".join(err.split())) == (2, True)


def test_power_turns_a_difference_into_clips_and_back(store: str) -> None:
    words = ("power", "4", "5", "--metric", "meteor")
    needed = told(store, *words, "--difference", "0.05")
    [pair] = needed["pairs"]
    assert needed["sd"] == pair["sd"] == pytest.approx(0.27, abs=0.05)
    seen = told(store, *words, "--clips", str(needed["clips"]))
    assert seen["difference"] == pytest.approx(0.05, rel=0.01)
    stricter = told(store, *words, "--difference", "0.05", "--tests", "10")
    assert stricter["alpha"] == pytest.approx(0.005)
    assert stricter["clips"] > 1.5 * needed["clips"]
    every = told(store, "power", "--metric", "meteor", "--clips", "200")
    assert every["benchmark"] == "made", "nobody named it"
    assert len(every["pairs"]) == 3
    assert every["sd"] == sorted(one["sd"] for one in every["pairs"])[1]
    code, out, _ = call(store, *words, "--difference", "0.05")
    shows = f"{needed['clips']:,} clips show a true difference of 0.050 in 80 % of cases"
    assert code == 0
    assert shows in " ".join(out.split())


def test_power_knows_what_more_repeats_would_save(tmp_path: Path) -> None:
    path, draw = str(tmp_path / "two.db"), np.random.default_rng(9)
    with Store.open(path) as kept:
        for model in ("a", "b"):
            for repeat in range(4):
                values = (0.5 + draw.normal(0, 0.1, CLIPS)).tolist()
                made = {"meteor": dict(zip(IDS, values, strict=True))}
                again = {"repeat": repeat} if repeat else {}
                put_run(kept, MadeRun(model, made, parameters=again), SAMPLES)
    once, often = (
        told(path, "power", "--metric", "meteor", "--clips", "100", "--repeats", str(times))["sd"]
        for times in (1, 16)
    )
    assert once == pytest.approx(0.1 * 2**0.5, rel=0.2)
    assert often < 0.6 * once


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("variance", "1", "--metric", "cider_d"), "is no mean of its samples"),
        (("variance", "4", "--judge", "gpt"), "gpt"),
        (("power", "4", "--clips", "100"), "power takes two models"),
        (("power", "4", "5"), "--difference or --clips"),
        (("power", "4", "5", "--clips", "50", "--repeats", "3"), "was asked once"),
    ],
)
def test_what_cannot_be_said_is_refused_in_a_sentence(
    store: str, words: tuple[str, ...], says: str
) -> None:
    code, _, err = call(store, *words)
    assert code == 2
    assert says in " ".join(err.split())


def test_an_empty_store_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "empty.db")
    Store.open(path).close()
    code, _, err = call(path, "variance")
    assert (code, "name runs of one benchmark" in err) == (2, True)


def test_runs_of_a_race_that_left_clips_out_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "race.db")
    with Store.open(path) as kept:
        for model in ("a", "b"):
            run = begin_run(kept, MadeRun(model), SAMPLES)
            outcomes = [Outcome(key, Reply("A dog."), None, 5.0, 0.5) for key in IDS[:20]]
            kept.add_records(run.id, list(map(AnswerRecord, outcomes)))
            kept.catalog.note_race([run.id], "meteor", {"statement": "a is best"})
    code, _, err = call(path, "power", "--clips", "100")
    assert (code, "a race left clips of run 1, run 2 out" in " ".join(err.split())) == (2, True)
