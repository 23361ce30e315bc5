"""Scoring by corpus: each by itself, with its own options, and null references set apart."""

from pathlib import Path

import numpy as np
import pytest

from audiocapbench.benchmarks.corpora import (
    CorpusScore,
    check_metrics,
    compute_by_corpus,
)
from audiocapbench.benchmarks.mecat.dataset import read_items
from audiocapbench.benchmarks.mecat.groups import CAPTION_AGGREGATION, QA_AGGREGATION
from audiocapbench.data import Sample
from audiocapbench.errors import MetricError
from audiocapbench.metrics import compute
from audiocapbench.metrics.date.metric import date_and_parts
from mecat_data import clips, questions, write_references

Scored = tuple[list[CorpusScore], list[dict[str, str]]]


@pytest.fixture
def items(tmp_path: Path) -> list[Sample]:
    return read_items("mecat-caption", write_references(tmp_path, "caption", clips(4)))


def scored(items: list[Sample], *metrics: str) -> Scored:
    texts = [one.references[-1] for one in items]
    references = [one.references[:1] for one in items]
    return compute_by_corpus(CAPTION_AGGREGATION, metrics, items, texts, references)


def of(made: Scored, corpus: str, metric: str) -> np.ndarray:
    (found,) = [one for one in made[0] if (one.corpus, one.result.name) == (corpus, metric)]
    return found.result.samples


def test_date_ranks_within_the_group_and_with_its_threshold(items: list[Sample]) -> None:
    made = scored(items, "date")
    group = [one for one in items if one.category == "mixed_music"]
    assert len(group) == 16
    alone = date_and_parts(
        [one.references[-1] for one in group],
        [one.references[:1] for one in group],
        subtask="music",
    )[0]
    assert of(made, "mixed_music", "date").tolist() == alone.samples.tolist()
    (found,) = [one for one in made[0] if one.corpus == "mixed_music"][:1]
    assert "|subtask:music|d:0.1566|" in str(found.result.signature)
    mixture = date_and_parts(
        [one.references[-1] for one in items], [one.references[:1] for one in items]
    )[0]
    assert not np.isin(alone.samples, mixture.samples).all()


def test_date_brings_the_two_that_it_is_made_of(items: list[Sample]) -> None:
    made = scored(items, "date[variant=published]")
    options = "[variant=published]"
    parts = [
        of(made, "long", f"date_{name}{options}") for name in ("similarity", "discriminability")
    ]
    whole = of(made, "long", f"date{options}")
    both = (parts[0] > 0) & (parts[1] > 0)
    harmonic = 2 * parts[0] * parts[1] / np.where(both, parts[0] + parts[1], 1)
    assert whole == pytest.approx(np.where(both, harmonic, 0))


def test_other_metrics_do_not_depend_on_the_corpus(items: list[Sample]) -> None:
    made = scored(items, "rouge_l")
    (whole,) = compute(
        ["rouge_l"],
        [one.references[-1] for one in items],
        [one.references[:1] for one in items],
    )
    plain = [one for one in made[0] if one.result.name == "rouge_l"]
    for one in plain:
        assert one.result.samples.tolist() == whole.samples[one.rows].tolist()
    assert sorted(row for one in plain for row in one.rows) == list(range(len(items)))


def test_a_group_of_mostly_null_references_is_also_scored_without_them(
    items: list[Sample],
) -> None:
    made = scored(items, "date", "rouge_l")
    names = {one.result.name for one in made[0] if one.corpus == "mixed_sound"}
    assert "date[null=out]" not in names
    # Without the clips that do have a sound, most of the group says None.
    few = [one for one in items if one.details["domain"] != "S0A"]
    fewer = [one for one in few if not one.id.startswith(("clip_SMA_2", "clip_SMA_3"))]
    made = scored([one for one in fewer if one.details["domain"] != "0MA"], "date", "rouge_l")
    left = [one for one in items if one.id in ("clip_SMA_0/sound", "clip_SMA_1/sound")]
    alone = date_and_parts(
        [one.references[-1] for one in left],
        [one.references[:1] for one in left],
        subtask="sound",
    )[0]
    assert of(made, "mixed_sound", "date[null=out]").tolist() == alone.samples.tolist()
    assert len(of(made, "mixed_sound", "date")) == 6
    (found,) = [one for one in made[0] if one.result.name == "rouge_l[null=out]"][:1]
    assert "|null:out|protocol:1" in str(found.result.signature)


def test_null_references_can_be_left_out_of_everything(items: list[Sample]) -> None:
    made = scored(items, "rouge_l[null=out]")
    assert {one.corpus for one in made[0]} == {
        *CAPTION_AGGREGATION.weights,
    }
    assert len(of(made, "mixed_music", "rouge_l[null=out]")) == 12


def test_a_corpus_of_one_is_told_about_and_the_rest_is_scored(items: list[Sample]) -> None:
    few = [one for one in items if one.details["domain"] == "00A"]
    one_less = [one for one in few if one.category != "pure_sound" or one.id == "clip_00A_0/sound"]
    made = scored(one_less, "date", "rouge_l")
    assert {(one["corpus"], one["metric"]) for one in made[1]} == {
        ("pure_sound", "date"),
        ("pure_sound", "date_similarity"),
        ("pure_sound", "date_discriminability"),
    }
    assert "at least two" in made[1][0]["reason"]
    assert len(of(made, "pure_sound", "rouge_l")) == 1
    assert len(of(made, "long", "date")) == 4


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("date[subtask=long]", "Score_Cap sets 'subtask' for each group itself"),
        ("date[null=in]", "null can only be 'out'"),
        ("nothing", "there is no metric 'nothing'"),
    ],
)
def test_what_cannot_be_scored_is_refused_at_once(metric: str, words: str) -> None:
    with pytest.raises(MetricError, match=words):
        check_metrics(CAPTION_AGGREGATION, [metric])


def test_only_an_aggregation_knows_null_references() -> None:
    with pytest.raises(
        MetricError, match="only a benchmark with an aggregation knows the option 'null'"
    ):
        check_metrics(None, ["date[null=out]"])
    with pytest.raises(
        MetricError, match="only a benchmark with an aggregation knows the option 'null'"
    ):
        compute(["rouge_l[null=out]"], ["a", "b"], [["a"], ["b"]])


def test_questions_are_scored_by_kind_and_an_answer_may_be_none(tmp_path: Path) -> None:
    asked = questions(2)
    for fields in asked.values():
        if fields["category"] == "direct_perception":
            fields["answer"] = "None"
    items = read_items("mecat-qa", write_references(tmp_path, "qa", asked))
    texts = [one.references[0] for one in items]
    made = compute_by_corpus(
        QA_AGGREGATION, ["date"], items, texts, [one.references for one in items]
    )
    assert {one.corpus for one in made[0]} == set(QA_AGGREGATION.weights)
    assert {one.result.name for one in made[0]} == {
        "date",
        "date_similarity",
        "date_discriminability",
    }
    assert all("|subtask:qa|" in str(one.result.signature) for one in made[0])
