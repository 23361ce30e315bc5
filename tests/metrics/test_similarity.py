"""Sentence similarity: the mean cosine over references, and what it does with bad input."""

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.fluency.fense import similarity
from caption_corpora import CaptionCorpus


def test_the_same_words_are_fully_similar() -> None:
    result = similarity(["a dog barks"], [["a dog barks", " a dog barks "]])
    assert result.score == pytest.approx(1, abs=1e-6)


def test_the_score_is_the_mean_cosine_over_references() -> None:
    texts = ["a dog barks", "a hound howls at night", "rain falls"]
    vectors = load("caption2vec").encode(texts).astype(np.float64)
    expected = np.mean([vectors[0] @ vectors[1], vectors[0] @ vectors[2]])
    result = similarity(texts[:1], [texts[1:]])
    assert result.samples[0] == pytest.approx(expected, abs=1e-7)


def test_samples_with_different_numbers_of_references_stand_apart() -> None:
    predictions = ["a dog barks", "rain falls", "a man speaks"]
    references = [["a dog"], ["rain", "water", "a storm"], ["a person talks", "speech"]]
    together = similarity(predictions, references).samples
    alone = [
        similarity([prediction], [own]).samples[0]
        for prediction, own in zip(predictions, references, strict=True)
    ]
    np.testing.assert_array_equal(together, alone)


def test_order_of_samples_changes_no_bit(dcase_baseline: CaptionCorpus) -> None:
    predictions, references = dcase_baseline
    forward = similarity(predictions, references).samples
    backward = similarity(predictions[::-1], references[::-1]).samples
    np.testing.assert_array_equal(backward[::-1], forward)


def test_an_empty_prediction_scores_zero_and_is_counted() -> None:
    result = similarity(["", "a dog barks"], [["a dog"], ["a dog barks"]])
    assert result.samples[0] == 0
    assert result.score == pytest.approx(0.5, abs=1e-6)


def test_a_blank_reference_is_no_reference() -> None:
    with_blank = similarity(["a dog barks"], [["", "a dog", "  "]]).score
    assert with_blank == similarity(["a dog barks"], [["a dog"]]).score


@pytest.mark.parametrize("references", [[], [""], [" ", "\n"]])
def test_a_sample_without_reference_is_named(references: list[str]) -> None:
    with pytest.raises(MetricError, match="sample 1 has no reference"):
        similarity(["a", "b"], [["a"], references])


def test_unequal_numbers_of_samples_are_refused() -> None:
    with pytest.raises(MetricError, match="2 predictions but references for 1"):
        similarity(["a", "b"], [["a"]])


def test_a_reference_that_is_a_bare_string_is_refused() -> None:
    with pytest.raises(MetricError, match="give a list of captions"):
        similarity(["a"], ["a dog"])


def test_hostile_text_has_a_finite_score() -> None:
    hostile = ["x" * 100_000, "\0", "😀" * 500, "人们在说话", "\u202eabc", "\ud800"]
    result = similarity(hostile, [["a dog barks", text] for text in hostile])
    assert np.isfinite(result.samples).all()
    assert (np.abs(result.samples) <= 1).all()


def test_an_empty_corpus_scores_zero() -> None:
    assert similarity([], []).score == 0


def test_the_signature_names_the_encoder_with_its_fingerprint() -> None:
    signature = str(similarity(["a"], [["a"]]).signature)
    assert signature.startswith(
        f"similarity|encoder:{load('caption2vec').name}|refs:mean|protocol:7"
    )


def test_an_encoder_object_serves_as_well_as_its_name() -> None:
    by_object = similarity(["a dog"], [["a cat"]], load("caption2vec"))
    by_name = similarity(["a dog"], [["a cat"]], "caption2vec")
    assert by_object.score == by_name.score
    assert by_object.signature == by_name.signature
