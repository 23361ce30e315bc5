"""Scores of single samples as a CSV file."""

from collections.abc import Sequence
from pathlib import Path

from audiocapbench.files import csv_text, write_file
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.table import ScoreTable

_DETAILS = ("clip", "subtask", "domain", "difficulty")


def write_scores(path: Path, table: ScoreTable, metrics: Sequence[str] = ()) -> None:
    """Write one row a scored sample and one column a metric, at full precision.

    Where samples make corpora, a row also says which, what tells the sample from others, and
    whether its references are null. A cell is blank where there is no score. By default, every
    metric that there are scores of is a column.
    """
    names = metrics or [one.name for one in table.scores if one.judge is None]
    columns = {name: table.sample_scores(Scorer(name)).values for name in names}
    head, details, corpora = list[str](), list[str](), table.aggregation
    if corpora is not None:
        details = [name for name in _DETAILS if any(name in one.details for one in table.samples)]
        head = ["group", *details, "null_reference"]
    rows: list[list[object]] = [["id", *head, *columns]]
    for one in table.samples:
        given = [values.get(one.id, "") for values in columns.values()]
        about: list[object] = []
        if corpora is not None:
            own = [one.details.get(name, "") for name in details]
            about = [one.category, *own, "yes" if corpora.null(one) else "no"]
        if any(value != "" for value in given):
            rows.append([one.id, *about, *given])
    write_file(path, csv_text(rows))
