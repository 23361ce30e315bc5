"""How far metrics follow the judges: Spearman's correlation over answers and over models."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.judges.summary import OVERALL
from audiocapbench.report.page.gathered import Gathered
from audiocapbench.report.page.measures import Measure
from audiocapbench.stats.separation import rank_correlation

FEWEST_MODELS = 4


class Correlation(NamedTuple):
    """One metric beside one judge's overall score.

    Attributes:
        metric: The metric.
        judge: The judge.
        pairs: How many answers have both scores.
        answers: Over all answers.
        within: Over the answers of each model apart, pooled: models' levels do not count.
        models: Over the models' scores; None for fewer than four models.
    """

    metric: str
    judge: str
    pairs: int
    answers: float | None
    within: float | None
    models: float | None


def correlations(gathered: Gathered) -> list[Correlation]:
    """Every metric beside every judge."""
    judges = [one for one in gathered.measures if one.judge is not None and one.name == OVERALL]
    metrics = [one for one in gathered.measures if one.judge is None]
    return [_correlation(gathered, metric, judge) for judge in judges for metric in metrics]


def _correlation(gathered: Gathered, metric: Measure, judge: Measure) -> Correlation:
    left, right = gathered.scores[metric], gathered.scores[judge]
    both = ~np.isnan(left) & ~np.isnan(right)
    runs = np.broadcast_to(np.arange(len(left), dtype=np.float64)[:, None], left.shape)[both]
    answers = _spearman(left[both], right[both], np.zeros(len(runs)))
    within = _spearman(left[both], right[both], runs)
    figures = [(metric.of(one.summary), judge.of(one.summary)) for one in gathered.runs]
    scored = [
        (one.score, other.score)
        for one, other in figures
        if one is not None and other is not None
        if one.score is not None and other.score is not None
    ]
    models = None
    if len(scored) >= FEWEST_MODELS:
        first, second = np.array(scored).T
        models = _spearman(first, second, np.zeros(len(scored)))
    return Correlation(metric.label, judge.judge or "", int(both.sum()), answers, within, models)


def _spearman(
    first: NDArray[np.float64], second: NDArray[np.float64], groups: NDArray[np.float64]
) -> float | None:
    return rank_correlation(first, second, groups) if len(first) > 2 else None
