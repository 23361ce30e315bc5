"""Promises of the published recipe's ROUGE-L."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiocapbench.errors import MetricError
from audiocapbench.metrics.align import rouge_l
from caption_corpora import CaptionCorpus, captions_of, corpora

WORDS = ["a", "dogs", "Dog's", "barking", "barked", "hip-hop", "rain.", "...", "🐕", "雨", "t.v."]
captions = captions_of([*WORDS, "\0"])
long_captions = captions_of("abc", min_size=50, max_size=90)
free_captions = st.text(max_size=30)


def assert_equals_rouge_score(predictions: list[str], references: list[list[str]]) -> None:
    from rouge_score.rouge_scorer import RougeScorer  # with NLTK, which takes its second

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    wanted = [
        max(scorer.score(reference, prediction)["rougeL"].fmeasure for reference in own)
        for prediction, own in zip(predictions, references, strict=True)
    ]
    result = rouge_l(predictions, references)
    np.testing.assert_allclose(result.samples, wanted, rtol=0, atol=1e-9)
    assert result.score == pytest.approx(np.mean(wanted), abs=1e-9)


@given(corpora(captions))
@settings(max_examples=80)
def test_every_sample_equals_rouge_score_where_words_repeat(corpus: CaptionCorpus) -> None:
    assert_equals_rouge_score(*corpus)


@given(corpora(free_captions))
@settings(max_examples=60)
def test_every_sample_equals_rouge_score_on_any_text(corpus: CaptionCorpus) -> None:
    assert_equals_rouge_score(*corpus)


@given(corpora(st.one_of(captions, long_captions), max_size=3))
@settings(max_examples=25)
def test_every_sample_equals_rouge_score_when_captions_are_longer_than_a_mask(
    corpus: CaptionCorpus,
) -> None:
    assert_equals_rouge_score(*corpus)


@pytest.mark.parametrize("length", [65, 123, 256, 257])
def test_every_sample_equals_rouge_score_when_only_the_prediction_is_long(length: int) -> None:
    words = [str(place % 7) for place in range(length)]
    references = [" ".join(words[5:40]), " ".join(words[:64]), words[0]]
    assert_equals_rouge_score([" ".join(words), words[1]], [references, references[:1]])


@pytest.mark.parametrize("length", [63, 64, 65])
def test_every_sample_equals_rouge_score_at_the_width_of_a_mask(length: int) -> None:
    words = [str(place % 7) for place in range(length)]
    prediction, reference = " ".join(words), " ".join(words[3:] + words[:3])
    assert_equals_rouge_score([prediction, reference], [[reference, "1 2"], [prediction]])


def test_two_texts_of_a_megabyte_are_refused_and_one_beside_a_caption_is_scored() -> None:
    long, other = "a b " * 250_000, "a c b " * 170_000
    with pytest.raises(MetricError, match="words are too long: ROUGE-L"):
        rouge_l(["a dog", long], [["a cat"], ["a dog", other]])
    scored = rouge_l([long, "a b c"], [["b a c b"], [other]]).samples
    # Three words are common: 2PR / (P + R) is twice those over the words of both sides.
    assert scored == pytest.approx([6 / 500_004, 6 / 510_003], abs=1e-9)
    # The original takes seconds for so much, and agrees on a tenth of it.
    assert_equals_rouge_score([long[:100_000], "a b c"], [["b a c b"], [other[:102_000]]])


@pytest.mark.slow
def test_a_real_corpus_equals_rouge_score_and_the_published_value(
    dcase_baseline: CaptionCorpus,
) -> None:
    assert rouge_l(*dcase_baseline).score == pytest.approx(0.40269, abs=5e-6)
    assert_equals_rouge_score(dcase_baseline.predictions[::4], dcase_baseline.references[::4])


@pytest.mark.slow
def test_a_second_real_corpus_has_the_published_value(panns_baseline: CaptionCorpus) -> None:
    assert rouge_l(*panns_baseline).score == pytest.approx(0.39113, abs=5e-6)


@pytest.mark.parametrize("prediction", ["", "  ", "...", "雨", "🐕"])
def test_a_caption_without_terms_scores_zero(prediction: str) -> None:
    assert rouge_l([prediction], [["a dog barks", prediction]]).score == 0


def test_a_blank_reference_never_raises_a_score() -> None:
    assert_equals_rouge_score(["a dog", "a dog", ""], [["", "a dog barks"], ["  "], [""]])


def test_captions_of_a_hundred_thousand_characters_get_the_right_number() -> None:
    length = 25_000
    score = rouge_l(["a b " * length], [["b a " * length, "c"]]).score
    assert score == pytest.approx(1 - 1 / (2 * length), abs=1e-9)


def test_a_single_word_of_a_hundred_thousand_characters_is_one_term() -> None:
    assert rouge_l(["y" * 100_000 + " dog"], [["y" * 100_000]]).score == pytest.approx(2 / 3)


def test_a_sample_without_references_is_named() -> None:
    with pytest.raises(MetricError, match="sample 1 has no reference"):
        rouge_l(["a", "b"], [["a"], []])


def test_a_corpus_without_samples_scores_zero() -> None:
    assert rouge_l([], []).score == 0


def test_the_signature_says_how_the_number_was_made() -> None:
    assert str(rouge_l(["a"], [["a"]]).signature).startswith(
        "rouge_l|variant:rouge-score|stem:porter|tok:alnum|case:lower|refs:max|protocol:1"
    )
