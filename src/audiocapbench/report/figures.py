"""Figures: a number with its interval, its signature and what it stands on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics import find_metric
from audiocapbench.signature import Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval, with_failures


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many samples a number stands on."""

    total: int
    answered: int
    empty: int

    @property
    def scored(self) -> int:
        """Samples with a text to score, be it empty."""
        return self.answered + self.empty

    @property
    def failed(self) -> int:
        """Samples that never got an answer of any kind."""
        return self.total - self.scored


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with all that is needed to trust it.

    Attributes:
        score: Over the samples that were answered, as published; None where there are none.
        interval: 95 % by bootstrap over samples; None for too few samples to draw from.
        as_zero: The same with every failure counted as 0.
        bounds: The worst and the best that the failures could make of it.
        signature: How it was made.
        coverage: How many samples it stands on.
        lacks: Of a total: the groups without a score that it cannot be formed for; None of others.
    """

    score: float | None
    interval: Interval | None
    as_zero: float | None
    bounds: Interval | None
    signature: Signature
    coverage: Coverage
    lacks: tuple[str, ...] | None = None

    def document(self) -> dict[str, Any]:
        """The figure as a JSON object."""
        total = {} if self.lacks is None else {"lacks": list(self.lacks)}
        return total | {
            "score": self.score,
            "ci": list(self.interval) if self.interval else None,
            "as_zero": self.as_zero,
            "bounds": list(self.bounds) if self.bounds else None,
            "signature": str(self.signature),
            "coverage": self.coverage.scored / self.coverage.total if self.coverage.total else 0.0,
            "n": self.coverage.total,
            "answered": self.coverage.answered,
            "empty": self.coverage.empty,
            "failed": self.coverage.failed,
        }


def figure_of(
    metric: str,
    signature: Signature,
    statistics: NDArray[np.float64],
    coverage: Coverage,
    clips: Sequence[str] | None = None,
) -> Figure:
    """Put a figure together from the statistics of the samples that were scored.

    Failures count against a metric by their share of the samples, whatever the metric adds up.

    Args:
        metric: Its name.
        signature: How it was made.
        statistics: What resampling needs of each sample, shape (n, k).
        coverage: How many samples it stands on.
        clips: The clip of each sample, where several may share one: they are drawn together.
    """
    kind, _ = find_metric(metric)
    if not len(statistics):
        # No answer at all is no score; what failures count for is known all the same.
        zero, bounds = (0.0, Interval(0.0, kind.max_value)) if coverage.total else (None, None)
        return Figure(None, None, zero, bounds, signature, coverage)
    score = float(kind.aggregate(statistics.mean(axis=0)))
    zero, bounds = with_failures(score, len(statistics) / coverage.total, kind.max_value)
    enough = len(statistics) >= FEWEST_FOR_INTERVAL
    interval = mean_interval(statistics, kind.aggregate, clusters=clips) if enough else None
    return Figure(score, interval, zero, bounds, signature, coverage)
