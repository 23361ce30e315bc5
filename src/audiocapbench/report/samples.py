"""Scores of single samples as a CSV file."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.aggregation import Aggregation, TextSample
from audiocapbench.errors import ReportError

_DETAILS = ("clip", "subtask", "domain", "difficulty")


def write_scores(
    path: Path, ids: Sequence[str], columns: Mapping[str, Mapping[str, float]]
) -> None:
    """Write one row a sample and one column a metric, at full precision.

    Raises:
        ReportError: The file cannot be written.
    """
    rows = ([key, *(scores[key] for scores in columns.values())] for key in ids)
    _write(path, ["id", *columns], rows)


def write_group_scores(
    path: Path,
    aggregation: Aggregation,
    samples: Sequence[TextSample],
    columns: Mapping[str, Mapping[str, float]],
) -> None:
    """Write one row a scored sample with its group, and one column a metric.

    Args:
        path: The file.
        aggregation: Says which references are null.
        samples: What was asked; samples that no metric scored are left out.
        columns: Scores by metric and sample id; a cell is blank where there is none.

    Raises:
        ReportError: The file cannot be written.
    """
    details = [name for name in _DETAILS if any(name in one.details for one in samples)]
    rows = (
        [
            one.id,
            one.category,
            *(one.details.get(name, "") for name in details),
            "yes" if aggregation.null(one) else "no",
            *(scores.get(one.id, "") for scores in columns.values()),
        ]
        for one in samples
        if any(one.id in scores for scores in columns.values())
    )
    _write(path, ["id", "group", *details, "null_reference", *columns], rows)


def _write(path: Path, names: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(names)
            writer.writerows(rows)
    except OSError as error:
        raise ReportError(f"{path}: cannot be written ({error.strerror})") from None
