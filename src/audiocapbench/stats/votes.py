"""How strong models are by people's votes between two: Bradley and Terry's model, with ties as
Davidson (1970) has them. Intervals take both people and clips for a draw from many."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.errors import ReportError
from audiocapbench.stats.correlation import (
    FEWEST_PAIRS,
    Coefficient,
    kendall,
    rank_correlation,
    rank_interval,
)
from audiocapbench.stats.multiple import Correction, RankInterval, corrected, rank_intervals
from audiocapbench.stats.power import ALPHA
from audiocapbench.stats.predicted import FEWEST_PEOPLE
from audiocapbench.stats.units import FloatArray, Interval, student, units_of

_STEPS, _NO_TIES, _MOST_NAMED = 100, -50.0, 5
_UNRANKED = "votes cannot rank the models"
_PRIOR = 1 / 9  # of strengths in log odds, where votes alone would let one grow without end


class Vote(NamedTuple):
    """What a person preferred on a clip: 1 the first model, -1 the second, 0 neither."""

    first: str
    second: str
    preferred: int
    person: str
    clip: str


class Strengths(NamedTuple):
    """Models, best first: how often each is preferred to another of them, a tie counting half."""

    models: dict[str, Coefficient]
    votes: dict[str, int]
    ranks: list[RankInterval]  # that tests leave open
    people: int
    notes: list[str]


class RankAgreement(NamedTuple):
    """How far models that people prefer score higher."""

    models: int
    kendall: Coefficient
    spearman: Coefficient

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> "RankAgreement":
        """Of models' scores, each with how often it is preferred."""
        count, both = len(pairs), np.array(pairs, float).reshape(-1, 2).T
        # The order of two is right or wrong, and says nothing of how far.
        tau, rho = (kendall(*both), rank_correlation(*both)) if count > 2 else (None, None)
        ends = rank_interval(tau, count, "tau"), rank_interval(rho, count, "rho")
        return cls(count, *map(Coefficient, (tau, rho), ends))

    def with_score(self, label: str) -> str:
        few = f"; an interval takes {FEWEST_PAIRS}" if self.models < FEWEST_PAIRS else ""
        return (
            f"It goes with {label} by Kendall's tau {self.kendall}, Spearman's rho "
            f"{self.spearman}, over {self.models} models{few}."
        )


def strengths(votes: Sequence[Vote]) -> Strengths:
    """Rank models by votes; ReportError says who cannot be ranked together."""
    from scipy.special import expit, logit, stdtr

    names = np.array(sorted({name for one in votes for name in one[:2]}))
    at, count = {name: place for place, name in enumerate(names)}, len(names)
    first, second = np.array([(at[one.first], at[one.second]) for one in votes], int).T
    said = np.array([one.preferred for one in votes], float)
    if not said.any():
        raise ReportError(f"{_UNRANKED}: nobody preferred a model to another")
    parts, part = _parts(names, first, second, said)
    unit = np.eye(count, count + 1)
    values, inverse, scores = _fit(unit[first] - unit[second], said, _PRIOR * (parts > 1))
    _, means, slopes, tie_slopes = _moments(np.subtract.outer(values[:-1], values[:-1]), values[-1])
    np.fill_diagonal(slopes, 0.0)
    shares = 0.5 + means.sum(axis=1) / (count - 1)
    gradients = np.column_stack([np.diag(slopes.sum(axis=1)) - slopes, tie_slopes.sum(axis=1)])
    pairs = np.array(list(combinations(range(count), 2))).T
    apart = unit[pairs[0]] - unit[pairs[1]]
    contrasts = np.concatenate([gradients / (count - 1), apart]) @ inverse
    people, clips = [one.person for one in votes], [one.clip for one in votes]
    # Clustered two ways, as Cameron, Gelbach and Miller (2011) do.
    ways = people, clips, [repr(one[3:]) for one in votes]
    each, clip, both = (_variance(contrasts, units_of(scores, one).sums) for one in ways)
    spread = np.sqrt(np.maximum(each + clip - both, np.maximum(each, clip)))
    # One person with most of the votes is not many.
    worth = min(units_of(said, one).effective for one in (people, clips))
    # Against whom nothing speaks has no strength that votes alone could tell.
    known, notes = np.bincount(part)[part] > 1, []
    if lost := ", ".join(names[~known]):
        notes.append(
            f"No vote goes the other way, so held by a weak prior, without interval: {lost}."
        )
    if not all(people) or round(worth) < FEWEST_PEOPLE:
        why = f"{len(set(people))} people on {len(set(clips))} clips are worth {worth:.2g} of each"
        why = why if all(people) else "votes do not say whose they are"
        notes.append(f"No intervals: {why}, and it takes {FEWEST_PEOPLE} people and clips.")
        known[:] = False
    freedom = max(worth - 1, 1.0)
    far = student(freedom) * spread[:count] / (shares * (1 - shares))
    ends = expit(logit(shares) + np.array([-far, far])).T.tolist()
    # Of one person, or on one clip, scores add up to nothing: no spread, and nothing is known.
    p = 2 * stdtr(freedom, -np.abs(apart @ values) / np.maximum(spread[count:], 1e-12))
    sure = corrected(np.where(known[pairs].all(axis=0), p, 1.0), Correction.HOLM) < ALPHA
    order = np.argsort(-values[:-1], kind="stable").tolist()
    found = {
        str(names[one]): Coefficient(
            float(shares[one]), Interval(*ends[one]) if known[one] else None
        )
        for one in order
    }
    places = np.sort(np.argsort(order)[pairs[:, sure]], axis=0).T.tolist()
    ranks = rank_intervals(count, [(better, worse) for better, worse in places])
    cast = Counter(name for one in votes for name in one[:2])
    return Strengths(found, cast, ranks, len(set(people)), notes)


