"""The one reader of people's files, CSV, TSV, JSON lines, JSON, Parquet, Excel and plain text; and
rows that are written for it.

A CSV file may have commas, semicolons, tabs or bars between its fields, as its first line shows. A
file of JSON lines may be one JSON document instead. Text is UTF-8, or UTF-16 with its mark; of
other encodings a Reading tells. A line that cannot be read goes into a list of problems, and the
next one is read all the same.
"""

import codecs
import csv
import io
import json
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from numbers import Real
from pathlib import PurePath
from typing import Any

from audiocapbench.data.columns import (
    Mapped,
    Reading,
    Roles,
    fill_pattern,
    has_column,
    names_of,
    under_roles,
)
from audiocapbench.data.documents import Columns, Problems, Record, by_key, objects_of
from audiocapbench.data.problems import (
    Problem,
    encoding_of,
    form_of,
    os_errors,
    parse_json,
    read_bytes,
    read_json,
)
from audiocapbench.errors import DatasetError
from audiocapbench.files import csv_text, unguarded
from audiocapbench.plugins import require_packages

LONGEST_LINE = 1 << 24
DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
_MOST_LINES_OF_A_ROW = 1000
_ROWS = 1024
_OPEN_QUOTE = "unexpected end of data"

_AS_IT_IS = {str, list, type(None)}

_Line = tuple[str, str | Problem]


def _with_texts(fields: dict[str, Any], roles: Roles) -> dict[str, Any]:
    """Fields with whole numbers, and audio as Hugging Face has it, as text."""
    for name in roles:
        value = fields.get(name)
        if type(value) in _AS_IT_IS:
            continue
        if isinstance(value, dict) and "path" in value:
            fields[name] = value["path"]
        elif isinstance(value, int) and not isinstance(value, bool):
            fields[name] = str(value)
        elif isinstance(value, float) and value.is_integer():
            fields[name] = str(int(value))
    return fields


def opened(path: PurePath, reading: Reading | None = None) -> bytes:
    """What a file holds, once it is unpacked and, for a Reading, UTF-8."""
    if reading is not None and reading.content is not None:
        return reading.content
    content = read_bytes(path)
    if reading is not None and reading.guesses and form_of(path) not in (".parquet", *SHEETS):
        encoding = encoding_of(content, guess=True)
        if encoding not in ("utf-8-sig", "utf-16"):
            reading.encoding = "Windows-1252" if encoding == "cp1252" else encoding.upper()
            reading.note(f"it is not UTF-8, and was read as {reading.encoding}")
            content = content.decode(encoding, "replace").encode()
    return content


def read_records(
    path: PurePath,
    problems: Problems,
    columns: Columns = (),
    content: bytes | None = None,
    known: Container[str] = (),
    roles: Roles | None = None,
    reading: Reading | None = None,
) -> Iterator[Record]:
    """The records of a file, or of its ``content``, of whatever form its name says.

    What cannot be read goes into ``problems``; DatasetError where that is the whole file. A table
    must name ``columns``; the first two also name the keys and texts of a JSON object without
    fields. Where ``known`` ids are given, a table may have none but rows, a line of JSON be
    ``{ID: TEXT}`` and one of text ``ID TEXT``. Fields are renamed by ``roles``, and by the columns
    that the user names in the ``reading``, which tells how it went.
    """
    if content is None and path.suffix.lower() != ".parquet":
        content = opened(path, reading)
    suffix, given = form_of(path), reading.mapped if reading is not None else None
    suffix = ".jsonl" if reading is not None and reading.content is not None else suffix
    records: Iterator[Record]
    if suffix in (*DELIMITERS, *SHEETS):
        records = _table(path, problems, columns, content or b"", known, given)
    elif suffix in JSON_LINES and (value := _document(path, content)) is None:
        lines = json_lines(path, problems, content)
        records = ((where, one) for where, line in lines for one in by_key(line, columns, known))
    elif suffix in (*JSON_LINES, ".json"):
        value = read_json(path, content) if suffix == ".json" else value
        records = objects_of(value, path, problems, columns, known)
    elif suffix == ".parquet":
        records = _parquet(path, columns, content, given)
    elif suffix == ".txt" and known:
        records = _plain_text(path, problems, columns, known)
    else:
        also = ", .parquet, .xlsx nor .txt" if known else ", .parquet nor .xlsx"
        raise DatasetError(f"{path}: is neither .csv, .tsv, .jsonl, .json{also}")
    yield from records if roles is None else under_our_names(records, path, roles, reading)


