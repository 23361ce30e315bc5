"""A metric in a training loop gives the numbers of one corpus, however the samples come."""

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import audiocapbench as acb
from needs import needs

NAMES = "fluent_similarity,cider_d,bleu_coco_4,date[subtask=sound]"
WORDS = "a dog barks rain falls on the roof wind blows birds sing cars pass".split()


def corpus(count: int = 25) -> tuple[list[str | None], list[list[str]], list[str]]:
    """Captions that differ in how good they are, one of them blank and one of them missing."""
    rng = np.random.default_rng(5)
    texts: list[str | None] = [" ".join(rng.choice(WORDS, 6)) for _ in range(count)]
    references = [[" ".join(rng.choice(WORDS, 7)), str(text)] for text in texts]
    references = [one[: 1 + place % 2] for place, one in enumerate(references)]
    texts[3], texts[7] = "", None
    return texts, references, [f"clip-{place}" for place in range(count)]


def numbers(result: acb.ScoreResult) -> dict[str, Any]:
    made = result.to_dict()
    return {**made["metrics"], "missing": made["missing_ids"]}


@pytest.fixture(scope="module")
def whole() -> acb.ScoreResult:
    metric = acb.AudioCaptionMetric(NAMES)
    metric.update(*corpus())
    return metric.compute()


def test_batches_give_the_number_of_the_corpus_with_all_that_is_needed_to_trust_it(
    whole: acb.ScoreResult,
) -> None:
    texts, references, ids = corpus()
    metric = acb.AudioCaptionMetric("fluent_similarity")
    for start in range(0, 25, 4):
        batch = slice(start, start + 4)
        metric.update(texts[batch], references[batch], ids[batch])
    result = metric.compute()
    known = {key: text for key, text in zip(ids, texts, strict=True) if text is not None}
    expected = acb.score(known, dict(zip(ids, references, strict=True)), "fluent_similarity")
    assert result.value == pytest.approx(expected["fluent_similarity"].value, abs=1e-12)
    assert result["fluent_similarity"] == whole["fluent_similarity"]
    assert result.interval is not None
    assert result.interval.low < result.value < result.interval.high
    assert str(result.signature).startswith("fluent_similarity|")
    assert (result.n, result.coverage.total, result.coverage.empty, result.coverage.failed) == (
        *(24, 25, 1),
        1,
    )
    assert result.scores.missing == ("clip-7",)
    with pytest.raises(AttributeError, match="has the score of each metric"):
        _ = whole.value


@pytest.mark.parametrize("with_ids", [True, False])
def test_parts_that_are_merged_in_any_order_are_one_corpus(
    whole: acb.ScoreResult, with_ids: bool
) -> None:
    texts, references, ids = corpus()
    parts = [acb.AudioCaptionMetric(NAMES) for _ in range(3)]
    for rank, part in enumerate(parts):
        own = slice(rank, None, 3)
        part.update(texts[own], references[own], ids[own] if with_ids else None)
    first, second, third = parts
    third.merge_state([json.loads(json.dumps(second.state_dict())), first])
    merged = third.compute()
    if with_ids:
        assert numbers(merged) == numbers(whole)
    alone = acb.AudioCaptionMetric(NAMES)
    alone.update(texts, references)
    for name in merged.scores.metrics:
        assert merged[name].value == pytest.approx(whole[name].value, abs=1e-12)
    if not with_ids:
        assert numbers(merged) == numbers(alone.compute())


def test_a_sample_that_comes_again_under_its_id_counts_once(whole: acb.ScoreResult) -> None:
    texts, references, ids = corpus()
    first, second = acb.AudioCaptionMetric(NAMES), acb.AudioCaptionMetric(NAMES)
    first.update([*texts, texts[0]], [*references, references[0]], [*ids, ids[0]])
    second.update(["another caption"], references[1:2], ids[1:2])
    first.merge_state(second)
    result = first.compute()
    assert numbers(result) == numbers(whole)
    assert "2 samples came again, 1 with another caption; the first counts" in str(result)


def test_the_second_evaluation_is_not_the_first_again() -> None:
    metric = acb.AudioCaptionMetric("rouge_l")
    metric.update(["a dog"], ["a dog"], [1])
    metric.update(["a cat"], ["a dog"], [1])
    with pytest.raises(acb.AudioCapBenchError, match=r"two captions; call reset\(\)"):
        metric.compute()
    metric.reset()
    with pytest.raises(acb.AudioCapBenchError, match="nothing to score"):
        metric.compute()
    metric.update(["a cat"], ["a dog"], np.array([1]))
    metric.update([np.str_("a cat")], ["a dog"], [np.int64(1)])
    metric.update([], [])
    assert metric.compute().value == pytest.approx(0.5)
    metric.update(["rain"], ["it rains"])
    with pytest.raises(acb.AudioCapBenchError, match="some have none"):
        metric.compute()


