"""Predictions and references from plain files: CSV, TSV or JSONL, without any run.

What cannot be read is listed line by line. A bad line of predictions is left out, and a second
prediction for an id with it; a bad line of references is refused, because every number depends on
it.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.errors import DatasetError

_LARGEST_FIELD = 1 << 27
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")


class Line(NamedTuple):
    """One record of a file, or what is wrong with it."""

    where: str
    fields: dict[str, Any] | Problem


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
    for where, fields in _lines(path, ("id", "prediction")):
        if isinstance(fields, Problem):
            found.bad.append(fields)
            continue
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
    problems = []
    listed = path.suffix.lower() in _JSON_LINES
    column = "references" if listed else "reference"
    for where, fields in _lines(path, ("id", column)):
        if isinstance(fields, Problem):
            problems.append(fields)
            continue
        key = _text(fields, "id")
        captions = _captions(fields.get(column) if listed else [fields.get(column)])
        if key is None:
            problems.append(Problem(where, "id", "is missing or not text"))
        elif captions is None:
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


def _captions(value: Any) -> list[str] | None:
    """The value, if it is a list of captions and none of them is blank."""
    if not isinstance(value, list) or not value:
        return None
    return value if all(isinstance(text, str) and text.strip() for text in value) else None


def _lines(path: Path, columns: tuple[str, str]) -> Iterator[Line]:
    suffix = path.suffix.lower()
    try:
        if suffix in _DELIMITERS:
            yield from _rows(path, _DELIMITERS[suffix], columns)
        elif suffix in _JSON_LINES:
            yield from _objects(path)
        else:
            raise DatasetError(f"{path}: is neither .csv, .tsv nor .jsonl")
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror})") from None


def _objects(path: Path) -> Iterator[Line]:
    with path.open("rb") as stream:
        for number, content in enumerate(stream, start=1):
            line = content.removeprefix(b"\xef\xbb\xbf").strip()
            where = f"{path.name} line {number}"
            if not line:
                continue
            try:
                value = json.loads(line.decode("utf-8"))
                json.dumps(value, ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError:
                what = "holds half of a surrogate pair, which is not text"
                yield Line(where, Problem(where, "", what))
                continue
            except (ValueError, RecursionError) as error:
                yield Line(where, Problem(where, "", f"is not JSON ({_short(error)})"))
                continue
            wrong = None if isinstance(value, dict) else Problem(where, "", "is not a JSON object")
            yield Line(where, wrong or value)


def _rows(path: Path, delimiter: str, columns: tuple[str, str]) -> Iterator[Line]:
    csv.field_size_limit(_LARGEST_FIELD)
    # Bytes that are not UTF-8 become lone surrogates, so that their line can be named.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        reader = csv.DictReader(stream, delimiter=delimiter)
        names = reader.fieldnames or []
        if len(set(names)) < len(names):
            raise DatasetError(f"{path}: its first line names a column twice")
        for column in columns:
            if column not in names:
                there = ", ".join(names) or "nothing"
                raise DatasetError(f"{path}: has no column {column!r}; its first line has {there}")
        try:
            for row in reader:
                where = f"{path.name} line {reader.line_num}"
                yield Line(where, _checked(row, where))
        except csv.Error as error:
            where = f"{path.name} line {reader.line_num}"
            yield Line(where, Problem(where, "", f"is not CSV ({error})"))


def _checked(row: dict[Any, Any], where: str) -> dict[str, Any] | Problem:
    if None in row:
        return Problem(where, "", "has more fields than the first line")
    try:
        "".join(filter(None, row.values())).encode("utf-8")
    except UnicodeEncodeError:
        return Problem(where, "", "is not UTF-8")
    return row


def _short(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error).split(":")[0]
