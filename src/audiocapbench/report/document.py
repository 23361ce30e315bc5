"""Summaries as plain data, for ``--json``."""

from typing import Any

from audiocapbench.report.summary import RunSummary


def run_document(summary: RunSummary) -> dict[str, Any]:
    """One run as a JSON object."""
    return {
        "run": summary.run.id,
        "benchmark": summary.run.benchmark,
        "model": summary.run.model,
        "created_at": summary.run.created_at,
        "n": summary.coverage.total,
        "answered": summary.coverage.answered,
        "missing_clips": summary.missing_clips,
        "statuses": dict(summary.statuses),
        "metrics": {name: figure.document() for name, figure in summary.overall.items()},
        "by_group": {
            category: {name: figure.document() for name, figure in figures.items()}
            for category, figures in summary.by_category.items()
        },
    }
