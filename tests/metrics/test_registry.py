"""Metrics by name: found, computed together, and the same whether fresh or stored."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.errors import MetricError
from audiocapbench.metrics import METRICS, compute, find_metric
from audiocapbench.metrics.names import parse_name, split_names
from audiocapbench.metrics.text import plain

# A choice is of options, which captions are not: test_choice.py has some.
OFFLINE = [name for name, metric in METRICS.items() if not metric.needs and name != "choice"]
PREDICTIONS = ["a dog barks", "rain falls on a roof", "", "a man speaks then music plays"]
REFERENCES = [
    ["a dog is barking", "a dog barks twice"],
    ["rain falls", "heavy rain on a roof"],
    ["birds sing", "a bird chirps"],
    ["a man speaks and then music plays", "speech followed by music"],
]


@pytest.mark.parametrize("name", OFFLINE)
def test_every_metric_that_needs_nothing_scores_and_signs(name: str) -> None:
    (result,) = compute([name], PREDICTIONS, REFERENCES)
    assert result.name == name
    assert str(result.signature).startswith(f"{name}|")
    assert result.samples.shape == (4,)
    assert np.isfinite(result.samples).all()
    assert result.samples[2] == 0.0
    assert 0 < result.score <= METRICS[name].max_value


@pytest.mark.parametrize("name", OFFLINE)
def test_stored_statistics_give_the_same_corpus_score(name: str) -> None:
    (result,) = compute([name], PREDICTIONS, REFERENCES)
    stored = np.array(json.loads(json.dumps(result.statistics.tolist())))
    assert METRICS[name].aggregate(stored.mean(axis=0)) == result.score


@pytest.mark.parametrize(
    "text",
    ["🐕🔊", "\0\0", "\u202eabc", "狗在叫", "a" * 20_000, "dog " * 5_000, "\ud800", " \t\n "],
    ids=["emoji", "nul", "rtl", "chinese", "long-word", "long", "surrogate", "blank"],
)
def test_odd_text_gives_a_finite_number(text: str) -> None:
    own = ["a dog barks", text] if plain(text) else ["a dog barks"]
    results = compute(OFFLINE, [text, "a dog barks"], [own, ["a dog", "x"]])
    assert [result.name for result in results] == OFFLINE
    for result in results:
        assert np.isfinite(result.samples).all(), result.name


@pytest.mark.parametrize("name", [name for name in OFFLINE if name != "fluency"])
def test_a_sample_without_references_is_one_clear_sentence(name: str) -> None:
    with pytest.raises(MetricError) as error:
        compute([name], ["a dog", "a cat"], [["a dog"], []])
    assert "1" in str(error.value)
    assert "\n" not in str(error.value)


def test_variants_of_one_metric_stand_side_by_side() -> None:
    names = ["date", "date[variant=published]", "date[subtask=speech]"]
    results = compute(names, PREDICTIONS, REFERENCES)
    assert [result.name for result in results] == names
    assert len({result.signature for result in results}) == 3


def test_names_are_read_with_their_options() -> None:
    text = "bleu_1, date[encoder= minilm,subtask=speech] ,rouge_l,bleu_1"
    assert split_names(text) == ["bleu_1", "date[encoder=minilm,subtask=speech]", "rouge_l"]
    name = parse_name("date[encoder=minilm, subtask=speech]")
    assert name == ("date", {"encoder": "minilm", "subtask": "speech"})
    assert str(name) == "date[encoder=minilm,subtask=speech]"


@pytest.mark.parametrize("text", ["", "a[", "a]b", "a[b]", "a[=b]", "a[b=]", "a[b=c", "a b"])
def test_a_name_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(MetricError):
        find_metric(text)


@given(st.text(max_size=40))
def test_any_name_is_found_or_refused(text: str) -> None:
    try:
        for name in split_names(text):
            find_metric(name)
    except MetricError:
        return


def test_a_family_s_name_stands_for_its_four_orders() -> None:
    names = split_names("bleu_2,bleu,rouge_l")
    assert names == ["bleu_2", "bleu_1", "bleu_3", "bleu_4", "rouge_l"]


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("fense", "write fense[detector=PATH]"),
        ("spider_fl", "write spider_fl[detector=PATH]"),
        ("fense[detector=no.ckpt]", "no checkpoint at no.ckpt"),
        ("spice", "install Java 8 or newer"),
        ("spider", "install Java 8 or newer"),
        ("meteor_1_5", "install Java 8 or newer"),
        ("similarity[encoder=none]", "no sentence encoder called 'none'"),
        ("fluent_similarity[encoder=none]", "no sentence encoder called 'none'"),
        ("date[variant=none]", "no variant of DATE 'none'"),
        ("date_similarity[encoder=none]", "no sentence encoder called 'none'"),
    ],
)
def test_what_a_metric_lacks_is_said_before_anybody_is_asked(
    metric: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'No Java here.' >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MetricError) as error:
        check_metrics(None, [metric])
    assert words in str(error.value)


def test_every_metric_that_needs_something_looks_for_it_beforehand() -> None:
    assert [one.name for one in METRICS.values() if one.needs and one.prepare is None] == []


def test_every_function_that_is_loaded_later_is_there() -> None:
    for metric in METRICS.values():
        for one in (metric.compute, metric.prepare, metric.explain, metric.aggregate):
            place = getattr(getattr(one, "func", one), "__qualname__", "").rpartition(":")
            assert not place[1] or callable(
                getattr(import_module(f"audiocapbench.metrics.{place[0]}"), place[2])
            )


def test_word_metrics_load_nothing_that_they_do_not_need() -> None:
    code = (
        "import sys; from audiocapbench.metrics import compute;"
        "compute(['meteor', 'bleu_4', 'rouge_l'], ['a dog'], [['a dog barks']]);"
        "print(sorted({'pydantic', 'scipy', 'soundfile', 'tokenizers', 'importlib.metadata'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n", done.stdout + done.stderr
