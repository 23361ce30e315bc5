"""Proof that the text gives nothing away: controls that never hear the clip, and a trained one.

A control that chooses neither caption is given half a point, what tossing a coin would earn; and
``random`` is the mean of several draws.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.corrupt.balance import differences_of
from audiocapbench.meta.corrupt.evidence import FloatArray
from audiocapbench.meta.corrupt.make import CorruptionResult
from audiocapbench.meta.measures import numbers
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.controls import CONTROLS, create_control
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.stats import Interval, mean_interval

LOWEST, HIGHEST = 45.0, 55.0
"""Accuracies, in percent, that a control may have: five points around chance."""

TRAINED_LOWEST, TRAINED_HIGHEST = 40.0, 60.0
"""Accuracies, in percent, that a classifier trained on the words may have."""

_PENALTY = 1.0
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
        """Whether it stays within five points of chance."""
        return LOWEST <= self.accuracy <= HIGHEST

    @property
    def may_be_chance(self) -> bool:
        """Whether its interval holds chance."""
        return self.interval is not None and self.interval.low <= 50 <= self.interval.high


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
    """Accuracy of a logistic regression on words and lengths, by kind and over all.

    It is trained on the pairs of one half of the clips and tried on the others, both ways, in
    several splits. Kinds with too few pairs are left out.
    """
    large = [one for one in made if len(one.pairs) >= _FEWEST_TO_TRAIN]
    found = {str(one.kind): _trained(one.pairs, seed) for one in large}
    if len(found) > 1:
        found["all"] = _trained([pair for one in made for pair in one.pairs], seed)
    return found


def _trained(pairs: Sequence[CaptionPair], seed: int) -> ControlAccuracy:
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
            weights = _fit(inputs[train], labels[train])
            scores = np.sign(inputs[~train] @ weights) * labels[~train]
            right[~train] += (scores + 1) / 2
    return _figure(right / _SPLITS, of_pair)


def _fit(inputs: Any, labels: FloatArray) -> FloatArray:
    """Weights of a logistic regression without a constant: the captions' places say nothing."""
    from scipy.optimize import minimize

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        margins = labels * (inputs @ weights)
        value = float(np.logaddexp(0, -margins).sum() + _PENALTY * (weights @ weights) / 2)
        pull = -labels / (1 + np.exp(np.clip(margins, -500, 500)))
        return value, inputs.T @ pull + _PENALTY * weights

    start = np.zeros(inputs.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 60})
    weights: FloatArray = found.x
    return weights


def trained_warnings(trained: Mapping[str, ControlAccuracy]) -> list[str]:
    """One sentence for every kind in which words give something away, or lean the other way.

    A classifier below chance is warned about too: what is learnt from one half then points the
    wrong way in the other, and the answer can be had by turning it round.
    """
    return [
        f"a classifier trained on words picks the true caption of {group} in "
        f"{figure.accuracy:.1f} % of the pairs ({figure.interval.low:.1f}–"
        f"{figure.interval.high:.1f}), outside of {TRAINED_LOWEST:.0f}–{TRAINED_HIGHEST:.0f}; "
        "its wording is not level"
        for group, figure in trained.items()
        if not TRAINED_LOWEST <= figure.accuracy <= TRAINED_HIGHEST
        and figure.interval is not None
        and not figure.may_be_chance
    ]


def warnings(check: Check) -> list[str]:
    """One sentence for every control that leaves the five points around chance."""
    return [
        f"{name} picks the true caption of {group} in {figure.accuracy:.1f} % of the pairs, "
        f"outside of {LOWEST:.0f}–{HIGHEST:.0f}"
        + ("; so few pairs may do that by chance" if figure.may_be_chance else "")
        for group, figures in check.items()
        for name, figure in figures.items()
        if not figure.is_level
    ]
