"""Predictions and references from plain files: CSV, TSV or JSONL, without any run.

What cannot be read is listed line by line. A bad line of predictions is left out, and a second
prediction for an id with it; a bad line of references is refused, because every number depends on
it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import DELIMITERS, read_records
from audiocapbench.errors import DatasetError


@dataclass(slots=True)
class Predictions:
    """Texts by id, and the lines that could not be read."""

    texts: dict[str, str] = field(default_factory=dict)
    bad: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class References:
    """Captions by id, and the category of those that have one."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)


def read_predictions(path: Path) -> Predictions:
    """Read ``id,prediction`` rows or lines; an id may be repeated with the same text.

    Raises:
        DatasetError: The file cannot be read, or has no such columns.
    """
    found = Predictions()
    for where, fields in read_records(path, found.bad, ("id", "prediction")):
        key, text = _text(fields, "id"), _text(fields, "prediction")
        if key is None or text is None:
            name = "id" if key is None else "prediction"
            found.bad.append(Problem(where, name, "is missing or not text"))
        elif found.texts.setdefault(key, text) != text:
            found.bad.append(Problem(where, "id", f"{key!r} has another prediction above"))
    return found


def read_references(path: Path) -> References:
    """Read ``id,reference`` rows, a row a reference, or lines with ``id`` and ``references``.

    Raises:
        InvalidDataError: Lines are wrong; all of them are listed.
        DatasetError: The file cannot be read, or has no such columns.
    """
    found = References()
    problems: list[Problem] = []
    listed = path.suffix.lower() not in DELIMITERS
    column = "references" if listed else "reference"
    for where, fields in read_records(path, problems, ("id", column)):
        key = _text(fields, "id")
        captions = fields.get(column) if listed else [fields.get(column)]
        if key is None:
            problems.append(Problem(where, "id", "is missing or not text"))
        elif not isinstance(captions, list) or not captions or not all(map(_has_words, captions)):
            problems.append(Problem(where, column, "is missing, blank or not text"))
        elif listed and key in found.texts:
            problems.append(Problem(where, "id", f"{key!r} has references above"))
        else:
            found.texts.setdefault(key, []).extend(captions)
            category = _text(fields, "category")
            if category and found.categories.setdefault(key, category) != category:
                problems.append(Problem(where, "category", f"{key!r} has another one above"))
    if problems:
        raise InvalidDataError(path, problems)
    if not found.texts:
        raise DatasetError(f"{path}: holds no references")
    return found


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def _has_words(caption: Any) -> bool:
    return isinstance(caption, str) and bool(caption.strip())
