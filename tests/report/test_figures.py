"""Figures: intervals where they mean something."""

import numpy as np
import pytest

from audiocapbench.report.figures import Coverage, figure_of
from audiocapbench.stats import FEWEST_FOR_INTERVAL


def test_too_few_samples_get_a_score_but_no_interval() -> None:
    for count in (FEWEST_FOR_INTERVAL - 1, FEWEST_FOR_INTERVAL):
        values = np.linspace(0.1, 0.5, count)[:, np.newaxis]
        figure = figure_of("rouge_l", "rouge_l|x", values, Coverage(count, count, 0))
        assert figure.score == pytest.approx(0.3)
        assert (figure.interval is not None) is (count == FEWEST_FOR_INTERVAL)
