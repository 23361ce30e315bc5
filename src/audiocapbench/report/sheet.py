"""A score sheet: metrics on predictions and references that come from files, not from a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audiocapbench.data.tables import Predictions, References
from audiocapbench.metrics import MetricResult, compute
from audiocapbench.report.figures import Coverage, Figure, figure_of


@dataclass(frozen=True, slots=True)
class Sheet:
    """Scores of a set of predictions, and what did not take part.

    Attributes:
        ids: Samples that were scored, in the order of the references.
        missing: Ids with references but no prediction.
        surplus: Ids with a prediction but no references.
        results: Every metric with its per-sample scores.
        overall: The figures.
        by_group: The figures of each category, where the references name any.
    """

    ids: tuple[str, ...]
    missing: tuple[str, ...]
    surplus: tuple[str, ...]
    results: tuple[MetricResult, ...]
    overall: dict[str, Figure]
    by_group: dict[str, dict[str, Figure]]

    def document(self) -> dict[str, Any]:
        """The sheet as a JSON object."""
        return {
            "n": len(self.ids),
            "missing": len(self.missing),
            "missing_ids": list(self.missing),
            "surplus": len(self.surplus),
            "surplus_ids": list(self.surplus),
            "metrics": {name: figure.document() for name, figure in self.overall.items()},
            "by_group": {
                group: {name: figure.document() for name, figure in figures.items()}
                for group, figures in self.by_group.items()
            },
        }


def score_files(predictions: Predictions, references: References, metrics: Sequence[str]) -> Sheet:
    """Score predictions against references by id.

    Raises:
        MetricError: A metric is unknown, or cannot be computed on these captions.
    """
    ids = tuple(key for key in references.texts if key in predictions.texts)
    texts = [predictions.texts[key] for key in ids]
    results = compute(metrics, texts, [references.texts[key] for key in ids]) if ids else []
    groups = dict.fromkeys(references.categories.values())

    def figures(group: str | None) -> dict[str, Figure]:
        wanted = [
            key for key in references.texts if group in (None, references.categories.get(key))
        ]
        chosen = set(wanted)
        rows = [row for row, key in enumerate(ids) if key in chosen]
        empty = sum(not texts[row].strip() for row in rows)
        coverage = Coverage(len(wanted), len(rows) - empty, empty)
        return {
            result.name: figure_of(result.name, result.signature, result.statistics[rows], coverage)
            for result in results
        }

    return Sheet(
        ids,
        tuple(key for key in references.texts if key not in predictions.texts),
        tuple(key for key in predictions.texts if key not in references.texts),
        tuple(results),
        figures(None),
        {group: figures(group) for group in groups},
    )