def under_our_names(
    records: Iterable[Record], path: PurePath, roles: Roles, reading: Reading | None
) -> Iterator[Record]:
    """Records by role: each name of a file stands for one of ours, the same in all its records."""
    reading = reading if reading is not None else Reading(path)
    plans: dict[tuple[str, ...], dict[str, str]] = {}
    for where, fields in records:
        reading.rows += 1
        names = tuple(fields)
        if names not in plans:
            plans[names] = reading.named(names, roles)
        kept = reading.keep.items()
        if kept and any(str(fields.get(name, value)) != value for name, value in kept):
            continue
        reading.check_equal(fields)
        if reading.several:
            fields["references"] = [fields[one] for one in reading.several if fields[one]]
        row = under_roles(fields, plans[names], reading.needed)
        if reading.pattern:
            row["file_name"] = fill_pattern(reading.pattern, fields)
        yield where, _with_texts(row, roles)


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


def _parquet(
    path: PurePath, columns: Columns, content: bytes | None, given: Mapped | None
) -> Iterator[Record]:
    """The rows of a Parquet file, without the bytes of audio that it may hold."""
    require_packages(DatasetError, f"{path}: reading Parquet", "hub", "pyarrow")
    from pyarrow import parquet

    number = 0
    source: Any = str(path) if content is None else io.BytesIO(content)
    with table_errors(path), parquet.ParquetFile(source) as file:
        _check_columns(path, file.schema_arrow.names, columns, "it has", given)
        wanted = [name for one in file.schema_arrow for name in _readable(one, file)]
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


def _readable(column: Any, file: Any = None) -> Iterator[str]:
    """A column's name, or those of the parts of it that are not bytes; of a ``file``, bytes that
    are text are."""
    from pyarrow import types

    if types.is_struct(column.type):
        yield from (f"{column.name}.{name}" for one in column.type for name in _readable(one))
    elif not (types.is_binary(column.type) or types.is_large_binary(column.type)):
        yield column.name
    elif file is not None:
        batches = file.iter_batches(1, columns=[column.name])
        first = next((one for batch in batches for one in batch.column(0).to_pylist() if one), b"")
        if json_value(first):
            yield column.name


def json_value(value: Any) -> Any:
    """What a cell says as JSON has it; a number that is none, and NA of pandas, is nothing."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {str(key): json_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [json_value(one) for one in value]
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
        return None
    if is_missing(value) or (isinstance(value, float) and math.isinf(value)):
        return None
    return value if isinstance(value, str | int | float) else str(value)


def is_missing(value: object) -> bool:
    """Whether a value is what Python, NumPy or pandas have where there is none."""
    nan = isinstance(value, Real) and math.isnan(value)
    return value is None or nan or type(value).__name__ in ("NAType", "NaTType")


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
    names = [names_of(one)[0] for one in columns[:2]]
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
    content: bytes,
    known: Container[str],
    given: Mapped | None,
) -> Iterator[Record]:
    """The rows of a table by the names above them, or, where ids are known, of a key and a text."""
    names: list[str] = []
    rows: Iterator[tuple[str, list[str] | Problem]]
    delimiter, counted = ",", False
    if form_of(path) in SHEETS:
        rows = _sheet(path, content)
    else:
        csv.field_size_limit(LONGEST_LINE)
        lines = list(_lines(path, content))
        delimiter = _delimiter(lines, DELIMITERS[form_of(path)], columns, known)
        counted = any(str(text).startswith(f'"1"{delimiter}') for _, text in lines[1:2])
        rows = _rows(lines, delimiter, known)
    for where, cells in rows:
        if not names:
            if isinstance(cells, Problem) and not known:
                raise DatasetError(f"{path}: its first line {cells.what}")
            names = [] if isinstance(cells, Problem) else [name.strip() for name in cells]
            named = given or any(has_column(one, names) for one in columns)
            if known and (not named or (names and names[0] in known)):
                names = [names_of(one)[0] for one in columns[:2]]
            else:
                _check_columns(path, names, columns, "its first line has", given)
                continue
        if not isinstance(cells, Problem) and counted and len(cells) == len(names) + 1:
            names, counted = ["", *names], False  # R numbers rows, and the numbers have no name
        if isinstance(cells, Problem):
            problems.append(cells)
        elif len(cells) == len(names) and (
            [one.strip() for one in cells] != names or not names[1:]
        ):
            yield where, dict(zip(names, cells, strict=True))
        else:
            sign = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}[delimiter]
            hint = f"; a text with {sign} needs quotes" if len(cells) > len(names) else ""
            what = f"has {len(cells)} fields and not {len(names)}{hint}"
            again = "names the columns again; take that line out"
            problems.append(Problem(where, "", again if len(cells) == len(names) else what))
    if not names:
        _check_columns(path, [], columns, "its first line has", given)


def _sheet(path: PurePath, content: bytes) -> Iterator[tuple[str, list[str] | Problem]]:
    """The rows of a workbook's first sheet that holds some."""
    require_packages(DatasetError, f"{path}: reading Excel", "xlsx", "python_calamine")
    from python_calamine import CalamineWorkbook

    try:
        book = CalamineWorkbook.from_object(io.BytesIO(content))
        every = [book.get_sheet_by_name(name).to_python() for name in book.sheet_names]
    except Exception as error:  # a damaged file can fail in any way
        raise DatasetError(f"{path}: is no workbook that can be read ({error!s:.200})") from None
    filled = [rows for rows in every if len(rows) > 1]
    if len(filled) > 1:
        raise DatasetError(f"{path}: has {len(filled)} sheets with rows; save the one as CSV")
    for number, row in enumerate(filled[0] if filled else (), 1):
        cells = [int(one) if isinstance(one, float) and one.is_integer() else one for one in row]
        if any(one != "" for one in cells):
            yield f"{path.name} row {number}", [str(one) for one in cells]


