"""What people would have said of everything, from a judge of everything and people on a part.

Prediction-powered inference with its tuning weight (Angelopoulos, Duchi and Zrnic, PPI++, 2023);
valid whatever the judge is worth: one that says nothing gets no weight. People and samples are
crossed: who rates low does so everywhere, and a sample that is rated by all is one sample.
"""

from collections import defaultdict
from collections.abc import Mapping
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.stats.bootstrap import SEED
from audiocapbench.stats.units import FloatArray, Interval, student

FEWEST_RATED = 20  # with fewer, the spread itself is a guess, and there is no interval
FEWEST_PEOPLE = 5  # likewise of how people differ
_UNSEEN = 0.05  # so likely is it to see none of what may still be at an end of the scale
_ROUNDS = 1_999
_SURE = 1.28  # standard errors below which 90 % of estimates are: of what a judge is worth


class Influence(NamedTuple):
    """What moved an estimate: people, their ratings by person and sample, the judge's scores."""

    people: dict[Any, float]
    ratings: dict[Any, float]
    samples: dict[Any, float]

    def less(self, other: "Influence") -> "Influence":
        pairs = zip(self, other, strict=True)
        return Influence(*({key: a.get(key, 0) - b.get(key, 0) for key in a | b} for a, b in pairs))

    def variances(self) -> tuple[float, float, float]:
        """Of people, of samples that several people rated, and of what the judge scored."""
        items: dict[str, float] = defaultdict(float)
        for (_, item), moved in self.ratings.items():
            items[item] += moved
        people, alone, judged, together = (
            sum(one**2 for one in moved.values()) for moved in (*self, items)
        )
        return people, max(0.0, together - alone), judged


class Calibrated(NamedTuple):
    """A mean as people would have given it; errors need so many that differ, and people."""

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
    strata: Mapping[str, tuple[str, int]] | None = None,
    tuned: bool = True,
) -> Calibrated:
    """The mean that people would have given all samples, from ``ratings`` by person and sample.

    ``scores`` are the judge's of all; without ``tuned`` it has no say. What was rated is a random
    part, or one of each of ``strata``, which have a name and a size.
    """
    raters, items = zip(*ratings, strict=True)
    names, who = np.unique(raters, return_inverse=True)
    rated, every = np.array([*ratings.values()]), np.array([*scores.values()])
    judged = np.array([scores[one] for one in items])
    counts = np.bincount(who).astype(np.float64)
    # Somebody with few ratings says little, and with most of them no more than twice the median.
    each = (1 / (counts + np.median(counts)))[who]
    groups = [strata[one] if strata else ("", 1) for one in items]
    kinds, group = np.unique([name for name, _ in groups], return_inverse=True)
    sizes = np.array([dict(groups)[name] for name in kinds.tolist()])
    each *= (sizes / sizes.sum() / np.bincount(group, each))[group]
    share = np.bincount(who, each)
    enough = len({*items}) >= FEWEST_RATED and bool(np.ptp(rated) > 0)
    weight = tuning_weight(rated, judged, each) if enough and tuned else 0.0

    def apart(values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far people are from the mean of all, and what they rated from their own."""
        view = np.bincount(who, each * values) / share - each @ values
        return view, values - each @ values - ((1 - 1 / counts) * view)[who]

    left = rated - weight * judged
    value = float(each @ left) + weight * float(every.mean())
    view, away = apart(left)
    known = len(names) if names[0] else len(names) - 1
    by_person = share * view / np.sqrt(np.maximum(1 - share, 1e-9))
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
    pull = each * (judged - each @ judged) ** 2  # of a rating on its own prediction
    pull = pull / pull.sum() if weight else 0 * pull
    alone, chance = (
        np.bincount(which, each * off / np.maximum(1 - each - own_pull, 0.1)) ** 2
        for off, own_pull in ((apart(rated)[1], 0 * pull), (away, pull))
    )
    worth = _worth(alone, chance, by_judge) * len(rated) if enough else None
    found = value, error if is_known else None, interval, weight, worth, known
    return Calibrated(*found, freedom, float(chance.sum()), influence)


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
    value: float, error: float, far: float, skew: float, count: float, bounds: tuple[float, float]
) -> Interval:
    """Student's interval; longer towards a tail (Johnson, 1978), with room for what is unseen."""
    more = (1 + 2 * 1.96**2) / (6 * np.sqrt(count))
    unseen = 1 - _UNSEEN ** (1 / count)
    low = value - max(error * (far + max(0.0, -skew) * more), (value - bounds[0]) * unseen)
    high = value + max(error * (far + max(0.0, skew) * more), (bounds[1] - value) * unseen)
    return Interval(max(bounds[0], float(low)), min(bounds[1], float(high)))


def ratings_needed(found: Calibrated, rated: int, total: int, width: float) -> int | None:
    """Ratings by the same people that make the interval this wide; None where all would not do."""
    if found.error is None:
        return None
    spare = (width / 2 / student(found.freedom)) ** 2 - max(0.0, found.error**2 - found.chance)
    count = max(FEWEST_RATED, ceil(found.chance * rated / spare)) if spare > 0 else total + 1
    return count if count <= total else None


def unlike_part(features: FloatArray, part: NDArray[np.bool_]) -> tuple[float, int]:
    """P-value that a random part is as far from all in any feature (n, k), and the farthest."""
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    draw, count = np.random.default_rng(SEED), int(part.sum())
    rounds = (draw.permutation(len(scaled))[:count] for _ in range(_ROUNDS))
    drawn = np.array([np.abs(scaled[one].mean(axis=0)).max() for one in rounds])
    seen = np.abs(scaled[part].mean(axis=0))
    p = (np.count_nonzero(drawn >= seen.max() - 1e-9) + 1) / (_ROUNDS + 1)
    return float(p), int(seen.argmax())