def telling(
    votes: Sequence[Vote], models: Sequence[str], asked: Mapping[tuple[str, str], int]
) -> list[tuple[str, str]]:
    """Pairs of models, that first of whose next vote most is to be learned about all strengths: who
    wins is uncertain, and so is how far they are apart. ``asked`` has votes, and those awaited."""
    names = sorted({*models, *(name for pair in asked for name in pair)})
    at, unit = {name: place for place, name in enumerate(names)}, np.eye(len(names), len(names) + 1)
    said, found = np.array([one.preferred for one in votes], float), np.zeros(len(names) + 1)
    found[-1] = _NO_TIES
    if said.any():
        sides = np.array([unit[at[one.first]] - unit[at[one.second]] for one in votes])
        found = _fit(sides, said, _PRIOR)[0]
    pairs = sorted({*combinations(sorted(models), 2), *asked})
    sides = np.array([unit[at[one]] - unit[at[other]] for one, other in pairs])[:, :-1]
    slopes = _moments(sides @ found[:-1], found[-1])[2]
    counts = np.array([asked.get(pair, 0) for pair in pairs], float)
    information = sides.T @ (sides * (counts * slopes)[:, np.newaxis]) + _PRIOR * np.eye(len(names))
    spread = ((sides @ np.linalg.inv(information)) * sides).sum(axis=1)
    gains = np.round(np.log1p(slopes * spread), 9)
    order = np.lexsort([counts, -gains])
    return [pairs[one] for one in order if {*pairs[one]} <= {*models}]


def _variance(contrasts: FloatArray, sums: FloatArray) -> FloatArray:
    """Of contrasts, from the scores of independent clusters."""
    meat = sums.T @ sums * len(sums) / max(len(sums) - 1, 1)
    found: FloatArray = ((contrasts @ meat) * contrasts).sum(axis=1)
    return found


def _parts(names: Any, first: Any, second: Any, said: FloatArray) -> tuple[int, Any]:
    """How many parts models fall into whose strengths votes alone leave open, and each one's."""
    from scipy.sparse.csgraph import NegativeCycleError, connected_components, johnson

    held = np.zeros((len(names), len(names)))
    held[first[said >= 0], second[said >= 0]] = held[second[said <= 0], first[said <= 0]] = 1
    won = np.zeros_like(held)
    won[first[said > 0], second[said > 0]] = won[second[said < 0], first[said < 0]] = 1
    parts, part = connected_components(held, connection="weak")
    if parts > 1:
        groups = [", ".join(names[part == one][:_MOST_NAMED]) for one in range(parts)]
        named = " with ".join(groups[:_MOST_NAMED])
        why = f"no vote links {named}; rank them apart, or ask for some that do"
        raise ReportError(f"{_UNRANKED}: {why}")
    with suppress(NegativeCycleError):
        # Where models have places such that who won stands higher by one or more, and who tied by
        # one at most, votes say nothing against all that is between them, and ties, growing.
        johnson(held - 2 * won)
        held = won
    number, part = connected_components(held, connection="strong")
    return int(number), part


def _moments(apart: FloatArray, ties: float) -> tuple[FloatArray, ...]:
    """Of votes between models so far apart: the share of ties, how far the first's share of wins,
    a tie counting half, is above one half, and its slopes by strength and by ties."""
    weights = np.exp([apart / 2, -apart / 2, np.full_like(apart, ties)] - np.abs(apart) / 2)
    first, second, tied = weights / weights.sum(axis=0)
    mean = (first - second) / 2
    return tied, mean, (first + second) / 4 - mean**2, -mean * tied


def _fit(sides: FloatArray, said: FloatArray, prior: float) -> tuple[FloatArray, Any, FloatArray]:
    """The likeliest strengths, whose mean is 0, and last the log odds of a tie, by Newton's steps.

    Then the inverse of the information, and each vote's scores.
    """
    count, without = sides.shape[1] - 1, not (said == 0).any()
    held, found = prior * np.eye(count + 1), np.zeros(count + 1)
    held[-1, -1], found[-1] = 0.0, _NO_TIES if without else 0.0
    for _ in range(_STEPS):
        tied, mean, slopes, tie_slopes = _moments(sides @ found, found[-1])
        scores = sides * (said / 2 - mean)[:, np.newaxis]
        scores[:, -1] = (said == 0) - tied
        # Strengths have no zero of their own: the mean is held there.
        information = sides.T @ (sides * slopes[:, np.newaxis]) + held + 1 / count
        information[-1] = information[:, -1] = sides.T @ tie_slopes
        information[-1, -1] = (tied * (1 - tied)).sum() + without
        inverse = np.linalg.inv(information)
        step = inverse @ (scores.sum(axis=0) - held @ found)
        found = found + step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-10:
            break
    return found, inverse, scores
