"""Paired tests against scipy's, and against what can be counted by hand."""

import os
import subprocess
import sys

import numpy as np
import pytest

from audiocapbench.metrics.ngrams import corpus_bleu
from audiocapbench.metrics.result import first_column
from audiocapbench.stats.bootstrap import (
    difference_interval,
    difference_intervals,
    guarded,
    paired_spreads,
    permutation_tests,
    student_tests,
)
from audiocapbench.stats.units import FloatArray
from needs import needs
from permutation import beside, permutation_test

stats = needs("scipy.stats")

THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
SUMMED = """
import hashlib
import numpy as np
from audiocapbench.stats.bootstrap import difference_interval, permutation_tests
seen = hashlib.sha256()

def noted(means):
    seen.update(np.ascontiguousarray(means).tobytes())
    return means[..., 0]

systems = np.random.default_rng(0).random((1_000, 13, 1))
pairs = np.array([[0, 1], [2, 12]])
p = permutation_tests(systems, pairs, noted, rounds=999)
ends = difference_interval(systems[:, 0], systems[:, 1], noted, p=p[0], bounds=(0.0, 1.0))
print(seen.hexdigest(), p, ends)
"""


def column(values: object) -> FloatArray:
    return np.array(values, dtype=np.float64)[:, np.newaxis]


def mean_difference(first: FloatArray, second: FloatArray, axis: int) -> FloatArray:
    difference: FloatArray = first.mean(axis=axis) - second.mean(axis=axis)
    return difference


def ratio(means: FloatArray) -> FloatArray:
    found: FloatArray = means[..., 0] / means[..., 1]
    return found


def test_few_samples_get_the_exact_p_value_of_scipy() -> None:
    generator = np.random.default_rng(3)
    first, second = generator.normal(0.3, 1, 10), generator.normal(0, 1, 10)
    found = stats.permutation_test(
        (first, second), mean_difference, permutation_type="samples", n_resamples=np.inf
    )
    assert permutation_test(column(first), column(second), first_column) == found.pvalue


def test_many_samples_get_the_p_value_of_scipy_but_for_chance() -> None:
    generator = np.random.default_rng(4)
    first, second = generator.normal(0.2, 1, 80), generator.normal(0, 1, 80)
    found = stats.permutation_test(
        (first, second),
        mean_difference,
        permutation_type="samples",
        n_resamples=9999,
        rng=np.random.default_rng(1),
    )
    ours = permutation_test(column(first), column(second), first_column)
    assert ours == pytest.approx(found.pvalue, abs=0.015)
    assert ours == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.02)


def test_all_pairs_at_once_get_the_t_tests_of_scipy() -> None:
    own = np.random.default_rng(5).normal([0.0, 0.1, 0.3, 0.3], 1.0, (150, 4))
    own[:, 3] = own[:, 2] + 0.25  # always better by as much
    scores, p = student_tests(own[..., np.newaxis], first_column)
    assert scores == pytest.approx(own.mean(axis=0))
    for one, two in ((0, 1), (0, 2), (1, 2), (3, 0)):
        assert p[one, two] == pytest.approx(stats.ttest_rel(own[:, one], own[:, two]).pvalue)
    assert p.diagonal().tolist() == [1.0] * 4
    assert p[2, 3] < 1e-40
    doubled, clips = np.repeat(own, 2, axis=0)[..., np.newaxis], np.repeat(np.arange(150), 2)
    assert student_tests(doubled, first_column, clips)[1] == pytest.approx(p)


def test_ratios_of_means_are_tested_as_swaps_do() -> None:
    drawn = np.random.default_rng(6)
    sides = np.stack([drawn.normal(level, 0.3, (300, 2)) for level in (1.0, 1.04)], axis=1)
    sides[..., 1] += 1.0
    swapped = permutation_test(sides[:, 0], sides[:, 1], ratio)
    assert student_tests(sides, ratio)[1][0, 1] == pytest.approx(swapped, abs=0.02)


def test_five_wins_of_five_have_two_chances_in_32() -> None:
    assert permutation_test(column([1, 2, 3, 4, 5]), column([0] * 5), first_column) == 2 / 32


def test_equal_systems_have_p_one() -> None:
    values = column(np.random.default_rng(1).random(50))
    assert permutation_test(values, values, first_column) == 1.0


def test_a_clear_difference_has_the_smallest_p_value_that_there_is() -> None:
    first = column(np.random.default_rng(1).random(200))
    assert permutation_test(first + 1, first, first_column, rounds=999) == 1 / 1000


