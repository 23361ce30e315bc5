"""Tables for other programs: CSV, Markdown, LaTeX and Parquet, each escaped in its own way.

CSV is made for spreadsheets too: a text that a spreadsheet would run as a formula gets an
apostrophe in front. JSON and Parquet hold every text as it is.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from audiocapbench.errors import ReportError
from audiocapbench.report.plain import plain

Value = str | int | float | bool | None
Record = Mapping[str, Value]
Align = Literal["left", "right"]


class Format(StrEnum):
    """What a table can be written as."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MD = "md"
    LATEX = "latex"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of a table for people."""

    text: str
    align: Align = "right"


@dataclass(frozen=True, slots=True)
class Page:
    """A table for people: rounded, with its notes.

    Attributes:
        title: What it shows.
        headings: Its columns.
        rows: As many cells as there are columns.
        notes: What stands below.
        wraps: Whether its last column is running text, which a terminal wraps.
    """

    title: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    wraps: bool = False


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&$])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
}


def csv_text(records: Sequence[Record]) -> str:
    """Records as CSV at full precision, a row each; a missing value is an empty field."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if records:
        writer.writerow(records[0])
        writer.writerows([_csv_cell(value) for value in record.values()] for record in records)
    return stream.getvalue()


def markdown_text(pages: Sequence[Page]) -> str:
    """Pages as Markdown tables under headings."""
    blocks = []
    for page in pages:
        rules = ("---:" if one.align == "right" else "---" for one in page.headings)
        lines = [
            _markdown_row([heading.text for heading in page.headings]),
            f"|{'|'.join(rules)}|",
            *(_markdown_row(row) for row in page.rows),
        ]
        notes = [f"- {markdown(note)}" for note in page.notes]
        blocks.append("\n".join([f"## {markdown(page.title)}", "", *lines, "", *notes]).rstrip())
    return "\n\n".join(blocks) + "\n"


def latex_text(pages: Sequence[Page]) -> str:
    """Pages as LaTeX tables in the manner of the booktabs package, which they need."""
    blocks = ["% Needs \\usepackage{booktabs}; other scripts than Latin need XeLaTeX or LuaLaTeX"]
    for page in pages:
        columns = "".join("r" if one.align == "right" else "l" for one in page.headings)
        body = [
            _latex_row([heading.text for heading in page.headings]),
            r"\midrule",
            *(_latex_row(row) for row in page.rows),
        ]
        notes = [rf"\par\footnotesize {latex(note)}" for note in page.notes]
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex(page.title)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def write_parquet(path: Path, records: Sequence[Record]) -> None:
    """Write records as Parquet, a row each.

    Raises:
        ReportError: pyarrow is not installed, or the file cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise ReportError("Parquet needs: pip install 'audiocapbench[hub]'") from None
    names = list(records[0]) if records else []
    columns = {name: [_encodable(record[name]) for record in records] for name in names}
    arrays = {name: pa.array(values, type=_type(pa, values)) for name, values in columns.items()}
    try:
        pq.write_table(pa.table(arrays), path)
    except OSError as error:
        raise ReportError(f"{path}: cannot be written ({error.strerror or error})") from None


def write_text(path: Path, text: str) -> None:
    """Write a table to a file.

    Raises:
        ReportError: The file cannot be written.
    """
    try:
        path.write_text(encodable(text), encoding="utf-8", newline="")
    except OSError as error:
        raise ReportError(f"{path}: cannot be written ({error.strerror})") from None


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", _one_line(text))


def latex(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


def encodable(text: str) -> str:
    """Text without lone surrogates, which no file can hold; they are written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _one_line(text: str) -> str:
    return " ".join(plain(text).split())


def _csv_cell(value: Value) -> Value:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(markdown(cell) for cell in cells) + " |"


def _latex_row(cells: Sequence[str]) -> str:
    # A cell that begins with a bracket would be read as the option of the line break before it.
    return " & ".join("{}" + latex(cell) for cell in cells) + r" \\"


def _encodable(value: Value) -> Value:
    return encodable(value) if isinstance(value, str) else value


def _type(pa: Any, values: Sequence[Value]) -> Any:
    """One type for a column, also where every value is missing."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and kinds != {int}:
        return pa.float64()
    if kinds == {bool}:
        return pa.bool_()
    return pa.int64() if kinds == {int} else pa.string()
