"""Scores what a run has answered; the model is not asked again."""

from collections.abc import Sequence
from typing import NamedTuple

from audiocapbench.benchmarks import stored_traits
from audiocapbench.benchmarks.corpora import compute_by_corpus
from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome
from audiocapbench.metrics import MetricResult, compute
from audiocapbench.store import Dataset, Run, Store, StoredScore


class AnsweredSample(NamedTuple):
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


def answered(store: Store, run: Run, dataset: Dataset | None = None) -> list[AnsweredSample]:
    """The samples of a run whose answers can be scored, in the benchmark's order."""
    outcomes = store.outcomes(run.id)
    dataset = dataset or store.dataset(run.dataset, run.benchmark)
    samples = {sample.id: sample for sample in dataset.samples}
    pairs = [
        AnsweredSample(samples[key], outcomes[key]) for key in run.sample_ids if key in outcomes
    ]
    return [one for one in pairs if one.outcome.reply.status in SCORED]


def score_run(store: Store, run: Run, metrics: Sequence[str]) -> None:
    """Compute metrics on a run's answers and commit the scores of each.

    Samples without an answer have no score, but stay in the corpus that answers are ranked among.

    A benchmark whose samples make corpora is scored within each of them.

    Raises:
        MetricError: A metric is unknown, or cannot be computed on these answers.
    """
    dataset = store.dataset(run.dataset, run.benchmark)
    pairs = {one.sample.id: one for one in answered(store, run, dataset)}
    asked = set(run.sample_ids)
    samples = [one for one in dataset.samples if one.id in asked]
    predictions = [pairs[one.id].outcome.reply.text if one.id in pairs else None for one in samples]
    references = [pairs.get(one.id, one).references for one in samples]
    aggregation = stored_traits(dataset).aggregation
    ids = tuple(one.id for one in samples if one.id in pairs)
    clips = [one.clip for one in samples]
    stored: dict[str, list[StoredScore]] = {}
    if aggregation is None:
        found = compute(metrics, predictions, references, clips=clips, store=store) if pairs else []
        stored = {one.name: _stored(ids, one) for one in found}
    else:
        made = compute_by_corpus(
            aggregation, metrics, samples, predictions, references, clips=clips, store=store
        )
        for corpus in made.scores:
            rows = _stored([samples[row].id for row in corpus.rows], corpus.result)
            stored.setdefault(corpus.result.name, []).extend(rows)
    for name, values in stored.items():
        store.put_scores(run.id, name, values)


def _stored(ids: Sequence[str], result: MetricResult) -> list[StoredScore]:
    return [
        StoredScore(key, result.name, result.signature, value, tuple(statistics))
        for key, value, statistics in zip(
            ids, result.samples.tolist(), result.statistics.tolist(), strict=True
        )
    ]
