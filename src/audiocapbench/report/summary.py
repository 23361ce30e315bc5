"""What a run amounts to: scores with intervals and coverage, overall and by category."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome, Status
from audiocapbench.judges import JudgeSummary, PanelSummary, summarise_judge, summarise_panel
from audiocapbench.report.figures import Coverage, Figure, figure_of
from audiocapbench.store import Run, Store, StoredScore


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One judge's figures of a run, overall and by category."""

    overall: JudgeSummary
    by_category: dict[str, JudgeSummary]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """All figures of one run."""

    run: Run
    statuses: Counter[str]
    missing_clips: int
    overall: dict[str, Figure]
    by_category: dict[str, dict[str, Figure]]
    judges: dict[str, JudgedRun]
    panel: PanelSummary | None

    @property
    def coverage(self) -> Coverage:
        """Coverage of the run as a whole."""
        answered, empty = self.statuses[Status.OK], self.statuses[Status.EMPTY]
        return Coverage(len(self.run.sample_ids), answered, empty)


def summarise(
    store: Store, run: Run, metrics: Sequence[str], judges: Sequence[str] = ()
) -> RunSummary:
    """Put a run's stored scores and judgements together."""
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
        {judge: _judged(store, run, judge, groups) for judge in judges},
        summarise_panel(store, run, judges) if len(judges) > 1 else None,
    )


def _judged(store: Store, run: Run, judge: str, groups: dict[str, list[Sample]]) -> JudgedRun:
    return JudgedRun(
        summarise_judge(store, run, judge),
        {
            category: summarise_judge(store, run, judge, {sample.id for sample in group})
            for category, group in groups.items()
        },
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
    statistics = np.array([row.statistics for row in rows], dtype=np.float64)
    return figure_of(metric, rows[0].signature if rows else "", statistics, coverage)
