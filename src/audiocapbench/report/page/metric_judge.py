"""How far metrics follow the judges: rank correlations over answers and over models."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.report.page.report_data import ReportData
from audiocapbench.scores.scorer import Scorer
from audiocapbench.stats.correlation import kendall, rank_correlation

FEWEST_MODELS = 4
_FEWEST_PAIRS = 3

FloatArray = NDArray[np.float64]


class RankCorrelations(NamedTuple):
    """Spearman's rho and Kendall's tau-b; None where a side never differs, or for two pairs."""

    spearman: float | None = None
    kendall: float | None = None


class MetricJudge(NamedTuple):
    """One metric beside one judge's overall score.

    Attributes:
        pairs: How many answers have both scores.
        answers: Over all answers.
        within: Over the answers of each model apart, pooled: models' levels do not count.
        models: Over the models' scores; none for fewer than four models.
    """

    metric: str
    judge: str
    pairs: int
    answers: RankCorrelations
    within: RankCorrelations
    models: RankCorrelations


def correlations(data: ReportData) -> list[MetricJudge]:
    """Every metric beside every judge."""
    judges = [one for one in data.scorers if one.is_overall]
    metrics = [one for one in data.scorers if one.judge is None]
    return [_correlation(data, metric, judge) for judge in judges for metric in metrics]


def _correlation(data: ReportData, metric: Scorer, judge: Scorer) -> MetricJudge:
    left, right = data.scores[metric], data.scores[judge]
    both = ~np.isnan(left) & ~np.isnan(right)
    runs = np.broadcast_to(np.arange(len(left), dtype=np.float64)[:, None], left.shape)[both]
    answers = _ranks(left[both], right[both], np.zeros(len(runs)))
    within = _ranks(left[both], right[both], runs)
    values = [[run.table.point(one).value for one in (metric, judge)] for run in data.runs]
    table = np.array(values, dtype=np.float64)
    scored = table[~np.isnan(table).any(axis=1)]
    models = RankCorrelations()
    if len(scored) >= FEWEST_MODELS:
        first, second = scored.T
        models = _ranks(first, second, np.zeros(len(scored)))
    return MetricJudge(metric.label, judge.judge or "", int(both.sum()), answers, within, models)


def _ranks(first: FloatArray, second: FloatArray, groups: FloatArray) -> RankCorrelations:
    if len(first) < _FEWEST_PAIRS:
        return RankCorrelations()
    return RankCorrelations(
        rank_correlation(first, second, groups), pooled_kendall(first, second, groups)
    )


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
