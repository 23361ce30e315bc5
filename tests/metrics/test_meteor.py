"""Promises of the published recipe's METEOR."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiocapbench.errors import MetricError
from audiocapbench.metrics.align import meteor
from caption_corpora import CaptionCorpus, captions_of, corpora
from needs import needs

nltk = needs("nltk.translate.meteor_score")

# Equal words, equal stems and chains of synonyms, so that alignments compete.
WORDS = (
    "a the dog dogs hound hounds track tracks trail cad fall falls falling come coming down "
    "person someone individual soul sound noise go run runs running Barks bark. domestic_dog "
    "🐕 雨 كلب \0 ' yy"
)
captions = captions_of(WORDS.split(), max_size=14)
long_captions = captions_of(WORDS.split(), min_size=50, max_size=90)
free_captions = st.text(max_size=30)


def assert_equals_nltk(predictions: list[str], references: list[list[str]]) -> None:
    wanted = [
        nltk.meteor_score(
            [reference.lower().split() for reference in own], prediction.lower().split()
        )
        for prediction, own in zip(predictions, references, strict=True)
    ]
    result = meteor(predictions, references)
    np.testing.assert_allclose(result.samples, wanted, rtol=0, atol=1e-9)
    assert result.score == pytest.approx(np.mean(wanted), abs=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("nltk_wordnet")
@given(corpora(captions))
@settings(max_examples=50)
def test_every_sample_equals_nltk_where_alignments_compete(corpus: CaptionCorpus) -> None:
    assert_equals_nltk(*corpus)


@pytest.mark.usefixtures("nltk_wordnet")
@given(corpora(free_captions))
@settings(max_examples=80)
def test_every_sample_equals_nltk_on_any_text(corpus: CaptionCorpus) -> None:
    assert_equals_nltk(*corpus)


@pytest.mark.usefixtures("nltk_wordnet")
@given(corpora(st.one_of(captions, long_captions), max_size=3))
@settings(max_examples=40)
def test_every_sample_equals_nltk_when_captions_are_longer_than_a_mask(
    corpus: CaptionCorpus,
) -> None:
    assert_equals_nltk(*corpus)


@pytest.mark.usefixtures("nltk_wordnet")
@pytest.mark.parametrize("length", [65, 123, 256, 257])
def test_every_sample_equals_nltk_when_only_the_prediction_is_long(length: int) -> None:
    words = (WORDS.split() * 9)[:length]
    references = [" ".join(words[5:40]), " ".join(words[:64]), words[0]]
    assert_equals_nltk([" ".join(words), words[1]], [references, references[:1]])


@pytest.mark.usefixtures("nltk_wordnet")
@pytest.mark.parametrize("length", [63, 64, 65])
def test_every_sample_equals_nltk_at_the_width_of_a_mask(length: int) -> None:
    words = (WORDS.split() * 3)[:length]
    prediction, reference = " ".join(words), " ".join(words[3:] + words[:3])
    assert_equals_nltk([prediction, reference], [[reference, "dog fall"], [prediction]])


@pytest.mark.usefixtures("nltk_wordnet")
@pytest.mark.slow
def test_a_real_corpus_equals_nltk_and_the_published_value(dcase_baseline: CaptionCorpus) -> None:
    assert meteor(*dcase_baseline).score == pytest.approx(0.33691, abs=5e-6)
    assert_equals_nltk(dcase_baseline.predictions[::4], dcase_baseline.references[::4])


@pytest.mark.slow
def test_a_second_real_corpus_has_the_published_value(panns_baseline: CaptionCorpus) -> None:
    assert meteor(*panns_baseline).score == pytest.approx(0.32628, abs=5e-6)


@pytest.mark.usefixtures("nltk_wordnet")
def test_synonyms_are_sought_among_stems_as_nltk_does() -> None:
    assert meteor(["a person"], [["someone"]]).score == 0
    assert meteor(["falling"], [["coming"]]).score == 0.5
    assert_equals_nltk(["a person", "falling"], [["someone"], ["coming"]])


@pytest.mark.parametrize("prediction", ["", "  \n", "zzz"])
def test_a_prediction_without_a_match_scores_zero(prediction: str) -> None:
    assert meteor([prediction], [["a dog barks"]]).score == 0


@pytest.mark.usefixtures("nltk_wordnet")
def test_a_blank_reference_gives_zero_as_in_nltk() -> None:
    assert meteor(["a dog"], [["  "]]).score == 0
    assert_equals_nltk(["a dog", "", "a dog"], [["", "a dog barks"], [""], ["  "]])


def test_captions_of_a_hundred_thousand_characters_get_the_right_number() -> None:
    length = 12_500
    score = meteor(["dog runs " * length], [["hound run " * length, "c"]]).score
    assert score == pytest.approx(1, abs=1e-9)


def test_the_time_of_a_long_caption_grows_with_its_words() -> None:
    # With the square of its words it took a minute, where a quarter of a second is enough.
    words = [f"word{number % 997}" for number in range(30_000)]
    begun = time.process_time()
    score = meteor([" ".join(words)], [[" ".join(reversed(words))]]).score
    assert time.process_time() - begun < 10
    assert 0 < score < 1


def test_a_sample_without_references_is_named() -> None:
    with pytest.raises(MetricError, match="sample 1 has no reference"):
        meteor(["a", "b"], [["a"], []])


def test_a_corpus_without_samples_or_words_scores_zero() -> None:
    assert meteor([], []).score == 0
    assert meteor([""], [[""]]).score == 0


def test_the_signature_says_how_the_number_was_made() -> None:
    assert str(meteor(["a"], [["a"]]).signature).startswith(
        "meteor|variant:nltk|tok:split|case:lower|refs:max|wordnet:3.0|protocol:1"
    )
