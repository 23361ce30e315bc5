"""Intervals of scores at 95 %, exact for shares and by the bootstrap on statistics for all others,
and whether a difference between two systems on the same samples is real.

A round of the bootstrap is one weighted mean and never looks at text. A resample of twelve right
answers has twelve right answers: shares are not resampled. Of the usual intervals of shares only
Clopper's and Pearson's never holds the truth less often than it says; Wilson's falls to 90 % at a
share of .975. Where answers go together, or are weighted, a share counts as one of as many
independent answers as have its variance (Korn and Graubard, 1998).
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Aggregate = Callable[[FloatArray], FloatArray]  # mean statistics (..., k) to scores (...)
Clusters = Sequence[str] | NDArray[np.int64] | None  # the clip of each sample; None: its own

LEVEL = 0.95
TAIL = (1 + LEVEL) / 2  # the quantile at which an interval ends
FEWEST_FOR_INTERVAL = 10
"""Below this, resampling says more about the few samples than about the model.

95 % intervals of skewed grades hold the truth in 85 % of cases with 5 samples, in 93 % with 10.
"""

ROUNDS = 1000
SEED = 42

Method = Literal["bootstrap-t", "bca", "percentile"]
METHOD: Method = "bootstrap-t"  # of the three it covers skewed scores best, and others as well
FARTHEST = 1.5  # times Student's, from the score to an end; skewed scores need no more
METHODS = f"clopper-pearson for shares, {METHOD} within {FARTHEST:g} t for other scores"
"""How intervals are made; estimates in a store that were made otherwise are made anew."""

SWAPS = 9_999  # rounds of the permutation test; the smallest p-value is one in ten thousand
_SMALLEST = 1e-6
_LEAST_SPREAD = 0.1
_ROUNDS_AT_ONCE, _SWAPS_AT_ONCE = 64, 256


class Units(NamedTuple):
    """Units that are drawn whole: sums of their samples' statistics (units, ..., k), and sizes."""

    sums: FloatArray
    sizes: FloatArray

    @property
    def means(self) -> FloatArray:
        """Mean statistics over all samples, shape (..., k)."""
        means: FloatArray = self.sums.sum(axis=0) / self.sizes.sum()
        return means

    @property
    def effective(self) -> float:
        """How many units of equal size would say as much (Kish); all of them where sizes are."""
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    def without_each(self) -> FloatArray:
        """Mean statistics with each unit left out in turn, shape (units, ..., k)."""
        left = (self.sizes.sum() - self.sizes).reshape(-1, *(1 for _ in self.sums.shape[1:]))
        means: FloatArray = (self.sums.sum(axis=0) - self.sums) / left
        return means


def units_of(statistics: FloatArray, clusters: Clusters = None) -> Units:
    """Add samples up to units; units of one sample each are the samples as they stand."""
    if clusters is None:
        return Units(statistics, np.ones(len(statistics)))
    if len(clusters) != len(statistics):
        raise ValueError(f"{len(statistics)} samples cannot have {len(clusters)} clusters")
    _, places = np.unique(np.asarray(clusters), return_inverse=True)
    sizes = np.bincount(places).astype(np.float64)
    if len(sizes) == len(statistics):
        return Units(statistics, sizes)
    sums = np.zeros((len(sizes), *statistics.shape[1:]))
    np.add.at(sums, places, statistics)
    return Units(sums, sizes)


def ordered(units: Units) -> Units:
    """The units in an order of their own, so that draws do not depend on the order they came in."""
    columns = np.column_stack([units.sizes, units.sums.reshape(len(units.sizes), -1)])
    order = np.lexsort(columns.T[::-1])
    return Units(units.sums[order], units.sizes[order])


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


_Ends = tuple[FloatArray, FloatArray]  # low and high ones of several intervals


class Resampling(TypedDict, total=False):
    """How an interval is made; ``clusters`` are drawn whole."""

    rounds: int
    seed: int
    clusters: Clusters
    method: Method  # rounds by their own spread, corrected for bias and skew, or as they are
    bounds: tuple[float, float]  # the least and the most of a score, which no interval leaves
    most: float  # as how many independent samples all count at the most, where they are weighted
    # The score is made of shares, as F1 and a weighted sum of shares are: its interval is that of a
    # share with the same standard error. A plain share need not be announced.
    share: bool


