"""Tables: rows of values, columns that say how people see them, and forms for other programs.

A row maps names to numbers, texts, values with an interval, or None. Programs get the rows as they
are, people get cells of text; what is not in a row at all is a blank cell, None is a dash.
"""

import io
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from math import floor, log10
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from audiocapbench.errors import ReportError
from audiocapbench.files import csv_text as rows_as_csv
from audiocapbench.files import encodable
from audiocapbench.table.escape_controls import escape_controls, escape_line

Align = Literal["left", "right"]
Row = dict[str, Any]
MultilineCell = tuple[str, ...]

ALWAYS = 10  # the importance of columns that are left out last
INTERVAL = "95 %"


@runtime_checkable
class Measured(Protocol):
    """A number with its 95 % interval, such as an estimate; None where there is none."""

    value: float | None
    interval: tuple[float, float] | None


class ValueWithInterval(NamedTuple):
    value: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """How people see one value of each row; its heading is by default the name, with spaces.

    ``form`` is a format such as ``.3f``, ``%`` for shares, ``$`` for costs, ``p`` for p-values, or
    a text with several values in it, ``{n:,}/{samples:,}``. Where there is no room, a column that
    ``folds`` stands below the one before it, one of running text ``wraps``, and the least important
    ones are left out, of equal ones the last; and those of which no row has a value.
    """

    name: str
    heading: str = ""
    form: str = ""
    align: Align | None = None
    folds: bool = False
    importance: int = ALWAYS
    wraps: bool = False


