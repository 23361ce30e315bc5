"""Smaller benchmarks that say the same: clips that stand for the others, and how well they do.

Anchor points (Vivek and others, 2023; tinyBenchmarks, 2024) are clips in the middle of clusters;
how far each method is off is measured by leaving out one model at a time.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from audiocapbench.errors import ReportError
from audiocapbench.scores.compute import ALL
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import RunTable, labels
from audiocapbench.stats import Interval
from audiocapbench.stats.correlation import kendall
from audiocapbench.stats.units import FloatArray, student
from audiocapbench.table import Row, ValueWithInterval

FEWEST_MODELS = 4
"""Fewer leave nothing to choose by once one of them is left out."""
DRAWS, _ROUNDS, _DIRECTIONS = 10, 25, 2
Method = Literal["balanced", "anchors", "draw"]


class WeightedClips(NamedTuple):
    """Places of the clips that were chosen, and what each counts for; the weights add up to 1."""

    places: NDArray[np.int64]
    weights: FloatArray

    def estimate(self, scores: FloatArray) -> FloatArray:
        """What these clips say of the whole, for scores of shape (models, clips)."""
        return np.asarray(scores[:, self.places] @ self.weights)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Error (root mean square), places off, and agreement of orders, on models not seen."""

    error: float
    rank_error: float
    kendall: float | None


@dataclass(frozen=True, slots=True)
class Subset:
    """Clips that stand for ``of`` clips, and by method how well they do on models left out."""

    benchmark: str
    dataset: str
    scorer: str
    signature: str
    of: int
    method: Method
    held_out: dict[Method, HeldOut]
    models: tuple[str, ...]
    ids: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def half_width(self) -> float:
        """How far an estimate must be taken to reach, at 95 %, for what all clips would say."""
        seen, error = len(self.models), self.held_out[self.method].error
        return student(seen - 1) * error * float(np.sqrt(1 + 1 / seen))

    def to_dict(self) -> dict[str, Any]:
        return {"size": len(self.ids), "half_width": self.half_width, **asdict(self)}


def choose_subset(
    tables: Sequence[RunTable], scorer: Scorer, size: int, *, seed: int = 0
) -> Subset:
    """The clips by which models that were not looked at are best told."""
    if len({one.run.dataset for one in tables}) > 1:
        raise ReportError("the runs are of different data; choose by those of one benchmark")
    if len(tables) < FEWEST_MODELS:
        raise ReportError(f"a subset is chosen by {FEWEST_MODELS} runs at least, not {len(tables)}")
    if not scorer.is_mean or tables[0].aggregation is not None:
        raise ReportError(f"{scorer.label} of {tables[0].run.benchmark} is no mean over samples")
    values = [one.sample_scores(scorer).values for one in tables]
    if bare := [str(one.run.id) for one, own in zip(tables, values, strict=True) if not own]:
        raise ReportError(f"runs {', '.join(bare)} have no score of {scorer.label}")
    samples = [
        one for one in tables[0].group(scorer, ALL).samples if all(one.id in own for own in values)
    ]
    if len(samples) <= size:
        have = f"{len(samples):,} samples have a score of {scorer.label} in all runs"
        raise ReportError(f"{have}; a subset of {size:,} would be no smaller")
    scores = np.array([[own[one.id] for one in samples] for own in values])
    if not all(np.ptp(scores, axis=axis).any() for axis in (0, 1)):
        raise ReportError("models, or clips, all have the same score: nothing to choose by")
    categories = [one.category for one in samples]
    held_out = measure(scores, categories, size, seed)
    method: Method = min(held_out, key=lambda name: held_out[name].error)
    chosen = _CHOOSE[method](scores, categories, size, seed)
    clips = sorted(zip(chosen.places.tolist(), chosen.weights.tolist(), strict=True))
    ids, weights = zip(*((samples[place].id, weight) for place, weight in clips), strict=True)
    run, signature = tables[0].run, str(tables[0].signature(scorer))
    facts = (run.benchmark, run.dataset, scorer.label, signature, len(samples), method, held_out)
    return Subset(*facts, tuple(labels([one.run for one in tables])), ids, weights)


def measure(
    scores: FloatArray, categories: Sequence[str], size: int, seed: int
) -> dict[Method, HeldOut]:
    """How far each method is off for every model in turn, when chosen by the others."""
    whole = scores.mean(axis=1)
    held_out: dict[Method, HeldOut] = {}
    for method, choose in _CHOOSE.items():
        draws = 1 if method == "anchors" else DRAWS
        guesses = np.empty((draws, len(scores)))
        ranks = np.empty_like(guesses)
        for draw in range(draws):
            for left in range(len(scores)):
                others = np.delete(scores, left, axis=0)
                estimate = choose(others, categories, size, seed + draw).estimate(scores)
                guesses[draw, left] = estimate[left]
                places = [int((one > one[left]).sum()) for one in (estimate, whole)]
                ranks[draw, left] = abs(places[0] - places[1])
        error = float(np.sqrt(((guesses - whole) ** 2).mean()))
        agreed = [one for row in guesses if (one := kendall(row, whole)) is not None]
        order = float(np.mean(agreed)) if agreed else None
        held_out[method] = HeldOut(error, float(ranks.mean()), order)
    return held_out