def test_it_survives_copies_pickles_and_checkpoints() -> None:
    texts, references, ids = corpus()
    metric = acb.AudioCaptionMetric("rouge_l,cider_d")
    metric.update(texts[:9], references[:9], ids[:9])
    loaded = acb.AudioCaptionMetric("rouge_l,cider_d")
    loaded.load_state_dict(metric.state_dict())
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), loaded):
        other.update(texts[9:], references[9:], ids[9:])
        assert other.compute()["cider_d"].n == 24
    assert metric.compute()["cider_d"].n == 8
    with pytest.raises(acb.AudioCapBenchError, match="a state of rouge_l, cider_d; one of meteor"):
        acb.AudioCaptionMetric("meteor").load_state_dict(metric.state_dict())
    with pytest.raises(acb.AudioCapBenchError, match="no state of one"):
        metric.merge_state({"weight": 1})


def test_a_call_scores_the_batch_and_keeps_it() -> None:
    metric = acb.AudioCaptionMetric("rouge_l")
    assert metric(["a dog"], ["a dog"]).value == 1.0
    assert metric(["a cat"], ["a dog"]).value == 0.5
    assert metric.compute().value == 0.75


def test_a_call_that_raises_leaves_the_metric_as_it_was() -> None:
    """CIDEr-D of one sample cannot be told; with those before it, it can."""
    metric = acb.AudioCaptionMetric("cider_d")
    metric.update(["a dog barks", "rain falls"], ["a dog barks", "rain"], ["1", "2"])
    before = metric.state_dict()
    for wrong in ((["wind"], ["wind blows"], ["3"]), (["wind"], [""], ["3"]), ([1], ["x"], ["3"])):
        with pytest.raises(acb.AudioCapBenchError):
            metric(*wrong)
        assert metric.state_dict() == before
    metric.load_state_dict({"metrics": ["cider_d"], "parts": []})
    metric.update(["a dog barks", "rain falls"], ["a dog barks", "rain"], ["1", "2"])
    assert metric.state_dict() == before


def test_nothing_but_missing_captions_has_no_score_and_is_no_zero() -> None:
    metric = acb.AudioCaptionMetric("rouge_l")
    metric.update([None, None], ["a dog", "rain"])
    result = metric.compute()
    assert (result.value, result.n, result.coverage.failed) == (None, 0, 2)
    assert "2 without a prediction" in str(result)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((["a"], ["a", "b"]), "1 predictions and 2 references; give one of each"),
        ((["a"], ["a"], ["x", "y"]), "1 predictions, 1 references and 2 ids"),
        (("a dog", ["a dog"]), "captions themselves come in a list"),
        ((["a dog"], "a dog"), "captions themselves come in a list"),
        ((["a"], ["a"], "x"), "ids is 'x'; it must be a list"),
        ((None, ["a"]), "predictions is None"),
        ((["a"], None), "references is None"),
        ((["a"], [None]), "sample 0 has no reference"),
        ((["a"], [[None]]), "sample 0 has no reference"),
        ((["a"], [[]]), "sample 0 has no reference"),
        ((["a", [1, 2]], ["a", "b"]), r"sample 1: \[1, 2\] is no text"),
        ((np.array([[1, 2]]), ["a"]), "is no text"),
        (({"a": "x"}, ["y"]), "give both in lists, or both by id"),
        (({"a"}, ["a"]), "it must be a list"),
        ((["a"], ["a"], [None]), "None is no id"),
        ((["a"], ["a"], [1.5]), "1.5 is no id"),
    ],
)
def test_a_batch_that_does_not_fit_is_one_sentence_and_leaves_nothing(
    given: tuple[Any, ...], words: str
) -> None:
    metric = acb.AudioCaptionMetric("rouge_l")
    with pytest.raises(acb.AudioCapBenchError, match=words):
        metric.update(*given)
    assert metric.state_dict()["parts"] == [[]]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("elements", "elements is a judge"),
        ("rouge_l,openai/gpt-4.1[hears=yes,schema=no]", "gpt-4.1.* is a judge"),
        (["rouge_l", "endpoint/x@http://localhost/v1"], "is a judge"),
        ("cider", "cider_d"),
        ("date[encoder=/no/where,subtask=sound]", "/no/where"),
        ("clap", "clip"),
        ("", "no metric is named"),
        ([], "metrics is"),
        (None, "metrics is None"),
        (iter(["elements"]), "is a judge"),
    ],
)
def test_what_is_no_metric_is_refused_before_the_loop_begins(names: Any, words: str) -> None:
    with pytest.raises(acb.AudioCapBenchError, match=words):
        acb.AudioCaptionMetric(names)


