"""How far scores go together, how far groups of them lie apart, and how far raters agree beyond
chance: tests, effect sizes, and coefficients of agreement with their intervals."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats import FEWEST_FOR_INTERVAL, ROUNDS, SEED, Interval
from audiocapbench.stats.units import TAIL, Clusters, FloatArray, Units, student, units_of

Level = Literal["nominal", "ordinal", "interval", "ratio"]
FEWEST_UNITS = 20  # with fewer, intervals of agreement on names hold the truth in 85 % of cases
FEWEST_PAIRS = 5  # of models, say: below, an interval of a rank correlation holds everything


def kendall(
    first: FloatArray, second: FloatArray, groups: FloatArray | None = None
) -> float | None:
    """Kendall's tau-b, over pairs within groups where given; None where either never differs."""
    groups = np.zeros(len(first)) if groups is None else groups
    agreed, untied = 0, np.zeros(2)
    for group in np.unique(groups):
        left, right = (
            np.unique(one[groups == group], return_inverse=True)[1] for one in (first, second)
        )
        both = left * len(right) + right
        # How many pairs, in either order and with themselves, are of one code.
        ties = (np.unique(one, return_counts=True)[1] for one in (left, right, both))
        own, other, same = (int((one**2).sum()) for one in ties)
        pairs = len(left) ** 2
        # Those that agree, less those that do not, over the mean of the pairs that are not tied.
        agreed += pairs - own - other + same - 4 * _out_of_order(right[np.argsort(both)])
        untied += (pairs - own, pairs - other)
    return agreed / float(np.sqrt(untied.prod())) if untied.all() else None


def _out_of_order(codes: NDArray[np.int64]) -> int:
    """How many pairs have the larger code first: sorted by one bit after another, those that meet
    with the bit set before one without it. SciPy's takes 1.5 s to import."""
    found = 0
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        high = codes >> bit  # already in the order of the bits above
        ones = high & 1
        before = np.cumsum(ones) - ones
        found += int((before - before[np.searchsorted(high >> 1, high >> 1)])[ones == 0].sum())
        codes = codes[np.argsort(high, kind="stable")]
    return found


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

    away = values - baseline
    return float(wilcoxon(away, alternative="greater").pvalue) if away.any() else None


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
    low, high = np.quantile(np.array(rounds), [1 - TAIL, TAIL])
    return Interval(float(low), float(high))


class Coefficient(NamedTuple):
    """How far raters agree, or scores go together, with a 95 % interval; None for none."""

    value: float | None = None
    interval: Interval | None = None

    def __str__(self) -> str:
        span = "" if self.interval is None else " ({:.2f} to {:.2f})".format(*self.interval)
        return "–" if self.value is None else f"{self.value:.2f}{span}"

    def fields(self, name: str) -> dict[str, Any]:
        return {name: self.value, f"{name}_ci": self.interval}


def rank_interval(value: float | None, count: int, of: Literal["rho", "tau"]) -> Interval | None:
    """Interval of Spearman's rho or Kendall's tau of so many independent pairs, five at least.

    By Fisher's z with the variances of Bonett and Wright (2000) and Fieller (1957). Before and
    after it goes half a step of the coefficient: full agreement of few is no certainty.
    """
    if value is None or count < FEWEST_PAIRS:
        return None
    step = 6 / (count**3 - count) if of == "rho" else 2 / (count**2 - count)
    ends = []
    for way in (-1, 1):
        end = min(max(value + way * step, -1.0), 1.0)
        spread = (1 + end**2 / 2) / (count - 3) if of == "rho" else 0.437 / (count - 4)
        far = way * student(count - 1) * np.sqrt(spread)
        ends.append(end if abs(end) == 1 else float(np.tanh(np.arctanh(end) + far)))
    return Interval(*ends)


def _jackknifed(value: float, left_out: FloatArray, expected: FloatArray) -> Coefficient:
    """An agreement with its interval over units, by leaving out each, on the scale of Fisher's z.

    Units count by how much disagreement chance would give them: what nearly all are alike in says
    little. No interval for too few, or where nobody disagrees: that is not certainty.
    """
    units, count = Units(left_out, expected).effective, len(left_out)
    if units < FEWEST_UNITS or abs(value) >= 1 - 1e-12 or not np.isfinite(left_out).all():
        return Coefficient(value)
    # The jackknife's own estimate, whose bias is less, is the middle.
    middle = np.clip(count * value - (count - 1) * left_out.mean(), -1 + 1e-6, 1 - 1e-6)
    half = student(units - 1) * left_out.std() * np.sqrt(count - 1) / (1 - value**2)
    low, high = np.tanh(np.arctanh(middle) + np.array([-half, half]))
    return Coefficient(value, Interval(min(float(low), value), max(float(high), value)))


