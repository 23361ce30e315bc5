"""Metrics that other packages bring: used like our own, and one clear sentence where they fail."""

from pathlib import Path

import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics import compute, find_metric, list_metrics
from plugin import install_package

MODULE = """
import numpy as np

from audiocapbench import Metric, MetricResult, sign


def _letters(predictions, references, letter="a"):
    scores = np.array([text.count(letter) / max(1, len(text)) for text in predictions])
    return MetricResult.of_means("letters", sign("letters", letter=letter), scores)


letters = Metric("letters", "share of one letter", _letters, ("letter",))
renamed = Metric("letters", "under another name", _letters)
silent = Metric("silent", "returns another metric's result", _letters)
text = "not a metric"
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = "letters renamed silent text"
    points = "\n".join(f"{name} = letters_plugin:{name}" for name in names.split())
    missing = "gone = letters_plugin:gone\nabsent = letters_absent:metric"
    site = install_package(tmp_path, "letters_plugin", MODULE, metrics=f"{points}\n{missing}")
    monkeypatch.syspath_prepend(str(site))


@pytest.mark.usefixtures("installed")
def test_a_metric_of_another_package_is_computed_like_our_own() -> None:
    ours, theirs = compute(["rouge_l", "letters[letter=b]"], ["ab", ""], [["ab"], ["c"]])
    assert ours.name == "rouge_l"
    assert theirs.name == "letters[letter=b]"
    assert theirs.samples.tolist() == [0.5, 0.0]
    assert str(theirs.signature) == "letters|letter:b|protocol:1"
    with pytest.raises(MetricError, match="letters has no option 'size'; it has letter"):
        find_metric("letters[size=2]")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("renamed", "letters_plugin:renamed is not a Metric of that name"),
        ("text", "letters_plugin:text is not a Metric of that name"),
        ("gone", "its plug-in letters_plugin:gone fails"),
        ("absent", "its plug-in letters_absent:metric fails"),
        ("silent", "the plug-in of silent returned no result of that name"),
    ],
)
def test_a_plug_in_that_is_no_metric_is_named(name: str, words: str) -> None:
    with pytest.raises(MetricError, match=words):
        compute([name], ["a"], [["a"]])


def test_without_plug_ins_the_list_is_our_own() -> None:
    names = [metric.name for metric in list_metrics()]
    assert len(names) == len(set(names))
    assert {"meteor", "date"} <= set(names)
