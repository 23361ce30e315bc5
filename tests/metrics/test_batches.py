"""Promises of what the metrics of the published recipe share."""

import random
from typing import Any

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.batches import (
    common_length,
    equal_word_masks,
    read_corpus,
    starts_of,
)


def test_masks_have_the_last_place_of_a_reference_as_their_lowest_bit() -> None:
    prediction, reference = np.array([[7], [8]]), np.array([[7], [9], [7], [8]])
    assert equal_word_masks(prediction, reference).tolist() == [[0b1010], [0b0001]]


def test_a_corpus_keeps_each_distinct_word_sentence_and_sample_once() -> None:
    corpus = read_corpus(["A dog", "a  dog", "A dog"], [["x"], ["A dog", "x"], ["x"]])
    assert corpus.words == ["a", "dog", "x"]
    assert corpus.sentences.ids.tolist() == [0, 1, 0, 1, 2]
    assert corpus.sentences.starts.tolist() == [0, 2, 4, 5]
    assert corpus.predictions.tolist() == [0, 1]
    assert corpus.references.tolist() == [2, 0, 2]
    assert corpus.reference_starts.tolist() == [0, 1, 3]
    assert corpus.place.tolist() == [0, 1, 0]


def test_a_corpus_changed_in_place_is_read_again() -> None:
    predictions, references = ["a"], [["a"]]
    read_corpus(predictions, references)
    references[0].append("b")
    assert read_corpus(predictions, references).words == ["a", "b"]


@pytest.mark.parametrize("missing", [None, float("nan"), b"a"])
def test_a_caption_that_is_not_text_is_named(missing: Any) -> None:
    with pytest.raises(MetricError, match=r"sample 1: a caption is \w+, not text"):
        read_corpus(["a", "b"], [["a"], ["b", missing]])
    with pytest.raises(MetricError, match=r"sample 0: a caption is \w+, not text"):
        read_corpus([missing], [["a"]])


def test_the_length_of_a_common_subsequence_is_that_of_the_textbook_s_table() -> None:
    draw = random.Random(4)
    for _ in range(300):
        most = draw.choice([1, 2, 3, 9])
        one, two = ([draw.randrange(most) for _ in range(draw.randrange(90))] for _ in range(2))
        same = [draw.randrange(most) for _ in range(draw.choice([0, 0, 5, 80]))]
        assert common_length(same + one, same + two) == _table_length(same + one, same + two)


def test_two_equal_texts_of_a_megabyte_are_compared_in_linear_time() -> None:
    words = [0, 1] * 250_000
    assert common_length(words, words[:-3]) == len(words) - 3
    assert common_length([0, 1, 2], words) == common_length(words, [0, 1, 2]) == 2


def _table_length(one: list[int], two: list[int]) -> int:
    row = [0] * (len(two) + 1)
    for word in one:
        before = row[:]
        for place, other in enumerate(two):
            longer = max(row[place], before[place + 1])
            row[place + 1] = before[place] + 1 if word == other else longer
    return row[-1]


def test_runs_start_where_the_one_before_ends() -> None:
    assert starts_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert starts_of([]).tolist() == [0]
