"""A benchmark carries its traits, and they survive being stored."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import Aggregation, Benchmark, ControlRules, Traits, open_benchmark
from audiocapbench.benchmarks.mecat.groups import TRAITS
from audiocapbench.errors import BenchmarkError

OWN = Traits(
    Aggregation("Sum", {"music": 0.75, "sound": 0.25}, {"music": {"subtask": "music"}}),
    ("rouge_l", "date[encoder=minilm]"),
    headline="date",
    judge="strict",
    controls=ControlRules({"music": "Music plays."}, "Something.", "category"),
)


@pytest.mark.parametrize("traits", [Traits(), OWN, *TRAITS.values()])
def test_traits_come_back_from_json_as_they_were(traits: Traits) -> None:
    assert Traits.from_dict(json.loads(json.dumps(traits.to_dict()))) == traits


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"headline": "cider"}, "'cider' is not among the benchmark's metrics"),
        ({"headline": 3}, "headline: is not text"),
        ({"metrics": "meteor"}, "metrics: "),
        ({"metrics": []}, "at least one metric"),
        ({"metrics": ["rouge_l["]}, "is not a scorer"),
        ({"colour": "red"}, "colour: unexpected keyword argument"),
        ({"controls": {"safe": {"a": None}}}, "controls.safe.a: "),
        ({"controls": {"wrong_from": "mars"}}, "controls.wrong_from: "),
        ({"aggregation": {"total": "T", "weights": {"a": 2.0}}}, "add up to 2; they must add up"),
        ({"aggregation": {"total": "T", "weights": {}}}, "add up to 0"),
        ({"aggregation": {"total": "T", "weights": {"a": -1, "b": 2}}}, "'a' is -1"),
        ({"aggregation": {"total": "T", "weights": {"a": float("nan")}}}, "aggregation"),
        ({"aggregation": {"total": " ", "weights": {"a": 1}}}, "needs a total"),
        ({"aggregation": {"total": "T", "weights": {"a": 1}, "x": 1}}, "aggregation.x: "),
        ({"aggregation": [1]}, "aggregation: "),
        ({"judge": {1, 2}}, "is not JSON serializable"),
    ],
)
def test_what_are_no_traits_is_refused_in_one_sentence(change: dict[str, Any], words: str) -> None:
    with pytest.raises(BenchmarkError, match=words) as caught:
        Traits.from_dict(Traits().to_dict() | change, "store.db")
    assert str(caught.value).startswith("store.db: ")
    assert "\n" not in str(caught.value)


def test_single_traits_are_given_by_name_and_the_first_metric_ranks() -> None:
    demo = open_benchmark("demo")
    own = Benchmark("mine", Path(demo.root), demo.samples, metrics=("rouge_l", "bleu_4"))
    assert (own.traits.headline, own.traits.columns) == ("rouge_l", ("rouge_l", "bleu_4"))
    ranked = Benchmark("mine", demo.root, demo.samples, headline="rouge_l")
    assert ranked.traits == replace(Traits(), headline="rouge_l")
    assert replace(ranked, name="other").traits == ranked.traits
    assert (Traits().headline, Traits().columns) == ("meteor", ("meteor", "bleu_4", "rouge_l"))
    with pytest.raises(BenchmarkError, match="give a tuple of names, not 'rouge_l'"):
        Benchmark("mine", demo.root, demo.samples, metrics="rouge_l")


def test_other_traits_make_another_dataset_and_those_of_old_stores_do_not() -> None:
    demo = open_benchmark("demo")
    assert Benchmark("other", demo.root, demo.samples).fingerprint == demo.fingerprint
    spoken = Benchmark("other", demo.root, demo.samples, controls=ControlRules())
    summed = Benchmark("other", demo.root, demo.samples, aggregation=OWN.aggregation)
    assert len({one.fingerprint for one in (demo, spoken, summed)}) == 3
    ranked = Benchmark("other", demo.root, demo.samples, headline="rouge_l")
    assert ranked.fingerprint == demo.fingerprint, "a rank changes no score"
    for traits in TRAITS.values():
        assert replace(demo, traits=traits).fingerprint == demo.fingerprint


def test_a_store_of_0_1_is_given_the_traits_that_its_benchmarks_have() -> None:
    text = files("audiocapbench.store").joinpath("traits_0_1.json").read_text("utf-8")
    known = {name: Traits.from_dict(one) for name, one in json.loads(text).items()}
    plain = {
        name: replace(one, controls=Traits().controls, strata=(), unfit_judges={})
        for name, one in TRAITS.items()
    }
    assert known == {"": Traits(), **plain}


def test_a_benchmark_prints_itself_in_a_line() -> None:
    assert repr(open_benchmark("demo")) == "Benchmark('demo', 30 samples)"


def test_a_sample_without_the_detail_that_an_aggregation_needs_is_named() -> None:
    sample = open_benchmark("demo").samples[0]
    own = Aggregation("Sum", {"sound": 1}, clip_detail="clip", facet_details={"hall": ("hall",)})
    with pytest.raises(BenchmarkError, match=f"{sample.id}: has no detail 'clip', which Sum needs"):
        own.clip(sample)
    with pytest.raises(BenchmarkError, match="has no detail 'hall'"):
        own.facets(sample)
    assert Aggregation("Sum", {"sound": 1}).clip(sample) == sample.clip.sha256
