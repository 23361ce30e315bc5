"""Measures: a metric, or one dimension of a judge, looked up alike in any run's figures."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.errors import MetricError, ReportError
from audiocapbench.judges import JudgeFigure
from audiocapbench.judges.summary import MAX_VALUE, OVERALL
from audiocapbench.metrics import METRICS, find_metric
from audiocapbench.metrics.names import parse_name
from audiocapbench.report.figures import Figure
from audiocapbench.report.summary import RunSummary

_OWN_JUDGE = "elements"


class Measure(NamedTuple):
    """One column of scores.

    Attributes:
        name: The metric's name, or the judge's dimension.
        judge: The judge's name; None for a metric.
        max_value: The best value that it can take.
        digits: How many places it is shown with.
    """

    name: str
    judge: str | None
    max_value: float
    digits: int

    @property
    def label(self) -> str:
        """What people read: ``meteor``, ``elements: accuracy``."""
        return self.name if self.judge is None else f"{self.judge}: {self.name}"

    def shown(self, value: float | None) -> str:
        """A value as text; a dash where there is none."""
        return "–" if value is None else f"{value:.{self.digits}f}"

    def of(self, summary: RunSummary, category: str | None = None) -> Figure | JudgeFigure | None:
        """The figure of a run, or of one of its categories, where there is one."""
        if self.judge is None:
            figures = summary.overall if category is None else summary.by_category.get(category, {})
            return figures.get(self.name)
        judged = summary.judges.get(self.judge)
        if judged is None:
            return None
        whole = judged.overall if category is None else judged.by_category.get(category)
        return None if whole is None else whole.figures.get(self.name)

    def categories(self, summary: RunSummary) -> dict[str, int]:
        """The groups that it is also shown for, with their samples."""
        if self.judge is None:
            return {
                name: figures[self.name].coverage.total
                for name, figures in summary.by_category.items()
                if self.name in figures
            }
        judged = summary.judges.get(self.judge)
        groups = {} if judged is None else judged.by_category
        return {name: one.total for name, one in groups.items()}


def measures_of(summaries: Sequence[RunSummary]) -> list[Measure]:
    """Every measure that any of the runs has a score of: judges first, then metrics."""
    found = []
    for judge in judges_of(summaries):
        names = dict.fromkeys(
            name
            for one in summaries
            if judge in one.judges
            for name in one.judges[judge].overall.figures
        )
        found += [Measure(name, judge, MAX_VALUE, 2) for name in names]
    for metric in in_order({name for one in summaries for name in one.overall}):
        found.append(Measure(metric, None, find_metric(metric)[0].max_value, 3))
    return [one for one in found if any(_shown(one, run) for run in summaries)]


def judges_of(summaries: Sequence[RunSummary]) -> list[str]:
    """The judges, those first that judged most runs; our own offline one after models."""
    counts: dict[str, int] = {}
    for one in summaries:
        for judge in one.judges:
            counts[judge] = counts.get(judge, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name.startswith(_OWN_JUDGE), name))


def in_order(metrics: Iterable[str]) -> list[str]:
    """Metrics in the order of ``audiocapbench metrics``, plug-ins last; unknown ones are not there.

    A store may have scores of a metric whose plug-in is gone.
    """
    order = {name: place for place, name in enumerate(METRICS)}
    names = [name for name in metrics if is_known(name)]
    return sorted(names, key=lambda name: (order.get(parse_name(name).name, len(order)), name))


def is_known(metric: str) -> bool:
    """Whether a metric can be found here, and its plug-in works."""
    try:
        find_metric(metric)
    except MetricError:
        return False
    return True


def headline_of(
    measures: Sequence[Measure], wanted: str | None = None, metric: str | None = None
) -> Measure:
    """The measure that models are ranked by: a judge's overall score, or else a metric.

    Args:
        measures: What there is.
        wanted: A metric, a judge, or ``JUDGE: DIMENSION``, where the user has chosen one.
        metric: The benchmark's own metric; without scores of it, the first one ranks.

    Raises:
        ReportError: There is no score at all, or none of that name.
    """
    if not measures:
        raise ReportError("these runs have no scores; 'audiocapbench score RUN' makes some")
    totals = [one for one in measures if one.judge is not None and one.name == OVERALL]
    if wanted is None:
        own = [one for one in measures if _is_of(one, metric)]
        return [*totals, *own, *measures][0]
    for one in measures:
        if wanted == one.label or (one in totals and wanted == one.judge):
            return one
    labels = ", ".join(one.label for one in measures)
    raise ReportError(f"there is no score {wanted!r} to rank by; these runs have {labels}")


def _is_of(measure: Measure, metric: str | None) -> bool:
    """Whether it is a metric, whatever its options, but for scores of a part of the samples."""
    if measure.judge is not None or leaves_null_out(measure.name):
        return False
    return parse_name(measure.name).name == metric


def _shown(measure: Measure, summary: RunSummary) -> bool:
    """Whether it has a score of the whole or, where a part is missing, of any part.

    Scores without null references exist for some corpora only: of the whole there are none.
    """
    parts: list[str | None] = [None]
    if measure.judge is not None or not leaves_null_out(measure.name):
        parts += measure.categories(summary)
    figures = [measure.of(summary, name) for name in parts]
    return any(one is not None and one.score is not None for one in figures)
