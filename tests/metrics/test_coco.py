"""BLEU and ROUGE-L of the COCO family, by hand and against pycocoevalcap."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.align import rouge_l_coco
from audiocapbench.metrics.ngrams import bleu_coco
from coco_oracle import Corpus, clotho, conette, tokenised
from needs import needs

CORPORA = [clotho, conette]


def test_a_prediction_equal_to_a_reference_scores_one() -> None:
    predictions = ["A dog barks at the door."]
    references = [["rain falls", "a dog barks at the door"]]
    for result in [*bleu_coco(predictions, references), rouge_l_coco(predictions, references)]:
        assert result.samples == pytest.approx([1.0], abs=1e-8)
        assert result.score == pytest.approx(1.0, abs=1e-8)


def test_bleu_clips_repeated_words_at_one_references_count() -> None:
    one, two, *_ = bleu_coco(["the the the cat"], [["the cat sat here", "the the end now"]])
    assert one.score == pytest.approx(3 / 4, abs=1e-8)
    assert two.score == pytest.approx(math.sqrt(3 / 4 * 2 / 3), abs=1e-8)


def test_bleu_measures_brevity_by_the_closest_and_then_the_shorter_reference() -> None:
    result = bleu_coco(["a b c d"], [["a b c d e", "a b c", "a b c d e f g h"]])[0]
    assert result.statistics[0, -1] == pytest.approx(3)
    assert result.score == pytest.approx(1.0, abs=1e-8)


def test_corpus_bleu_pools_counts_and_is_not_the_mean() -> None:
    result = bleu_coco(["a b", "c x x x"], [["a b"], ["c d e f"]])[0]
    assert result.score == pytest.approx(3 / 6, abs=1e-8)
    assert result.samples.mean() == pytest.approx((1 + 1 / 4) / 2, abs=1e-8)


def test_statistics_of_a_resample_give_the_score_of_that_resample() -> None:
    predictions = ["a dog barks", "rain", "the wind howls at night", ""]
    references = [["the dog barks"], ["rain falls"], ["wind howls", "wind at night"], ["birds"]]
    chosen = [0, 2, 2, 3]
    resampled = bleu_coco([predictions[i] for i in chosen], [references[i] for i in chosen])
    for whole, part in zip(bleu_coco(predictions, references), resampled, strict=True):
        again = whole.aggregate(whole.statistics[chosen].mean(axis=0))
        assert again == pytest.approx(part.score, abs=1e-12)


def test_rouge_takes_best_precision_and_best_recall_from_any_reference() -> None:
    result = rouge_l_coco(["a b c"], [["a b c d e f", "c"]])
    precision, recall, beta = 1.0, 1.0, 1.2
    expected = (1 + beta**2) * precision * recall / (recall + beta**2 * precision)
    assert result.score == pytest.approx(expected)
    assert rouge_l_coco(["a x b y c"], [["a b z c"]]).score == pytest.approx(
        (1 + beta**2) * (3 / 5) * (3 / 4) / (3 / 4 + beta**2 * (3 / 5))
    )


@pytest.mark.parametrize("text", ["", "...", "\x00", "😀", " \n "])
def test_an_empty_prediction_scores_zero(text: str) -> None:
    predictions, references = [text, "a dog"], [["a dog", text], ["a dog"]]
    for result in [*bleu_coco(predictions, references), rouge_l_coco(predictions, references)]:
        assert result.samples[0] == 0.0
        assert np.isfinite(result.score)


@pytest.mark.parametrize("metric", [bleu_coco, rouge_l_coco])
def test_a_sample_without_references_is_named(metric: Callable[..., object]) -> None:
    with pytest.raises(MetricError, match="sample 1 has no reference"):
        metric(["a", "b"], [["a"], []])
    with pytest.raises(MetricError, match="2 predictions but references for 1"):
        metric(["a", "b"], [["a"]])
    with pytest.raises(MetricError, match="sample 0: its references are one string"):
        metric(["a"], ["a"])


def test_any_script_is_scored() -> None:
    texts = ["狗在叫", "שלום עולם", "nul\x00 byte", "a 🦉 hoots", "x" * 100_000]
    for result in [*bleu_coco(texts, [[text] for text in texts])[:1]]:
        assert result.samples == pytest.approx(np.ones(5), abs=1e-8)
    assert rouge_l_coco(texts, [[text] for text in texts]).samples == pytest.approx(np.ones(5))


def test_no_samples_score_zero() -> None:
    for result in [*bleu_coco([], []), rouge_l_coco([], [])]:
        assert result.score == 0.0


def test_signatures_say_how_the_numbers_were_made() -> None:
    result = bleu_coco(["a"], [["a"]])[3]
    assert str(result.signature).startswith("bleu_coco_4|tok:ptb-3.4.1|case:lower|reflen:closest")
    assert "|beta:1.2|" in str(rouge_l_coco(["a"], [["a"]]).signature)


@pytest.mark.parametrize("load", CORPORA)
@pytest.mark.slow
def test_bleu_equals_pycocoevalcap(load: Callable[[Path], Corpus], shared: Path) -> None:
    corpus = load(shared)
    tokens = tokenised(corpus)
    needs("pycocoevalcap")
    from pycocoevalcap.bleu.bleu import Bleu

    scores, samples = Bleu(4).compute_score(*tokens, verbose=0)
    results = bleu_coco(corpus.predictions, corpus.references)
    for result, score, per_sample in zip(results, scores, samples, strict=True):
        assert result.score == pytest.approx(score, abs=1e-9)
        assert result.samples == pytest.approx(np.array(per_sample), abs=1e-9)


@pytest.mark.parametrize("load", CORPORA)
@pytest.mark.slow
def test_rouge_equals_pycocoevalcap(load: Callable[[Path], Corpus], shared: Path) -> None:
    corpus = load(shared)
    tokens = tokenised(corpus)
    needs("pycocoevalcap")
    from pycocoevalcap.rouge.rouge import Rouge

    score, samples = Rouge().compute_score(*tokens)
    result = rouge_l_coco(corpus.predictions, corpus.references)
    assert result.score == pytest.approx(score, abs=1e-9)
    assert result.samples == pytest.approx(samples, abs=1e-9)


@pytest.mark.slow
def test_published_scores_of_conette_come_out(shared: Path) -> None:
    corpus = conette(shared)
    for result in bleu_coco(corpus.predictions, corpus.references):
        name = result.name.replace("_coco", "")
        assert result.samples == pytest.approx(np.array(corpus.published(name)), abs=1e-9)
    rouge = rouge_l_coco(corpus.predictions, corpus.references)
    assert rouge.samples == pytest.approx(np.array(corpus.published("rouge_l")), abs=1e-9)
