"""A score sheet of a benchmark whose samples make groups: answers from files, not from a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audiocapbench.benchmarks.aggregation import Aggregation, TextSample
from audiocapbench.benchmarks.corpora import CorpusScores, Unscored, compute_by_corpus, with_parts
from audiocapbench.report.figures import Figure
from audiocapbench.report.groups.figures import GroupFigures, Marks, group_figures


@dataclass(frozen=True, slots=True)
class GroupSheet:
    """Scores of a set of answers.

    Attributes:
        aggregation: How the groups add up.
        samples: Everything that could have been answered.
        answered: How many of them were.
        figures: The total, the groups and the other views.
        columns: Scores by metric and sample id.
        unscored: Groups that were too small for a metric.
    """

    aggregation: Aggregation
    samples: tuple[TextSample, ...]
    answered: int
    figures: GroupFigures
    columns: dict[str, dict[str, float]]
    unscored: tuple[Unscored, ...]

    def document(self) -> dict[str, Any]:
        """The sheet as a JSON object."""
        return {"n": self.answered, "total": self.aggregation.total} | group_document(
            self.figures, self.unscored
        )


def score_groups(
    aggregation: Aggregation,
    metrics: Sequence[str],
    samples: Sequence[TextSample],
    texts: Mapping[str, str],
) -> GroupSheet:
    """Score answers within their groups; each DATE comes with the two that it is made of.

    Raises:
        MetricError: A metric is unknown, or cannot be computed on these answers.
    """
    chosen = [one for one in samples if one.id in texts]
    made = compute_by_corpus(
        aggregation,
        metrics,
        chosen,
        [texts[one.id] for one in chosen],
        [one.references for one in chosen],
    )
    blank = {one.id: not texts[one.id].strip() for one in chosen}
    marks = _marks(made, chosen)
    figures = group_figures(aggregation, with_parts(metrics), samples, blank, marks)
    return GroupSheet(
        aggregation, tuple(samples), len(chosen), figures, _columns(made, chosen), made.unscored
    )


def group_document(figures: GroupFigures, unscored: Sequence[Unscored] = ()) -> dict[str, Any]:
    """Figures of groups as a JSON object."""
    return {
        "metrics": _documents(figures.overall),
        "by_group": {group: _documents(one) for group, one in figures.by_group.items()},
        **{
            f"by_{facet}": {place: _documents(one) for place, one in places.items()}
            for facet, places in figures.facets.items()
        },
        "null_references": {
            group: {"n": one.total, "null": one.null, "without": _documents(one.without)}
            for group, one in figures.nulls.items()
        },
        "unscored": [one._asdict() for one in unscored],
    }


def _documents(figures: Mapping[str, Figure]) -> dict[str, Any]:
    return {name: figure.document() for name, figure in figures.items()}


def _marks(made: CorpusScores, samples: Sequence[TextSample]) -> dict[str, Marks]:
    marks: dict[str, Marks] = {}
    for one in made.scores:
        own = marks.setdefault(one.result.name, Marks())
        for row, statistics in zip(one.rows, one.result.statistics.tolist(), strict=True):
            own.statistics[samples[row].id] = statistics
            own.signatures[samples[row].id] = one.result.signature
    return marks


def _columns(made: CorpusScores, samples: Sequence[TextSample]) -> dict[str, dict[str, float]]:
    columns: dict[str, dict[str, float]] = {}
    for one in made.scores:
        ids = [samples[row].id for row in one.rows]
        own = columns.setdefault(one.result.name, {})
        own.update(zip(ids, one.result.samples.tolist(), strict=True))
    return columns
