"""What people would have said of everything, from a judge of everything and people on a part.

Prediction-powered inference with its tuning weight (Angelopoulos, Duchi and Zrnic, PPI++, 2023);
valid whatever the judge is worth: one that says nothing gets no weight. People and samples are
crossed: who rates low does so everywhere, and a sample that is rated by all is one sample.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.bootstrap import LEVEL, SEED, FloatArray, Interval

FEWEST_RATED = 20  # with fewer, the spread itself is a guess, and there is no interval
FEWEST_PEOPLE = 5  # likewise of how people differ
_UNSEEN = 0.05  # so likely is it to see none of what may still be at an end of the scale
_ROUNDS = 9_999
_SURE = 1.28  # standard errors below which 90 % of estimates are: of what a judge is worth


class Influence(NamedTuple):
    """What an estimate hangs on: each person's view, each rating, the judge's score of a sample."""

    people: Mapping[Any, float]
    ratings: Mapping[Any, float]  # by person and sample
    samples: Mapping[Any, float]

    def less(self, other: "Influence") -> "Influence":
        """Of the difference of two estimates; what they share is in both."""
        people, ratings, samples = (
            {key: one.get(key, 0.0) - two.get(key, 0.0) for key in {**one, **two}}
            for one, two in zip(self, other, strict=True)
        )
        return Influence(people, ratings, samples)

    def variances(self) -> tuple[float, float, float]:
        """Of people, of samples that several people rated, and of what the judge scored."""
        items: dict[str, float] = {}
        for (_, item), moved in self.ratings.items():
            items[item] = items.get(item, 0.0) + moved
        alone, people, samples, together = (
            sum(one**2 for one in moved.values())
            for moved in (self.ratings, self.people, self.samples, items)
        )
        return people, max(0.0, together - alone), samples


class Calibrated(NamedTuple):
    """A mean as people would have given it; errors need ``FEWEST_RATED`` that differ, of
    ``FEWEST_PEOPLE`` that have names."""

    value: float
    error: float | None  # standard
    interval: Interval | None
    weight: float  # that a point of the judge counts for
    worth: float | None  # ratings alone that would be as certain, or more (90 % sure)
    people: int  # that have names
    freedom: float  # degrees that the error has
    chance: float  # what of its variance more ratings of the same people would lessen
    influence: Influence


def calibrated_mean(
    ratings: Mapping[tuple[str, str], float],
    scores: Mapping[str, float],
    *,
    bounds: tuple[float, float],
    stands: Mapping[str, float] | None = None,
    tuned: bool = True,
) -> Calibrated:
    """The mean that people would have given all samples, from ``ratings`` by person and sample.

    ``scores`` are the judge's of all; without ``tuned`` it has no say. What was rated is a random
    part, or each sample ``stands`` for so many.
    """
    raters, items = zip(*ratings, strict=True)
    names, who = np.unique(raters, return_inverse=True)
    rated, every = np.array([*ratings.values()]), np.array([*scores.values()])
    judged = np.array([scores[one] for one in items])
    counts = np.bincount(who).astype(np.float64)
    # Somebody with few ratings says little, and with most of them no more than twice the median.
    share = counts / (counts + np.median(counts))
    share /= share.sum()
    times = np.array([stands[one] for one in items]) if stands else np.ones(len(rated))
    each = times * (share / np.bincount(who, times))[who]
    enough = len({*items}) >= FEWEST_RATED and bool(np.ptp(rated) > 0)
    weight = tuning_weight(rated, judged, each) if enough and tuned else 0.0
    left = rated - weight * judged
    mean, own = float(each @ left), np.bincount(who, each * left) / share
    value = mean + weight * float(every.mean())
    away = left - mean - ((1 - 1 / counts) * (own - mean))[who]
    known = len(names) if names[0] else len(names) - 1
    by_person = share * (own - mean) / np.sqrt(np.maximum(1 - share, 1e-9))
    crossed = max(1 - float(share @ share), 1e-9) * max(1 - 2 / len(rated), 0.1)
    by_score = weight * (every - every.mean()) / len(every)
    influence = Influence(
        dict(zip(names.tolist(), by_person.tolist(), strict=True)),
        dict(zip(ratings, (each * away / np.sqrt(crossed)).tolist(), strict=True)),
        dict(zip(scores, by_score.tolist(), strict=True)),
    )
    by_people, by_items, by_judge = influence.variances()
    _, which = np.unique(items, return_inverse=True)
    count = 1 / float((np.bincount(which, each) ** 2).sum())  # samples that weigh alike
    # Satterthwaite's degrees of freedom, of people that weigh alike and of samples.
    both, alike = by_people + by_items, 1 / float(share @ share)
    degrees = by_people**2 / max(alike - 1, 1e-9) + by_items**2 / max(count - 1, 1.0)
    freedom = both**2 / degrees if degrees else 1.0
    error, interval = float(np.sqrt(both + by_judge)), None
    is_known = enough and known == len(names) >= FEWEST_PEOPLE
    if is_known:
        skew = float(each @ away**3) / max(float(each @ away**2), 1e-12) ** 1.5
        interval = _bounded(value, error, student(freedom), skew, count, bounds)
    leverage = np.zeros(len(rated))
    if weight:
        leverage = each * (judged - each @ judged) ** 2 / (each @ (judged - each @ judged) ** 2)
    alone, chance = (
        np.bincount(which, each * off / np.maximum(1 - each - more, 0.1)) ** 2
        for off, more in ((rated - each @ rated, 0.0), (away, leverage))
    )
    worth = _worth(alone, chance, by_judge) * len(rated) if enough else None
    return Calibrated(
        value,
        error if is_known else None,
        interval,
        weight,
        worth,
        known,
        freedom,
        float(chance.sum()),
        influence,
    )


def tuning_weight(rated: FloatArray, judged: FloatArray, each: FloatArray) -> float:
    """The weight of the judge that makes the error least; 0 for one that says nothing, or worse.

    Less what chance adds to it: a judge that is only lucky with few ratings does no harm.
    """
    away = judged - each @ judged
    spread = float(each @ away**2)
    slope = float(each @ (rated * away)) / spread if spread > 0 else 0.0
    if slope <= 0:
        return 0.0
    left = rated - each @ rated - slope * away
    noise = float(each**2 @ (away * left) ** 2) / spread**2
    return max(0.0, slope - noise / slope)


def _worth(alone: NDArray[Any], chance: NDArray[Any], by_judge: float) -> float:
    """How many times as many ratings alone would have the judge's error, at the least."""
    without, with_judge = float(alone.sum()), float(chance.sum()) + by_judge
    if without <= 0 or with_judge <= 0:
        return 1.0
    unsure = np.sqrt(((alone / without - chance / with_judge) ** 2).sum())
    return max(1.0, without / with_judge * float(np.exp(-_SURE * unsure)))


