"""Intervals of scores: exact for shares, by the bootstrap on statistics for all others.

A round of the bootstrap is one weighted mean and never looks at text.
"""

from typing import Literal, NamedTuple, TypedDict, Unpack

import numpy as np

from audiocapbench.stats.shares import (
    LEVEL,
    Interval,
    clopper_pearson,
    hits_of,
    interval_of_hits,
    share_interval,
)
from audiocapbench.stats.units import (
    Aggregate,
    Clusters,
    FloatArray,
    Units,
    ordered,
    resampled_beside,
    units_of,
)

FEWEST_FOR_INTERVAL = 10
"""Below this, resampling says more about the few samples than about the model.

95 % intervals of skewed grades hold the truth in 85 % of cases with 5 samples, in 93 % with 10.
"""

ROUNDS = 1000
SEED = 42

Method = Literal["bootstrap-t", "bca", "percentile"]
METHOD: Method = "bootstrap-t"
"""Rounds are studentised: of the three it covers skewed scores best, and others as well."""

FARTHEST = 1.5
"""No end lies farther from the score than so many times Student's; skewed scores need no more."""

METHODS = f"clopper-pearson for shares, {METHOD} within {FARTHEST:g} t for other scores"
"""How intervals are made; estimates in a store that were made otherwise are made anew."""

_SMALLEST = 1e-6
_LEAST_SPREAD = 0.1


class Intervals(NamedTuple):
    """Confidence intervals of several scores, each of shape (...)."""

    low: FloatArray
    high: FloatArray


class Draws(TypedDict, total=False):
    """How samples are drawn.

    Attributes:
        rounds: How often to draw.
        seed: Makes the result the same every time.
        clusters: The clip of each sample, where a clip has several: clips are then drawn whole.
    """

    rounds: int
    seed: int
    clusters: Clusters


class Resampling(Draws, total=False):
    """How an interval is made.

    Attributes:
        level: How often such intervals are to hold the truth.
        method: ``bootstrap-t`` weighs each round by its own spread; ``bca`` corrects for bias and
            skew; ``percentile`` takes the rounds as they are.
        bounds: The least and the most that a score can be, which no interval leaves.
        most: As how many independent samples all count at the most, where they are weighted.
        share: The score is made of shares, as F1 and a weighted sum of shares are: its interval is
            that of a share with the same standard error. A plain share need not be announced.
    """

    level: float
    method: Method
    bounds: tuple[float, float]
    most: float
    share: bool


def mean_interval(
    statistics: FloatArray, aggregate: Aggregate, **how: Unpack[Resampling]
) -> Interval | None:
    """Interval of a corpus score; the order of samples does not matter.

    None for too few samples, or clips, and for samples that are all alike where nothing is known of
    the bounds: they leave no spread to go by, which is not certainty.

    Args:
        statistics: What resampling needs of each sample, shape (n, k); n is at least 1.
        aggregate: Maps mean statistics of shape (rounds, k) to scores of shape (rounds,).
        **how: See ``Resampling``.
    """
    clusters = how.get("clusters")
    units = ordered(units_of(statistics, clusters))
    if len(units.sizes) < FEWEST_FOR_INTERVAL:
        return None
    bounds = how.get("bounds")
    hits = hits_of(
        own_scores(statistics, aggregate), float(aggregate(units.means[np.newaxis])[0]), bounds
    )
    if bounds is not None and hits is not None:
        low, high = interval_of_hits(units_of(hits, clusters), how.get("level", LEVEL))
        return Interval(low * bounds[1], high * bounds[1])
    if bounds is not None and how.get("share"):
        return _interval_made_of_shares(units, aggregate, how, bounds[1])
    low, high = map(float, _intervals(units, aggregate, how))
    return None if np.isnan(low) or np.isnan(high) else Interval(low, high)


def _interval_made_of_shares(
    units: Units, aggregate: Aggregate, how: Resampling, highest: float
) -> Interval:
    score = float(aggregate(units.means[np.newaxis])[0]) / highest
    influence = _influence(units, aggregate) / highest
    # What rounding leaves of samples that are all alike is no spread.
    influence[np.abs(influence) <= 1e-12] = 0.0
    variance = float((influence**2).sum()) / len(influence) / (len(influence) - 1)
    most, level = how.get("most", float(units.sizes.sum())), how.get("level", LEVEL)
    low, high = share_interval(score, most, variance=variance, units=units.effective, level=level)
    return Interval(min(low, score) * highest, max(high, score) * highest)


def own_scores(statistics: FloatArray, aggregate: Aggregate) -> FloatArray:
    """What each sample scores by itself, if that can be said."""
    with np.errstate(all="ignore"):
        return aggregate(statistics)


def intervals(statistics: FloatArray, aggregate: Aggregate, **how: Unpack[Resampling]) -> Intervals:
    """Intervals of many scores at once, one for each place of the middle axes (n, ..., k).

    None of them is taken for a share. NaN where ``mean_interval`` would have none.
    """
    return _intervals(units_of(statistics, how.get("clusters")), aggregate, how)


def _intervals(units: Units, aggregate: Aggregate, how: Resampling) -> Intervals:
    score = aggregate(units.means[np.newaxis])[0]
    influence = _influence(units, aggregate)
    low, high = _resampled(units, aggregate, influence, how)
    least, most = how.get("bounds", (np.nan, np.nan))
    # An interval that leaves out its own estimate, as few and lumpy samples can make it, is none.
    low, high = np.minimum(np.fmax(low, least), score), np.maximum(np.fmin(high, most), score)
    # Samples that are all alike say how many others there can be at the most, and nothing else.
    alike = np.abs(influence).max(axis=0) <= 1e-12 * np.maximum(np.abs(score), 1e-300)
    count = min(how.get("most", units.effective), units.effective)
    others = clopper_pearson(0, count, how.get("level", LEVEL)).high
    low = np.where(alike, score - (score - least) * others, low)
    return Intervals(low, np.where(alike, score + (most - score) * others, high))


