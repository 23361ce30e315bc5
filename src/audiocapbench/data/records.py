"""The one reader of records: CSV, TSV, JSON lines, JSON and Parquet that nobody vouches for.

A CSV file may have commas, semicolons or tabs between its fields, as its first line shows. A file
of JSON lines may be one JSON document instead. Text is UTF-8, or UTF-16 with its mark.

Each record comes with its place. A line that cannot be read goes into a list of problems and the
next one is read all the same. What the fields mean is not known here.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from audiocapbench.data.json_text import encoding_of, parse_json, read_json
from audiocapbench.data.problems import Problem, os_errors
from audiocapbench.errors import DatasetError
from audiocapbench.files import unguarded

LONGEST_LINE = 1 << 24
DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"
LISTS = ("samples", "data", "items", "predictions", "references", "annotations", "results")
"""Names that the one list of a JSON document may have."""

_MOST_LINES_OF_A_ROW = 1000
_ROWS = 1024
_OPEN_QUOTE = "unexpected end of data"

Problems = list[Problem]
Columns = Sequence[str | Sequence[str]]


class Record(NamedTuple):
    """A record by field name, and the place that it begins at."""

    where: str
    fields: dict[str, Any]


def read_records(
    path: PurePath, problems: Problems, columns: Columns = (), content: bytes | None = None
) -> Iterator[Record]:
    """The records of a file of whatever form its name says.

    Args:
        path: The file.
        problems: Where to put what cannot be read.
        columns: What the first line of a CSV or TSV file must name, each by one name or any of
            several; the first two also name the keys and texts of a JSON object without fields.
        content: The bytes of the file, where they are not to be read from disk.

    Raises:
        DatasetError: The file cannot be read, is of another form, or lacks a column.
    """
    suffix = path.suffix.lower()
    if suffix in DELIMITERS:
        yield from csv_records(path, problems, columns, content)
    elif suffix in JSON_LINES and not is_document(path, content):
        yield from json_lines(path, problems, content)
    elif suffix in (*JSON_LINES, ".json"):
        yield from json_records(path, problems, columns, content)
    elif suffix == PARQUET:
        yield from parquet_records(path, columns, content)
    else:
        raise DatasetError(f"{path}: is neither .csv, .tsv, .jsonl, .json nor .parquet")


def csv_records(
    path: PurePath, problems: Problems, columns: Columns = (), content: bytes | None = None
) -> Iterator[Record]:
    """The rows of a CSV file, or of a TSV file if its name says so, by the names above them.

    Raises:
        DatasetError: The file cannot be read, or its first line lacks a column.
    """
    rows = _rows(path, content, columns=columns)
    names = next(rows, (path.name, []))[1]
    if isinstance(names, Problem):
        raise DatasetError(f"{path}: its first line {names.what}")
    names = [name.strip() for name in names]
    check_names(path, names)
    _check_columns(path, names, columns, "its first line has")
    for where, cells in rows:
        if isinstance(cells, Problem):
            problems.append(cells)
        elif len(cells) != len(names):
            problems.append(uneven(where, cells, len(names)))
        else:
            yield Record(where, dict(zip(names, cells, strict=True)))


def _check_columns(path: PurePath, names: Sequence[str], columns: Columns, there: str) -> None:
    for column in columns:
        if not _is_there(column, names):
            name, *others = _names(column)
            also = f" (or {', '.join(others[:8])})" if others else ""
            there += f" {', '.join(names) or 'nothing'}"
            raise DatasetError(f"{path}: has no column {name!r}{also}; {there}")


def _names(column: str | Sequence[str]) -> Sequence[str]:
    return (column,) if isinstance(column, str) else column


def _is_there(column: str | Sequence[str], names: Sequence[str]) -> bool:
    return bool({plain(name) for name in names} & set(map(plain, _names(column))))


def plain(name: str) -> str:
    """A field's name as names are compared."""
    return name.strip().casefold()


