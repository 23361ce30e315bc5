"""Ratings held against a baseline, and one group of them against another: tests, effect sizes."""

from collections.abc import Callable

import numpy as np

from audiocapbench.stats.bootstrap import FEWEST_FOR_INTERVAL, ROUNDS, SEED
from audiocapbench.stats.correlation import auc
from audiocapbench.stats.shares import LEVEL, TAIL, Interval
from audiocapbench.stats.units import FloatArray


def signed_rank_p(values: FloatArray, baseline: float) -> float | None:
    """P-value of Wilcoxon's test that ratings lie above a baseline.

    Those equal to it drop out; None where all do.
    """
    from scipy.stats import wilcoxon

    away = values[values != baseline] - baseline
    return float(wilcoxon(away, alternative="greater").pvalue) if len(away) else None


def rank_sum_p(first: FloatArray, second: FloatArray) -> float:
    """Two-sided p-value of Mann's and Whitney's test; neither group may be empty."""
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(first, second).pvalue)


def rank_biserial(values: FloatArray, baseline: float) -> float | None:
    """Share of Wilcoxon's ranks above a baseline less that below: 1 where every rating is above."""
    away = values[values != baseline] - baseline
    sizes = np.abs(away)
    ordered = np.sort(sizes)
    # Twice the rank, ties sharing their mean rank; SciPy's take ten times as long, in every round.
    ranks = np.searchsorted(ordered, sizes) + np.searchsorted(ordered, sizes, side="right") + 1
    return float((ranks * np.sign(away)).sum() / ranks.sum()) if len(away) else None


def cliffs_delta(first: FloatArray, second: FloatArray) -> float | None:
    """How much likelier a rating of the first group is above one of the second than below it."""
    above = auc(first, second)
    return None if above is None else 2 * above - 1


def cohens_d(values: FloatArray, baseline: float | FloatArray) -> float | None:
    """Distance from a baseline, or from another group, in standard deviations (pooled of two).

    None where there is no spread to measure it by.
    """
    groups = [values] if isinstance(baseline, float) else [values, baseline]
    freedom = sum(len(one) - 1 for one in groups)
    if freedom < 1 or not all(map(len, groups)):
        return None
    spread = np.sqrt(sum(float(((one - one.mean()) ** 2).sum()) for one in groups) / freedom)
    return float((values.mean() - np.mean(baseline)) / spread) if spread > 1e-12 else None


def effect_interval(effect: Callable[..., float | None], *groups: FloatArray) -> Interval | None:
    """Percentile interval of an effect size, each group drawn anew.

    None for groups of too few ratings, and where a round has no effect size.
    """
    if min(map(len, groups)) < FEWEST_FOR_INTERVAL:
        return None
    draw, groups = np.random.default_rng(SEED), tuple(map(np.sort, groups))
    # What ``choice`` draws, without what it looks at first in every round.
    rounds = [
        effect(*(one[draw.integers(0, len(one), len(one))] for one in groups))
        for _ in range(ROUNDS)
    ]
    if None in rounds:
        return None
    low, high = np.quantile(np.array(rounds), [(1 - LEVEL) / 2, TAIL])
    return Interval(float(low), float(high))
