"""What a run amounts to: scores with intervals and coverage, overall and by category."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audiocapbench.benchmarks import Traits, stored_traits
from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome, Status
from audiocapbench.judges import JudgeSummary, PanelSummary, summarise_judge, summarise_panel
from audiocapbench.judges.aggregation import by_judge
from audiocapbench.report.figures import Coverage, Figure, figure_of
from audiocapbench.report.groups.figures import GroupFigures, Marks, group_figures
from audiocapbench.report.groups.judged import with_totals
from audiocapbench.signature import UNSIGNED
from audiocapbench.store import Run, Store, StoredScore


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One judge's figures of a run, overall and by category."""

    overall: JudgeSummary
    by_category: dict[str, JudgeSummary]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """All figures of one run.

    Attributes:
        traits: The benchmark's, as they were when the run began.
        groups: More views of a benchmark whose samples make corpora; its overall is a total.
    """

    run: Run
    traits: Traits
    statuses: Counter[str]
    missing_clips: int
    overall: dict[str, Figure]
    by_category: dict[str, dict[str, Figure]]
    judges: dict[str, JudgedRun]
    panel: PanelSummary | None
    groups: GroupFigures | None = None

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

    traits = stored_traits(dataset)
    aggregation = traits.aggregation
    by_group = _by_group(aggregation, metrics, samples, outcomes, scores) if aggregation else None
    return RunSummary(
        run,
        traits,
        Counter(str(outcome.reply.status) for outcome in outcomes.values()),
        len(dataset.missing),
        by_group.overall if by_group else figures(samples),
        by_group.by_group
        if by_group
        else {category: figures(group) for category, group in groups.items()},
        {judge: _judged(store, run, judge, groups, aggregation) for judge in judges},
        summarise_panel(store, run, judges, clips=_clips(samples)) if len(judges) > 1 else None,
        by_group,
    )


def _by_group(
    aggregation: Aggregation,
    metrics: Sequence[str],
    samples: Sequence[Sample],
    outcomes: dict[str, Outcome],
    scores: dict[str, list[StoredScore]],
) -> GroupFigures:
    blank = {
        key: one.reply.status is Status.EMPTY
        for key, one in outcomes.items()
        if one.reply.status in SCORED
    }
    marks = {
        metric: Marks(
            {one.sample_id: one.statistics for one in stored},
            {one.sample_id: one.signature for one in stored},
        )
        for metric, stored in scores.items()
    }
    return group_figures(aggregation, metrics, samples, blank, marks)


def _clips(samples: Sequence[Sample]) -> dict[str, str]:
    return {sample.id: sample.clip.sha256 for sample in samples}


def _judged(
    store: Store,
    run: Run,
    judge: str,
    groups: dict[str, list[Sample]],
    aggregation: Aggregation | None,
) -> JudgedRun:
    samples = [sample for group in groups.values() for sample in group]
    clips = _clips(samples)
    whole = summarise_judge(store, run, judge, clips=clips)
    by_category = {
        category: summarise_judge(store, run, judge, {one.id for one in group}, clips=clips)
        for category, group in groups.items()
    }
    if aggregation is not None:
        found = store.judgements(run.id, judge)
        current = by_judge(one for one in found if one.signature == whole.signature)
        whole = with_totals(whole, aggregation, by_category, current.get(judge, {}), samples)
    return JudgedRun(whole, by_category)


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
    clips = _clips(group)
    own = [clips[row.sample_id] for row in rows]
    return figure_of(metric, rows[0].signature if rows else UNSIGNED, statistics, coverage, own)