def krippendorff_alpha(ratings: FloatArray, level: Level = "interval") -> Coefficient:
    """Krippendorff's alpha for ratings (raters, units): 1 for full agreement, 0 for chance.

    NaN is no rating; ratings of ``ratio`` level are at least 0, of ``nominal`` numbered names.
    """
    given = ~np.isnan(ratings)
    paired = given.sum(axis=0) >= 2
    given, ratings = given[:, paired], ratings[:, paired]
    counts, total = given.sum(axis=0), int(given.sum())
    pool = ratings[given]
    if not total or np.ptp(pool) == 0:
        return Coefficient()
    if level == "ratio":
        values, places = np.unique(pool, return_inverse=True)
        sums = np.maximum(values + values[:, np.newaxis], np.finfo(float).tiny)
        apart = ((values - values[:, np.newaxis]) / sums) ** 2
        chosen = np.zeros((len(counts), len(values)))
        np.add.at(chosen, (np.nonzero(given)[1], places), 1.0)
        within = ((chosen @ apart) * chosen).sum(axis=1)
        among = chosen @ (apart @ chosen.sum(axis=0))
    else:
        # Two names differ as much as the vectors that stand for them, each along its own axis;
        # what is ordered differs by how many ratings lie between.
        planes = [pool == one for one in np.unique(pool)] if level == "nominal" else [pool]
        within, among = np.zeros(len(counts)), np.zeros(len(counts))
        for one in planes:
            plane = _doubled_ranks(one, one) if level == "ordinal" else one
            values = np.zeros(given.shape)
            # Differences do not change; squares of large numbers would lose their last digits.
            values[given] = plane - plane.mean()
            sums, squares = values.sum(axis=0), (values**2).sum(axis=0)
            within += 2 * (counts * squares - sums**2)
            among += counts * squares.sum() + total * squares - 2 * sums * sums.sum()
    observed, expected = within / (counts - 1), float(among.sum())
    value = 1 - float(observed.sum()) * (total - 1) / expected
    left = expected - 2 * among + within
    with np.errstate(all="ignore"):
        others = 1 - (observed.sum() - observed) * (total - counts - 1) / left
    return _jackknifed(value, others, among)


def fleiss_kappa(counts: NDArray[np.int64], clusters: Clusters = None) -> Coefficient:
    """Fleiss' kappa of how many raters chose each category (units, categories), from 0 for chance.

    Every unit has as many ratings, two at least; the interval leaves out clusters of units whole.
    """
    if not len(counts):
        return Coefficient()
    raters = int(counts[0].sum())
    if raters < 2 or (counts.sum(axis=1) != raters).any():
        raise ValueError("every unit needs the same number of ratings, two at least")
    agreed = ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1))
    units = units_of(np.column_stack([agreed, counts / raters]), clusters)

    def kappa(means: FloatArray) -> FloatArray:
        expected = (means[..., 1:] ** 2).sum(axis=-1)
        with np.errstate(all="ignore"):
            found: FloatArray = (means[..., 0] - expected) / (1 - expected)
            return np.where(expected < 1 - 1e-12, found, np.nan)

    if np.isnan(value := float(kappa(units.means))):
        return Coefficient()
    by_chance = units.sizes - units.sums[:, 1:] @ units.means[1:]
    with np.errstate(all="ignore"):
        return _jackknifed(value, kappa(units.without_each()), by_chance)


def rated_kappa(ratings: FloatArray, clusters: Clusters = None) -> Coefficient:
    """Fleiss' kappa of ratings (raters, units), rounded, of units that all of several rated."""
    if len(ratings) < 2:
        return Coefficient()
    rated = ~np.isnan(ratings).any(axis=0)
    grades = np.rint(ratings[:, rated])
    counts = (grades.T[:, :, np.newaxis] == np.unique(grades)).sum(axis=1)
    return fleiss_kappa(counts, None if clusters is None else np.array(clusters)[rated])


def intraclass(ratings: FloatArray) -> tuple[Coefficient, Coefficient]:
    """ICC(2,1) and ICC(2,k) of ratings (raters, units): how far one rating, and the mean of all
    raters, can be relied on; raters and units at random, absolute agreement.

    Units that a rater did not rate do not count. Intervals by McGraw and Wong (1996).
    """
    from scipy.special import fdtri

    table = ratings[:, ~np.isnan(ratings).any(axis=0)]
    raters, units = table.shape
    if raters < 2 or units < 2 or np.ptp(table) == 0:
        return Coefficient(), Coefficient()
    by_unit, by_rater = table.mean(axis=0), table.mean(axis=1, keepdims=True)
    rows, columns = raters * float(by_unit.var(ddof=1)), units * float(by_rater.var(ddof=1))
    freedom = (units - 1) * (raters - 1)
    error = float(((table - by_unit - by_rater + table.mean()) ** 2).sum()) / freedom
    noise = raters * columns + (raters * units - raters - units) * error
    one = units * (rows - error) / (units * rows + noise)
    known = units * rows + columns - error
    many = units * (rows - error) / known if known > 0 else None
    # The intervals are of ratings that are nearly normal: two grades, or a few far off, are not.
    far_off = Units(table, ((table - table.mean()) ** 2).sum(axis=0)).effective < units / 4
    odd = far_off or len(np.unique(table)) < 3 or one <= -1 / raters or error <= 1e-12 * rows
    if units < FEWEST_UNITS or odd:
        return Coefficient(one), Coefficient(many)
    share = raters * one / (units * (1 - one))
    parts = share * columns, (1 + share * (units - 1)) * error
    spread = sum(parts) ** 2 / (parts[0] ** 2 / (raters - 1) + parts[1] ** 2 / freedom)
    far, near = float(fdtri(units - 1, spread, TAIL)), float(fdtri(spread, units - 1, TAIL))
    low = max(units * (rows - far * error) / (far * noise + units * rows), -1 / raters)
    high = units * (near * rows - error) / (noise + units * near * rows)
    means = Interval(*(raters * end / (1 + (raters - 1) * end) for end in (low, high)))
    return Coefficient(one, Interval(low, high)), Coefficient(many, means)
