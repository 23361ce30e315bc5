"""Summaries as plain data, for ``--json``."""

from typing import Any

from audiocapbench.report.summary import Figure, RunSummary


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
        "metrics": {name: _figure(figure) for name, figure in summary.overall.items()},
        "by_group": {
            category: {name: _figure(figure) for name, figure in figures.items()}
            for category, figures in summary.by_category.items()
        },
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "score": figure.score,
        "ci": list(figure.interval) if figure.interval else None,
        "as_zero": figure.as_zero,
        "bounds": list(figure.bounds) if figure.bounds else None,
        "signature": figure.signature,
        "coverage": figure.coverage.scored / figure.coverage.total,
        "n": figure.coverage.total,
        "answered": figure.coverage.answered,
        "empty": figure.coverage.empty,
        "failed": figure.coverage.failed,
    }
