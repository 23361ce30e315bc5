"""What a run amounts to: scores with intervals and coverage, overall and by category."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome, Status
from audiocapbench.metrics import find_metric
from audiocapbench.stats import Interval, mean_interval
from audiocapbench.store import Run, Store, StoredScore

FEWEST_FOR_INTERVAL = 5
"""Below this, resampling says more about the few samples than about the model."""


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
    """

    score: float | None
    interval: Interval | None
    as_zero: float | None
    bounds: Interval | None
    signature: str
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class RunSummary:
    """All figures of one run."""

    run: Run
    statuses: Counter[str]
    missing_clips: int
    overall: dict[str, Figure]
    by_category: dict[str, dict[str, Figure]]

    @property
    def coverage(self) -> Coverage:
        """Coverage of the run as a whole."""
        answered, empty = self.statuses[Status.OK], self.statuses[Status.EMPTY]
        return Coverage(len(self.run.sample_ids), answered, empty)


def summarise(store: Store, run: Run, metrics: Sequence[str]) -> RunSummary:
    """Put a run's stored scores together."""
    dataset = store.dataset(run.dataset)
    chosen = set(run.sample_ids)
    samples = [sample for sample in dataset.samples if sample.id in chosen]
    outcomes = store.outcomes(run.id)
    scores = store.scores(run.id)
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.category, []).append(sample)

    def figures(group: list[Sample]) -> dict[str, Figure]:
        return {
            metric: _figure(metric, scores.get(metric, []), group, outcomes) for metric in metrics
        }

    return RunSummary(
        run,
        Counter(str(outcome.reply.status) for outcome in outcomes.values()),
        len(dataset.missing),
        figures(samples),
        {category: figures(group) for category, group in groups.items()},
    )


def _figure(
    metric: str, scores: Sequence[StoredScore], group: list[Sample], outcomes: dict[str, Outcome]
) -> Figure:
    statuses = Counter(outcomes[one.id].reply.status for one in group if one.id in outcomes)
    coverage = Coverage(len(group), statuses[Status.OK], statuses[Status.EMPTY])
    wanted = {
        one.id for one in group if one.id in outcomes and outcomes[one.id].reply.status in SCORED
    }
    rows = [score for score in scores if score.sample_id in wanted]
    if not rows:
        return Figure(None, None, None, None, "", coverage)
    kind = find_metric(metric)[0]
    statistics = np.array([row.statistics for row in rows], dtype=np.float64)
    score = float(kind.finish(statistics.mean(axis=0)))
    share = len(rows) / coverage.total
    worst, best = score * share, score * share + (1 - share) * kind.highest
    return Figure(
        score,
        mean_interval(statistics, kind.finish) if len(rows) >= FEWEST_FOR_INTERVAL else None,
        worst,
        Interval(worst, best),
        rows[0].signature,
        coverage,
    )
