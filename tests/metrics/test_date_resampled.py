"""DATE of samples of a corpus: the same numbers as counting every rank anew by hand."""

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.metric import (
    VARIANTS,
    date_and_parts,
    encode_corpus,
    harmonic_mean,
    resampled_date,
    whole_date,
)
from mecat_runs import sentence

PREDICTIONS = [sentence(number, "prediction") for number in range(40)]
REFERENCES = [[sentence(number, turn) for turn in range(2)] for number in range(40)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_whole_corpus_scores_as_the_metric_does(variant: str) -> None:
    texts = ["qwx jjk", *PREDICTIONS[1:]]  # whose likeness to its references is below 0
    expected = date_and_parts(texts, REFERENCES, variant=variant, subtask="sound")[0].score
    corpus = encode_corpus(texts, REFERENCES, variant=variant, subtask="sound")
    assert whole_date(corpus) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_round_is_the_same_as_counting_its_ranks_one_by_one(variant: str) -> None:
    corpus = encode_corpus(PREDICTIONS, REFERENCES, variant=variant)
    scores = resampled_date(corpus, [7, 25], 3, seed=5)
    draws = np.random.default_rng(5)
    for row, size in enumerate((7, 25)):
        for turn, times in enumerate(draws.multinomial(size, np.full(40, 1 / 40), size=3)):
            drawn = np.repeat(np.arange(40), times)
            similar = np.maximum(corpus.similarity[drawn], 0)
            counts = [
                sum(corpus.queries[one] @ corpus.keys[two] >= corpus.floors[one] for two in drawn)
                for one in drawn
            ]
            distinct = 1 - np.array(counts) / size
            parts = np.array([similar.mean(), distinct.mean()])
            by_hand = (
                harmonic_mean(parts[:1], parts[1:])[0]
                if variant == "published"
                else harmonic_mean(similar, distinct).mean()
            )
            assert scores[row, turn] == pytest.approx(by_hand, abs=1e-9)


def test_the_same_seed_gives_the_same_numbers() -> None:
    corpus = encode_corpus(PREDICTIONS, REFERENCES)
    assert np.array_equal(resampled_date(corpus, [9], 4), resampled_date(corpus, [9], 4))


def test_a_sample_of_one_ranks_nobody() -> None:
    with pytest.raises(MetricError, match="got 1"):
        resampled_date(encode_corpus(PREDICTIONS, REFERENCES), [5, 1], 2)
