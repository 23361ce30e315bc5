"""Predictions scored anew by one recipe, among answers that hear nothing."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks.mecat.groups import QA_CATEGORIES
from audiocapbench.data import Sample
from audiocapbench.report.mecat.answers import AnswerSet
from audiocapbench.report.mecat.rescored import RECIPE, rescored_report
from audiocapbench.table import Findings
from command import run_command
from mecat_runs import few_items, questions, right, sentence

BASELINES = {"echo", "blind", "padding", "joining"}
Answer = Callable[[Sample], str]


@pytest.fixture(scope="module")
def asked() -> list[Sample]:
    return few_items(10)


def rescored(asked: Sequence[Sample], benchmark: str = "mecat-caption", **say: Answer) -> Findings:
    models = []
    for name, of in say.items():
        texts = {one.id: text for one in asked if (text := of(one))}
        models.append(AnswerSet(name, "file", benchmark, tuple(asked), texts, {}))
    return rescored_report(models, asked, evaluations=3)


def by_model(found: Findings) -> dict[str, dict[str, Any]]:
    return {one["model"]: one for one in found.to_dict()["standings"]}


@pytest.fixture(scope="module")
def found(asked: list[Sample]) -> Findings:
    return rescored(
        asked,
        hears=right,
        padded=lambda one: f"{right(one)} {one.references[0]} {sentence(one.id)}",
        part=lambda one: "" if one.details["clip"].endswith("0") else right(one),
        deaf=lambda one: "A sound.",
    )


def test_what_hears_nothing_stands_in_the_table_and_gains_are_over_its_best(
    found: Findings,
) -> None:
    rows = by_model(found)
    assert rows.keys() == BASELINES | {"a person", "hears", "padded", "part", "deaf"}
    assert {name for name, one in rows.items() if one["origin"] == "hears nothing"} == BASELINES
    best = found.to_dict()["baseline"]
    total = {name: one["figures"]["score"] for name, one in rows.items()}
    assert best == max(BASELINES, key=lambda name: total[name])
    for name, one in rows.items():
        if name == "part":
            continue  # what it left out counts as zero
        assert one["gain"]["value"] == pytest.approx(total[name] - total[best])
    low, high = rows["hears"]["gain"]["ci"]
    assert 0 < low < rows["hears"]["gain"]["value"] < high
    scale = rows["a person"]["over_blind"]["value"]
    assert scale is None, "these people's captions have no word in common: there is no scale"
    assert f"The gain is over {best}" in found.tables()[0].notes[0]
    ranks = [one["rank"] for one in found.to_dict()["standings"]]
    assert ranks == sorted(ranks)
    record = found.records()[0]
    assert {"gain", "gain_low", "gain_high", "over_blind", "as_paper", "rank", "note"} <= set(
        record
    )


def test_length_raises_no_rank_even_where_it_raises_date(found: Findings) -> None:
    rows = by_model(found)
    assert rows["padded"]["as_paper"] > rows["deaf"]["as_paper"]
    assert rows["padded"]["gain"]["value"] < rows["hears"]["gain"]["value"]
    assert rows["joining"]["figures"]["score"] < rows["blind"]["figures"]["score"]


def test_a_person_is_held_to_no_words_of_their_own(found: Findings) -> None:
    assert by_model(found)["a person"]["as_paper"] is None


def test_the_recipe_is_frozen(found: Findings) -> None:
    assert "encoder=" in RECIPE, "another default encoder is no other recipe"
    assert found.to_dict()["recipe"] == (
        "date|variant:published|subtask:by-group|d:by-group|encoder:caption2vec@c7bfccc5|refs:mean|"
        "fluency:no|length:references:3|total:Score_Cap|protocol:8"
    )


def test_who_leaves_answers_out_falls(found: Findings) -> None:
    rows = by_model(found)
    assert rows["part"]["gain"]["value"] < rows["hears"]["gain"]["value"]
    assert rows["part"]["rank"] > rows["hears"]["rank"]
    assert "samples have a score; the others rank as zero" in rows["part"]["note"]
    assert rows["part"]["as_paper"] == pytest.approx(0.9 * rows["hears"]["as_paper"], abs=1)


def test_questions_have_an_echo_and_no_person() -> None:
    rows = by_model(rescored(questions(2), "mecat-qa", hears=right))
    assert rows.keys() == BASELINES | {"hears"}
    assert rows["hears"]["over_blind"]["value"] is None
    assert rows["hears"]["gain"]["value"] > rows["echo"]["gain"]["value"]
    assert set(QA_CATEGORIES) < set(rows["echo"]["figures"])


def test_without_a_total_there_is_no_gain(asked: list[Sample]) -> None:
    long = [one for one in asked if one.category == "long"]
    found, again = (rescored(long, hears=right) for _ in range(2))
    assert found.to_dict() == again.to_dict(), "by the same lots"
    assert found.to_dict()["baseline"] is None
    assert all(one["gain"]["value"] is None for one in by_model(found).values())
    assert by_model(found)["hears"]["figures"]["long"] > 0
    assert "No gain" in found.to_dict()["notes"][0]


@pytest.mark.parametrize(
    "words",
    [
        ("--rescore",),
        ("1", "--rescore"),
        ("said.jsonl", "--references", "."),
        ("said.jsonl", "--rescore"),
        ("said.jsonl", "--rescore", "--references", ".", "--by", "similarity"),
        ("said.jsonl", "--rescore", "--references", ".", "--metric", "date[encoder=minilm]"),
    ],
)
def test_rescoring_takes_predictions_alone_and_has_no_options(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "said.jsonl").write_text(json.dumps({"a": {"long": "A dog."}}))
    done = run_command("mecat", "standings", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert "--rescore takes files" in done.stderr or "1" in words
