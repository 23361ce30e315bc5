"""Figures and their drawing: intervals where they mean something, marks where they belong."""

from collections import Counter

import numpy as np
import pytest

from audiocapbench.report.chart import LABELS, PLOT, interval_chart
from audiocapbench.report.figures import Coverage, Figure, figure_of
from audiocapbench.report.summary import RunSummary
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.store import Run


def test_too_few_samples_get_a_score_but_no_interval() -> None:
    for count in (FEWEST_FOR_INTERVAL - 1, FEWEST_FOR_INTERVAL):
        values = np.linspace(0.1, 0.5, count)[:, np.newaxis]
        figure = figure_of("rouge_l", "rouge_l|x", values, Coverage(count, count, 0))
        assert figure.score == pytest.approx(0.3)
        assert (figure.interval is not None) is (count == FEWEST_FOR_INTERVAL)


def summary(model: str, score: float | None, interval: Interval | None) -> RunSummary:
    run = Run(1, "b", "d", model, {}, "wav", ("a",), "now", "test")
    figure = Figure(score, interval, score, interval, "s", Coverage(1, 1, 0))
    return RunSummary(run, Counter(), 0, {"m": figure}, {}, {}, None)


def test_marks_stand_in_proportion_to_their_scores() -> None:
    runs = [
        summary("best", 0.4, Interval(0.3, 0.5)),
        summary("half", 0.2, Interval(0.1, 0.25)),
        summary("none", None, None),
        summary("floor", 0.0, Interval(0.0, 0.0)),
    ]
    chart = interval_chart(runs, "m")
    best, half, floor = chart.bars
    assert [bar.label for bar in chart.bars] == ["best", "half", "floor"]
    assert floor.x == LABELS
    assert best.x - LABELS == pytest.approx(2 * (half.x - LABELS), abs=0.2)
    assert best.low < best.x < best.high <= LABELS + PLOT
    assert (chart.ticks[0].label, chart.ticks[-1].label) == ("0", "0.5")
    assert chart.ticks[-1].x == pytest.approx(LABELS + PLOT)