def mean_interval(
    statistics: FloatArray, aggregate: Aggregate, **how: Unpack[Resampling]
) -> Interval | None:
    """Interval of a corpus score; the order of samples does not matter.

    None for too few samples, or clips, and for samples that are all alike where nothing is known of
    the bounds: they leave no spread to go by, which is not certainty.

    ``statistics`` are of shape (n, k); ``aggregate`` maps means of shape (rounds, k) to scores.
    """
    clusters, bounds = how.get("clusters"), how.get("bounds")
    units = ordered(units_of(statistics, clusters))
    if len(units.sizes) < FEWEST_FOR_INTERVAL:
        return None
    score = float(aggregate(units.means[np.newaxis])[0])
    hits = hits_of(own_scores(statistics, aggregate), score, bounds)
    if bounds is not None and hits is not None:
        low, high = interval_of_hits(units_of(hits, clusters))
        return Interval(low * bounds[1], high * bounds[1])
    if bounds is not None and how.get("share"):
        share, influence = score / bounds[1], _influence(units, aggregate) / bounds[1]
        # What rounding leaves of samples that are all alike is no spread.
        influence[np.abs(influence) <= 1e-12] = 0.0
        variance = float((influence**2).sum()) / len(influence) / (len(influence) - 1)
        most = how.get("most", float(units.sizes.sum()))
        low, high = share_interval(share, most, variance=variance, units=units.effective)
        return Interval(min(low, share) * bounds[1], max(high, share) * bounds[1])
    low, high = map(float, _intervals(units, aggregate, how))
    return None if np.isnan(low) or np.isnan(high) else Interval(low, high)


def own_scores(statistics: FloatArray, aggregate: Aggregate) -> FloatArray:
    """What each sample scores by itself, if that can be said."""
    with np.errstate(all="ignore"):
        return aggregate(statistics)


def intervals(statistics: FloatArray, aggregate: Aggregate, **how: Unpack[Resampling]) -> _Ends:
    """Intervals of many scores at once (n, ..., k), none taken for a share; NaN for none."""
    return _intervals(units_of(statistics, how.get("clusters")), aggregate, how)


def _intervals(units: Units, aggregate: Aggregate, how: Resampling) -> _Ends:
    score = aggregate(units.means[np.newaxis])[0]
    influence = _influence(units, aggregate)
    low, high = _resampled(units, aggregate, influence, how)
    least, most = how.get("bounds", (np.nan, np.nan))
    # An interval that leaves out its own estimate, as few and lumpy samples can make it, is none.
    low, high = np.minimum(np.fmax(low, least), score), np.maximum(np.fmin(high, most), score)
    # Samples that are all alike say how many others there can be at the most, and nothing else.
    alike = np.abs(influence).max(axis=0) <= 1e-12 * np.maximum(np.abs(score), 1e-300)
    count = min(how.get("most", units.effective), units.effective)
    others = clopper_pearson(0, count).high
    low = np.where(alike, score - (score - least) * others, low)
    return low, np.where(alike, score + (most - score) * others, high)


