"""The one reader of records: CSV, TSV, JSON lines and JSON from files that nobody vouches for.

Each record comes with its place. A line that cannot be read goes into a list of problems and the
next one is read all the same. What the fields mean is not known here.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple, NoReturn

from audiocapbench.data.problems import Problem, os_errors
from audiocapbench.errors import DatasetError
from audiocapbench.files import unguarded

LONGEST_LINE = 1 << 24
LARGEST_DOCUMENT = 1 << 30
DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")

_MOST_LINES_OF_A_ROW = 1000
_OPEN_QUOTE = "unexpected end of data"

Problems = list[Problem]


class Record(NamedTuple):
    """A record by field name, and the place that it begins at."""

    where: str
    fields: dict[str, Any]


def read_records(
    path: PurePath, problems: Problems, columns: Sequence[str] = (), content: bytes | None = None
) -> Iterator[Record]:
    """The records of a file of whatever form its name says.

    Args:
        path: The file.
        problems: Where to put what cannot be read.
        columns: What the first line of a CSV or TSV file must name.
        content: The bytes of the file, where they are not to be read from disk.

    Raises:
        DatasetError: The file cannot be read, is of another form, or lacks a column.
    """
    suffix = path.suffix.lower()
    if suffix in DELIMITERS:
        yield from csv_records(path, problems, columns, content)
    elif suffix in JSON_LINES:
        yield from json_lines(path, problems, content)
    else:
        raise DatasetError(f"{path}: is neither .csv, .tsv nor .jsonl")


def csv_records(
    path: PurePath, problems: Problems, columns: Sequence[str] = (), content: bytes | None = None
) -> Iterator[Record]:
    """The rows of a CSV file, or of a TSV file if its name says so, by the names above them.

    Raises:
        DatasetError: The file cannot be read, or its first line lacks a column.
    """
    rows = _rows(path, content)
    names = next(rows, (path.name, []))[1]
    if isinstance(names, Problem):
        raise DatasetError(f"{path}: its first line {names.what}")
    check_names(path, names)
    for column in columns:
        if column not in names:
            there = ", ".join(names) or "nothing"
            raise DatasetError(f"{path}: has no column {column!r}; its first line has {there}")
    for where, cells in rows:
        if isinstance(cells, Problem):
            problems.append(cells)
        elif len(cells) != len(names):
            problems.append(uneven(where, cells, len(names)))
        else:
            yield Record(where, dict(zip(names, cells, strict=True)))


def csv_rows(
    path: PurePath, problems: Problems, begins: Callable[[str], bool] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """The rows of a CSV or TSV file that may have no names above them, each with its place.

    An open quote costs its own line only where ``begins`` says whether a first field is surely
    that of a row, and not the rest of another. Spaces after a delimiter do not count.
    """
    for where, cells in _rows(path, None, begins, spaced=True):
        if isinstance(cells, Problem):
            problems.append(cells)
        else:
            yield where, cells


def check_names(path: PurePath, names: Sequence[str]) -> None:
    """Refuse a first line that is not clear."""
    if len(set(names)) < len(names):
        raise DatasetError(f"{path}: its first line names a column twice")


def uneven(where: str, cells: Sequence[str], width: int) -> Problem:
    """What is wrong with a row that has not as many fields as it should."""
    hint = "; a text with commas needs quotes" if len(cells) > width else ""
    return Problem(where, "", f"has {len(cells)} fields and not {width}{hint}")


def json_lines(
    path: PurePath, problems: Problems, content: bytes | None = None
) -> Iterator[Record]:
    """The JSON object of each line that is not blank.

    Raises:
        DatasetError: The file cannot be read.
    """
    for where, text in text_lines(path, problems, content):
        value = parse_json(text, where)
        if isinstance(value, dict):
            yield Record(where, value)
        else:
            wrong = value if isinstance(value, Problem) else None
            problems.append(wrong or Problem(where, "", "is not a JSON object"))


def text_lines(
    path: PurePath, problems: Problems, content: bytes | None = None
) -> Iterator[tuple[str, str]]:
    """The lines that are text and not blank, each with its place and without its end."""
    for where, text in _lines(path, content):
        if isinstance(text, Problem):
            problems.append(text)
        elif text.strip():
            yield where, text


def read_json(path: Path) -> Any:
    """The value of a JSON file, or the ``Problem`` that it has.

    Raises:
        DatasetError: The file cannot be read, or is larger than any of its kind.
    """
    with os_errors(path, "read"):
        if path.stat().st_size > LARGEST_DOCUMENT:
            raise DatasetError(f"{path}: is larger than {LARGEST_DOCUMENT >> 30} GiB")
        return parse_json(path.read_bytes(), path.name)


def parse_json(content: str | bytes, where: str) -> Any:
    """The value of JSON text, or the ``Problem`` that it has; no key may stand twice."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        value = _DECODER.decode(text)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        return Problem(where, "", f"is not UTF-8 (byte {error.start + 1})")
    except UnicodeEncodeError:
        return Problem(where, "", "holds half of a surrogate pair, which is not text")
    except json.JSONDecodeError as error:
        line = f"line {error.lineno} " if error.lineno > 1 else ""
        return Problem(where, "", f"is not JSON ({error.msg}, {line}column {error.colno})")
    except RecursionError:
        return Problem(where, "", "is not JSON (nested too deeply)")
    except ValueError as error:
        return Problem(where, "", f"is not JSON ({error})")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"{twice[:80]!r} stands twice in one object")
    return fields


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_once)