def draw(scores: FloatArray, categories: Sequence[str], size: int, seed: int) -> WeightedClips:
    """Clips by lot, as many of each category as its share; none counts for more than another."""
    generator = np.random.default_rng(seed)
    places, weights = [], []
    for places_of, count in _quotas(categories, size):
        places.append(generator.choice(places_of, count, replace=False))
        weights.append(np.full(count, len(places_of) / count / scores.shape[1]))
    return WeightedClips(np.concatenate(places), np.concatenate(weights))


def anchors(scores: FloatArray, categories: Sequence[str], size: int, seed: int) -> WeightedClips:
    """The clips in the middle of each cluster of a category, weighted by the cluster's size."""
    from scipy.cluster.vq import kmeans2

    places, weights = [], []
    for own, count in _quotas(categories, size):
        points = scores[:, own].T + 0.0
        most = min(count, len(np.unique(points, axis=0)))
        with warnings.catch_warnings(action="ignore"):  # of clusters that end up empty
            centres, member = kmeans2(
                points, most, iter=_ROUNDS, minit="++", seed=seed % 2**32, missing="warn"
            )
        clusters = [np.flatnonzero(member == one) for one in np.unique(member)]
        taken = np.ones(len(clusters), dtype=np.int64)
        for _ in range(count - len(clusters)):
            taken[np.argmax([len(own) for own in clusters] / taken)] += 1
        for inside, many in zip(clusters, taken.tolist(), strict=True):
            distance = ((points[inside] - centres[member[inside[0]]]) ** 2).sum(axis=1)
            places.append(own[inside[np.argsort(distance, kind="stable")[:many]]])
            weights.append(np.full(many, len(inside) / many / scores.shape[1]))
    return WeightedClips(np.concatenate(places), np.concatenate(weights))


def balanced(scores: FloatArray, categories: Sequence[str], size: int, seed: int) -> WeightedClips:
    """A draw by category whose weights are moved as little as it takes to say the whole.

    They give its own means along the two directions in which clips differ most for known models.
    """
    drawn = draw(scores, categories, size, seed)
    clips = scores.shape[1]
    centred = scores - scores.mean(axis=1, keepdims=True)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:_DIRECTIONS] * np.sqrt(clips)
    facts = np.vstack([np.ones(clips), directions])
    chosen, weights = facts[:, drawn.places], drawn.weights
    off = facts.mean(axis=1) - chosen @ weights
    steps = np.linalg.lstsq((chosen * weights) @ chosen.T, off, rcond=None)[0]
    return WeightedClips(drawn.places, weights * (1 + steps @ chosen))


_CHOOSE: dict[Method, Callable[[FloatArray, Sequence[str], int, int], WeightedClips]] = {
    "balanced": balanced,
    "anchors": anchors,
    "draw": draw,
}


def _quotas(categories: Sequence[str], size: int) -> list[tuple[NDArray[np.int64], int]]:
    """The clips of each category, and how many to take: its share by largest remainder, or one."""
    names = np.array(categories)
    clips = [np.flatnonzero(names == name) for name in dict.fromkeys(categories)]
    if size < len(clips):
        raise ReportError(f"a subset of {size} leaves out whole categories; there are {len(clips)}")
    shares = np.array([size * len(one) / len(names) for one in clips])
    counts = np.ones(len(clips), dtype=np.int64)
    for _ in range(size - len(clips)):
        counts[np.argmax(shares - counts)] += 1
    return list(zip(clips, counts.tolist(), strict=True))


def read_subset(path: Path) -> Subset:
    try:
        subset = TypeAdapter(Subset).validate_json(path.read_bytes())
        if not 0 <= subset.half_width < float("inf"):
            raise ValueError(f"half_width is {subset.half_width}")
    except (OSError, ArithmeticError, ValueError, KeyError) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        refusal = f"{path} is no subset that 'audiocapbench subset' wrote ({what:.200})"
        raise ReportError(refusal) from None
    ids, weights = subset.ids, subset.weights
    if len(ids) != len(weights) or len(set(ids)) != len(ids) or not abs(sum(weights) - 1) < 1e-6:
        raise ReportError(f"{path}: ids and weights do not belong together")
    return subset


def estimate_by(subset: Subset, tables: Sequence[RunTable]) -> list[Row]:
    """What a subset says of runs: their score on all clips; also what all say, where known."""
    rows: list[Row] = []
    for label, table in zip(labels([one.run for one in tables]), tables, strict=True):
        run, scorers = table.run, {one.label: one for one in table.scores}
        if run.dataset != subset.dataset:
            raise ReportError(f"run {run.id} is of other data than the subset")
        scorer = scorers.get(subset.scorer)
        if scorer is None or str(table.signature(scorer)) != subset.signature:
            raise ReportError(f"run {run.id} has no score of {subset.scorer} as {subset.signature}")
        values = table.sample_scores(scorer).values
        missing = sum(key not in values for key in subset.ids)
        value = interval = None
        if not missing:
            pairs = zip(subset.ids, subset.weights, strict=True)
            value = sum(values[key] * weight for key, weight in pairs)
            low, high = value - subset.half_width, value + subset.half_width
            interval = Interval(max(scorer.min_value, low), min(scorer.max_value, high))
        whole = sum(values.values()) / len(values) if len(values) >= subset.of else None
        row: Row = {"model": label, "by_the_subset": ValueWithInterval(value, interval)}
        rows.append(row | {"on_all_clips": ValueWithInterval(whole), "missing": missing})
    return rows
