"""Records of CSV and TSV files in which any line may be broken, each with the line it begins on.

An open quote costs its own line only: a record never swallows a line that is a record by itself.
"""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks.mecat.lines import LONGEST_LINE, Line, text_lines
from audiocapbench.data import Problem

_LONGEST_RECORD = 100
_OPEN = "unexpected end of data"


class Record(NamedTuple):
    """The fields of a record, or what is wrong with it."""

    where: str
    fields: list[str] | Problem


def csv_records(path: Path, delimiter: str, begins: Callable[[str], bool]) -> Iterator[Record]:
    """Read records one after the other.

    Args:
        path: The file.
        delimiter: What stands between fields.
        begins: Whether a first field is surely that of a record, and not the rest of another.

    Raises:
        DatasetError: The file cannot be read.
    """
    csv.field_size_limit(LONGEST_LINE)
    lines = list(text_lines(path))
    at = 0
    while at < len(lines):
        line = lines[at]
        taken, fields = 1, _fields(line, delimiter)
        if fields is None:
            taken, fields = _continued(lines, at, delimiter, begins)
        at += taken
        yield Record(line.where, fields)


def _continued(
    lines: list[Line], at: int, delimiter: str, begins: Callable[[str], bool]
) -> tuple[int, list[str] | Problem]:
    """A record whose quote is still open at the end of its line, and how many lines it takes."""
    where, text = lines[at].where, str(lines[at].text)
    for more in range(1, min(_LONGEST_RECORD, len(lines) - at)):
        following = lines[at + more]
        if isinstance(following.text, Problem):
            break
        if begins(following.text.partition(delimiter)[0].strip().strip('"')):
            break
        text = f"{text}\n{following.text}"
        fields = _fields(Line(0, where, text), delimiter)
        if fields is not None:
            return more + 1, fields
    return 1, Problem(where, "", "opens a quote that nothing closes")


def _fields(line: Line, delimiter: str) -> list[str] | Problem | None:
    """The fields of a line; None where a quote is still open."""
    if isinstance(line.text, Problem):
        return line.text
    try:
        return next(
            csv.reader([line.text], delimiter=delimiter, strict=True, skipinitialspace=True)
        )
    except csv.Error as error:
        if str(error) == _OPEN:
            return None
        return Problem(line.where, "", f"is not CSV ({error})")
