"""How far scores go together, how far groups of them lie apart, and how far raters agree beyond
chance: tests, effect sizes, Krippendorff's alpha and Fleiss' kappa."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats import FEWEST_FOR_INTERVAL, ROUNDS, SEED, Interval
from audiocapbench.stats.bootstrap import LEVEL, TAIL, FloatArray


def kendall(first: FloatArray, second: FloatArray) -> float | None:
    """Kendall's tau-b, ties allowed for; None where either is the same throughout."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)


def auc(higher: FloatArray, lower: FloatArray) -> float | None:
    """Probability that one of the first group scores above one of the second; ties count half."""
    if not len(higher) or not len(lower):
        return None
    return float(_doubled_ranks(higher, lower).sum() / (2 * len(higher) * len(lower)))


def rank_correlation(
    first: FloatArray, second: FloatArray, groups: FloatArray | None = None
) -> float | None:
    """Spearman's rho, within groups where given; None where either is the same throughout."""
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
    return np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")


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
    return None if (above := auc(first, second)) is None else 2 * above - 1


def cohens_d(values: FloatArray, baseline: float | FloatArray) -> float | None:
    """Distance from a baseline or another group in (pooled) standard deviations; None for none."""
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


def krippendorff_alpha(ratings: FloatArray, *, nominal: bool = False) -> float | None:
    """Krippendorff's alpha for ratings (raters, units): 1 for full agreement, 0 for chance.

    NaN is no rating. Numbers are an interval scale or names. None: there is nothing to agree on.
    """
    given = ~np.isnan(ratings)
    paired = given.sum(axis=0) >= 2
    given, ratings = given[:, paired], ratings[:, paired]
    total = int(given.sum())
    if not total:
        return None
    # Two names differ as much as the vectors that stand for them, each along its own axis.
    names = np.unique(ratings[given]) if nominal else ()
    planes = [(ratings == one).astype(np.float64) for one in names] or [ratings]
    counts, observed, expected = given.sum(axis=0), 0.0, 0.0
    for plane in planes:
        # Differences do not change; squares of large numbers would lose their last digits.
        centred = plane - np.where(given, plane, 0.0).sum() / total
        values = np.where(given, centred, 0.0)
        within = counts * (values**2).sum(axis=0) - values.sum(axis=0) ** 2
        observed += float((within / (counts - 1)).sum()) / total
        among = total * float((values**2).sum()) - float(values.sum()) ** 2
        expected += among / (total * (total - 1))
    return 1 - observed / expected if expected > 1e-12 else None


def fleiss_kappa(counts: NDArray[np.int64]) -> float | None:
    """Fleiss' kappa of how many raters chose each category (units, categories), from 0 for chance.

    Every unit has as many ratings, two at least; None where there is nothing to agree on.
    """
    if not len(counts):
        return None
    raters = int(counts[0].sum())
    if raters < 2 or (counts.sum(axis=1) != raters).any():
        raise ValueError("every unit needs the same number of ratings, two at least")
    observed = float(((counts**2).sum(axis=1) - raters).mean()) / (raters * (raters - 1))
    shares = counts.sum(axis=0) / counts.sum()
    expected = float((shares**2).sum())
    return (observed - expected) / (1 - expected) if expected < 1 - 1e-12 else None


def category_counts(ratings: FloatArray) -> NDArray[np.int64]:
    """Count ratings (raters, units), rounded, for ``fleiss_kappa``; no units with a NaN."""
    complete = np.rint(ratings[:, ~np.isnan(ratings).any(axis=0)])
    chosen = complete.T[:, :, np.newaxis] == np.unique(complete)
    counts: NDArray[np.int64] = chosen.sum(axis=1)
    return counts
