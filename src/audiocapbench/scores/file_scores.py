"""Scores of predictions and references that come from files, not from a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audiocapbench.benchmarks.corpora import UnscoredCorpus, compute_by_corpus, with_parts
from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.data import Sample
from audiocapbench.data.predictions import Predictions, match_ids
from audiocapbench.metrics import MetricResult, compute
from audiocapbench.scores.compute import SampleScores
from audiocapbench.scores.estimate import Missing, Scorer
from audiocapbench.scores.table import ScoreTable


@dataclass(frozen=True, slots=True)
class FileScores:
    """Scores of a set of predictions, and what did not take part.

    ``missing`` are ids with references but no prediction, ``surplus`` the reverse; ``note`` is what
    was done for ids to match.
    """

    table: ScoreTable
    metrics: tuple[str, ...]
    ids: tuple[str, ...]
    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    unscored: tuple[UnscoredCorpus, ...] = ()
    note: str = ""

    @property
    def columns(self) -> dict[str, dict[str, float]]:
        """Scores by metric and sample id."""
        return {scorer.name: one.values for scorer, one in self.table.scores.items()}

    def to_dict(self) -> dict[str, Any]:
        """The scores as a JSON object."""
        aggregation = self.table.aggregation
        scores = self.table.to_dict(self.metrics, self.unscored)
        if aggregation is not None:
            return {"n": len(self.ids), "total": aggregation.total} | scores
        return (
            {
                "n": len(self.ids),
                "missing": len(self.missing),
                "missing_ids": list(self.missing),
                "surplus": len(self.surplus),
                "surplus_ids": list(self.surplus),
            }
            | ({"note": self.note} if self.note else {})
            | scores
        )


def score_files(
    predictions: Predictions, samples: Sequence[Sample], metrics: Sequence[str]
) -> FileScores:
    """Score predictions against references by id; without a category, a sample has no group."""
    known = {one.id for one in samples}
    predictions, note = match_ids(predictions, [one.id for one in samples])
    texts = predictions.texts
    chosen = [one for one in samples if one.id in texts]
    given = [texts.get(one.id) for one in samples]
    results = compute(metrics, given, [one.references for one in samples]) if chosen else []
    rows = [row for row, text in enumerate(given) if text is not None]
    table = _table(samples, None, texts, [(rows, one) for one in results])
    return FileScores(
        table,
        tuple(one.name for one in results),
        tuple(one.id for one in chosen),
        tuple(one.id for one in samples if one.id not in texts),
        tuple(key for key in texts if key not in known),
        note=note,
    )


def score_groups(
    aggregation: Aggregation,
    metrics: Sequence[str],
    samples: Sequence[Sample],
    texts: Mapping[str, str],
) -> FileScores:
    """Score answers within their corpora; each DATE comes with the two that it is made of."""
    answers = [texts.get(one.id) for one in samples]
    references = [one.references for one in samples]
    made = compute_by_corpus(aggregation, metrics, samples, answers, references)
    results = [(one.rows, one.result) for one in made.scores]
    table = _table(samples, aggregation, texts, results)
    ids = tuple(one.id for one in samples if one.id in texts)
    parts = tuple(with_parts(metrics))
    return FileScores(table, parts, ids, unscored=made.unscored)


def _table(
    samples: Sequence[Sample],
    aggregation: Aggregation | None,
    texts: Mapping[str, str],
    results: Sequence[tuple[Sequence[int], MetricResult]],
) -> ScoreTable:
    scores: dict[Scorer, SampleScores] = {}
    for rows, result in results:
        own = scores.setdefault(Scorer(result.name), SampleScores())
        columns = zip(rows, result.samples.tolist(), result.statistics.tolist(), strict=True)
        for row, value, statistics in columns:
            own.add(samples[row].id, value, statistics, result.signature)
    replies = dict.fromkeys((one.id for one in samples), Missing.FAILED) | {
        one.id: None if texts[one.id].strip() else Missing.EMPTY
        for one in samples
        if one.id in texts
    }
    table = ScoreTable(samples, aggregation, scores, replies)
    table.texts = texts
    return table
