"""A judge's score of a benchmark whose samples make corpora: weighted as a metric's total is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.data import Sample
from audiocapbench.judges import JudgeFigure, JudgeSummary
from audiocapbench.judges.aggregation import overall
from audiocapbench.judges.summary import MAX_VALUE, OVERALL
from audiocapbench.metrics.result import first_column
from audiocapbench.report.groups.total import total_interval
from audiocapbench.stats import Interval

Scores = Mapping[str, float]


def with_totals(
    whole: JudgeSummary,
    aggregation: Aggregation,
    by_corpus: Mapping[str, JudgeSummary],
    verdicts: Mapping[str, Scores],
    samples: Sequence[Sample],
) -> JudgeSummary:
    """The judge's summary with totals in the place of means over everything that was asked.

    Args:
        whole: The summary of all samples.
        aggregation: What each corpus counts for.
        by_corpus: The summary of each corpus.
        verdicts: Scores of each sample that was judged.
        samples: Everything that was asked.
    """
    figures = {
        name: _total(name, aggregation, by_corpus, verdicts, samples) for name in whole.figures
    }
    return replace(whole, figures=figures)


def _total(
    name: str,
    aggregation: Aggregation,
    by_corpus: Mapping[str, JudgeSummary],
    verdicts: Mapping[str, Scores],
    samples: Sequence[Sample],
) -> JudgeFigure:
    none = JudgeFigure(None, None, None, None)
    if any(corpus not in by_corpus for corpus in aggregation.weights):
        return none
    parts = [by_corpus[corpus].figures.get(name, none) for corpus in aggregation.weights]
    weights = list(aggregation.weights.values())
    scores = [one.score for one in parts]
    # A corpus without a verdict counts as zero, and as anything up to the best.
    zero = _sum(weights, [one.as_zero or 0.0 for one in parts])
    ends = [one.bounds or Interval(0.0, MAX_VALUE) for one in parts]
    bounds = Interval(*(_sum(weights, list(side)) for side in zip(*ends, strict=True)))
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return JudgeFigure(None, None, zero, bounds)
    interval = _interval(name, aggregation, verdicts, samples)
    return JudgeFigure(_sum(weights, known), interval, zero, bounds)


def _interval(
    name: str, aggregation: Aggregation, verdicts: Mapping[str, Scores], samples: Sequence[Sample]
) -> Interval | None:
    places = {corpus: place for place, corpus in enumerate(aggregation.weights)}
    judged = [one for one in samples if one.id in verdicts and one.category in places]
    scores = [
        overall(verdicts[one.id]) if name == OVERALL else verdicts[one.id][name] for one in judged
    ]
    return total_interval(
        first_column,
        np.array(list(aggregation.weights.values())),
        np.array(scores, dtype=np.float64)[:, np.newaxis],
        np.array([places[one.category] for one in judged], dtype=np.int64),
        [aggregation.clip(one) for one in judged],
    )


def _sum(weights: Sequence[float], values: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True))
