"""Proof that the text gives nothing away: controls that never hear the clip, and a trained one.

A control that chooses neither caption is given half a point, what tossing a coin would earn; and
``random`` is the mean of several draws.
"""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.corrupt.balance import FloatArray, differences_of
from audiocapbench.meta.corrupt.make import CorruptionResult
from audiocapbench.meta.measures import numbers
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.controls import CONTROLS, create_control
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.stats import Interval, mean_interval

NEAR, NEAR_TRAINED = 3.0, 10.0
"""How many points from chance a control may be, and a classifier trained on the words."""

_CHANCE = 50.0
_DAMPING = 1.0
_SPLITS = 2
_DRAWS = 25
_FEWEST_TO_TRAIN = 40


class ControlAccuracy(NamedTuple):
    """How often a control picks the true caption, in percent; a tie counts half.

    The interval is 95 % over clips, None for too few; ``ties`` is in percent as well.
    """

    accuracy: float
    interval: Interval | None
    ties: float

    @property
    def is_level(self) -> bool:
        """Whether it stays within three points of chance."""
        return abs(self.accuracy - _CHANCE) <= NEAR

    @property
    def may_be_chance(self) -> bool:
        """Whether its interval holds chance."""
        return self.interval is not None and self.interval.low <= _CHANCE <= self.interval.high


Check = Mapping[str, Mapping[str, ControlAccuracy]]
"""Figures by kind, "all" last, and by control."""


def check_controls(made: Sequence[CorruptionResult], seed: int) -> Check:
    """Run every control over all pairs; rarity is counted over all of them."""
    pairs = [pair for one in made for pair in one.pairs]
    if not pairs:
        return {}
    credits = {name: _credits_of(name, pairs, seed) for name in CONTROLS}
    kinds = np.array([pair.type for pair in pairs], dtype=object)
    clips = np.array([pair.clip for pair in pairs], dtype=object)
    groups = {str(one.kind): kinds == str(one.kind) for one in made if one.pairs}
    groups["all"] = np.ones(len(pairs), dtype=bool)
    return {
        group: {name: _figure(own[mask], clips[mask]) for name, own in credits.items()}
        for group, mask in groups.items()
    }


def _credits_of(name: str, pairs: Sequence[CaptionPair], seed: int) -> FloatArray:
    # One draw of lots says little about few pairs; what lots earn is their mean.
    seeds = range(seed, seed + (_DRAWS if name == "random" else 1))
    controls = [create_control(name, TrialSettings(seed=one)) for one in seeds]
    chosen = np.array([numbers(control.choose(pairs)) for control in controls])
    right = chosen == np.array([pair.answer for pair in pairs])
    return np.array(np.where(chosen < 0, 0.5, right).mean(axis=0))


def _figure(credits: FloatArray, clips: NDArray[np.object_]) -> ControlAccuracy:
    """The pairs of one clip are drawn together for the interval."""
    interval = mean_interval(
        credits[:, np.newaxis],
        lambda means: 100 * means[..., 0],
        clusters=[str(one) for one in clips],
        bounds=(0.0, 100.0),
    )
    ties = float((credits == 0.5).mean())
    return ControlAccuracy(100 * float(credits.mean()), interval, 100 * ties)


def check_trained(made: Sequence[CorruptionResult], seed: int) -> dict[str, ControlAccuracy]:
    """Accuracy of a linear classifier on words and lengths, by kind and over all.

    It is trained on the pairs of one half of the clips and tried on the others, both ways, in
    several splits. Kinds with too few pairs are left out.
    """
    large = [one for one in made if len(one.pairs) >= _FEWEST_TO_TRAIN]
    found = {str(one.kind): _trained(one.pairs, seed) for one in large}
    if len(found) > 1:
        found["all"] = _trained([pair for one in made for pair in one.pairs], seed)
    return found


def _trained(pairs: Sequence[CaptionPair], seed: int) -> ControlAccuracy:
    from scipy.sparse.linalg import lsqr

    inputs = differences_of([pair.first for pair in pairs], [pair.second for pair in pairs])
    labels = np.array([1.0 if pair.answer == 0 else -1.0 for pair in pairs])
    draw = random.Random(seed)
    clips = sorted({pair.clip for pair in pairs})
    of_pair = np.array([pair.clip for pair in pairs], dtype=object)
    right = np.zeros(len(pairs))
    for _ in range(_SPLITS):
        draw.shuffle(clips)
        one_half = set(clips[: len(clips) // 2])
        half = np.array([clip in one_half for clip in of_pair])
        for train in (half, ~half):
            # Without a constant: the captions' places say nothing.
            weights = lsqr(inputs[train], labels[train], damp=_DAMPING)[0]
            scores = np.sign(inputs[~train] @ weights) * labels[~train]
            right[~train] += (scores + 1) / 2
    return _figure(right / _SPLITS, of_pair)


def warnings(controls: Check, trained: Mapping[str, ControlAccuracy]) -> list[str]:
    """One sentence for everything that reads more than it may, or less, as surely as pairs can say.

    What stays below chance is warned about too: the answer can be had by turning it round.
    """
    told = [(NEAR, name, group, controls[group][name]) for group in controls for name in CONTROLS]
    learnt = "a classifier trained on words"
    told += [(NEAR_TRAINED, learnt, group, figure) for group, figure in trained.items()]
    return [
        f"{name} picks the true caption of {group} in {figure.accuracy:.1f} % of the pairs "
        f"({figure.interval.low:.1f}–{figure.interval.high:.1f}), more than {most:.0f} points from "
        "chance: the wording is not level"
        for most, name, group, figure in told
        if figure.interval and abs(figure.accuracy - _CHANCE) > most and not figure.may_be_chance
    ]
