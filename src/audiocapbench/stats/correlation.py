"""How far scores go together, and how far groups of them lie apart: tests and effect sizes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.bootstrap import FEWEST_FOR_INTERVAL, ROUNDS, SEED
from audiocapbench.stats.shares import LEVEL, TAIL, Interval
from audiocapbench.stats.units import FloatArray


def kendall(first: FloatArray, second: FloatArray) -> float | None:
    """Kendall's tau-b, ties allowed for; None where either is the same throughout."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)


def auc(higher: FloatArray, lower: FloatArray) -> float | None:
    """Probability that one of the first group scores above one of the second; None if one is empty.

    Ties count half.
    """
    if not len(higher) or not len(lower):
        return None
    return float(_doubled_ranks(higher, lower).sum() / (2 * len(higher) * len(lower)))


def rank_correlation(
    first: FloatArray, second: FloatArray, groups: FloatArray | None = None
) -> float | None:
    """Spearman's rho, ties sharing their mean rank; None where either is the same throughout.

    With groups it is pooled within them: differences between groups do not count.
    """
    groups = np.zeros(len(first)) if groups is None else groups
    left, right = np.zeros(len(first)), np.zeros(len(second))
    for group in np.unique(groups):
        chosen = groups == group
        for values, ranks in ((first[chosen], left), (second[chosen], right)):
            own = _doubled_ranks(values, values) / (2 * len(values))
            ranks[chosen] = own - own.mean()
    size = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return float((left * right).sum()) / size if size else None


def _doubled_ranks(values: FloatArray, among: FloatArray) -> NDArray[np.int64]:
    """Twice the number of others that each value is above; ties count half."""
    ordered = np.sort(among)
    below = np.searchsorted(ordered, values, side="left")
    not_above = np.searchsorted(ordered, values, side="right")
    return below + not_above


def signed_rank_p(values: FloatArray, baseline: float) -> float | None:
    """P-value of Wilcoxon's test that ratings lie above a baseline; None where all equal it."""
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
    # Twice the rank, ties sharing their mean rank; SciPy's take ten times as long, in every round.
    ranks = _doubled_ranks(np.abs(away), np.abs(away)) + 1
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
    """Percentile interval of an effect size; None for too few ratings, or a round without one."""
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
