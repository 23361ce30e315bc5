"""The one reader of people's files, CSV, TSV, JSON lines, JSON, Parquet and plain text; and rows
that are written for it.

A CSV file may have commas, semicolons or tabs between its fields, as its first line shows. A file
of JSON lines may be one JSON document instead. Text is UTF-8, or UTF-16 with its mark. A line that
cannot be read goes into a list of problems, and the next one is read all the same.
"""

import codecs
import csv
import io
import json
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from audiocapbench.data.problems import Problem, encoding_of, os_errors, parse_json, read_json
from audiocapbench.errors import DatasetError
from audiocapbench.files import csv_text, unguarded
from audiocapbench.plugins import require_packages

FILES = ("file_name", "audio_file", "filename", "file", "fname", "audio", "path")
IDS = ("id", *FILES, "key", "__key__", "clip", "clip_id")
# A caption beside something that is surely a prediction is a reference: it comes after them.
PREDICTIONS = (
    *("prediction", "predicted_caption", "caption_predicted", "answer", "output", "response"),
    *("hypothesis", "caption", "text"),
)
REFERENCES = ("references", "reference_captions", "captions", "reference", "caption", "raw_text")
SYSTEMS = ("model", "system", "model_name", "model_id")
NUMBERED = tuple(f"{name}_{n}" for name in ("caption", "reference") for n in range(1, 21))
"""Names as people write them, ours first."""

LONGEST_LINE = 1 << 24
DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
_LISTS = ("samples", "data", "items", "predictions", "references", "annotations", "results")
_MOST_LINES_OF_A_ROW = 1000
_ROWS = 1024
_OPEN_QUOTE = "unexpected end of data"

Columns = Sequence[str | Sequence[str]]
"""Columns that a file must have, each by one name or any of several."""

Roles = Mapping[str, Sequence[str]]
"""Our names, each with those that people give it."""

Problems = list[Problem]
Record = tuple[str, dict[str, Any]]
"""The place that a record begins at, and its fields by name."""

_Line = tuple[str, str | Problem]


def fold_name(name: str) -> str:
    return name.strip().casefold()


def _names_of(column: str | Sequence[str]) -> Sequence[str]:
    return (column,) if isinstance(column, str) else column


def _has_column(column: str | Sequence[str], names: Iterable[str]) -> bool:
    return bool(set(map(fold_name, names)) & set(map(fold_name, _names_of(column))))


def names_by_role(names: Iterable[str], roles: Roles) -> Mapping[str, str]:
    """Which of a file's names stands for each of ours, where one does; each for one at most."""
    return _names_by_role(tuple(names), tuple((role, tuple(own)) for role, own in roles.items()))


@lru_cache  # the rows of a file have the same names
def _names_by_role(names: tuple[str, ...], roles: tuple[Any, ...]) -> Mapping[str, str]:
    folded = {fold_name(name): name for name in names}
    exact = set(folded.values())
    found: dict[str, str] = {}
    for role, theirs in roles:
        wanted = [role] if role in exact else [folded[one] for one in theirs if one in folded]
        if left := [one for one in wanted if one not in found.values()]:
            found[role] = left[0]
    return found


