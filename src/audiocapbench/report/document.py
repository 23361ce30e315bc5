"""Summaries as plain data, for ``--json``."""

from dataclasses import asdict
from typing import Any

from audiocapbench.judges import JudgeSummary
from audiocapbench.report.groups.sheet import group_document
from audiocapbench.report.summary import JudgedRun, RunSummary


def run_document(summary: RunSummary) -> dict[str, Any]:
    """One run as a JSON object; where groups make a total, with other views of them."""
    document = _run(summary)
    return document if summary.groups is None else document | group_document(summary.groups)


def _run(summary: RunSummary) -> dict[str, Any]:
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
        "judges": {name: _judge(judged) for name, judged in summary.judges.items()},
        "panel": asdict(summary.panel) if summary.panel else None,
    }


def _judge(judged: JudgedRun) -> dict[str, Any]:
    whole = judged.overall
    return {
        "signature": str(whole.signature),
        "coverage": whole.judged / whole.total if whole.total else 0.0,
        "judged": whole.judged,
        "statuses": dict(whole.statuses),
        "stale": whole.stale,
        "cost_usd": whole.cost_usd,
        "scores": _scores(whole),
        "by_group": {name: _scores(one) for name, one in judged.by_category.items()},
    }


def _scores(summary: JudgeSummary) -> dict[str, Any]:
    return {
        name: {
            "score": figure.score,
            "ci": list(figure.interval) if figure.interval else None,
            "as_zero": figure.as_zero,
            "bounds": list(figure.bounds) if figure.bounds else None,
        }
        for name, figure in summary.figures.items()
    }
