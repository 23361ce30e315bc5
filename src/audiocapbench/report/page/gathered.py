"""Runs of one benchmark, read from the store once for a page or for figures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome, median_latency, total_cost
from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import by_judge, overall
from audiocapbench.judges.summary import OVERALL
from audiocapbench.report.leaderboard.scores import without_plugin
from audiocapbench.report.page.measures import (
    Measure,
    headline_of,
    in_order,
    is_known,
    measures_of,
)
from audiocapbench.report.summary import RunSummary, summarise
from audiocapbench.store import Run, Store
from audiocapbench.store.judgements import Judgement

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GatheredRun:
    """One run with all that was answered and judged.

    Attributes:
        label: The model's name, with the run's number where two runs share it.
        summary: Its figures.
        outcomes: Answers by sample id.
        judgements: What each judge said of each sample, its rounds in order.
    """

    label: str
    summary: RunSummary
    outcomes: dict[str, Outcome]
    judgements: dict[str, dict[str, list[Judgement]]]

    @property
    def cost_usd(self) -> float | None:
        """Dollars that the answers cost, where known."""
        return total_cost(self.outcomes.values())

    @property
    def latency_s(self) -> float | None:
        """Median time of an answer that was asked for and not found in the cache."""
        return median_latency(self.outcomes.values())


@dataclass(frozen=True, slots=True)
class Gathered:
    """Runs of one benchmark, best first by the headline.

    Attributes:
        benchmark: Its name.
        samples: All samples that any of the runs asked about, in the benchmark's order.
        runs: The runs.
        measures: What there are scores of.
        headline: The measure that the runs are ranked by.
        scores: By measure: shape (runs, samples), NaN where there is none.
        notes: What was left out, in sentences.
    """

    benchmark: str
    samples: tuple[Sample, ...]
    runs: tuple[GatheredRun, ...]
    measures: tuple[Measure, ...]
    headline: Measure
    scores: dict[Measure, Scores]
    notes: tuple[str, ...] = ()

    @property
    def clips(self) -> int:
        """How many clips the samples are about; several samples may share one."""
        return len({self.clip_of(sample) for sample in self.samples})

    def clip_of(self, sample: Sample) -> str:
        """What tells a sample's clip from others."""
        aggregation = self.runs[0].summary.traits.aggregation
        return sample.clip.sha256 if aggregation is None else aggregation.clip(sample)

    @property
    def one_selection(self) -> bool:
        """Whether all runs were asked about the same samples of the same data."""
        stored = [one.summary.run for one in self.runs]
        return len({(run.dataset, frozenset(run.sample_ids)) for run in stored}) == 1

    @property
    def categories(self) -> list[str]:
        """Categories in the order in which they first come."""
        return list(dict.fromkeys(sample.category for sample in self.samples))

    @property
    def judges(self) -> list[str]:
        """The judges that there are scores of."""
        return list(dict.fromkeys(one.judge for one in self.measures if one.judge is not None))


def stored_summaries(store: Store, run_ids: Sequence[int]) -> list[RunSummary]:
    """Summarise runs of one benchmark with every metric and judge that the store has of them.

    Raises:
        ReportError: No run is named, they are of different benchmarks, or hold no captions.
        StoreError: There is no such run.
    """
    runs = [store.run(number) for number in dict.fromkeys(run_ids)]
    _check_benchmark(runs)
    metrics = in_order({name for run in runs for name in store.scores(run.id)})
    return [summarise(store, run, metrics, _judges(store, run)) for run in runs]


def gather(store: Store, summaries: Sequence[RunSummary], by: str | None = None) -> Gathered:
    """Read what a page shows of summarised runs.

    Args:
        store: Where they are kept.
        summaries: The runs.
        by: What to rank by; see ``headline_of``.

    Raises:
        ReportError: The runs are not of one benchmark, hold no captions, or have no scores.
    """
    _check_benchmark([one.run for one in summaries])
    samples = _samples(store, summaries)
    measures = tuple(measures_of(summaries))
    benchmark = summaries[0].run.benchmark
    headline = headline_of(measures, by, summaries[0].traits.headline)
    best_first = sorted(summaries, key=lambda one: _rank(headline, one))
    names = Counter(one.run.model for one in summaries)
    runs = []
    for one in best_first:
        twice = names[one.run.model] > 1
        label = f"{one.run.model} (run {one.run.id})" if twice else one.run.model
        runs.append(
            GatheredRun(label, one, store.outcomes(one.run.id), _current_judgements(store, one))
        )
    scores = _score_table(store, runs, samples, measures)
    return Gathered(
        benchmark,
        tuple(samples),
        tuple(runs),
        measures,
        headline,
        scores,
        tuple(_left_out(store, summaries)),
    )


