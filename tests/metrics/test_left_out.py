"""Samples without an answer stay in the corpus: leaving answers out pays nobody."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from audiocapbench.library.captions import samples_of
from audiocapbench.metrics import compute
from audiocapbench.scores.compute import Group, SampleScores
from audiocapbench.scores.estimate import Missing, Scorer
from mecat_runs import sentence

N = 24
REFERENCES = [[sentence(row, 0), sentence(row, 1)] for row in range(N)]
JUNK = ("asdf qwer", "A sound is heard.", "zzz " * 9, "!!! ???", "", "the the of of a a")


def place(metric: str, texts: Sequence[str | None]) -> float:
    """What a metric ranks such answers by, the best highest."""
    scorer, samples = Scorer(metric), samples_of({str(row): ("",) for row in range(N)})
    (result,) = compute([metric], texts, REFERENCES)
    given = [str(row) for row, text in enumerate(texts) if text is not None]
    assert len(result.samples) == len(given)
    scores = SampleScores()
    for key, value, own in zip(given, result.samples, result.statistics, strict=True):
        scores.add(key, float(value), own, result.signature)
    group = Group(tuple(samples), tuple(given))
    failed = {str(row): Missing.FAILED for row, text in enumerate(texts) if text is None}
    estimate = group.point(scorer, scores, dict.fromkeys(given) | failed)
    return -scorer.sort_key(estimate)[1]


@pytest.mark.parametrize("metric", ["date", "cider_d"])
def test_an_answer_scores_the_same_whoever_else_is_missing(metric: str) -> None:
    texts = [sentence(row, 1) for row in range(N)]
    whole = compute([metric], texts, REFERENCES)[0].samples
    rows = list(range(0, N, 2))
    part = compute(
        [metric], [text if row in rows else "" for row, text in enumerate(texts)], REFERENCES
    )
    left = compute(
        [metric], [text if row in rows else None for row, text in enumerate(texts)], REFERENCES
    )
    assert np.allclose(left[0].samples, part[0].samples[rows])
    if metric == "cider_d":
        assert np.allclose(left[0].samples, whole[rows])


def test_metrics_of_single_samples_are_computed_on_answers_alone() -> None:
    (result,) = compute(["rouge_l"], [None, "a dog barks"], [["a"], ["a dog barks"]])
    assert result.samples.tolist() == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["date", "date[variant=published]"])
def test_leaving_answers_out_never_raises_what_a_model_is_ranked_by(metric: str) -> None:
    """400 draws in all: any answers, the junk among them, some of it, or a single one."""
    draw = random.Random(metric)
    for _ in range(20):
        junk, share = draw.choice(JUNK), draw.random()
        bad = [draw.random() < share for _ in range(N)]
        texts = [junk if bad[row] else sentence(row, draw.randrange(3)) for row in range(N)]
        whole = place(metric, texts)
        for _ in range(10):
            some, one = draw.random(), draw.randrange(N)
            left = draw.choice(
                [bad, [draw.random() < some for _ in bad], [row == one for row in range(N)]]
            )
            given = [None if left[row] else text for row, text in enumerate(texts)]
            assert place(metric, given) <= whole + 1e-9, (junk, share, left)
