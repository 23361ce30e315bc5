"""Tables for people and for other programs: CSV, Markdown, LaTeX, Parquet, each escaped its way."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple

from audiocapbench.errors import ReportError
from audiocapbench.files import csv_text as rows_as_csv
from audiocapbench.files import encodable, write_file
from audiocapbench.report.escape_controls import escape_controls, escape_line

_CENT = 0.01

Value = str | int | float | bool | None
Record = Mapping[str, Value]
Align = Literal["left", "right"]
Mark = Literal["best", "second"]


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
    """A column of a table for people.

    Attributes:
        folds: Whether its cells may stand below those of the column before it, in a narrow place.
        spare: Where that is not enough, the columns with the highest number are left out first,
            and named below the table; a column of 0 never is.
    """

    text: str
    align: Align = "right"
    folds: bool = False
    spare: int = 0


class Lines(str):
    """A cell that was broken in lines here, not by what it names."""


def cell_lines(cell: str) -> list[str]:
    """The lines of a cell, as a terminal may show them."""
    return [escape_line(line) for line in (cell.split("\n") if isinstance(cell, Lines) else [cell])]


@dataclass(frozen=True, slots=True)
class Page:
    """A table for people, rounded.

    Attributes:
        wraps: Whether its last column is running text.
        marks: Cells, by row and column, that hold the best or the second best of their column.
    """

    title: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    wraps: bool = False
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)


_BETWEEN, _EDGES, _LONGEST_NAME = 3, 2, 26
_NAME_PARTS = re.compile(r"(?<=/)(?!/)|(?=@)|(?=\[)|(?= \()")
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


def number(value: float | None, digits: int, *, none: str = "–") -> str:
    """A number as tables have it, and what stands where there is none."""
    return none if value is None else f"{value:.{digits}f}"


def dollars(value: float | None, *, estimated: bool = False) -> str:
    """A cost as tables have it, below a cent as previews do; a tilde: in part an estimate."""
    if value is None:
        return "–"
    amount = f"${value:,.2f}"
    if 0 < value < _CENT:
        from audiocapbench.engine.budget import dollars as small_amount

        amount = small_amount(value)
    return f"~{amount}" if estimated else amount


def fitted(page: Page, width: int) -> list[Page]:
    """The page in so many columns of text: folded, and without the columns that can be spared.

    Where that is not enough it is broken in several, each of which begins with the columns that
    say what a row is about.
    """
    if page_width(page) > width:
        page = _folded(page)
    keys = 1 + next((at for at, one in enumerate(page.headings) if one.align == "left"), 0)
    pages = (page, _with_names_broken(page, keys - 1))
    whole, broken = (_parts(_spared(one, width), width, keys) for one in pages)
    return min(
        whole,
        broken,
        key=lambda parts: (
            max(width, *map(page_width, parts)),
            len(parts),
            -sum(len(one.headings) for one in parts),
        ),
    )


def _spared(page: Page, width: int) -> Page:
    """The page without as many kinds of its spare columns as do not fit; a note names them."""
    kept = list(range(len(page.headings)))
    for least in sorted({one.spare for one in page.headings if one.spare}, reverse=True):
        if page_width(_part(page, kept)) <= width:
            break
        kept = [at for at in kept if page.headings[at].spare < least]
    left_out = [one.text for at, one in enumerate(page.headings) if at not in kept]
    if not left_out:
        return page
    names = ", ".join(cell_lines(text)[0] for text in left_out)
    note = f"Not shown, for want of room: {names}; JSON and CSV have them."
    return replace(_part(page, kept), notes=(note, *page.notes))


def _parts(page: Page, width: int, keys: int) -> list[Page]:
    if page_width(page) <= width:
        return [page]
    parts: list[list[int]] = [list(range(keys))]
    for column in range(keys, len(page.headings)):
        if len(parts[-1]) > keys and page_width(_part(page, [*parts[-1], column])) > width:
            parts.append(list(range(keys)))
        parts[-1].append(column)
    pages = [replace(_part(page, part), notes=()) for part in parts]
    pages[1:] = [replace(one, title=f"{page.title} (continued)") for one in pages[1:]]
    return [*pages[:-1], replace(pages[-1], notes=page.notes)]


def _with_names_broken(page: Page, column: int) -> Page:
    """The page with long names over several lines, broken where their parts meet."""

    def broken(name: str) -> str:
        lines = [""]
        for part in _NAME_PARTS.split("\n".join(cell_lines(name))):
            if lines[-1] and len(lines[-1] + part.rstrip()) > _LONGEST_NAME:
                lines.append("")
            lines[-1] += part
        return Lines("\n".join(one.strip() for one in lines))

    rows = ((*row[:column], broken(row[column]), *row[column + 1 :]) for row in page.rows)
    return replace(page, rows=tuple(rows))


def _part(page: Page, columns: Sequence[int]) -> Page:
    """Some columns of a page."""
    marks = {
        (line, columns.index(column)): mark
        for (line, column), mark in page.marks.items()
        if column in columns
    }
    parts = (tuple(row[column] for column in columns) for row in page.rows)
    return replace(
        page,
        headings=tuple(page.headings[column] for column in columns),
        # A row that goes on in another part, such as a second answer, leaves no gap in this one.
        rows=tuple(row for row in parts if page.marks or any(row)),
        marks=marks,
    )


def _folded(page: Page) -> Page:
    kept = [number for number, one in enumerate(page.headings) if not one.folds]
    below = {number: [number] for number in kept}
    for number, one in enumerate(page.headings):
        if one.folds:
            below[max(place for place in kept if place < number)].append(number)

    def stacked(cells: Sequence[str], place: int) -> Lines:
        lines = (line for number in below[place] for line in cell_lines(cells[number]))
        return Lines("\n".join(filter(None, lines)))

    rows = tuple(tuple(stacked(row, place) for place in kept) for row in page.rows)
    texts = [one.text for one in page.headings]
    headings = tuple(replace(page.headings[place], text=stacked(texts, place)) for place in kept)
    marks = {(line, kept.index(at)): one for (line, at), one in page.marks.items() if at in kept}
    return replace(page, headings=headings, rows=rows, marks=marks)


def page_width(page: Page) -> int:
    """Columns of text that a terminal's table takes: three between its own, and two edges."""
    from rich.cells import cell_len

    table = [[heading.text for heading in page.headings], *page.rows]
    widths = [
        max(cell_len(line) for cell in column for line in cell_lines(cell))
        for column in zip(*table, strict=True)
    ]
    return sum(widths) + _BETWEEN * (len(widths) - 1) + _EDGES