class TextColumn(NamedTuple):
    heading: MultilineCell
    cells: tuple[MultilineCell, ...]
    marks: tuple[bool, ...]  # whose cell is shown to be the best
    look: Column


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values, and how they are shown; by default in plain columns of all values.

    A JSON document has the rows under ``name``; a table that ``stacks`` shows rows of running text
    one below the other where they do not fit. ``verdicts`` stand above it; ``winners`` are the
    rows that tests show to be the best in a column, by its name.
    """

    title: str
    rows: Sequence[Row]
    columns: Sequence[Column | str] = ()
    notes: Sequence[str] = ()
    name: str = ""
    stacks: bool = False
    winners: Mapping[str, int | None] = field(default_factory=dict)
    verdicts: Sequence[str] = ()

    def _repr_html_(self) -> str:
        return html_text(self)

    def text_columns(self) -> list[TextColumn]:
        """The table as text; an interval stands in a column of its own after its value."""
        texts: list[TextColumn] = []
        for one in self.columns or (list(self.rows[0]) if self.rows else ()):
            look = Column(one) if isinstance(one, str) else one
            if not self.shows(look):
                continue
            heading = look.heading or look.name.replace("_", " ") + " %" * (look.form == "%")
            if "{" in look.form:
                cells = [_Template().fill(look.form, row) for row in self.rows]
                texts.append(_text_column(heading, cells, look))
                continue
            best = self.winners.get(look.name)
            values = [row.get(look.name, "") for row in self.rows]
            measured = any(isinstance(value, Measured) for value in values)
            form = look.form or (".3f" if measured else "")
            points = [value.value if isinstance(value, Measured) else value for value in values]
            if look.align is None and any(isinstance(value, str) and value for value in values):
                look = replace(look, align="left")
            cells = [shown(point, form) for point in points]
            texts.append(_text_column(heading, cells, look, best))
            spans = [value.interval if isinstance(value, Measured) else None for value in values]
            if any(spans):
                below = any(span and span[0] < 0 for span in spans)
                between = " to " if below or form.startswith("+") else "–"
                ends = [between.join(shown(end, form) for end in span or ()) for span in spans]
                texts.append(_text_column(INTERVAL, ends, replace(look, folds=True)))
        return texts

    def shows(self, look: Column) -> bool:
        """Whether a column is shown: any that may be left out is, where no row has a value."""
        names = _Template().fields(look.form) or [look.name]
        values = (row.get(name) for row in self.rows for name in names)
        known = any(getattr(one, "value", one) not in (None, "") for one in values)
        return known or look.importance >= ALWAYS or not self.rows

    def texts(self) -> dict[str, Any]:
        """What a page shows of it, which says of each column whether it has numbers."""
        columns = self.text_columns()
        cells = [[" ".join(one) for one in column.cells] for column in columns]
        return {
            "title": self.title,
            "head": [" ".join(column.heading) for column in columns],
            "rows": [list(row) for row in zip(*cells, strict=True)],
            "numbers": [column.look.align != "left" for column in columns],
            "notes": list(self.notes),
        }

    def objects(self) -> list[dict[str, Any]]:
        """Rows as JSON objects; a value with an interval is an object of both."""
        return [{name: _as_json(one) for name, one in row.items()} for row in self.rows]

    def records(self) -> list[dict[str, Any]]:
        """Rows for spreadsheets; the ends of an interval have columns of their own."""
        records = []
        for row in self.rows:
            record: Row = {}
            for name, one in row.items():
                record[name] = one
                if isinstance(one, Measured):
                    low, high = one.interval or (None, None)
                    record |= {name: one.value, f"{name}_low": low, f"{name}_high": high}
            records.append(record)
        return records


def _as_json(value: Any) -> Any:
    return {"value": value.value, "ci": value.interval} if isinstance(value, Measured) else value


def dollars(usd: float | None) -> str:
    """A cost as tables have it; below a cent with three digits that are not zero."""
    if usd is None or not 0 < usd < 0.01:
        return "–" if usd is None else f"${usd:,.2f}"
    return f"${usd:.{2 - floor(log10(usd))}f}".rstrip("0")


def shown(value: Any, form: str = "") -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{count:,} {name}" for name, count in sorted(value.items()))
    if isinstance(value, Iterable):
        return ", ".join(value)
    match form:
        case "$":
            return dollars(value)
        case "p":
            if 0 < value < 0.00005:
                return "<0.0001"
            return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"
        case "%":
            return f"{100 * value:.1f}"
        case "":
            return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
    return format(value, form)


def p_words(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {shown(value, 'p')}"


class _Template(string.Formatter):
    def fields(self, form: str) -> list[str]:
        return [name for _, name, _, _ in self.parse(form) if name]

    def format_field(self, value: Any, format_spec: str) -> str:
        return shown(value, format_spec)

    def fill(self, form: str, row: Row) -> str:
        """Several values of a row in one text; nothing where one of several is missing."""
        fields = self.fields(form)
        if [row.get(name, "") for name in fields] == [None]:
            return shown(None)
        missing = any(row.get(name) is None for name in fields)
        return "" if missing else self.vformat(form, (), row)


def _text_column(
    heading: str, cells: Sequence[str], look: Column, best: int | None = None
) -> TextColumn:
    marks = tuple(place == best for place in range(len(cells)))
    return TextColumn((heading,), tuple((one,) for one in cells), marks, look)


def signature_notes(signatures: Iterable[object]) -> list[str]:
    return [f"Signature: {one}" for one in dict.fromkeys(map(str, signatures)) if one]


class Format(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MD = "md"
    LATEX = "latex"
    PARQUET = "parquet"


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&$])")
_LATEX_NAMES = "textbackslash textasciitilde textasciicircum textless textgreater textbar ldots"
_LATEX: dict[int, str] = str.maketrans(
    {one: f"\\{one}" for one in "{}&%$#_"}
    | {one: rf"\{name}{{}}" for one, name in zip("\\~^<>|…", _LATEX_NAMES.split(), strict=True)}
    | {'"': "''", "−": "$-$", "–": "--", "—": "---"}
)
_Signs = tuple[str, str]
_MARKDOWN_MARKS, _LATEX_MARKS = ("**", "**"), (r"\textbf{", "}")


def csv_text(records: Sequence[Row]) -> str:
    rows = [tuple(one.values()) for one in records]
    return rows_as_csv([tuple(records[0]), *rows]) if rows else ""


def markdown_text(tables: Iterable[Table]) -> str:
    blocks = []
    for table in tables:
        notes = "\n".join(f"- {markdown(note)}" for note in table.notes)
        lines = "\n".join(markdown_rows(table))
        parts = [f"## {markdown(table.title)}", *map(markdown, table.verdicts), lines, notes]
        blocks.append("\n\n".join(parts).rstrip())
    return "\n\n".join(blocks) + "\n"


def markdown_rows(table: Table) -> list[str]:
    columns = table.text_columns()
    rules = ("---" if one.look.align == "left" else "---:" for one in columns)
    head, *rows = _lines(columns, markdown, _MARKDOWN_MARKS)
    return [f"| {' | '.join(head)} |", f"|{'|'.join(rules)}|"] + [
        f"| {' | '.join(row)} |" for row in rows
    ]


def latex_text(tables: Iterable[Table]) -> str:
    """Tables as LaTeX in the manner of the booktabs package, which they need."""
    blocks = ["% Needs \\usepackage{booktabs}; other scripts than Latin need XeLaTeX or LuaLaTeX"]
    for table in tables:
        columns = table.text_columns()
        looks = ["p{4cm}" if one.look.wraps else one.look.align or "r" for one in columns]
        aligned = "".join(one if "{" in one else one[0] for one in looks)
        # A cell that begins with a bracket would be read as the option of the line break before.
        head, *rows = (
            " & ".join("{}" + text for text in row) + r" \\"
            for row in _lines(columns, latex, _LATEX_MARKS)
        )
        notes = (rf"\par\footnotesize {latex(note)}" for note in table.notes)
        caption = ". ".join([latex(table.title), *map(latex, table.verdicts)])
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}"]
        lines += [rf"\begin{{tabular}}{{{aligned}}}", r"\toprule", head, r"\midrule", *rows]
        lines += [r"\bottomrule", r"\end{tabular}", *notes, r"\end{table}"]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


@cache
def _html_template() -> Any:
    from jinja2 import Environment, PackageLoader

    place = PackageLoader("audiocapbench.table", "")
    pages = Environment(loader=place, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    pages.filters["line"] = escape_line
    return pages.get_template("table.html")


def html_text(table: Table) -> str:
    """A table as HTML, every text escaped."""
    return str(_html_template().render(table=table, columns=table.text_columns()))


def parquet_content(records: Sequence[Row]) -> bytes:
    """Records as a Parquet file, a row each; a column has one type, also where all is missing."""
    from audiocapbench.plugins import require_packages

    require_packages(ReportError, "Parquet", "hub", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    arrays = {}
    for name in records[0] if records else ():
        cells = (record[name] for record in records)
        values = [encodable(one) if isinstance(one, str) else one for one in cells]
        kinds = {type(one) for one in values if one is not None}
        kind = kinds.pop() if len(kinds) == 1 else float if kinds <= {int, float} else str
        arrays[name] = pa.array(values, type=types[kind])
    content = io.BytesIO()
    pq.write_table(pa.table(arrays), content)
    return content.getvalue()


def markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(escape_controls(text).split()))


def latex(text: str) -> str:
    return " ".join(escape_controls(text).split()).translate(_LATEX)


def _lines(
    columns: Sequence[TextColumn], escaped: Callable[[str], str], signs: _Signs
) -> list[tuple[str, ...]]:
    texts = []
    for one in columns:
        texts.append([escaped(" ".join(one.heading))])
        for cell, mark in zip(one.cells, one.marks, strict=True):
            before, after = signs if mark else ("", "")
            texts[-1].append(f"{before}{escaped(' '.join(cell))}{after}")
    return list(zip(*texts, strict=True))