def _resampled(units: Units, aggregate: Aggregate, influence: FloatArray, how: Resampling) -> _Ends:
    from scipy.special import ndtri, stdtrit

    method, count = how.get("method", METHOD), units.effective
    score = aggregate(units.means[np.newaxis])[0]
    scores, spreads = _scores(units, aggregate, influence, how)
    ranked, rounds = np.sort(scores, axis=0), len(scores)
    # How far out to go: the normal quantile, widened for few samples as Student's is. The spread of
    # a resample is that of samples about their own mean, too small by sqrt((n - 1) / n), and
    # estimated from so many samples (Hesterberg, 2015).
    far = float(np.sqrt(count / (count - 1)) * stdtrit(count - 1, TAIL)) if count >= 2 else 0.0
    low = np.full(score.shape, -far)
    if method == "percentile":
        return _at(ranked, low), _at(ranked, -low)
    # How far the score stands from the median of the rounds, in normal quantiles.
    lower = (ranked < score).sum(axis=0) + (ranked == score).sum(axis=0) / 2
    bias = ndtri(np.clip(lower / rounds, 0.5 / rounds, 1 - 0.5 / rounds))
    # How fast the spread changes with the score; in shares of the largest influence, so that powers
    # of very small differences do not vanish.
    largest = np.abs(influence).max(axis=0)
    away = influence / np.where(largest > 0, largest, 1.0)
    cubes, squares = (away**3).sum(axis=0), (away**2).sum(axis=0)
    skew = cubes / (6 * np.where(squares > 0, squares, 1.0) ** 1.5)
    moved = (bias + low, bias - low)
    left, right = (_at(ranked, bias + one / np.maximum(1 - skew * one, _SMALLEST)) for one in moved)
    if method == "bca":
        return left, right
    # Of skewed scores a sample shows the long tail too rarely: go further out by as much.
    low = low * (1 + np.abs(skew))
    spread = np.sqrt((influence**2).sum(axis=0) / len(influence) / max(len(influence) - 1, 1))
    # Rounds that miss the few samples unlike the others have no spread to go by, and no quantile.
    spreads = np.where(spreads > _LEAST_SPREAD * spread, spreads, 0.0)
    with np.errstate(all="ignore"):
        apart = np.nan_to_num((scores - score) / spreads, nan=0.0, posinf=np.inf, neginf=-np.inf)
        # A few samples far from the many must not push an end beyond what any sample could mean.
        apart = np.clip(np.sort(apart, axis=0), -FARTHEST * far, FARTHEST * far)
        below, above = score - _at(apart, -low) * spread, score - _at(apart, low) * spread
    return np.where(np.isfinite(below), below, left), np.where(np.isfinite(above), above, right)


def _scores(
    units: Units, aggregate: Aggregate, influence: FloatArray, how: Resampling
) -> tuple[FloatArray, FloatArray]:
    """The score of every round, and its standard error from the influence of what was drawn."""
    rounds, generator = how.get("rounds", ROUNDS), np.random.default_rng(how.get("seed", SEED))
    count = len(influence)
    flat, own = units.sums.reshape(count, -1), influence.reshape(count, -1)
    table = np.concatenate([flat, own, own**2, units.sizes[:, np.newaxis]], axis=1)
    scores, spreads = [], []
    for start in range(0, rounds, _ROUNDS_AT_ONCE):
        size = min(_ROUNDS_AT_ONCE, rounds - start)
        places = generator.integers(0, count, (size, count))
        places += count * np.arange(size)[:, np.newaxis]
        drawn = np.bincount(places.ravel(), minlength=size * count).reshape(size, count)
        sums = drawn.astype(np.float64) @ table
        means = sums[:, : flat.shape[1]] / sums[:, -1:]
        scores.append(aggregate(means.reshape(size, *units.sums.shape[1:])))
        first, second = np.split(sums[:, flat.shape[1] : -1] / count, 2, axis=1)
        variance = np.maximum(second - first**2, 0.0) / max(count - 1, 1)
        # What is left of sums of squares that cancel is no spread.
        variance[variance <= 1e-12 * second / count] = 0.0
        spreads.append(np.sqrt(variance).reshape(-1, *influence.shape[1:]))
    return np.concatenate(scores), np.concatenate(spreads)


def _influence(units: Units, aggregate: Aggregate) -> FloatArray:
    """What each unit adds to the score, by leaving each out in turn; shape (units, ...)."""
    count = len(units.sizes)
    if count < 2:
        return np.zeros((count, *units.sums.shape[1:-1]))
    left_out = aggregate(units.without_each())
    influence: FloatArray = (count - 1) * (left_out.mean(axis=0) - left_out)
    return influence


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


