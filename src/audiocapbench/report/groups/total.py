"""Totals: the weighted sum of a benchmark's corpora, with an interval that keeps clips whole."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks.layout import Layout
from audiocapbench.metrics import find_metric
from audiocapbench.report.figures import Coverage, Figure
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval

FloatArray = NDArray[np.float64]

_SEVERAL = "by-group"


class Scored(NamedTuple):
    """One sample's statistics, its corpus and its clip."""

    corpus: str
    clip: str
    statistics: Sequence[float]


def total_figure(
    metric: str, layout: Layout, figures: Mapping[str, Figure], scored: Sequence[Scored]
) -> Figure:
    """Add corpora up; without a score of each there is no total, and nothing stands in for it.

    Args:
        metric: Its name.
        layout: What each corpus counts for.
        figures: The metric's figure of each corpus.
        scored: The samples of those corpora; others are left alone.
    """
    lacks = tuple(
        name for name in layout.weights if name not in figures or figures[name].score is None
    )
    counted = [figures[name] for name in layout.weights if name in figures]
    coverage = Coverage(
        sum(one.coverage.total for one in counted),
        sum(one.coverage.answered for one in counted),
        sum(one.coverage.empty for one in counted),
    )
    signature = joined([one.signature for one in counted if one.signature], layout.total)
    if lacks:
        return Figure(None, None, None, None, signature, coverage, lacks)
    weights = list(layout.weights.values())
    bounds = [one.bounds or Interval(0.0, 0.0) for one in counted]
    return Figure(
        _weighted(weights, [one.score or 0.0 for one in counted]),
        _interval(metric, layout, scored),
        _weighted(weights, [one.as_zero or 0.0 for one in counted]),
        Interval(
            _weighted(weights, [one.low for one in bounds]),
            _weighted(weights, [one.high for one in bounds]),
        ),
        signature,
        coverage,
        (),
    )


def joined(signatures: Sequence[str], total: str = "") -> str:
    """One signature for several that differ in a few fields, which are then ``by-group``."""
    distinct = list(dict.fromkeys(signatures))
    if not distinct:
        return ""
    rows = [one.split("|") for one in distinct]
    if len({len(row) for row in rows}) > 1:
        return " + ".join(distinct)
    fields = []
    for column in zip(*rows, strict=True):
        name = column[0].partition(":")[0]
        fields.append(column[0] if len(set(column)) == 1 else f"{name}:{_SEVERAL}")
    return "|".join([*fields[:-1], *([f"total:{total}"] if total else []), fields[-1]])


def _weighted(weights: Sequence[float], values: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


def _interval(metric: str, layout: Layout, scored: Sequence[Scored]) -> Interval | None:
    """Resample clips: all answers about a clip are drawn together, whatever corpus they are in."""
    places = {name: place for place, name in enumerate(layout.weights)}
    chosen = [one for one in scored if one.corpus in places]
    columns = np.array([places[one.corpus] for one in chosen])
    if np.bincount(columns, minlength=len(places)).min() < FEWEST_FOR_INTERVAL:
        return None
    _, clips = np.unique([one.clip for one in chosen], return_inverse=True)
    statistics = np.array([one.statistics for one in chosen], dtype=np.float64)
    # The last column counts the samples, so that each corpus's mean follows from two sums.
    table = np.zeros((clips.max() + 1, len(places), statistics.shape[1] + 1))
    np.add.at(table, (clips, columns), np.pad(statistics, ((0, 0), (0, 1)), constant_values=1.0))
    whole = _means(table.sum(axis=0), 0.0)
    kind, _ = find_metric(metric)
    weights = np.array(list(layout.weights.values()))

    def finish(means: FloatArray) -> FloatArray:
        # A round without a sample of a small corpus says nothing new about it.
        scores = kind.finish(_means(means.reshape(*means.shape[:-1], *table.shape[1:]), whole))
        total: FloatArray = scores @ weights
        return total

    return mean_interval(table.reshape(len(table), -1), finish)


def _means(sums: FloatArray, otherwise: FloatArray | float) -> FloatArray:
    counts = sums[..., -1:]
    means = np.broadcast_to(otherwise, sums[..., :-1].shape).astype(np.float64)
    np.divide(sums[..., :-1], counts, out=means, where=counts > 0)
    return means
