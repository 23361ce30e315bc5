"""Scores what a run has answered; the model is not asked again."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from audiocapbench.benchmarks import stored_traits
from audiocapbench.benchmarks.corpora import compute_by_corpus
from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome
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
        answer = self.sample.references[withheld]
        return tuple(text for text in self.sample.references if text != answer)


def answered(store: Store, run: Run, dataset: Dataset | None = None) -> list[AnsweredSample]:
    """The samples of a run whose answers can be scored, in the benchmark's order."""
    outcomes = store.outcomes(run.id)
    dataset = dataset or store.dataset(run.dataset, run.benchmark)
    samples = {sample.id: sample for sample in dataset.samples}
    pairs = [
        AnsweredSample(samples[key], outcomes[key]) for key in run.sample_ids if key in outcomes
    ]
    return [pair for pair in pairs if pair.outcome.reply.status in SCORED]


def score_run(store: Store, run: Run, metrics: Sequence[str]) -> None:
    """Compute metrics on a run's answers and commit the scores of each; MetricError if it cannot.

    Samples without an answer have no score, but stay in the corpus that answers are ranked among.
    A benchmark whose samples make corpora is scored within each of them.
    """
    dataset = store.dataset(run.dataset, run.benchmark)
    pairs = {pair.sample.id: pair for pair in answered(store, run, dataset)}
    asked = set(run.sample_ids)
    samples = [sample for sample in dataset.samples if sample.id in asked]
    predictions = [pairs[one.id].outcome.reply.text if one.id in pairs else None for one in samples]
    references = [pairs.get(one.id, one).references for one in samples]
    clips, aggregation = [one.clip for one in samples], stored_traits(dataset).aggregation
    asked_for = (aggregation, metrics, samples, predictions, references)
    stored: dict[str, list[StoredScore]] = defaultdict(list)
    made, _ = compute_by_corpus(*asked_for, clips=clips, store=store)
    for _, rows, result in made:
        values, statistics = result.samples.tolist(), result.statistics.tolist()
        stored[result.name] += [
            StoredScore(samples[row].id, result.name, result.signature, value, tuple(parts))
            for row, value, parts in zip(rows, values, statistics, strict=True)
        ]
    for name, scores in stored.items():
        store.put_scores(run.id, name, scores)
