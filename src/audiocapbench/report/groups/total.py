"""Totals: the weighted sum of a benchmark's corpora, with an interval that keeps clips whole."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.metrics import find_metric
from audiocapbench.report.figures import Coverage, Figure
from audiocapbench.signature import Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval
from audiocapbench.stats.units import Aggregate

FloatArray = NDArray[np.float64]


class Scored(NamedTuple):
    """One sample's statistics, its corpus and its clip."""

    corpus: str
    clip: str
    statistics: Sequence[float]


def total_figure(
    metric: str, aggregation: Aggregation, figures: Mapping[str, Figure], scored: Sequence[Scored]
) -> Figure:
    """Add corpora up; without a score of each there is no total, and nothing stands in for it.

    A corpus that was asked and has no score still counts as zero, and as anything up to the best.

    Args:
        metric: Its name.
        aggregation: What each corpus counts for.
        figures: The metric's figure of each corpus.
        scored: The samples of those corpora; others are left alone.
    """
    lacks = tuple(
        name for name in aggregation.weights if name not in figures or figures[name].score is None
    )
    counted = [figures[name] for name in aggregation.weights if name in figures]
    coverage = Coverage(
        sum(one.coverage.total for one in counted),
        sum(one.coverage.answered for one in counted),
        sum(one.coverage.empty for one in counted),
    )
    signature = joined((one.signature for one in counted), aggregation.total)
    asked = [one for one in counted if one.as_zero is not None and one.bounds is not None]
    zero, bounds = None, None
    if len(asked) == len(aggregation.weights):
        weights = list(aggregation.weights.values())
        ends = [one.bounds or Interval(0.0, 0.0) for one in asked]
        zero = _weighted(weights, [one.as_zero or 0.0 for one in asked])
        bounds = Interval(*(_weighted(weights, list(side)) for side in zip(*ends, strict=True)))
    if lacks:
        return Figure(None, None, zero, bounds, signature, coverage, lacks)
    score = _weighted(list(aggregation.weights.values()), [one.score or 0.0 for one in counted])
    return Figure(
        score, _interval(metric, aggregation, scored), zero, bounds, signature, coverage, ()
    )


def joined(signatures: Iterable[Signature], total: str = "") -> Signature:
    """One signature for the scores of several groups, and how they were added up."""
    one = Signature.join(signatures)
    return one.with_fields(total=total) if one and total else one


def _weighted(weights: Sequence[float], values: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


def _interval(metric: str, aggregation: Aggregation, scored: Sequence[Scored]) -> Interval | None:
    corpora = {name: place for place, name in enumerate(aggregation.weights)}
    chosen = [one for one in scored if one.corpus in corpora]
    kind, _ = find_metric(metric)
    return total_interval(
        kind.aggregate,
        np.array(list(aggregation.weights.values())),
        np.array([one.statistics for one in chosen], dtype=np.float64),
        np.array([corpora[one.corpus] for one in chosen], dtype=np.int64),
        [one.clip for one in chosen],
    )


def total_interval(
    aggregate: Aggregate,
    weights: FloatArray,
    statistics: FloatArray,
    places: NDArray[np.int64],
    clips: Sequence[str] | None,
) -> Interval | None:
    """Interval of a weighted sum of corpora: all answers about a clip are drawn together.

    Args:
        aggregate: What makes a corpus's score of its mean statistics.
        weights: What each corpus counts for.
        statistics: Shape (n, k).
        places: The corpus of each sample, by its place among the weights.
        clips: The clip of each sample; None where every sample has its own.

    Returns:
        None where a corpus has too few samples.
    """
    if not enough_in_each(places, len(weights)):
        return None
    table = spread_by_corpus(statistics, places, len(weights))
    whole = corpus_means(table.mean(axis=0), len(weights))
    return mean_interval(table, total_finish(aggregate, weights, whole), clusters=clips)


def enough_in_each(places: NDArray[np.int64], corpora: int) -> bool:
    """Whether every corpus has as many samples as an interval takes."""
    return int(np.bincount(places, minlength=corpora).min()) >= FEWEST_FOR_INTERVAL


def spread_by_corpus(statistics: FloatArray, places: NDArray[np.int64], corpora: int) -> FloatArray:
    """Statistics of shape (n, ..., k) with a place for each corpus and a count of its samples.

    Returns:
        Shape (n, ..., corpora * (k + 1)), so that each corpus's mean follows from two means.
    """
    spread = np.zeros((*statistics.shape[:-1], corpora, statistics.shape[-1] + 1))
    for place in range(corpora):
        rows = places == place
        spread[rows, ..., place, :-1] = statistics[rows]
        spread[rows, ..., place, -1] = 1.0
    return spread.reshape(*statistics.shape[:-1], -1)


def corpus_means(
    means: FloatArray, corpora: int, otherwise: FloatArray | float = 1.0
) -> FloatArray:
    """Each corpus's own mean statistics, shape (..., corpora, k).

    Args:
        means: Of what ``spread_by_corpus`` returns.
        corpora: How many there are.
        otherwise: What stands in for a corpus without samples.
    """
    table = means.reshape(*means.shape[:-1], corpora, -1)
    counts = table[..., -1:]
    found = np.broadcast_to(otherwise, table[..., :-1].shape).astype(np.float64)
    np.divide(table[..., :-1], counts, out=found, where=counts > 0)
    return found


def total_finish(
    aggregate: Aggregate, weights: FloatArray, whole: FloatArray | float = 1.0
) -> Aggregate:
    """What makes a total of means of ``spread_by_corpus``.

    Args:
        aggregate: What makes a corpus's score of its mean statistics.
        weights: What each corpus counts for.
        whole: Each corpus's means over all samples: a round of resampling that draws no sample of
            a small corpus says nothing new about it.
    """

    def total(means: FloatArray) -> FloatArray:
        found: FloatArray = aggregate(corpus_means(means, len(weights), whole)) @ weights
        return found

    return total