def renamed(fields: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """Fields under our names, each taken from the first of the names that people give it."""
    found = dict(fields)
    for role, name in names_by_role(fields, roles).items():
        if role != name:
            found[role] = found.pop(name)
    return found


def renamed_texts(fields: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """The same, with whole numbers, and audio as Hugging Face has it, as text."""
    found = renamed(fields, roles)
    for name in found.keys() & roles.keys():
        value = found[name]
        if isinstance(value, dict):
            found[name] = value.get("path")
        elif isinstance(value, int) and not isinstance(value, bool):
            found[name] = str(value)
    return found


def read_records(
    path: PurePath,
    problems: Problems,
    columns: Columns = (),
    content: bytes | None = None,
    known: Container[str] = (),
    roles: Roles | None = None,
) -> Iterator[Record]:
    """The records of a file, or of its ``content``, of whatever form its name says.

    What cannot be read goes into ``problems``; DatasetError where that is the whole file. A table
    must name ``columns``; the first two also name the keys and texts of a JSON object without
    fields. Where ``known`` ids are given, a table may have none but rows, a line of JSON be
    ``{ID: TEXT}`` and one of text ``ID TEXT``. Fields are renamed by ``roles``.
    """
    suffix = path.suffix.lower()
    if suffix in DELIMITERS:
        yield from _table(path, problems, columns, content, known, roles or {})
        return
    records: Iterator[Record]
    if suffix in JSON_LINES and (value := _document(path, content)) is None:
        lines = json_lines(path, problems, content)
        records = ((where, one) for where, line in lines for one in _by_key(line, columns, known))
    elif suffix in (*JSON_LINES, ".json"):
        value = read_json(path, content) if suffix == ".json" else value
        records = objects_of(value, path, problems, columns, known)
    elif suffix == ".parquet":
        records = _parquet(path, columns, content)
    elif suffix == ".txt" and known:
        records = _plain_text(path, problems, columns, known)
    else:
        also = ", .parquet nor .txt" if known else " nor .parquet"
        raise DatasetError(f"{path}: is neither .csv, .tsv, .jsonl, .json{also}")
    for where, fields in records:
        yield where, renamed_texts(fields, roles) if roles else fields


def table_text(rows: Sequence[Mapping[str, Any]], suffix: str, names: Sequence[str]) -> str:
    """Rows as JSON lines if the suffix says so, else CSV or TSV, where references have columns of
    their own, as many as any row has; ``names`` are the first columns."""
    if suffix in JSON_LINES:
        lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
        return "".join(f"{line}\n" for line in lines)
    most = max((len(row["references"]) for row in rows), default=0)
    parts = [f"reference_{n + 1}" for n in range(most)]
    found = dict.fromkeys([*names, *(name for row in rows for name in row)])
    columns = [one for name in found for one in (parts if name == "references" else [name])]
    flat = [{**row, **dict(zip(parts, row["references"], strict=False))} for row in rows]
    cells = [[row.get(name) for name in columns] for row in flat]
    return csv_text([columns, *cells], DELIMITERS.get(suffix, ","))


def json_lines(
    path: PurePath, problems: Problems, content: bytes | None = None
) -> Iterator[Record]:
    """The JSON object of each line that is not blank."""
    for where, text in _text_lines(path, problems, content):
        value = parse_json(text, where)
        if isinstance(value, dict):
            yield where, value
        else:
            wrong = value if isinstance(value, Problem) else None
            problems.append(wrong or Problem(where, "", "is not a JSON object"))


def objects_of(
    value: Any,
    path: PurePath,
    problems: Problems,
    columns: Columns = (),
    known: Container[str] = (),
) -> Iterator[Record]:
    """The objects of a JSON document: of a list, of its one list, or of one entry for each key."""
    named, by_id = "", isinstance(value, dict)
    if isinstance(value, dict):
        lists = [name for name in _LISTS if isinstance(value.get(name), list)]
        single = len(columns) > 1 and all(_has_column(one, value) for one in columns[:2])
        named = lists[0] if lists and not single else ""
        by_id = not named
        value = value[named] if named else _by_key(value, columns)
    if not isinstance(value, list):
        wrong = value if isinstance(value, Problem) else None
        problems.append(wrong or Problem(path.name, "", "is no list of JSON objects"))
        return
    for place, fields in enumerate(value):
        where = f"{path.name} {named}[{place}]"
        if isinstance(fields, dict):
            objects = [fields] if by_id else _by_key(fields, columns, known)
            yield from ((where, one) for one in objects)
        else:
            problems.append(Problem(where, "", "is not a JSON object"))


def _by_key(
    value: dict[str, Any], columns: Columns, known: Container[str] | None = None
) -> list[Any]:
    """Entries by id as objects that say their id; one object that names its fields is itself.

    An object within a file is by id only where ids are known, and it has one or no field of ours.
    """
    if len(columns) < 2 or (known is not None and not known):
        return [value]
    there = [_has_column(one, value) for one in columns[:2]]
    if known is None and all(there):
        return [value]
    if known is not None and any(there) and not any(key in known for key in value):
        return [value]
    key, text = (_names_of(one)[0] for one in columns[:2])
    found = []
    for name, one in value.items():
        fields = one if isinstance(one, dict) else {text: one}
        # An object that names its file is called by its key.
        found.append({"id" if _has_column(columns[0], fields) else key: name} | fields)
    return found


def _parquet(path: PurePath, columns: Columns, content: bytes | None) -> Iterator[Record]:
    """The rows of a Parquet file, without the bytes of audio that it may hold."""
    require_packages(DatasetError, f"{path}: reading Parquet", "hub", "pyarrow")
    from pyarrow import parquet

    number = 0
    source: Any = str(path) if content is None else io.BytesIO(content)
    with table_errors(path), parquet.ParquetFile(source) as file:
        _check_columns(path, file.schema_arrow.names, columns, "it has")
        wanted = [name for one in file.schema_arrow for name in _readable(one)]
        for batch in file.iter_batches(_ROWS, columns=wanted) if wanted else ():
            for row in batch.to_pylist():
                number += 1
                yield f"{path.name} row {number}", json_value(row)


@contextmanager
def table_errors(path: PurePath) -> Iterator[None]:
    """Turns what pyarrow says about a damaged file into a sentence."""
    from pyarrow import ArrowException

    try:
        with os_errors(path, "read"):
            yield
    except (ArrowException, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: is no table that can be read ({error!s:.200})") from None


def _readable(column: Any) -> Iterator[str]:
    """A column's name, or those of the parts of it that are not bytes."""
    from pyarrow import types

    if types.is_struct(column.type):
        yield from (f"{column.name}.{name}" for one in column.type for name in _readable(one))
    elif not (types.is_binary(column.type) or types.is_large_binary(column.type)):
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


def _document(path: PurePath, content: bytes | None) -> Any:
    """What a file of JSON lines says that is one document instead; None where it has lines."""
    lines = (text for _, text in _lines(path, content) if isinstance(text, Problem) or text.strip())
    first = next(lines, "")
    start = "" if isinstance(first, Problem) else first.strip()
    if start != "{" and start[:1] != "[":
        return None
    value = read_json(path, content)
    if len(start) > 1:
        listed = isinstance(value, list) and any(isinstance(one, dict) for one in value)
        return value if listed else None
    hint = "; write one object a line, without line breaks in it"
    return value._replace(what=f"{value.what}{hint}") if isinstance(value, Problem) else value


def _plain_text(
    path: PurePath, problems: Problems, columns: Columns, known: Container[str]
) -> Iterator[Record]:
    names = [_names_of(one)[0] for one in columns[:2]]
    for where, line in _text_lines(path, problems):
        key, _, text = line.partition("\t") if "\t" in line else line.strip().partition(" ")
        if text.strip() or key.strip() in known:
            yield where, dict(zip(names, (key.strip(), text.strip()), strict=True))
        else:
            problems.append(Problem(where, "", "has no text after its key"))


def _text_lines(
    path: PurePath, problems: Problems, content: bytes | None = None
) -> Iterator[tuple[str, str]]:
    """The lines that are text and not blank, each with its place and without its end."""
    for where, text in _lines(path, content):
        if isinstance(text, Problem):
            problems.append(text)
        elif text.strip():
            yield where, text


def _table(
    path: PurePath,
    problems: Problems,
    columns: Columns,
    content: bytes | None,
    known: Container[str],
    roles: Roles,
) -> Iterator[Record]:
    """The rows of a table by the names above them, or, where ids are known, of a key and a text."""
    csv.field_size_limit(LONGEST_LINE)
    lines = list(_lines(path, content))
    delimiter = _delimiter(lines, DELIMITERS[path.suffix.lower()], columns)
    names: list[str] = []
    for where, cells in _rows(lines, delimiter, known):
        if not names:
            if isinstance(cells, Problem) and not known:
                raise DatasetError(f"{path}: its first line {cells.what}")
            names = [] if isinstance(cells, Problem) else [name.strip() for name in cells]
            if known and (not any(_has_column(one, names) for one in columns) or names[0] in known):
                names = [_names_of(one)[0] for one in columns[:2]]
            else:
                if len(set(names)) < len(names):
                    raise DatasetError(f"{path}: its first line names a column twice")
                _check_columns(path, names, columns, "its first line has")
                ours = {name: role for role, name in names_by_role(names, roles).items()}
                names = [ours.get(name, name) for name in names]
                continue
        if isinstance(cells, Problem):
            problems.append(cells)
        elif len(cells) == len(names):
            yield where, dict(zip(names, cells, strict=True))
        else:
            hint = "; a text with commas needs quotes" if len(cells) > len(names) else ""
            what = f"has {len(cells)} fields and not {len(names)}{hint}"
            problems.append(Problem(where, "", what))
    if not names:
        _check_columns(path, [], columns, "its first line has")


def _check_columns(path: PurePath, names: Sequence[str], columns: Columns, there: str) -> None:
    for column in columns:
        if not _has_column(column, names):
            name, *others = _names_of(column)
            also = f" (or {', '.join(others[:8])})" if others else ""
            there += f" {', '.join(names) or 'nothing'}"
            raise DatasetError(f"{path}: has no column {name!r}{also}; {there}")


def _delimiter(lines: Sequence[_Line], usual: str, columns: Columns) -> str:
    """The delimiter that makes the wanted names of the first line, or else the most frequent."""
    first = next((text for _, text in lines if isinstance(text, str) and text.strip()), "")
    quoted = re.findall(r'"([^"]*)"', first)
    unquoted = re.sub(r'"[^"]*"', "", first)
    counts = {one: unquoted.count(one) for one in (usual, ",", ";", "\t")}
    for one in counts if columns else ():
        names = [*unquoted.split(one), *quoted]
        if all(_has_column(column, names) for column in columns):
            return one
    return max(counts, key=counts.__getitem__)


def _rows(
    lines: Sequence[_Line], delimiter: str, known: Container[str]
) -> Iterator[tuple[str, list[str] | Problem]]:
    """The fields of each row. A quote that nothing closes costs its own line only.

    Where ids are known, a line that begins with one begins a row, and spaces after a delimiter do
    not count.
    """
    at = 0

    def row_lines(start: int) -> Iterator[str]:
        nonlocal at
        for at in range(start, min(len(lines), start + _MOST_LINES_OF_A_ROW)):
            text = lines[at][1]
            key = "" if isinstance(text, Problem) else text.partition(delimiter)[0]
            if isinstance(text, Problem) or (at > start and key.strip().strip('"') in known):
                return
            yield f"{text}\n"

    while at < len(lines):
        (where, text), start = lines[at], at
        if isinstance(text, Problem):
            yield where, text
        elif text.strip():
            reader = csv.reader(
                row_lines(at), delimiter=delimiter, strict=True, skipinitialspace=bool(known)
            )
            try:
                yield where, [unguarded(cell) for cell in next(reader)]
            except csv.Error as error:
                closed = str(error) != _OPEN_QUOTE and at == start
                what = f"is not CSV ({error})" if closed else "opens a quote that nothing closes"
                at = start
                yield where, Problem(where, "", what)
        at += 1


def _lines(path: PurePath, content: bytes | None) -> Iterator[_Line]:
    """Each line with its place and without its end, or what is wrong with it."""
    if content is None:
        with os_errors(path, "read"):
            content = Path(path).read_bytes()
    if encoding_of(content) == "utf-16":
        try:
            content = content.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise DatasetError(f"{path}: is not UTF-16 throughout; save it as UTF-8") from None
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).splitlines(), start=1):
        where = f"{path.name} line {number}"
        try:
            text = line.decode()
            what = "holds a NUL character" if "\0" in text else ""
        except UnicodeDecodeError as error:
            what = f"is not UTF-8 (byte {error.start + 1}); save it as UTF-8"
        if len(line) >= LONGEST_LINE:
            what = f"is longer than {LONGEST_LINE >> 20} MiB"
        yield where, Problem(where, "", what) if what else text