def _rows(
    path: PurePath,
    content: bytes | None,
    begins: Callable[[str], bool] | None = None,
    *,
    spaced: bool = False,
) -> Iterator[tuple[str, list[str] | Problem]]:
    csv.field_size_limit(LONGEST_LINE)
    delimiter = DELIMITERS.get(path.suffix.lower(), ",")

    def parse(text: str) -> list[str]:
        if '"' in text:
            reader = csv.reader([text], delimiter=delimiter, strict=True, skipinitialspace=spaced)
            cells = next(reader)
        else:
            cells = text.split(delimiter)
            cells = [cell.lstrip(" ") for cell in cells] if spaced else cells
        return [unguarded(cell) if cell[:1] == "'" else cell for cell in cells]

    def begins_row(text: str) -> bool:
        return begins is not None and begins(text.partition(delimiter)[0].strip().strip('"'))

    lines = list(_lines(path, content))
    at = 0
    while at < len(lines):
        where, text = lines[at]
        taken = 1
        if isinstance(text, Problem):
            yield where, text
        elif text.strip():
            taken, cells = _row(lines, at, parse, begins_row)
            yield where, cells
        at += taken


def _row(
    lines: Sequence[tuple[str, str | Problem]],
    at: int,
    parse: Callable[[str], list[str]],
    begins_row: Callable[[str], bool],
) -> tuple[int, list[str] | Problem]:
    """How many lines a row takes, and its fields; a quote may be closed on a later line."""
    where = lines[at][0]
    parts: list[str] = []
    for number in range(at, min(len(lines), at + _MOST_LINES_OF_A_ROW)):
        text = lines[number][1]
        if isinstance(text, Problem) or (parts and begins_row(text)):
            break
        parts.append(text)
        if len(parts) > 1 and '"' not in text:
            continue
        try:
            return len(parts), parse("\n".join(parts))
        except csv.Error as error:
            if str(error) != _OPEN_QUOTE and len(parts) == 1:
                return 1, Problem(where, "", f"is not CSV ({error})")
            if str(error) != _OPEN_QUOTE:
                break
    return 1, Problem(where, "", "opens a quote that nothing closes")


def _lines(path: PurePath, content: bytes | None) -> Iterator[tuple[str, str | Problem]]:
    with (
        os_errors(path, "read"),
        Path(path).open("rb") if content is None else io.BytesIO(content) as raw,
        # Bytes that are not UTF-8 become lone surrogates, so that their line can be named.
        io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape") as stream,
    ):
        number = 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            where = f"{path.name} line {number}"
            if len(line) < LONGEST_LINE or line.endswith("\n"):
                yield where, _text(line.removesuffix("\n"), where)
                continue
            while line and not line.endswith("\n"):
                line = stream.readline(LONGEST_LINE)
            yield where, Problem(where, "", f"is longer than {LONGEST_LINE >> 20} MiB")


def _text(line: str, where: str) -> str | Problem:
    try:
        line.encode("utf-8")
    except UnicodeEncodeError as error:
        place = len(line[: error.start].encode()) + 1
        return Problem(where, "", f"is not UTF-8 (byte {place})")
    return Problem(where, "", "holds a NUL character") if "\0" in line else line