def _resampled(
    units: Units, aggregate: Aggregate, influence: FloatArray, how: Resampling
) -> Intervals:
    rounds, seed = how.get("rounds", ROUNDS), how.get("seed", SEED)
    method = how.get("method", METHOD)
    score = aggregate(units.means[np.newaxis])[0]
    scores, spreads = _scores(units, aggregate, influence, rounds, seed)
    low = np.full(score.shape, -_widened(how.get("level", LEVEL), units.effective))
    if method == "percentile":
        ranked = np.sort(scores, axis=0)
        return Intervals(_at(ranked, low), _at(ranked, -low))
    ends = _bca(np.sort(scores, axis=0), score, influence, low)
    if method == "bca":
        return ends
    # Of skewed scores a sample shows the long tail too rarely: go further out by as much.
    low = low * (1 + np.abs(_acceleration(influence)))
    spread = np.sqrt((influence**2).sum(axis=0) / len(influence) / max(len(influence) - 1, 1))
    # Rounds that miss the few samples unlike the others have no spread to go by, and no quantile.
    spreads = np.where(spreads > _LEAST_SPREAD * spread, spreads, 0.0)
    with np.errstate(all="ignore"):
        away = np.sort(
            np.nan_to_num((scores - score) / spreads, nan=0.0, posinf=np.inf, neginf=-np.inf),
            axis=0,
        )
        # A few samples far from the many must not push an end beyond what any sample could mean.
        most = FARTHEST * _widened(how.get("level", LEVEL), units.effective)
        away = np.clip(away, -most, most)
        student = Intervals(score - _at(away, -low) * spread, score - _at(away, low) * spread)
    return Intervals(*(np.where(np.isfinite(s), s, e) for s, e in zip(student, ends, strict=True)))


def _scores(
    units: Units, aggregate: Aggregate, influence: FloatArray, rounds: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """The score of every round, and its standard error from the influence of what was drawn."""
    count = len(influence)
    own = influence.reshape(count, -1)
    sides = np.concatenate([own, own**2], axis=1)
    scores, spreads = [], []
    for means, drawn in resampled_beside(units, rounds, seed, sides):
        scores.append(aggregate(means))
        first, second = np.split(drawn, 2, axis=1)
        variance = np.maximum(second - first**2, 0.0) / max(count - 1, 1)
        # What is left of sums of squares that cancel is no spread.
        variance[variance <= 1e-12 * second / count] = 0.0
        spreads.append(np.sqrt(variance).reshape(-1, *influence.shape[1:]))
    return np.concatenate(scores), np.concatenate(spreads)


def _widened(level: float, count: float) -> float:
    """How far out to go: the normal quantile, widened for few samples as Student's is.

    The spread of a resample is that of ``count`` samples about their own mean, which is too small
    by sqrt((n - 1) / n), and estimated from so many samples (Hesterberg, 2015).
    """
    from scipy.special import stdtrit

    if count < 2:
        return 0.0
    return float(np.sqrt(count / (count - 1)) * stdtrit(count - 1, (1 + level) / 2))


def _bias(ordered: FloatArray, score: FloatArray) -> FloatArray:
    """How far the score stands from the median of the rounds, in normal quantiles."""
    from scipy.special import ndtri

    rounds = len(ordered)
    below = (ordered < score).sum(axis=0) + (ordered == score).sum(axis=0) / 2
    bias: FloatArray = ndtri(np.clip(below / rounds, 0.5 / rounds, 1 - 0.5 / rounds))
    return bias


def _bca(
    ranked: FloatArray, score: FloatArray, influence: FloatArray, low: FloatArray
) -> Intervals:
    bias, skew = _bias(ranked, score), _acceleration(influence)
    ends = (_at(ranked, _corrected(one, bias, skew)) for one in (low, -low))
    return Intervals(*ends)


def _influence(units: Units, aggregate: Aggregate) -> FloatArray:
    """What each unit adds to the score, by leaving each out in turn; shape (units, ...)."""
    count = len(units.sizes)
    if count < 2:
        return np.zeros((count, *units.sums.shape[1:-1]))
    left_out = aggregate(units.without_each())
    influence: FloatArray = (count - 1) * (left_out.mean(axis=0) - left_out)
    return influence


def _acceleration(influence: FloatArray) -> FloatArray:
    """How fast the spread changes with the score."""
    # In shares of the largest, so that powers of very small differences do not vanish.
    largest = np.abs(influence).max(axis=0)
    away = influence / np.where(largest > 0, largest, 1.0)
    cubes, squares = (away**3).sum(axis=0), (away**2).sum(axis=0)
    skew: FloatArray = cubes / (6 * np.where(squares > 0, squares, 1.0) ** 1.5)
    return skew


def _corrected(quantile: FloatArray, bias: FloatArray, skew: FloatArray) -> FloatArray:
    moved = bias + quantile
    corrected: FloatArray = bias + moved / np.maximum(1 - skew * moved, _SMALLEST)
    return corrected


def _at(ordered: FloatArray, quantile: FloatArray) -> FloatArray:
    """Values of ordered rounds at normal quantiles, between rounds by their distance."""
    from scipy.special import ndtr

    place = ndtr(quantile) * (len(ordered) - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, len(ordered) - 1)
    lower = np.take_along_axis(ordered, below[np.newaxis], axis=0)[0]
    upper = np.take_along_axis(ordered, above[np.newaxis], axis=0)[0]
    values: FloatArray = lower + (upper - lower) * (place - below)
    return values
