"""How often a scorer picks what people picked: the published measure, and those that hold up.

All rest on four counts of a group of pairs. A tie or an unknown counts as the wrong caption, as in
BRACE: a miss where people prefer the second, a false alarm where they prefer the first. When
captions change places, choices speak of them as the pair has them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.scores.estimate import Coverage, Estimate
from audiocapbench.stats import mean_interval

FloatArray = NDArray[np.float64]
Measures = Mapping[str, Estimate]
"""The measures of a group of pairs by their names, in percent."""

NAMES = ("accuracy", "f1", "macro_f1", "balanced_accuracy")
"""The measures, in percent; F1 takes the second caption, 1, for the positive class."""

_OVER_CLASSES = 2
ORDERS = ("as given", "swapped", "mean", "agreed")
CHOSEN = (Choice.FIRST, Choice.SECOND)
"""Choices that name a caption."""


def count(pairs: Sequence[CaptionPair], choices: Sequence[Choice]) -> FloatArray:
    """What each pair adds to the four counts, shape (pairs, 4).

    The counts are hits and misses where the answer is 1, then misses and hits where it is 0.
    """
    answers = np.array([pair.answer for pair in pairs], dtype=np.int64)
    right = numbers(choices) == answers
    columns = np.where(answers == 1, np.where(right, 0, 1), np.where(right, 3, 2))
    counts: FloatArray = np.eye(4)[columns]
    return counts


def numbers(choices: Sequence[Choice]) -> NDArray[np.int64]:
    """The number of each caption that was chosen, -1 where none was."""
    known = {Choice.FIRST: 0, Choice.SECOND: 1}
    return np.array([known.get(choice, -1) for choice in choices], dtype=np.int64)


def measure(counts: FloatArray) -> FloatArray:
    """Measures of groups in percent, from counts of shape (..., 4) to (..., 4).

    NaN where a measure says nothing: there are no pairs, or F1 has neither an answer nor a choice
    of the second caption. A class that no pair has as its answer is left out of both means over
    classes, macro-F1 and balanced accuracy: nothing could be right about it.
    """
    hit_1, miss_1, miss_0, hit_0 = np.moveaxis(counts, -1, 0)
    f1_second = _ratio(2 * hit_1, 2 * hit_1 + miss_1 + miss_0)
    f1_first = _ratio(2 * hit_0, 2 * hit_0 + miss_0 + miss_1)
    recalls = np.stack([_ratio(hit_1, hit_1 + miss_1), _ratio(hit_0, hit_0 + miss_0)])
    f1_of_answers = np.where(np.isnan(recalls), np.nan, np.stack([f1_second, f1_first]))
    accuracy = _ratio(hit_1 + hit_0, counts.sum(axis=-1))
    means = [_mean(f1_of_answers), _mean(recalls)]
    percent: FloatArray = 100 * np.stack([accuracy, f1_second, *means], axis=-1)
    return percent


def measure_pairs(clips: Sequence[str], counts: FloatArray) -> Measures:
    """Every measure with its 95 % interval over clips, from the four counts of each pair."""
    n, own = len(counts), measure(counts.sum(axis=0))
    ones, zeros = counts[:, :2].sum(), counts[:, 2:].sum()
    # A mean over classes can be no surer than its smaller class lets it be.
    classes = 4 * ones * zeros / (ones + zeros) if ones and zeros else ones + zeros

    def estimate(place: int) -> Estimate:
        def aggregate(means: FloatArray) -> FloatArray:
            # Without any pair that a measure speaks of, nothing is said for or against it.
            found = measure(means)[..., place]
            return np.where(np.isnan(found), own[place], found)

        if np.isnan(own[place]):
            return Estimate(None, n, Coverage(n, n, 0))
        most = float(n if place < _OVER_CLASSES else classes)
        interval = mean_interval(
            counts, aggregate, clusters=clips, bounds=(0.0, 100.0), share=True, most=most
        )
        return Estimate(float(own[place]), n, Coverage(n, n, 0), interval=interval)

    return {name: estimate(place) for place, name in enumerate(NAMES)}


def always_second(counts: FloatArray) -> FloatArray:
    ones, zeros = counts[..., :2].sum(axis=-1), counts[..., 2:].sum(axis=-1)
    none = np.zeros_like(ones)
    return np.stack([ones, none, zeros, none], axis=-1)


def always_first(counts: FloatArray) -> FloatArray:
    return always_second(counts)[..., [1, 0, 3, 2]]


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    above, below = np.broadcast_arrays(above, below)
    shares: FloatArray = np.full(above.shape, np.nan)
    return np.divide(above, below, out=shares, where=below > 0)


def _mean(values: FloatArray) -> FloatArray:
    """Mean over the first axis of what is there; NaN where nothing is."""
    there = ~np.isnan(values)
    return _ratio(np.where(there, values, 0.0).sum(axis=0), there.sum(axis=0).astype(np.float64))


class PositionBias(NamedTuple):
    """What the order of the captions does to a scorer that was asked both ways, in percent.

    ``first`` is the share of choices of the caption that stood first: 50 has no bias.
    """

    consistency: float
    first: float | None

    def __str__(self) -> str:
        first = "–" if self.first is None else f"{self.first:.1f} %"
        same = f"the same in both orders {self.consistency:.1f} %"
        return f"{same}, the caption shown first chosen {first}"


def agreeing(given: Sequence[Choice], swapped: Sequence[Choice]) -> list[bool]:
    """Of every pair, whether both orders got the same answer; an unknown agrees with nothing."""
    both = zip(given, swapped, strict=True)
    return [one is other and one is not Choice.UNKNOWN for one, other in both]


def agreed(one: Choice, other: Choice) -> Choice:
    """The choice of both orders: what they agree on, unknown if one is, else a tie."""
    if one is other:
        return one
    return Choice.UNKNOWN if Choice.UNKNOWN in (one, other) else Choice.TIE


def measure_orders(
    pairs: Sequence[CaptionPair], given: Sequence[Choice], swapped: Sequence[Choice]
) -> dict[str, dict[str, float | None]]:
    """The measures of each order alone, their mean, and those of what both agree on."""
    both = [agreed(*one) for one in zip(given, swapped, strict=True)]
    values = [measure(count(pairs, one).sum(axis=0)) for one in (given, swapped, both)]
    rows = zip(ORDERS, [*values[:2], (values[0] + values[1]) / 2, values[2]], strict=True)
    return {
        order: {
            name: None if np.isnan(one) else float(one)
            for name, one in zip(NAMES, row, strict=True)
        }
        for order, row in rows
    }


def position_bias(given: Sequence[Choice], swapped: Sequence[Choice]) -> PositionBias:
    """Compare what was chosen in both orders."""
    same = agreeing(given, swapped)
    first = list(given).count(Choice.FIRST) + list(swapped).count(Choice.SECOND)
    chosen = sum(choice in CHOSEN for choice in (*given, *swapped))
    return PositionBias(
        100 * sum(same) / max(1, len(same)), 100 * first / chosen if chosen else None
    )