def csv_text(records: Sequence[Record]) -> str:
    """Records as CSV at full precision, a row each; a missing value is an empty field."""
    if not records:
        return ""
    return rows_as_csv([tuple(records[0]), *(tuple(one.values()) for one in records)])


def markdown_text(pages: Sequence[Page]) -> str:
    """Pages as Markdown tables under headings."""
    blocks = []
    for page in pages:
        rules = ("---:" if one.align == "right" else "---" for one in page.headings)
        lines = [
            _markdown_row([heading.text for heading in page.headings]),
            f"|{'|'.join(rules)}|",
            *(_markdown_row(row, _marks(page, line)) for line, row in enumerate(page.rows)),
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
            *(_latex_row(row, _marks(page, line)) for line, row in enumerate(page.rows)),
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
    columns: dict[str, list[Value]] = {name: [] for name in names}
    for record in records:
        for name, value in record.items():
            columns[name].append(encodable(value) if isinstance(value, str) else value)
    arrays = {name: pa.array(values, type=_type(pa, values)) for name, values in columns.items()}
    content = io.BytesIO()
    pq.write_table(pa.table(arrays), content)
    write_file(path, content.getvalue())


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", _one_line(text))


def latex(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(escape_controls(text).split())


def _marks(page: Page, line: int) -> dict[int, Mark]:
    return {column: mark for (row, column), mark in page.marks.items() if row == line}


_NO_MARKS: Mapping[int, Mark] = {}
_MARKDOWN_MARKS = {"best": ("**", "**"), "second": ("<u>", "</u>")}
_LATEX_MARKS = {"best": (r"\textbf{", "}"), "second": (r"\underline{", "}")}


def _markdown_row(cells: Sequence[str], marks: Mapping[int, Mark] = _NO_MARKS) -> str:
    texts = (
        _marked(markdown(cell), marks.get(place), _MARKDOWN_MARKS)
        for place, cell in enumerate(cells)
    )
    return "| " + " | ".join(texts) + " |"


def _latex_row(cells: Sequence[str], marks: Mapping[int, Mark] = _NO_MARKS) -> str:
    texts = (
        _marked(latex(cell), marks.get(place), _LATEX_MARKS) for place, cell in enumerate(cells)
    )
    # A cell that begins with a bracket would be read as the option of the line break before it.
    return " & ".join("{}" + text for text in texts) + r" \\"


def _marked(text: str, mark: Mark | None, signs: Mapping[str, tuple[str, str]]) -> str:
    before, after = signs[mark] if mark is not None else ("", "")
    return f"{before}{text}{after}"


def _type(pa: Any, values: Sequence[Value]) -> Any:
    """One type for a column, also where every value is missing."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and kinds != {int}:
        return pa.float64()
    if kinds == {bool}:
        return pa.bool_()
    return pa.int64() if kinds == {int} else pa.string()


class Figure(NamedTuple):
    """A number with its 95 % interval, None where there is none; shares are shown in percent."""

    value: float | None
    ci: tuple[float, float] | None = None
    is_share: bool = False

    def __str__(self) -> str:
        digits, scale = (1, 100) if self.is_share else (3, 1)
        known = [one for one in (self.value, *(self.ci or ())) if one is not None]
        value, *ends = [f"{scale * one:.{digits}f}" for one in known] or ["–"]
        return f"{value} ({'–'.join(ends)})" if ends else value


Row = dict[str, Value | Figure]
"""What a row of a table says, by the name of the column; a column has one kind of value."""


class Findings(NamedTuple):
    """What an analysis found: as a JSON object, as tables for people, as rows for programs."""

    document: dict[str, Any]
    pages: list[Page]
    records: Sequence[Record] = ()


def rows_page(
    title: str, rows: Iterable[Row], notes: Iterable[str] = (), unseen: Iterable[str] = ()
) -> Page:
    """A table of rows without the columns that are not to be seen; words stand to the left."""
    kept = [{name: one for name, one in row.items() if name not in unseen} for row in rows]
    headings = [
        Heading(
            name.replace("_", " ") + " %" * (isinstance(one, Figure) and one.is_share),
            "left" if isinstance(one, str) else "right",
        )
        for name, one in kept[0].items()
    ]
    cells = [tuple(map(_cell, row.values())) for row in kept]
    return Page(title, tuple(headings), tuple(cells), tuple(notes))


def plain_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as JSON objects; a figure is an object of its value and its interval."""
    return [
        {
            name: {"value": one.value, "ci": one.ci} if isinstance(one, Figure) else one
            for name, one in row.items()
        }
        for row in rows
    ]


def _cell(one: Value | Figure) -> str:
    if isinstance(one, float):
        return f"{one:.3g}"
    return "–" if one is None else f"{one:,}" if isinstance(one, int) else str(one)