def permutation_tests(
    first: FloatArray,
    second: FloatArray,
    aggregate: Aggregate,
    *,
    present: NDArray[np.bool_] | None = None,
    clusters: Clusters = None,
    rounds: int = SWAPS,
    seed: int = SEED,
) -> FloatArray:
    """Two-sided p-values of differences between systems, of many pairs at once.

    If two systems were the same, their answers to a sample could be swapped. Every round swaps
    each with probability one half; for means over samples this is the sign-flip test. So few
    samples that all swaps can be counted get the exact p-value.

    Statistics are of shape (n, pairs, k), and the result is (pairs,). ``present``, of shape
    (n, pairs), says which samples both systems of a pair have; without any the p-value is 1.
    """
    here = np.ones(first.shape[:2], dtype=bool) if present is None else present
    counts = here.sum(axis=0)[:, np.newaxis]
    mask = here[..., np.newaxis]
    # A pair without samples is as good as one of two equal systems, and divides nothing by zero.
    nothing, counts = counts == 0, np.maximum(counts, 1)
    base = np.where(nothing, 1.0, np.where(mask, first, 0.0).sum(axis=0) / counts)
    other = np.where(nothing, 1.0, np.where(mask, second, 0.0).sum(axis=0) / counts)
    moves = units_of(np.where(mask, second - first, 0.0) / counts, clusters).sums
    flat = moves.reshape(len(moves), -1)
    seen = np.abs(aggregate(base[np.newaxis])[0] - aggregate(other[np.newaxis])[0])
    # Sums in another order differ in their last digits; equal differences must still count.
    enough = seen * (1 - 1e-9) - 1e-13
    hits, done = np.zeros(len(seen)), 0
    countable = len(flat) < 63 and 2 ** len(flat) <= rounds + 1
    if countable:
        blocks = iter([np.arange(2 ** len(flat))[:, np.newaxis] >> np.arange(len(flat)) & 1])
    else:
        sizes = [min(_SWAPS_AT_ONCE, rounds - start) for start in range(0, rounds, _SWAPS_AT_ONCE)]
        draw = np.random.default_rng(seed)
        blocks = (draw.integers(0, 2, (size, len(flat)), dtype=np.int8) for size in sizes)
    for swapped in blocks:
        moved = (swapped.astype(np.float64) @ flat).reshape(-1, *base.shape)
        hits += (np.abs(aggregate(base + moved) - aggregate(other - moved)) >= enough).sum(axis=0)
        done += len(swapped)
    return hits / done if countable else (hits + 1) / (done + 1)


def bootstrap_test(
    first: FloatArray, second: FloatArray, aggregate: Aggregate, clusters: Clusters = None
) -> float:
    """Two-sided p-value of a difference by the paired bootstrap, as sacrebleu has it: how often
    a draw is as far from the mean of all draws as the difference is from 0."""
    sides = np.stack([first, second], axis=1).reshape(len(first), -1)
    units, difference = ordered(units_of(sides, clusters)), _difference(aggregate)
    seen = float(difference(units.means[np.newaxis])[0])
    drawn, _ = _scores(units, difference, np.zeros(len(units.sizes)), {"rounds": SWAPS})
    far = np.abs(drawn - drawn.mean()) >= abs(seen) - 1e-13
    return float((far.sum() + 1) / (SWAPS + 1))


def difference_interval(
    first: FloatArray, second: FloatArray, aggregate: Aggregate, **how: Unpack[Resampling]
) -> Interval | None:
    """Interval of score(first) - score(second) on the same samples; of shares an exact kind.

    Other scores are resampled in pairs: both see the same draws. None for too few samples, and for
    differences that are all alike where the scores' bounds are not known.
    """
    clusters, bounds = how.get("clusters"), how.get("bounds")
    if len(units_of(first, clusters).sizes) < FEWEST_FOR_INTERVAL:
        return None
    sides = np.stack([first, second], axis=1)
    own, scores = own_scores(sides, aggregate).T, aggregate(sides.mean(axis=0)[np.newaxis])[0]
    right, other = (hits_of(own[place], float(scores[place]), bounds) for place in (0, 1))
    if bounds is not None and right is not None and other is not None:
        wins, losses = np.maximum(right - other, 0), np.maximum(other - right, 0)
        found = units_of(wins, clusters), units_of(losses, clusters)
        low, high = paired_difference(*found)
        return Interval(low * bounds[1], high * bounds[1])
    if bounds is not None:
        how["bounds"] = (bounds[0] - bounds[1], bounds[1] - bounds[0])
    return mean_interval(sides.reshape(len(first), -1), _difference(aggregate), **how)


