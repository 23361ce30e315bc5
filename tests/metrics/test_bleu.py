"""Promises of the published recipe's BLEU."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiocapbench.errors import MetricError
from audiocapbench.metrics.ngrams import bleu
from caption_corpora import CaptionCorpus, captions_of, corpora
from needs import needs

bleu_score = needs("nltk.translate.bleu_score")

ORDERS = (1, 2, 3, 4)
WORDS = ["a", "dog", "Barks", "barks", "the", "rain.", "🐕", "雨", "كلب", "\0"]
captions = captions_of(WORDS)
long_captions = captions_of("ab", min_size=50, max_size=90)
free_captions = st.text(max_size=30)


def nltk_bleu(prediction: str, references: list[str]) -> list[float]:
    """BLEU-1 to BLEU-4; one that is 0 for want of a common word is 0 in each."""
    scores: list[float] | float = bleu_score.sentence_bleu(
        [reference.lower().split() for reference in references],
        prediction.lower().split(),
        weights=[(1 / order,) * order for order in ORDERS],
        smoothing_function=bleu_score.SmoothingFunction().method1,
    )
    return scores if isinstance(scores, list) else [scores] * len(ORDERS)


def assert_equals_nltk(predictions: list[str], references: list[list[str]]) -> None:
    pairs = zip(predictions, references, strict=True)
    every = [nltk_bleu(prediction, own) for prediction, own in pairs]
    results = bleu(predictions, references)
    for result, wanted in zip(results, zip(*every, strict=True), strict=True):
        np.testing.assert_allclose(result.samples, wanted, rtol=0, atol=1e-9)
        assert result.score == pytest.approx(np.mean(wanted), abs=1e-9)


@given(corpora(captions))
@settings(max_examples=80)
def test_every_sample_equals_nltk_where_words_repeat(corpus: CaptionCorpus) -> None:
    assert_equals_nltk(*corpus)


@given(corpora(free_captions))
@settings(max_examples=60)
def test_every_sample_equals_nltk_on_any_text(corpus: CaptionCorpus) -> None:
    assert_equals_nltk(*corpus)


@given(corpora(st.one_of(captions, long_captions), max_size=3))
@settings(max_examples=30)
def test_every_sample_equals_nltk_when_captions_are_longer_than_a_mask(
    corpus: CaptionCorpus,
) -> None:
    assert_equals_nltk(*corpus)


@pytest.mark.parametrize("length", [65, 123, 256, 257])
def test_every_sample_equals_nltk_when_only_the_prediction_is_long(length: int) -> None:
    words = [str(place % 7) for place in range(length)]
    references = [" ".join(words[5:40]), " ".join(words[:64]), words[0]]
    assert_equals_nltk([" ".join(words), words[1]], [references, references[:1]])


@pytest.mark.parametrize("length", [63, 64, 65])
def test_every_sample_equals_nltk_at_the_width_of_a_mask(length: int) -> None:
    words = [str(place % 7) for place in range(length)]
    prediction, reference = " ".join(words), " ".join(words[3:] + words[:3])
    assert_equals_nltk([prediction, reference], [[reference, "1 2"], [prediction]])


@pytest.mark.slow
def test_a_real_corpus_equals_nltk_and_the_published_values(dcase_baseline: CaptionCorpus) -> None:
    scores = [result.score for result in bleu(*dcase_baseline)]
    assert scores == pytest.approx([0.54877, 0.33944, 0.21277, 0.13505], abs=5e-6)
    assert_equals_nltk(dcase_baseline.predictions[::4], dcase_baseline.references[::4])


@pytest.mark.slow
def test_a_second_real_corpus_has_the_published_values(panns_baseline: CaptionCorpus) -> None:
    scores = [result.score for result in bleu(*panns_baseline)]
    assert scores == pytest.approx([0.53549, 0.32513, 0.20203, 0.13031], abs=5e-6)


def test_samples_keep_their_order_and_repeats_score_alike(dcase_baseline: CaptionCorpus) -> None:
    predictions, references = dcase_baseline.predictions[:40], dcase_baseline.references[:40]
    once = bleu(predictions, references)[3].samples
    twice = bleu(predictions[::-1] * 2, references[::-1] * 2)[3].samples
    np.testing.assert_array_equal(twice, np.tile(once[::-1], 2))


@pytest.mark.parametrize("prediction", ["", "  \n", "cat"])
def test_a_prediction_without_a_shared_word_scores_zero(prediction: str) -> None:
    assert [result.score for result in bleu([prediction], [["a dog barks"]])] == [0, 0, 0, 0]


def test_blank_references_count_as_nltk_counts_them() -> None:
    assert_equals_nltk(["a dog", "a", ""], [["", "a dog barks loud"], ["  "], [""]])


def test_captions_of_a_hundred_thousand_characters_get_the_right_number() -> None:
    length = 25_000
    unigrams, *_ = bleu(["a b " * length], [["b a " * length, "c"]])
    assert unigrams.score == 1.0
    bigrams = bleu(["a b " * length], [["b a " * length, "c"]])[1]
    assert bigrams.score == pytest.approx((1 - 1 / (2 * length - 1)) ** 0.5, abs=1e-9)


def test_a_sample_without_references_is_named() -> None:
    with pytest.raises(MetricError, match="sample 1 has no reference"):
        bleu(["a", "b"], [["a"], []])


def test_references_that_are_one_string_are_refused() -> None:
    with pytest.raises(MetricError, match=r"sample 0.*list of captions"):
        bleu(["a"], ["a"])


def test_predictions_and_references_of_different_number_are_refused() -> None:
    with pytest.raises(MetricError, match="2 predictions but references for 1 samples"):
        bleu(["a", "b"], [["a"]])


def test_a_corpus_without_samples_scores_zero() -> None:
    assert [result.score for result in bleu([], [])] == [0, 0, 0, 0]


def test_the_signature_says_how_the_number_was_made() -> None:
    signature = str(bleu(["a"], [["a"]])[3].signature)
    assert signature.startswith(
        "bleu_4|variant:nltk|level:sentence|smooth:method1|tok:split|case:lower|refs:all|protocol:1"
    )