def _check_benchmark(runs: Sequence[Run]) -> None:
    if not runs:
        raise ReportError("name at least one run; 'audiocapbench runs' lists them")
    for run in runs:
        if run.benchmark.startswith(TRIAL):
            raise ReportError(
                f"run {run.id} holds answers to comparisons of 'audiocapbench meta', "
                "not captions; there is no report of it"
            )
        if run.benchmark != runs[0].benchmark:
            raise ReportError(
                f"run {runs[0].id} is of {runs[0].benchmark} and run {run.id} of {run.benchmark}: "
                "their scores cannot be compared; write a report for each benchmark"
            )


def _left_out(store: Store, summaries: Sequence[RunSummary]) -> list[str]:
    stored = {name for one in summaries for name in store.scores(one.run.id)}
    return [without_plugin(name) for name in sorted(stored) if not is_known(name)]


def _judges(store: Store, run: Run) -> list[str]:
    return list(dict.fromkeys(one.judge for one in store.judgements(run.id)))


def _rank(headline: Measure, summary: RunSummary) -> tuple[bool, float]:
    figure = headline.of(summary)
    score = None if figure is None else figure.score
    return (score is None, -(score or 0.0))


def _samples(store: Store, summaries: Sequence[RunSummary]) -> list[Sample]:
    """The union of what the runs asked; a sample must mean the same in all of them."""
    asked = {key for one in summaries for key in one.run.sample_ids}
    found: dict[str, tuple[Sample, RunSummary]] = {}
    for fingerprint in dict.fromkeys(one.run.dataset for one in summaries):
        first = next(one for one in summaries if one.run.dataset == fingerprint)
        for sample in store.dataset(fingerprint).samples:
            if sample.id not in asked:
                continue
            known, of = found.setdefault(sample.id, (sample, first))
            if _meaning(known) != _meaning(sample):
                raise ReportError(
                    f"sample {sample.id!r} is not the same in run {of.run.id} and in run "
                    f"{first.run.id}: the dataset was changed in between; write two reports"
                )
    return sorted((sample for sample, _ in found.values()), key=lambda one: one.position)


def _meaning(sample: Sample) -> tuple[object, ...]:
    return (sample.clip.sha256, sample.instruction, sample.references, sample.category)


def _current_judgements(store: Store, summary: RunSummary) -> dict[str, dict[str, list[Judgement]]]:
    """By judge and sample, without those that were made in another way than the figures."""
    found: dict[str, dict[str, list[Judgement]]] = {}
    for judge, judged in summary.judges.items():
        of_judge = found.setdefault(judge, {})
        for one in store.judgements(summary.run.id, judge):
            if one.signature == judged.overall.signature:
                of_judge.setdefault(one.sample_id, []).append(one)
    return found


def _score_table(
    store: Store,
    runs: Sequence[GatheredRun],
    samples: Sequence[Sample],
    measures: Sequence[Measure],
) -> dict[Measure, Scores]:
    places = {sample.id: index for index, sample in enumerate(samples)}
    tables = {one: np.full((len(runs), len(samples)), np.nan) for one in measures}
    for row, run in enumerate(runs):
        stored = store.scores(run.summary.run.id)
        judged = {
            judge: by_judge(one for rounds in said.values() for one in rounds).get(judge, {})
            for judge, said in run.judgements.items()
        }
        for measure, table in tables.items():
            if measure.judge is None:
                for score in stored.get(measure.name, ()):
                    outcome = run.outcomes.get(score.sample_id)
                    if outcome is not None and outcome.reply.status in SCORED:
                        table[row, places[outcome.sample_id]] = score.value
                continue
            for key, given in judged.get(measure.judge, {}).items():
                value = overall(given) if measure.name == OVERALL else given.get(measure.name)
                if key in places and value is not None:
                    table[row, places[key]] = value
    return tables