def paired_spread(
    first: FloatArray, second: FloatArray, aggregate: Aggregate, clusters: Clusters = None
) -> float | None:
    """Standard deviation of a sample's share in the difference, by leaving each out in turn.

    Divided by the root of the number of samples, or of clips, it is the standard error. None below
    two of them.
    """
    units = units_of(np.stack([first, second], axis=1).reshape(len(first), -1), clusters)
    if len(units.sizes) < 2:
        return None
    left_out = _difference(aggregate)(units.without_each())
    return float((len(left_out) - 1) * left_out.std(ddof=1))


def _difference(aggregate: Aggregate) -> Aggregate:
    """The difference of two systems whose statistics stand side by side."""

    def difference(means: FloatArray) -> FloatArray:
        both = aggregate(means.reshape(*means.shape[:-1], 2, -1))
        found: FloatArray = both[..., 0] - both[..., 1]
        return found

    return difference


def clopper_pearson(hits: float, total: float) -> Interval:
    """Exact interval of a share, of ``total`` independent answers or as many as they are worth."""
    from scipy.special import betaincinv

    tail, misses = (1 - LEVEL) / 2, total - hits
    low = float(betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - tail)) if misses > 0 else 1.0
    return Interval(low, high)


def wilson(hits: int, total: int) -> Interval:
    """Wilson's interval of a share, which papers print for win rates; narrower than the exact."""
    from scipy.special import ndtri

    z2, share = float(ndtri(TAIL)) ** 2, hits / total
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    away = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * total)) / total) / (1 + z2 / total)
    return Interval(max(0.0, float(middle - away)), min(1.0, float(middle + away)))


def share_interval(share: float, most: float, *, variance: float, units: float) -> Interval:
    """Interval of a share of answers that are not independent, or not counted alike.

    They count as ``most`` independent answers at the most; the variance of the share was estimated
    from so many ``units``, and 0 leaves the share with those.
    """
    from scipy.special import stdtrit

    counted = min(most, units)
    if variance > 0:
        few = stdtrit(max(most - 1, 1.0), TAIL) / stdtrit(max(units - 1, 1.0), TAIL)
        counted = min(most, share * (1 - share) / variance * float(few) ** 2)
    return clopper_pearson(min(max(share, 0.0), 1.0) * counted, counted)


def interval_of_hits(hits: Units) -> Interval:
    """Interval of the share of hits; a unit's sum is the number of its samples that are hits."""
    total, found = float(hits.sizes.sum()), hits.sums.reshape(-1)
    share, units = float(found.sum()) / total, len(found)
    if units == total:
        return clopper_pearson(float(found.sum()), total)
    away = found - share * hits.sizes
    variance = float((away**2).sum()) * units / (units - 1) / total**2
    return share_interval(share, total, variance=variance, units=hits.effective)


def paired_difference(wins: Units, losses: Units) -> Interval:
    """Interval of a difference of shares on the same samples, by Bonett and Price (2012).

    A win is a sample that only the first has right; one of each is added: none is no certainty.
    """
    from scipy.special import ndtri

    total = float(wins.sizes.sum())
    won, lost = float(wins.sums.sum()) / total, float(losses.sums.sum()) / total
    counted = total
    if (units := len(wins.sizes)) < total:
        away = (wins.sums - losses.sums).reshape(-1) - (won - lost) * wins.sizes
        variance = float((away**2).sum()) * units / (units - 1) / total**2
        alone = won + lost - (won - lost) ** 2
        counted = min(total, alone / variance) if variance > 0 else wins.effective
    won, lost = (counted * won + 1) / (counted + 2), (counted * lost + 1) / (counted + 2)
    half = float(ndtri(TAIL)) * np.sqrt((won + lost - (won - lost) ** 2) / (counted + 2))
    return Interval(max(-1.0, won - lost - half), min(1.0, won - lost + half))


def hits_of(
    values: FloatArray, score: float, bounds: tuple[float, float] | None
) -> FloatArray | None:
    """Which samples are hits; None unless all have 0 or the most, and the score is their mean."""
    if bounds is None or bounds[0] != 0 or not np.isin(values, bounds).all():
        return None
    hits = (values == bounds[1]).astype(np.float64)
    return hits if abs(hits.mean() * bounds[1] - score) <= 1e-9 * bounds[1] else None
