"""Intervals of scores at 95 %, exact for shares and by weights at random for all others, and
whether a score is above a value, or a difference between systems on the same samples real.

A round is one weighted mean of statistics and never looks at text. Beside the samples it weighs
one that nobody has seen: grades of 8 and 9 do not say that no answer fails. For a mean of bounded
values that is Gaffke's bound (2005), which is too high no more often than it says; a bootstrap of
grades with 5 % zeros held the truth in 63 % of cases at n = 20.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.draws import agreeing, quantile_place, weighted_sums, weights_of
from audiocapbench.stats.shares import hits_of, interval_of_hits, paired_difference, share_interval
from audiocapbench.stats.units import (
    LEVEL,
    TAIL,
    Aggregate,
    Clusters,
    FloatArray,
    Interval,
    Units,
    is_enough,
    ordered,
    ranks,
    units_of,
)

ROUNDS = 1000
SEED = 42

METHODS = "Clopper-Pearson for shares, Gaffke's, with room for long tails, for other scores"
"""How intervals are made; estimates in a store that were made otherwise are made anew."""

SWAPS = 9_999  # rounds of the permutation test; the smallest p-value is one in ten thousand
_LONG, _FARTHER = 1.2, 10.0  # of scores whose spread is so many times the score, times the largest
_BEYOND = 30.0  # over n, how far beyond the longer tail its next value is reckoned with
_SWAPS_AT_ONCE = 256


Pairs = NDArray[np.int64]
"""Pairs of systems by their places, of shape (pairs, 2)."""
ONE_PAIR = np.array([[0, 1]])
_Ends = tuple[FloatArray, FloatArray]  # low and high ones of several intervals


class Resampling(TypedDict, total=False):
    """How an interval is made; ``clusters`` are drawn whole."""

    rounds: int
    seed: int
    clusters: Clusters
    bounds: tuple[Any, Any]  # the least and the most of a score, which no interval leaves
    most: float  # as how many independent samples all count at the most, where they are weighted
    room: tuple[Any, Any]  # the worst and the best that a sample nobody has seen may well have
    # The score is made of shares, as F1 and a weighted sum of shares are: its interval is that of a
    # share with the same standard error. A plain share need not be announced.
    share: bool


_Asked = tuple[Units, Aggregate, _Ends | None, Resampling]
_Weighed = tuple[Units, Aggregate, _Ends]


def mean_interval(
    statistics: FloatArray, aggregate: Aggregate, **how: Unpack[Resampling]
) -> Interval | None:
    """Interval of a corpus score; the order of samples does not matter.

    None for too few samples, or clips, and for samples that are all alike where nothing is known of
    the bounds: they leave no spread to go by, which is not certainty.

    ``statistics`` are of shape (n, k); ``aggregate`` maps means of shape (rounds, k) to scores.
    """
    return mean_intervals([(statistics, aggregate, how)])[0]


def mean_intervals(
    asked: Sequence[tuple[FloatArray, Aggregate, Resampling]],
) -> list[Interval | None]:
    """The same of several scores: what is drawn for one serves all of as many samples."""
    found: dict[int, Interval | None] = {}
    waiting: dict[tuple[int, ...], dict[int, _Asked]] = defaultdict(dict)
    for place, (statistics, aggregate, how) in enumerate(asked):
        exact = _exact(statistics, aggregate, how)
        if isinstance(exact, Units):
            waiting[_draw(exact, how)][place] = exact, aggregate, None, how
        else:
            found[place] = exact
    for several in waiting.values():
        for place, ends in zip(several, _together(list(several.values())), strict=True):
            low, high = map(float, ends)
            found[place] = Interval(low, high) if np.isfinite([low, high]).all() else None
    return [found[place] for place in range(len(asked))]


def _exact(
    statistics: FloatArray, aggregate: Aggregate, how: Resampling
) -> Interval | Units | None:
    """The interval of a score that needs no draws, or the units to draw weights for."""
    clusters, bounds = how.get("clusters"), how.get("bounds")
    units = ordered(units_of(statistics, clusters))
    if not is_enough(units):
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
    return units


def own_scores(statistics: FloatArray, aggregate: Aggregate) -> FloatArray:
    """What each sample scores by itself, if that can be said."""
    with np.errstate(all="ignore"):
        return aggregate(statistics)


def intervals(
    units: Units, aggregate: Aggregate, unseen: _Ends | None = None, **how: Unpack[Resampling]
) -> _Ends:
    """Intervals of many scores at once (n, ..., k), none taken for a share; infinite for none."""
    return _together([(units, aggregate, unseen, how)])[0]


def _together(asked: Sequence[_Asked]) -> list[_Ends]:
    """The same of several that take the same draws, which are held a part a time."""
    several = [
        (units, aggregate, _unseen(units, aggregate, how) if unseen is None else unseen)
        for units, aggregate, unseen, how in asked
    ]
    parts = zip(*_rounds(several, asked[0][3]), strict=True)
    return [_ends(*one[:2], one[3], rounds) for one, rounds in zip(asked, parts, strict=True)]


def _ends(units: Units, aggregate: Aggregate, how: Resampling, rounds: Sequence[_Ends]) -> _Ends:
    score = aggregate(units.means[np.newaxis])[0]
    lows, highs = map(np.concatenate, zip(*rounds, strict=True))
    first, last = (quantile_place(len(lows), share) for share in (1 - TAIL, TAIL))
    low, high = (np.partition(one, at, 0)[at] for one, at in ((lows, first), (highs, last)))
    least, most = how.get("bounds", (-np.inf, np.inf))
    if (room := how.get("room")) is not None:
        share = 1 - (1 - LEVEL) ** (1 / units.effective)
        low = np.minimum(low, score - (score - room[0]) * share)
        high = np.maximum(high, score + (room[1] - score) * share)
    # An interval that leaves out its own estimate, as few and lumpy samples can make it, is none.
    return np.minimum(np.maximum(low, least), score), np.maximum(np.minimum(high, most), score)


def _draw(units: Units, how: Resampling) -> tuple[int, int, int]:
    """Rounds, weights in each, and the seed."""
    return how.get("rounds", ROUNDS), len(units.sizes) + 1, how.get("seed", SEED)


def _rounds(several: Sequence[_Weighed], how: Resampling) -> Iterator[list[_Ends]]:
    """Scores (rounds, ...) of units weighted at random and one more, the worst and the best that
    nobody has seen yet: for means Gaffke's (2005), and for shares Clopper's and Pearson's.

    What is drawn for one set of units serves all that are as many.
    """
    columns = [
        np.column_stack([units.sums.reshape(len(units.sizes), -1), units.sizes]).T.copy()
        for units, *_ in several
    ]
    for weights in weights_of(*_draw(several[0][0], how)):
        unseen = weights[:, 0] / weights.sum(axis=1)
        yield [_weighted(weights, unseen, *one) for one in zip(columns, several, strict=True)]


def _weighted(weights: FloatArray, unseen: FloatArray, columns: FloatArray, one: _Weighed) -> _Ends:
    units, aggregate, (worst, best) = one
    sums = weighted_sums(columns, weights[:, 1:])
    means = (sums[:-1] / sums[-1]).reshape(*units.sums.shape[1:], -1)
    scores = aggregate(means.transpose(-1, *range(means.ndim - 1)))
    share = unseen.reshape(-1, *(1 for _ in scores.shape[1:]))
    return scores + share * (worst - scores), scores + share * (best - scores)


def _unseen(units: Units, aggregate: Aggregate, how: Resampling) -> _Ends:
    """The worst and the best unit to reckon with: the least of scores that begin at 0, as failures
    have, and otherwise the most extreme one, further out on the longer side where there are few."""
    score, influence = aggregate(units.means[np.newaxis])[0], _influence(units, aggregate)
    least, most = influence.min(axis=0), influence.max(axis=0)
    longer = _BEYOND / units.effective * (most + least)
    worst = score + least + np.minimum(longer, 0.0)
    best = score + most + np.maximum(longer, 0.0)
    low, high = how.get("bounds", (-np.inf, np.inf))
    if np.all(low >= 0):
        worst = np.minimum(score + least, low)
        # Where samples differ by more than they score, most of a long tail may be unseen.
        is_long = influence.std(axis=0) > _LONG * score
        best = np.where(is_long, np.maximum(best, _FARTHER * (score + most)), best)
    elif "bounds" in how:
        # Differences may turn out the other way too, if less far.
        worst = np.minimum(score + least, -(score + most) / 2)
        best = np.maximum(score + most, -(score + least) / 2)
    # Where all are alike, nothing tells how far others may be away.
    alike = np.abs(influence).max(axis=0) <= 1e-12 * np.maximum(np.abs(score), 1e-300)
    least, most = how.get("room", (low, high))
    return np.where(alike, least, worst), np.where(alike, most, np.minimum(best, high))


def _influence(units: Units, aggregate: Aggregate) -> FloatArray:
    """What each unit adds to the score, by leaving each out in turn; shape (units, ...)."""
    count = len(units.sizes)
    if count < 2:
        return np.zeros((count, *units.sums.shape[1:-1]))
    left_out = aggregate(units.without_each())
    influence: FloatArray = (count - 1) * (left_out.mean(axis=0) - left_out)
    return influence


def permutation_tests(
    systems: FloatArray,
    pairs: Pairs,
    aggregate: Aggregate,
    *,
    clusters: Clusters = None,
    rounds: int = SWAPS,
    seed: int = SEED,
) -> FloatArray:
    """Two-sided p-values of differences between systems, of many pairs at once.

    If two systems were the same, their answers to a sample could be swapped. Every round swaps
    each with probability one half; for means over samples this is the sign-flip test. So few
    samples that all swaps can be counted get the exact p-value.

    Statistics are of shape (n, systems, k), and the result is (pairs,).
    """
    (first, second), means = pairs.T, systems.mean(axis=0)
    base, other = means[first], means[second]
    # A move is a system's sum less another's: each system is added up once.
    sums = units_of(systems / len(systems), clusters).sums
    columns = sums.reshape(len(sums), -1).T.copy()
    seen = np.abs(aggregate(base[np.newaxis])[0] - aggregate(other[np.newaxis])[0])
    # Sums in another order differ in their last digits; equal differences must still count.
    enough = seen * (1 - 1e-9) - 1e-13
    hits, done = np.zeros(len(seen)), 0
    count = len(sums)
    countable = count < 63 and 2**count <= rounds + 1
    if countable:
        blocks = iter([np.arange(2**count)[:, np.newaxis] >> np.arange(count) & 1])
    else:
        sizes = [min(_SWAPS_AT_ONCE, rounds - start) for start in range(0, rounds, _SWAPS_AT_ONCE)]
        draw = np.random.default_rng(seed)
        blocks = (draw.integers(0, 2, (size, count), dtype=np.int8) for size in sizes)
    for swapped in blocks:
        added = weighted_sums(columns, swapped.astype(np.float64)).reshape(*means.shape, -1)
        moved = np.moveaxis(added[second] - added[first], -1, 0)
        hits += (np.abs(aggregate(base + moved) - aggregate(other - moved)) >= enough).sum(axis=0)
        done += len(swapped)
    return hits / done if countable else (hits + 1) / (done + 1)


def student_tests(
    statistics: FloatArray, aggregate: Aggregate, clusters: Clusters = None
) -> tuple[FloatArray, FloatArray]:
    """Scores of many systems on the same samples, and two-sided p-values of all their differences
    by Student's t: for more pairs than swaps can be made for.

    Statistics are of shape (n, systems, k), the results (systems,) and (systems, systems).
    """
    from scipy.special import stdtr

    units = units_of(statistics, clusters)
    scores = aggregate(units.means[np.newaxis])[0]
    together = np.atleast_2d(np.cov(_influence(units, aggregate), rowvar=False))
    own, apart = together.diagonal(), np.abs(scores[:, np.newaxis] - scores)
    errors = np.sqrt(np.maximum(own[:, np.newaxis] + own - 2 * together, 0.0) / len(units.sizes))
    # Differences that are all alike: as swaps would have it.
    p = np.where(apart > 1e-12, 0.5 ** (units.effective - 1), 1.0)
    is_spread = errors > 1e-9 * apart
    p[is_spread] = 2 * stdtr(units.effective - 1, -apart[is_spread] / errors[is_spread])
    return scores, p


def difference_interval(
    first: FloatArray,
    second: FloatArray,
    aggregate: Aggregate,
    *,
    p: float | None = None,
    **how: Unpack[Resampling],
) -> Interval | None:
    """Interval of score(first) - score(second) on the same samples; of shares Bonett's and Price's.

    It holds 0 where a test cannot tell the two apart, and only there: ``p`` is its p-value, by
    default the permutation test's, ``guarded``. None for too few samples, and for differences that
    are all alike where the scores' bounds are not known.
    """
    systems = np.stack([first, second], axis=1)
    values = None if p is None else np.array([p])
    return difference_intervals(systems, ONE_PAIR, aggregate, p=values, **how)[0]


def difference_intervals(
    systems: FloatArray,
    pairs: Pairs,
    aggregate: Aggregate,
    by: FloatArray | None = None,
    alone: Aggregate | None = None,
    *,
    p: FloatArray | None = None,
    **how: Unpack[Resampling],
) -> list[Interval | None]:
    """The same of many pairs of systems (n, systems, k), each of which may have its bounds.

    Draws go by the order of samples in ``by``, where that has more than is added up; ``alone``
    makes scores of a part of the samples, where that takes another aggregate.
    """
    clusters, bounds = how.get("clusters"), how.get("bounds")
    units, alone = units_of(systems, clusters), alone or aggregate
    if not is_enough(units):
        return [None] * len(pairs)
    scores = alone(systems.mean(axis=0)[np.newaxis])[0]
    if p is None:
        p = permutation_tests(systems, pairs, aggregate, clusters=clusters)
        if bounds is not None:
            p = guarded(p, systems, pairs, aggregate, bounds=bounds, clusters=clusters)
    # The worse one first, so that either order has the same rounds.
    first, second = pairs.T
    turned = scores[first] > scores[second]
    sides = np.where(turned, pairs.T[::-1], pairs.T)
    if bounds is not None:
        least, most = (np.broadcast_to(one, scores.shape)[first] for one in bounds)
        how.update(_apart((least, most), *scores[sides]))
    unseen = _unseen(units, _difference(alone, *sides), how)
    keys = ranks(units.sums if by is None else units_of(by, clusters).sums)
    count, shape = len(units.sizes), (len(units.sizes), len(pairs), -1)
    flat = Units(units.sums.take(sides.T, axis=1).reshape(shape), units.sizes)
    flat = ordered(flat, keys.take(sides.T, axis=1).reshape(shape))
    halves = Units(flat.sums.reshape(count, 2 * len(pairs), -1), flat.sizes)
    own, other = np.arange(2 * len(pairs)).reshape(-1, 2).T
    low, high = intervals(halves, _difference(aggregate, own, other), unseen, **how)
    low, high = np.where(turned, -high, low), np.where(turned, -low, high)
    if bounds is not None:
        shown = own_scores(systems, alone)
        are_shares = _are_hits(shown, scores, bounds)[pairs].all(axis=1)
        for place in np.flatnonzero(are_shares):
            gained = shown[:, first[place]] - shown[:, second[place]]
            wins, losses = (np.where(one > 0, 1.0, 0.0) for one in (gained, -gained))
            found = paired_difference(units_of(wins, clusters), units_of(losses, clusters))
            low[place], high[place] = found
        low, high = (np.where(are_shares, most * end, end) for end in (low, high))
    known = np.isfinite(low) & np.isfinite(high)
    ends = np.stack(agreeing(low, high, scores[first] - scores[second], p), axis=1).tolist()
    return [Interval(*one) if is_known else None for one, is_known in zip(ends, known, strict=True)]


def guarded(
    p: FloatArray,
    systems: FloatArray,
    pairs: Pairs,
    aggregate: Aggregate,
    *,
    bounds: tuple[Any, Any],
    clusters: Clusters = None,
) -> FloatArray:
    """P-values of differences, none smaller than intervals allow: swaps of what was seen know
    nothing of failures that nobody has seen. Shapes are those of ``permutation_tests``.

    Of shares, whose failures are all there is to see, they stay as they are.
    """
    means, difference = aggregate(systems.mean(axis=0)), _difference(aggregate, *pairs.T)
    are_hits = _are_hits(own_scores(systems, aggregate), means, bounds)[pairs].all(axis=1)
    units, (first, second) = units_of(systems, clusters), means[pairs.T]
    least, most = (np.broadcast_to(one, means.shape)[pairs[:, 0]] for one in bounds)
    score, how = first - second, _apart((least, most), first, second)
    how["rounds"], reached = SWAPS, np.zeros(len(pairs))
    weighed = (units, difference, _unseen(units, difference, how))
    for [(lows, highs)] in _rounds([weighed], how):
        reached += np.where(score > 0, lows <= 0, highs >= 0).sum(axis=0) / SWAPS
    end = np.where(score > 0, *how["room"])
    # A failure undoes a difference only where it is worse than its opposite.
    unseen = np.divide(-end, score - end, out=np.zeros_like(score), where=end * score < 0)
    least = np.maximum(2 * reached, unseen**units.effective)
    return np.where(are_hits, p, np.maximum(p, np.minimum(least, 1.0)))


def _are_hits(own: FloatArray, scores: FloatArray, bounds: tuple[Any, Any]) -> NDArray[np.bool_]:
    """Which systems are shares: what ``hits_of`` asks, of all at once."""
    least, most = bounds
    are_hits = ((own == least) | (own == most)).all(axis=0) & np.equal(least, 0)
    return np.asarray(are_hits & (np.abs(own.mean(axis=0) - scores) <= 1e-9 * most))


def _apart(bounds: tuple[Any, Any], first: Any, second: Any) -> Resampling:
    """What is known of a difference of scores: either may fail where the other does as ever, and of
    likenesses below 0 a failure has 0."""
    failed, width = np.maximum(bounds[0], 0.0), np.subtract(bounds[1], bounds[0])
    return {"bounds": (-width, width), "room": (failed - second, first - failed)}


class OneSided(NamedTuple):
    """P-values of "at most a value" and "at least"; where one is small, it is surely above, or
    below."""

    above: float
    below: float


def one_sided(
    first: FloatArray,
    aggregate: Aggregate,
    value: float,
    *,
    second: FloatArray | None = None,
    **how: Unpack[Resampling],
) -> OneSided:
    """Tests of a score against a value.

    With a second system's statistics it is about score(first) - score(second) on the same samples:
    no worse by a margin is ``value=-margin``. It is made as intervals are, with room for failures
    that nobody has seen yet: ``bounds`` are those of the score. Too few samples have p = 1. Whether
    two systems are equal is tested with more power by ``permutation_tests``.
    """
    how = Resampling(rounds=SWAPS) | how
    if second is not None:
        sides = np.stack([first, second], axis=1)
        if (bounds := how.get("bounds")) is not None:
            how.update(_apart(bounds, *aggregate(sides.mean(axis=0)[np.newaxis])[0].tolist()))
        first, aggregate = sides.reshape(len(first), -1), _difference(aggregate, 0, 1)
    units = ordered(units_of(first, how.get("clusters")))
    if second is not None:
        units = Units(units.sums.reshape(len(units.sums), 2, -1), units.sizes)
    if not is_enough(units):
        return OneSided(1.0, 1.0)
    score = float(aggregate(units.means[np.newaxis])[0])
    tails, room = [], how.get("room", (value, value))
    ends = _unseen(units, aggregate, how)
    rounds = (one for [one] in _rounds([(units, aggregate, ends)], how))
    both = map(np.concatenate, zip(*rounds, strict=True))
    for sign, scores, end in zip((1, -1), both, room, strict=True):
        reached = (np.count_nonzero(sign * scores <= sign * value) + 1) / (len(scores) + 1)
        # How likely nobody has seen a failure, if there were so many of them.
        is_beyond = sign * end < sign * value < sign * score
        unseen = (value - end) / (score - end) if is_beyond else 0.0
        tails.append(max(reached, unseen**units.effective))
    return OneSided(*tails)


def paired_spreads(
    systems: FloatArray, pairs: Pairs, aggregate: Aggregate, clusters: Clusters = None
) -> FloatArray:
    """Standard deviations of a sample's share in differences, by leaving each out in turn.

    Divided by the root of the number of samples, or of clips, they are standard errors; 0 below two
    of them. Shapes are those of ``permutation_tests``.
    """
    units = units_of(systems, clusters)
    if len(units.sizes) < 2:
        return np.zeros(len(pairs))
    spreads: FloatArray = _influence(units, _difference(aggregate, *pairs.T)).std(axis=0, ddof=1)
    return spreads


def _difference(aggregate: Aggregate, first: Any, second: Any) -> Aggregate:
    """The differences of systems at these places."""

    def difference(means: FloatArray) -> FloatArray:
        scores = aggregate(means)
        found: FloatArray = scores[..., first] - scores[..., second]
        return found

    return difference
