"""The report's chart: one metric with its interval, models down the side, as plain geometry."""

from collections.abc import Sequence
from typing import NamedTuple

from audiocapbench.report.summary import RunSummary

LABELS, PLOT, ROW = 150, 520, 30


class Bar(NamedTuple):
    """A model's mark: where its score and the ends of its interval stand."""

    label: str
    y: int
    x: float
    low: float
    high: float


class Tick(NamedTuple):
    """A line of the grid."""

    label: str
    x: float


class Chart(NamedTuple):
    """Everything that the template draws."""

    width: int
    height: int
    left: int
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]


def interval_chart(summaries: Sequence[RunSummary], metric: str) -> Chart:
    """Lay out scores and intervals; runs without a score are left out."""
    shown = [one for one in summaries if one.overall[metric].score is not None]
    highest = max((_high(one, metric) for one in shown), default=0.0)
    step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if highest <= step * 6)
    top = step * max(1, -(-highest // step))

    def place(value: float) -> float:
        return round(LABELS + value / top * PLOT, 1)

    bars = []
    for index, one in enumerate(shown):
        figure = one.overall[metric]
        if figure.score is None:
            continue
        low, high = figure.interval or (figure.score, figure.score)
        y = ROW * index + ROW // 2
        bars.append(Bar(one.run.model, y, place(figure.score), place(low), place(high)))
    ticks = tuple(Tick(f"{step * i:g}", place(step * i)) for i in range(round(top / step) + 1))
    return Chart(LABELS + PLOT + 60, ROW * len(shown) + 24, LABELS, tuple(bars), ticks)


def _high(summary: RunSummary, metric: str) -> float:
    figure = summary.overall[metric]
    return figure.interval.high if figure.interval else figure.score or 0.0