def _check_columns(
    path: PurePath, names: Sequence[str], columns: Columns, there: str, given: Mapped | None
) -> None:
    if len(set(names)) < len(names):
        raise DatasetError(f"{path}: {there.removesuffix(' has')} names a column twice")
    for column in columns:
        if not has_column(column, [*names, *(given or ())]):
            name, *others = names_of(column)
            also = f" (or {', '.join(others[:8])})" if others else ""
            there += f" {', '.join(names) or 'nothing'}"
            how = f"; name it: `columns` {name}=COLUMN" if given is not None and names else ""
            raise DatasetError(f"{path}: has no column {name!r}{also}; {there}{how}")


def _delimiter(lines: list[_Line], usual: str, columns: Columns, known: Container[str]) -> str:
    """What stands between the wanted names of the first line, or after an id, or else makes most
    fields of it; a line before it may say so, as Excel has it, and is taken out."""
    place = next(
        (n for n, (_, text) in enumerate(lines) if isinstance(text, Problem) or text.strip()), 0
    )
    first = lines[place][1] if lines else ""
    if isinstance(first, Problem):
        return usual
    if said := re.fullmatch(r'"?sep=([,;\t|])"?[,;]*', first, re.IGNORECASE):
        del lines[: place + 1]
        return said[1]
    found: dict[str, list[str]] = {}
    for one in (usual, ",", ";", "\t", "|"):
        try:
            found[one] = next(csv.reader([first], delimiter=one, strict=True))
        except csv.Error:
            found[one] = first.split(one)
    for one, names in found.items():
        if names and names[0].strip() in known:
            return one
        if columns and all(has_column(column, names) for column in columns):
            return one
    return max(found, key=lambda one: len(found[one]))


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
        elif text.strip() and '"' not in text:  # a reader for each line takes five times as long
            cells = text.split(delimiter)
            yield where, [unguarded(one.lstrip(" ") if known else one) for one in cells]
        elif text.strip():
            reader = csv.reader(
                row_lines(at), delimiter=delimiter, strict=True, skipinitialspace=bool(known)
            )
            try:
                cells = next(reader)
                _check_quoted(lines, start, at, delimiter)
                yield where, [unguarded(cell) for cell in cells]
            except csv.Error as error:
                closed = str(error) != _OPEN_QUOTE and at == start
                what = f"is not CSV ({error})" if closed else "opens a quote that nothing closes"
                at = start
                yield where, Problem(where, "", what)
        at += 1


def _check_quoted(lines: Sequence[_Line], start: int, end: int, delimiter: str) -> None:
    """Refuse a row whose lines are rows themselves, where a quotation mark is a part of a text."""
    spans = [(lines[0], *lines[start : end + 1]), lines if delimiter != "\t" else lines[:1]]
    counts = (
        {text.count(delimiter) for _, text in span if isinstance(text, str) and text.strip()}
        for span in spans
    )
    if end > start and all(len(one) == 1 and one != {0} for one in counts):
        raise DatasetError(
            f"{lines[start][0]}: a quotation mark opens and is closed {end - start} lines below, "
            "with rows between; save the file with quotes around its texts, or without any"
        )


def _lines(path: PurePath, content: bytes | None) -> Iterator[_Line]:
    """Each line with its place and without its end, or what is wrong with it."""
    content = read_bytes(path) if content is None else content
    if encoding_of(content) == "utf-16":
        try:
            content = content.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise DatasetError(f"{path}: is not UTF-16 throughout; save it as UTF-8") from None
    place = f"{path.name} {'line' if path.suffix else 'row'}"
    content = content.removeprefix(codecs.BOM_UTF8)
    # No list of them all, where there is one way to end a line.
    lines = content.splitlines() if b"\r" in content else io.BytesIO(content)
    for number, ended in enumerate(lines, start=1):
        line = ended.removesuffix(b"\n")
        where = f"{place} {number}"
        try:
            text = line.decode()
            what = "holds a NUL character" if "\0" in text else ""
        except UnicodeDecodeError as error:
            what = f"is not UTF-8 (byte {error.start + 1}); save it as UTF-8"
        if len(line) >= LONGEST_LINE:
            what = f"is longer than {LONGEST_LINE >> 20} MiB"
        yield where, Problem(where, "", what) if what else text