def test_a_corpus_score_is_tested_by_swapping_statistics_not_scores() -> None:
    """Counted out for a ratio of sums, which no sign flip of differences could give."""
    generator = np.random.default_rng(6)
    first, second = generator.uniform(1, 5, (7, 2)), generator.uniform(1, 5, (7, 2))
    seen = abs(ratio(first.mean(axis=0)) - ratio(second.mean(axis=0)))
    hits = 0
    for number in range(2**7):
        swap = np.array([number >> place & 1 for place in range(7)], dtype=bool)[:, np.newaxis]
        left, right = np.where(swap, second, first), np.where(swap, first, second)
        difference = abs(ratio(left.mean(axis=0)) - ratio(right.mean(axis=0)))
        hits += int(difference >= seen - 1e-12)
    assert permutation_test(first, second, ratio) == hits / 2**7


def test_corpus_bleu_can_be_tested() -> None:
    generator = np.random.default_rng(2)
    matches = np.sort(generator.integers(1, 9, (40, 4)), axis=1)[:, ::-1]
    rest = np.broadcast_to([9, 8, 7, 6, 9, 9], (40, 6))
    better = np.hstack([matches, rest]).astype(np.float64)
    worse = np.hstack([np.maximum(matches - 1, 0.5), rest]).astype(np.float64)

    def aggregate(means: FloatArray) -> FloatArray:
        return corpus_bleu(means, 2)

    assert permutation_test(better, worse, aggregate, rounds=999) == 1 / 1000
    found = difference_interval(better, worse, aggregate)
    assert found is not None
    low, high = found
    seen = aggregate(better.mean(axis=0)) - aggregate(worse.mean(axis=0))
    assert 0 < low < seen < high


def test_questions_about_a_clip_are_swapped_together() -> None:
    first, second = column([1, 1, 1, 2, 2, 2]), column([0] * 6)
    assert permutation_test(first, second, first_column) == 2 / 64
    clips = ["a", "a", "a", "b", "b", "b"]
    assert permutation_test(first, second, first_column, clusters=clips) == 2 / 4


def test_pairs_tested_together_get_what_each_gets_alone() -> None:
    generator = np.random.default_rng(5)
    systems, pairs = generator.random((40, 4, 2)), np.array([[0, 1], [2, 0], [0, 3], [3, 2]])
    systems[:, 1] += 0.1
    p = permutation_tests(systems, pairs, ratio)
    known = guarded(p, systems, pairs, ratio, bounds=(0.0, 2.0))
    intervals = difference_intervals(systems, pairs, ratio, p=p)
    spreads = paired_spreads(systems, pairs, ratio)
    for place, (first, second) in enumerate(pairs):
        sides = systems[:, first], systems[:, second]
        assert p[place] == permutation_test(*sides, ratio)
        assert known[place] == guarded(
            p[[place]], *beside(*(one[:, np.newaxis] for one in sides)), ratio, bounds=(0.0, 2.0)
        )
        alone = difference_interval(*sides, ratio, p=p[place])
        assert intervals[place] == pytest.approx(alone, abs=1e-12)
        (spread,) = paired_spreads(*beside(*(one[:, np.newaxis] for one in sides)), ratio)
        assert spreads[place] == pytest.approx(spread, abs=1e-12)


def test_the_interval_of_a_difference_knows_that_samples_are_paired() -> None:
    generator = np.random.default_rng(7)
    hard = generator.normal(0, 5, 200)
    first, second = hard + 1 + generator.normal(0, 0.1, 200), hard + generator.normal(0, 0.1, 200)
    found = difference_interval(column(first), column(second), first_column)
    assert found is not None
    low, high = found
    assert low < 1 < high
    assert high - low < 0.05


def test_the_spread_of_a_mean_is_the_standard_deviation_of_the_differences() -> None:
    generator = np.random.default_rng(7)
    first, second = generator.random(30), generator.random(30)
    sides = column(first)[:, np.newaxis], column(second)[:, np.newaxis]
    (found,) = paired_spreads(*beside(*sides), first_column)
    assert found == pytest.approx((first - second).std(ddof=1))
    assert paired_spreads(*beside(*(one[:1] for one in sides)), first_column) == 0


def test_the_same_seed_gives_the_same_p_value() -> None:
    generator = np.random.default_rng(7)
    first, second = column(generator.random(30)), column(generator.random(30))
    found = permutation_test(first, second, first_column)
    assert permutation_test(first, second, first_column) == found
    assert permutation_test(first, second, first_column, seed=1) != found


def test_swaps_and_draws_add_up_to_the_same_digits_whatever_threads_there_are() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", SUMMED],
            env={**os.environ, **dict.fromkeys(THREADS, number)},
            capture_output=True,
            check=True,
        ).stdout
        for number in "124"
    }
    assert len(said) == 1