RANK = """
import json, os, sys
import torch.distributed as dist
from test_caption_metric import NAMES, corpus, numbers
import audiocapbench as acb

place = sys.argv[1]
other = os.fork()  # once both have what takes seconds to import
rank = int(other == 0)
dist.init_process_group("gloo", init_method=f"file://{place}/meet", rank=rank, world_size=2)
texts, references, ids = corpus()
# As a DistributedSampler deals 25 samples to two: the first comes again to make them even.
dealt = [*range(25), 0][rank::2]
found = []
for named in (True, False):
    metric = acb.AudioCaptionMetric(NAMES)
    for one in dealt if named else dealt[: 13 - rank]:
        key = [ids[one]] if named else None
        metric.update([texts[one]], [references[one]], key)
    found.append(metric.compute())
empty = acb.AudioCaptionMetric("rouge_l")
if rank == 0:
    empty.update(["a dog"], ["a dog"])
said = json.dumps([*map(numbers, found), found[0].scores.note, empty.compute().value])
os.write(1, f"{said}\\n".encode())
dist.destroy_process_group()
if other:
    assert os.waitpid(other, 0)[1] == 0
"""


@pytest.mark.slow
def test_two_processes_agree_with_one(tmp_path: Path, whole: acb.ScoreResult) -> None:
    needs("torch")
    command = [sys.executable, "-c", RANK, str(tmp_path)]
    ranks = subprocess.run(
        command, cwd=Path(__file__).parent, stdout=-1, text=True, timeout=120, check=True
    )
    printed = [json.loads(line) for line in ranks.stdout.splitlines()]
    assert len(printed) == 2
    assert printed[0] == printed[1]
    named, plain, note, value = printed[0]
    assert named == numbers(whole)
    for name in whole.scores.metrics:
        assert plain[name]["score"] == pytest.approx(whole[name].value, abs=1e-12)
    assert note == "1 sample came again; the first counts"
    assert value == 1.0


@pytest.mark.slow
def test_it_is_a_metric_of_torchmetrics_where_one_is_expected(whole: acb.ScoreResult) -> None:
    torchmetrics = needs("torchmetrics")
    texts, references, ids = corpus()
    one, other = acb.AudioCaptionMetric("cider_d,rouge_l"), acb.AudioCaptionMetric("bleu_coco_4")
    collection = torchmetrics.MetricCollection(
        {"words": one.as_torchmetrics(), "bleu": other.as_torchmetrics()}
    )
    collection = pickle.loads(pickle.dumps(collection.clone(prefix="val_")))
    for start in (0, 10, 20):
        own = slice(start, start + 10)
        batch = collection(texts[own], references[own], ids=ids[own])
        assert set(batch) == {"val_cider_d", "val_rouge_l", "val_bleu_coco_4"}
    found = collection.compute()
    for name in ("cider_d", "bleu_coco_4"):
        assert float(found[f"val_{name}"]) == pytest.approx(whole[name].value, abs=1e-12)
    collection.reset()
    collection.update(texts[:2], references[:2])
    assert float(collection.compute()["val_rouge_l"]) != pytest.approx(float(found["val_rouge_l"]))


def test_without_torchmetrics_that_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    monkeypatch.delitem(sys.modules, "audiocapbench.library.torch_metric", raising=False)
    with pytest.raises(acb.AudioCapBenchError, match="pip install torchmetrics"):
        acb.AudioCaptionMetric("rouge_l").as_torchmetrics()


def test_slices_of_one_table_are_one_corpus() -> None:
    rows = {"pred": ["a dog barks", "rain falls", "a man talks"], "refs": ["a dog", "rain", "men"]}
    frame = needs("pandas").DataFrame(rows)
    for whole in (False, True):
        metric = acb.AudioCaptionMetric("rouge_l")
        for start in (0, 2):
            part = frame.iloc[start : start + 2]
            metric.update(*([part, part] if whole else [part["pred"], part["refs"]]))
        assert (
            metric.compute()["rouge_l"]
            == acb.score(rows["pred"], rows["refs"], "rouge_l")["rouge_l"]
        )
    metric = acb.AudioCaptionMetric("rouge_l")
    for part in (frame.iloc[:2], frame.iloc[2:], frame[frame.pred == "rain falls"]):
        metric.update(part.pred, part.refs, part.pred.str[:3])
    assert metric.compute()["rouge_l"].n == 3
