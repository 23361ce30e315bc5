"""CIDEr-D, by hand and against pycocoevalcap."""

import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics import ngrams
from audiocapbench.metrics.batches import read_corpus
from audiocapbench.metrics.ngrams import bleu_coco, cider_d
from coco_oracle import Corpus, clotho, conette, tokenised
from needs import needs


def test_identical_captions_score_ten_where_all_orders_exist() -> None:
    captions = ["a dog barks loudly", "rain falls on roofs", "one"]
    samples = cider_d(captions, [[caption] for caption in captions]).samples
    assert samples == pytest.approx([10.0, 10.0, 2.5])


def test_a_difference_in_length_costs_a_gaussian_of_bigrams() -> None:
    result = cider_d(["x y", "z"], [["x y w v u"], ["q"]])
    unigrams = 2 / math.sqrt(2 * 5)
    bigrams = 1 / math.sqrt(1 * 4)
    expected = 10 * (unigrams + bigrams) / 4 * math.exp(-(3**2) / (2 * 6**2))
    assert result.samples == pytest.approx([expected, 0.0])


def test_words_in_every_sample_weigh_nothing() -> None:
    assert cider_d(["the", "the"], [["the cat"], ["the dog"]]).score == 0.0


def test_one_sample_is_refused_with_the_reason() -> None:
    with pytest.raises(MetricError, match="at least two samples"):
        cider_d(["a dog"], [["a dog"]])


def test_samples_taken_in_parts_score_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, with sentences that repeat across parts, blank ones and other counts of them."""
    words = ["dog", "barks", "rain", "the", "on", "a", "roof"]
    draw = random.Random(4)
    texts = [" ".join(draw.choices(words, k=draw.randrange(9))) for _ in range(60)]
    predictions = draw.choices(texts, k=90)
    references = [draw.choices(texts, k=draw.randint(1, 6)) for _ in predictions]
    whole = [cider_d(predictions, references), *bleu_coco(predictions, references)]
    monkeypatch.setattr(ngrams, "_TOKENS_AT_ONCE", 40)
    parts = [cider_d(predictions, references), *bleu_coco(predictions, references)]
    assert len(list(ngrams.in_parts(read_corpus(predictions, references)))) > 10
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one.samples, other.samples)
        assert np.array_equal(one.statistics, other.statistics)


def test_no_samples_score_zero() -> None:
    assert cider_d([], []).score == 0.0


def test_a_sample_without_references_is_named() -> None:
    with pytest.raises(MetricError, match="sample 0 has no reference"):
        cider_d(["a", "b"], [[], ["b"]])


@pytest.mark.parametrize("text", ["", "...", "\x00", "😀"])
def test_an_empty_prediction_scores_zero(text: str) -> None:
    result = cider_d([text, "a dog", "rain"], [["", text], ["a dog"], ["rain falls"]])
    assert result.samples[0] == 0.0
    assert np.isfinite(result.samples).all()


def test_resampling_keeps_the_weights_of_the_full_corpus() -> None:
    result = cider_d(["a dog", "rain", "wind"], [["a dog barks"], ["rain falls"], ["strong wind"]])
    assert (result.statistics[:, 0] == result.samples).all()
    assert str(result.signature).startswith(
        "cider_d|tok:ptb-3.4.1|n:4|sigma:6|idf:corpus-refs|boot:idf-fixed|"
    )


@pytest.mark.parametrize("load", [clotho, conette])
@pytest.mark.slow
def test_cider_d_equals_pycocoevalcap(load: Callable[[Path], Corpus], shared: Path) -> None:
    corpus = load(shared)
    tokens = tokenised(corpus)
    needs("pycocoevalcap")
    from pycocoevalcap.cider.cider import Cider

    score, samples = Cider().compute_score(*tokens)
    result = cider_d(corpus.predictions, corpus.references)
    assert result.score == pytest.approx(score, abs=1e-9)
    assert result.samples == pytest.approx(samples, abs=1e-9)


def test_published_scores_of_conette_come_out_where_possessives_are_one_word(
    shared: Path,
) -> None:
    corpus = conette(shared)
    published = np.array(corpus.published("cider_d"))
    # Its evaluation left "woman's" and "vehicle's", in two of 4,560 references, unsplit.
    unsplit = [[text.replace("'", "q") for text in texts] for texts in corpus.references]
    as_published = cider_d(corpus.predictions, unsplit)
    assert as_published.samples == pytest.approx(published, abs=1e-9)
    ours = cider_d(corpus.predictions, corpus.references)
    assert ours.score == pytest.approx(published.mean(), abs=5e-5)