def _bounded(
    value: float,
    error: float,
    far: float,
    skew: float,
    count: float,
    bounds: tuple[float, float],
) -> Interval:
    """Student's interval; longer towards a tail (Johnson, 1978), with room for what is unseen."""
    more = (1 + 2 * 1.96**2) / (6 * np.sqrt(count))
    unseen = 1 - _UNSEEN ** (1 / count)
    low = value - max(error * (far + max(0.0, -skew) * more), (value - bounds[0]) * unseen)
    high = value + max(error * (far + max(0.0, skew) * more), (bounds[1] - value) * unseen)
    return Interval(max(bounds[0], float(low)), min(bounds[1], float(high)))


def student(freedom: float, level: float = LEVEL) -> float:
    """How many standard errors an interval reaches to each side."""
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1.0), (1 + level) / 2))


def around(value: float, error: float, freedom: float) -> Interval:
    """The interval of an estimate with a standard error."""
    half = student(freedom) * error
    return Interval(value - half, value + half)


def ratings_needed(found: Calibrated, rated: int, total: int, width: float) -> int | None:
    """Ratings by the same people that make the interval this wide; None where all would not do."""
    if found.error is None:
        return None
    rest, far = max(0.0, found.error**2 - found.chance), student(found.freedom)

    def narrow(count: int) -> bool:
        return bool(2 * far * np.sqrt(rest + found.chance * rated / count) <= width)

    counts = range(FEWEST_RATED, total + 1)
    place = bisect_left(counts, True, key=narrow)
    return counts[place] if place < len(counts) else None


def alike_p(rated: Counter[str], every: Counter[str]) -> float:
    """P-value of the chi-square test that a random part of all would have such categories."""
    names = [*every]
    part, counts = (np.array([one[name] for name in names]) for one in (rated, every))
    expected = counts * part.sum() / counts.sum()
    draw = np.random.default_rng(SEED)
    rounds = draw.multivariate_hypergeometric(counts, int(part.sum()), _ROUNDS)
    seen, drawn = ((((one - expected) ** 2) / expected).sum(axis=-1) for one in (part, rounds))
    return float((np.count_nonzero(drawn >= seen - 1e-9) + 1) / (_ROUNDS + 1))
