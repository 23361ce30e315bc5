"""How far metrics follow the judges: rank correlations over answers and over models."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.judges.summary import OVERALL
from audiocapbench.report.page.gathered import Gathered
from audiocapbench.report.page.measures import Measure
from audiocapbench.stats.correlation import kendall
from audiocapbench.stats.separation import rank_correlation

FEWEST_MODELS = 4
_FEWEST_PAIRS = 3

FloatArray = NDArray[np.float64]


class Ranks(NamedTuple):
    """Two rank correlations; None where either side is the same throughout, or for two pairs.

    Attributes:
        spearman: Spearman's rho.
        kendall: Kendall's tau-b.
    """

    spearman: float | None = None
    kendall: float | None = None


class Correlation(NamedTuple):
    """One metric beside one judge's overall score.

    Attributes:
        metric: The metric.
        judge: The judge.
        pairs: How many answers have both scores.
        answers: Over all answers.
        within: Over the answers of each model apart, pooled: models' levels do not count.
        models: Over the models' scores; none for fewer than four models.
    """

    metric: str
    judge: str
    pairs: int
    answers: Ranks
    within: Ranks
    models: Ranks


def correlations(gathered: Gathered) -> list[Correlation]:
    """Every metric beside every judge."""
    judges = [one for one in gathered.measures if one.judge is not None and one.name == OVERALL]
    metrics = [one for one in gathered.measures if one.judge is None]
    return [_correlation(gathered, metric, judge) for judge in judges for metric in metrics]


def _correlation(gathered: Gathered, metric: Measure, judge: Measure) -> Correlation:
    left, right = gathered.scores[metric], gathered.scores[judge]
    both = ~np.isnan(left) & ~np.isnan(right)
    runs = np.broadcast_to(np.arange(len(left), dtype=np.float64)[:, None], left.shape)[both]
    answers = _ranks(left[both], right[both], np.zeros(len(runs)))
    within = _ranks(left[both], right[both], runs)
    figures = [(metric.of(one.summary), judge.of(one.summary)) for one in gathered.runs]
    scored = [
        (one.score, other.score)
        for one, other in figures
        if one is not None and other is not None
        if one.score is not None and other.score is not None
    ]
    models = Ranks()
    if len(scored) >= FEWEST_MODELS:
        first, second = np.array(scored).T
        models = _ranks(first, second, np.zeros(len(scored)))
    return Correlation(metric.label, judge.judge or "", int(both.sum()), answers, within, models)


def _ranks(first: FloatArray, second: FloatArray, groups: FloatArray) -> Ranks:
    if len(first) < _FEWEST_PAIRS:
        return Ranks()
    return Ranks(rank_correlation(first, second, groups), pooled_kendall(first, second, groups))


def pooled_kendall(first: FloatArray, second: FloatArray, groups: FloatArray) -> float | None:
    """Kendall's tau-b over the pairs within groups; None where either side never differs there."""
    agreed = left = right = 0.0
    for group in np.unique(groups):
        one, other = first[groups == group], second[groups == group]
        untied = _untied_pairs(one), _untied_pairs(other)
        # Tau-b is what agrees, less what does not, over the mean of the pairs that are not tied.
        agreed += (kendall(one, other) or 0.0) * float(np.sqrt(untied[0] * untied[1]))
        left, right = left + untied[0], right + untied[1]
    return agreed / float(np.sqrt(left * right)) if left and right else None


def _untied_pairs(values: FloatArray) -> float:
    _, counts = np.unique(values, return_counts=True)
    return float(len(values) * (len(values) - 1) - (counts * (counts - 1)).sum()) / 2
