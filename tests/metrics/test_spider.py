"""SPIDEr, SPIDEr-FL and the fluency penalty, also against the published arithmetic of CoNeTTE."""

from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.fluency.fense import penalise
from audiocapbench.metrics.java import combine_spider, spider_fl
from audiocapbench.metrics.result import MetricResult
from audiocapbench.signature import sign
from coco_oracle import conette


def _result(name: str, *samples: float) -> MetricResult:
    return MetricResult.of_means(name, sign(name), np.array(samples))


def test_spider_is_the_mean_of_both() -> None:
    result = combine_spider(_result("cider_d", 1.0, 0.5), _result("spice", 0.5, 0.1))
    assert result.samples == pytest.approx([0.75, 0.3])
    assert result.score == pytest.approx(0.525)


def test_only_probabilities_above_the_threshold_are_punished() -> None:
    assert penalise([1.0, 1.0, 1.0], [0.0, 0.9, 0.91]) == pytest.approx([1.0, 1.0, 0.1])
    assert penalise([1.0], [0.6], threshold=0.5, penalty=0.25) == pytest.approx([0.75])


def test_probabilities_that_do_not_fit_are_refused() -> None:
    with pytest.raises(MetricError, match="2 scores but 1 error probabilities"):
        penalise([1.0, 1.0], [0.5])
    with pytest.raises(MetricError, match="sample 1 is not a number"):
        penalise([1.0, 1.0], [0.5, float("nan")])


def test_the_signature_of_spider_fl_names_the_detector() -> None:
    result = spider_fl(_result("spider", 1.0), [0.95], detector="echecker")
    assert "|detector:echecker|threshold:0.9|penalty:0.9|" in str(result.signature)


def test_published_scores_of_conette_come_out(shared: Path) -> None:
    corpus = conette(shared)
    cider = _result("cider_d", *corpus.published("cider_d"))
    result = combine_spider(cider, _result("spice", *corpus.published("spice")))
    assert result.samples == pytest.approx(np.array(corpus.published("spider")), abs=1e-9)
    errors = corpus.published("fer.error_prob")
    punished = spider_fl(result, errors, detector="echecker")
    assert punished.samples == pytest.approx(np.array(corpus.published("spider_fl")), abs=1e-9)
    fense = penalise(corpus.published("sbert_sim"), errors)
    assert fense == pytest.approx(np.array(corpus.published("fense")), abs=1e-9)
    assert (np.array(errors) > 0.9).sum() == 5
