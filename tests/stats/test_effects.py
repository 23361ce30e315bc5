"""Tests on ranks and effect sizes, against other ways to compute them."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from audiocapbench.stats.correlation import (
    cliffs_delta,
    cohens_d,
    effect_interval,
    rank_biserial,
    rank_sum_p,
    signed_rank_p,
)
from audiocapbench.stats.multiple import Correction, corrected
from needs import needs

stats = needs("scipy.stats")


def ratings(seed: int, count: int, lift: float = 0.0) -> NDArray[np.float64]:
    drawn = np.random.default_rng(seed).normal(3.2 + lift, 1.1, count)
    return np.clip(np.rint(drawn), 1, 5)


@pytest.mark.parametrize("seed", range(3))
def test_effect_sizes_are_what_counting_every_pair_gives(seed: int) -> None:
    one, two = ratings(seed, 23, 0.5), ratings(seed + 9, 17)
    signs = [np.sign(a - b) for a, b in product(one, two)]
    assert cliffs_delta(one, two) == pytest.approx(np.mean(signs), abs=1e-12)
    # Walsh: of all pairs of distances with themselves, how many means lie above and how many below.
    away = one[one != 3] - 3
    order = stats.rankdata(abs(away))
    above, below = order[away > 0].sum(), order[away < 0].sum()
    assert rank_biserial(one, 3.0) == pytest.approx((above - below) / (above + below), abs=1e-12)
    pooled = np.sqrt((22 * one.var(ddof=1) + 16 * two.var(ddof=1)) / 38)
    assert cohens_d(one, two) == pytest.approx((one.mean() - two.mean()) / pooled, abs=1e-12)
    t = stats.ttest_1samp(one, 3.0).statistic
    assert cohens_d(one, 3.0) == pytest.approx(t / np.sqrt(len(one)), abs=1e-12)


def test_the_signed_rank_test_is_scipys_where_ratings_equal_the_baseline() -> None:
    for seed in (0, 2, 5, 9, 20, 39):
        given = ratings(seed, 5 + seed)
        theirs = stats.wilcoxon(given - 3, alternative="greater").pvalue
        assert signed_rank_p(given, 3.0) == pytest.approx(theirs, abs=1e-12)


def test_p_values_are_those_of_permutations() -> None:
    """Signs flipped, and labels exchanged, at random: the definition of both tests."""
    one, two = ratings(1, 40, 0.4), ratings(2, 30)
    generator = np.random.default_rng(0)
    away = one[one != 3] - 3
    order = stats.rankdata(abs(away))
    flips = generator.choice([-1, 1], (20_000, len(away)))
    reached = (flips * order).sum(axis=1) >= (np.sign(away) * order).sum() - 1e-9
    assert signed_rank_p(one, 3.0) == pytest.approx(reached.mean(), abs=0.01)
    both = np.concatenate([one, two])
    order = stats.rankdata(both)
    seen = abs(order[:40].sum() - order.sum() * 40 / 70)
    mixed = [generator.permutation(order)[:40].sum() for _ in range(5_000)]
    away_from = np.abs(np.array(mixed) - order.sum() * 40 / 70) >= seen - 1e-9
    assert rank_sum_p(one, two) == pytest.approx(away_from.mean(), abs=0.03)


def test_there_is_no_effect_where_there_is_nothing_to_measure_it_by() -> None:
    same = np.full(12, 3.0)
    assert signed_rank_p(same, 3.0) is None
    assert rank_biserial(same, 3.0) is None
    assert cohens_d(same, 2.0) is None
    assert cohens_d(same[:1], 2.0) is None
    assert cliffs_delta(same, same[:0]) is None
    assert effect_interval(cohens_d, same[:5], same) is None, "too few"
    assert effect_interval(cohens_d, same, same) is None, "no spread in any round"


def test_an_interval_of_an_effect_holds_it_and_narrows_with_more_ratings() -> None:
    few = effect_interval(cliffs_delta, ratings(3, 40, 1.0), ratings(4, 40))
    many = effect_interval(cliffs_delta, ratings(3, 400, 1.0), ratings(4, 400))
    assert few is not None
    assert many is not None
    delta = cliffs_delta(ratings(3, 400, 1.0), ratings(4, 400))
    assert delta is not None
    assert many.low < delta < many.high
    assert many.high - many.low < (few.high - few.low) / 2


def test_bonferroni_counts_every_test() -> None:
    found = corrected(np.array([0.01, 0.4, 0.02]), Correction.BONFERRONI)
    assert found == pytest.approx([0.03, 1.0, 0.06])
    assert (found >= corrected(np.array([0.01, 0.4, 0.02]), Correction.HOLM)).all()