def renamed(fields: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Fields under our names, each taken from the first of the names that people give it."""
    found = dict(fields)
    for ours, theirs in given_names(fields, names).items():
        found[ours] = found.pop(theirs)
    return found


def given_names(fields: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Which field of a record each of our names stands for, where it is there."""
    given = {plain(name): name for name in fields}
    found = {
        ours: ours if ours in fields else next((given[one] for one in theirs if one in given), None)
        for ours, theirs in names.items()
    }
    return {ours: theirs for ours, theirs in found.items() if theirs is not None}


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


def json_records(
    path: PurePath, problems: Problems, columns: Columns = (), content: bytes | None = None
) -> Iterator[Record]:
    """The objects of a JSON document: of a list, of its one list, or of one entry for each key.

    Raises:
        DatasetError: The file cannot be read.
    """
    value = read_json(Path(path)) if content is None else parse_json(content, path.name)
    yield from objects_of(value, path, problems, columns)


def objects_of(
    value: Any, path: PurePath, problems: Problems, columns: Columns = ()
) -> Iterator[Record]:
    """The objects of a JSON document that was read already."""
    if isinstance(value, dict):
        own = [value[name] for name in LISTS if isinstance(value.get(name), list)]
        value = own[0] if own else _by_key(value, columns)
    if not isinstance(value, list):
        wrong = value if isinstance(value, Problem) else None
        problems.append(wrong or Problem(path.name, "", "is no list of JSON objects"))
        return
    for place, fields in enumerate(value):
        where = f"{path.name} [{place}]"
        if isinstance(fields, dict):
            yield Record(where, fields)
        else:
            problems.append(Problem(where, "", "is not a JSON object"))


def parquet_records(
    path: PurePath, wanted: Columns = (), content: bytes | None = None
) -> Iterator[Record]:
    """The rows of a Parquet file, without the bytes of audio that it may hold.

    Raises:
        DatasetError: The file cannot be read or lacks a column, or pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        hint = "reading Parquet needs pyarrow: pip install 'audiocapbench[hub]'"
        raise DatasetError(f"{path}: {hint}") from None
    number = 0
    try:
        with os_errors(path, "read"):
            source: Any = str(path) if content is None else io.BytesIO(content)
            with parquet.ParquetFile(source) as file:
                _check_columns(path, file.schema_arrow.names, wanted, "it has")
                columns = [name for one in file.schema_arrow for name in _readable(one)]
                for batch in file.iter_batches(_ROWS, columns=columns) if columns else ():
                    for row in batch.to_pylist():
                        number += 1
                        yield Record(f"{path.name} row {number}", json_value(row))
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: is not Parquet that can be read ({error!s:.200})") from None


def _readable(column: Any) -> Iterator[str]:
    """A column's name, or those of the parts of it that are not bytes."""
    from pyarrow import types

    if types.is_struct(column.type):
        yield from (f"{column.name}.{name}" for one in column.type for name in _readable(one))
    elif not any(test(column.type) for test in (types.is_binary, types.is_large_binary)):
        yield column.name


def json_value(value: Any) -> Any:
    """What a cell says as JSON has it; a number that is none is nothing."""
    if isinstance(value, dict):
        return {str(key): json_value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [json_value(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _by_key(value: dict[str, Any], columns: Columns) -> list[Any]:
    """Entries by id as objects that say their id; one object that names its fields is itself."""
    if len(columns) < 2 or all(_is_there(one, list(value)) for one in columns):
        return [value]
    key, text = (_names(one)[0] for one in columns[:2])
    return [
        {key: name} | (one if isinstance(one, dict) else {text: one}) for name, one in value.items()
    ]


def is_document(path: PurePath, content: bytes | None = None) -> bool:
    """Whether a file of JSON lines is none, as its first line is no whole object."""
    first = next(
        (one for _, one in _lines(path, content) if isinstance(one, Problem) or one.strip()), ""
    )
    return isinstance(first, str) and (first.lstrip()[:1] == "[" or first.strip() == "{")


def text_lines(
    path: PurePath, problems: Problems, content: bytes | None = None
) -> Iterator[tuple[str, str]]:
    """The lines that are text and not blank, each with its place and without its end."""
    for where, text in _lines(path, content):
        if isinstance(text, Problem):
            problems.append(text)
        elif text.strip():
            yield where, text


def _rows(
    path: PurePath,
    content: bytes | None,
    begins: Callable[[str], bool] | None = None,
    *,
    spaced: bool = False,
    columns: Columns | None = None,
) -> Iterator[tuple[str, list[str] | Problem]]:
    csv.field_size_limit(LONGEST_LINE)
    lines = list(_lines(path, content))
    delimiter = DELIMITERS.get(path.suffix.lower(), ",")
    if columns is not None:
        delimiter = _delimiter(lines, delimiter, columns)

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


def _delimiter(lines: Sequence[tuple[str, str | Problem]], usual: str, columns: Columns) -> str:
    """What stands between the names of the first line: what makes the wanted ones of it.

    Where nothing does, it is what stands there most often; in doubt the usual one.
    """
    first = next((text for _, text in lines if isinstance(text, str) and text.strip()), "")
    quoted = re.findall(r'"([^"]*)"', first)
    unquoted = re.sub(r'"[^"]*"', "", first)
    counts = {one: unquoted.count(one) for one in (usual, ",", ";", "\t")}
    for one in counts if columns else ():
        names = [*unquoted.split(one), *quoted]
        if all(_is_there(column, names) for column in columns):
            return one
    return max(counts, key=counts.__getitem__)


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
        Path(path).open("rb") if content is None else io.BufferedReader(io.BytesIO(content)) as raw,
        # Bytes that are not UTF-8 become lone surrogates, so that their line can be named.
        io.TextIOWrapper(raw, encoding_of(raw.peek(4)), "surrogateescape") as stream,
    ):
        number = 0
        while line := _next_line(stream, path):
            number += 1
            where = f"{path.name} line {number}"
            if len(line) < LONGEST_LINE or line.endswith("\n"):
                yield where, _text(line.removesuffix("\n"), where)
                continue
            while line and not line.endswith("\n"):
                line = _next_line(stream, path)
            yield where, Problem(where, "", f"is longer than {LONGEST_LINE >> 20} MiB")


def _next_line(stream: io.TextIOWrapper, path: PurePath) -> str:
    try:
        return stream.readline(LONGEST_LINE)
    except UnicodeDecodeError:
        raise DatasetError(f"{path}: is not UTF-16 throughout; save it as UTF-8") from None


def _text(line: str, where: str) -> str | Problem:
    try:
        line.encode("utf-8")
    except UnicodeEncodeError as error:
        place = len(line[: error.start].encode()) + 1
        return Problem(where, "", f"is not UTF-8 (byte {place}); save it as UTF-8")
    return Problem(where, "", "holds a NUL character") if "\0" in line else line
