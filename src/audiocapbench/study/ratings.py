"""People's ratings of answers, from a file, on the judge's scale."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_records, renamed
from audiocapbench.data.tables import IDS
from audiocapbench.errors import ReportError, meant
from audiocapbench.judges.aggregation import MAX_VALUE, OVERALL, overall

NAMES = {
    "item": ("item", "sample", *IDS),
    "run": ("run", "model", "system"),
    "person": ("person", "rater", "annotator"),
    "dimension": ("dimension", "criterion", "aspect"),
    "value": ("value", "rating", "score"),
}
SCALE = (0.0, MAX_VALUE)
_SHOWN = 20


class Ratings(NamedTuple):
    """People's ratings by run (as the file names it) and sample, each the mean over people.

    Attributes:
        dimension: What was rated.
        partial: How often a person rated only some dimensions of what the mean is over.
        lowest: The lowest rating as given, and ``highest`` the highest.
    """

    values: Mapping[str, Mapping[str, float]]
    dimension: str
    partial: int
    lowest: float
    highest: float
    digest: str


def read_ratings(path: Path, dimension: str, scale: tuple[float, float] = SCALE) -> Ratings:
    """Ratings of a file with item, value and, where there are several, run, person and dimension.

    Values are put on the judge's scale. ``overall`` is what the file calls so, or each person's
    mean over the dimensions.

    Raises:
        InvalidDataError: What is wrong, line by line.
        ReportError: Nobody rated that dimension.
    """
    problems: list[Problem] = []
    rows: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    values, dimensions = list[float](), set[str]()
    low, high = scale
    for where, fields in read_records(path, problems, (NAMES["item"], NAMES["value"])):
        row = renamed(fields, NAMES)
        value, item = _number(row.get("value")), str(row.get("item") or "")
        if not low <= value <= high:
            said = f"is {row.get('value')!r:.40}, no number from {low:g} to {high:g}"
            problems.append(Problem(where, "value", said))
            continue
        if not item:
            problems.append(Problem(where, "item", "is missing"))
            continue
        person, name = str(row.get("person") or ""), str(row.get("dimension") or OVERALL)
        key = str(row.get("run") or ""), item, person
        if name in rows[key]:
            who = f" by {person}" if person else ""
            problems.append(Problem(where, "item", f"{item} is rated twice{who}"))
            continue
        rows[key][name] = (value - low) / (high - low) * MAX_VALUE
        values.append(value)
        dimensions.add(name)
    if problems or not rows:
        problems = problems or [Problem(path.name, "", "holds no ratings")]
        raise InvalidDataError(path, problems, shown=_SHOWN)
    if dimension not in {OVERALL, *dimensions}:
        raise ReportError(f"{path.name}: nobody rated {dimension!r}{meant(dimension, dimensions)}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    found, partial = _means(rows, dimension, dimensions)
    return Ratings(found, dimension, partial, min(values), max(values), digest)


def _number(given: object) -> float:
    try:
        return float(str(given))
    except ValueError:
        return float("nan")


def _means(
    rows: Mapping[tuple[str, str, str], Mapping[str, float]], dimension: str, dimensions: set[str]
) -> tuple[dict[str, dict[str, float]], int]:
    whole = dimensions - {OVERALL}
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (run, item, _), given in rows.items():
        if dimension in given:
            found[run, item].append(given[dimension])
        elif dimension == OVERALL and set(given) == whole:
            found[run, item].append(overall(given))
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for (run, item), each in found.items():
        values[run][item] = float(np.mean(each))
    return values, len(rows) - sum(map(len, found.values()))
