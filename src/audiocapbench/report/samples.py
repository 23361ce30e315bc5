"""Scores of single samples as a CSV file."""

import csv
from collections.abc import Sequence
from pathlib import Path

from audiocapbench.errors import ReportError
from audiocapbench.metrics import MetricResult


def write_scores(path: Path, ids: Sequence[str], results: Sequence[MetricResult]) -> None:
    """Write one row a sample and one column a metric, at full precision.

    Raises:
        ReportError: The file cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["id", *(result.name for result in results)])
            columns = [result.samples.tolist() for result in results]
            writer.writerows(zip(ids, *columns, strict=True))
    except OSError as error:
        raise ReportError(f"{path}: cannot be written ({error.strerror})") from None
