"""Trials as plain data, for ``--json`` and for files of single choices."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audiocapbench.errors import ReportError
from audiocapbench.meta.pairs.votes import Agreement
from audiocapbench.meta.trial import GroupMeasures, ScorerTrial


def trial_document(
    trials: Sequence[ScorerTrial], *, left_out: int = 0, agreement: Agreement | None = None
) -> dict[str, Any]:
    """One document: the trial itself, or ``scorers``, a list of them, where there are several."""
    shared = {
        "undecided": left_out,
        "kappa": agreement._asdict() if agreement is not None else None,
    }
    made = [_one(trial) for trial in trials]
    if len(made) == 1:
        return made[0] | shared
    return {"n": trials[0].n, "scorers": made} | shared


def _one(trial: ScorerTrial) -> dict[str, Any]:
    constant, answer = trial.constant
    groups = {
        field: {name: _group(one) for name, one in getattr(trial, field).items()}
        for field in ("by_type", "by_subtype", "by_dataset")
    }
    return {
        "n": trial.n,
        "scorer": trial.scorer,
        "signature": str(trial.signature),
        "headline": trial.headline,
        "all": _group(trial.whole),
        **groups,
        "answers": trial.answers,
        "constant": {"answer": answer, trial.headline: constant},
        "position": trial.position._asdict() if trial.position else None,
        "detail": dict(trial.detail) if trial.detail else None,
        "failed": trial.failed,
        "seconds": trial.seconds,
        "warning": trial.warning,
    }


def _group(figures: GroupMeasures) -> dict[str, Any]:
    ends = {name: list(one) if one else None for name, one in figures.intervals.items()}
    return {**figures.values, "n": figures.n, "ci": ends}


def write_choices(path: Path, trials: Sequence[ScorerTrial]) -> None:
    """Write what every scorer chose of every pair, a row a pair, as CSV.

    Raises:
        ReportError: The file cannot be written.
    """
    names = [trial.scorer for trial in trials]
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["id", "clip", "dataset", "type", "subtype", "answer", *names])
            columns = [[choice.value for choice in trial.choices] for trial in trials]
            for pair, *chosen in zip(trials[0].pairs, *columns, strict=True):
                row = [pair.id, pair.clip, pair.dataset, pair.type, pair.subtype, pair.answer]
                writer.writerow([*row, *chosen])
    except OSError as error:
        raise ReportError(f"{path}: cannot be written ({error.strerror})") from None
