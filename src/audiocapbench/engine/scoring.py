"""Scores what a run has answered; the model is not asked again."""

from collections.abc import Sequence
from typing import NamedTuple

from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome
from audiocapbench.metrics import MetricResult, compute
from audiocapbench.store import Run, Store, StoredScore


class Answered(NamedTuple):
    """A sample with an outcome that can be scored."""

    sample: Sample
    outcome: Outcome

    @property
    def references(self) -> tuple[str, ...]:
        """The sample's references, without the one that a control answered with and its copies."""
        withheld = self.outcome.reply.withheld
        if withheld is None:
            return self.sample.references
        given = self.sample.references[withheld]
        return tuple(text for text in self.sample.references if text != given)


def answered(store: Store, run: Run) -> list[Answered]:
    """The samples of a run whose answers can be scored, in the benchmark's order."""
    outcomes = store.outcomes(run.id)
    samples = {sample.id: sample for sample in store.dataset(run.dataset).samples}
    pairs = [Answered(samples[key], outcomes[key]) for key in run.sample_ids if key in outcomes]
    return [one for one in pairs if one.outcome.reply.status in SCORED]


class RunScores(NamedTuple):
    """What was just scored: sample ids, and the metrics on them."""

    ids: tuple[str, ...]
    metrics: tuple[MetricResult, ...]


def score_run(store: Store, run: Run, metrics: Sequence[str]) -> RunScores:
    """Compute metrics on a run's answers and commit the scores of each."""
    pairs = answered(store, run)
    predictions = [one.outcome.reply.text for one in pairs]
    references = [one.references for one in pairs]
    results = tuple(compute(metrics, predictions, references)) if pairs else ()
    for result in results:
        scores = [
            StoredScore(one.sample.id, result.name, result.signature, value, tuple(statistics))
            for one, value, statistics in zip(
                pairs, result.samples.tolist(), result.statistics.tolist(), strict=True
            )
        ]
        store.put_scores(run.id, result.name, scores)
    return RunScores(tuple(one.sample.id for one in pairs), results)
