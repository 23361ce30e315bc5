"""Tables: rows of values, and columns that say how people see them; and results, which have some.

A row maps names to numbers, texts, values with an interval, or None. Programs get the rows as they
are, people get cells of text; what is not in a row at all is a blank cell, None is a dash.
"""

import string
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import floor, log10
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from audiocapbench.errors import ReportError

Align = Literal["left", "right"]
Mark = Literal["best", "second"]
Row = dict[str, Any]
MultilineCell = tuple[str, ...]

ALWAYS = 10
"""The importance of columns that are left out last."""
INTERVAL = "95 %"
"""What stands above intervals."""


@runtime_checkable
class Measured(Protocol):
    """A number with its 95 % interval, such as an estimate; None where there is none."""

    value: float | None
    interval: tuple[float, float] | None


class ValueWithInterval(NamedTuple):
    """A number with its 95 % interval; None where there is none."""

    value: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """How people see one value of each row.

    Attributes:
        heading: What stands above it; by default the name, with spaces.
        form: How a number is shown: a format such as ``.3f``, ``%`` for shares, ``$`` for costs,
            ``p`` for p-values; or a text with several values in it, ``{n:,}/{samples:,}``.
        align: By default words stand to the left.
        folds: Whether its cells may stand below those of the column before it, in a narrow place.
        importance: Where that is not enough, the least important columns are left out first, of
            equal ones the last, and named below the table.
        wraps: Whether it is running text, broken between words where there is no room.
        marks: Whether its best and second best values are marked.
    """

    name: str
    heading: str = ""
    form: str = ""
    align: Align | None = None
    folds: bool = False
    importance: int = ALWAYS
    wraps: bool = False
    marks: bool = False


class TextColumn(NamedTuple):
    """A column as text, whatever it is shown on."""

    heading: MultilineCell
    cells: tuple[MultilineCell, ...]
    marks: tuple[Mark | None, ...]
    look: Column


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values, and how they are shown; by default in plain columns of all values.

    A JSON document has the rows under ``name``; a table that ``stacks`` shows rows of running text
    one below the other where they do not fit.
    """

    title: str
    rows: Sequence[Row]
    columns: Sequence[Column | str] = ()
    notes: Sequence[str] = ()
    name: str = ""
    stacks: bool = False

    def text_columns(self) -> list[TextColumn]:
        """The table as text; an interval stands in a column of its own after its value."""
        texts: list[TextColumn] = []
        for one in self.columns or (list(self.rows[0]) if self.rows else ()):
            look = Column(one) if isinstance(one, str) else one
            heading = look.heading or look.name.replace("_", " ") + " %" * (look.form == "%")
            if "{" in look.form:
                cells = [_Template().fill(look.form, row) for row in self.rows]
                texts.append(_text_column(heading, cells, look))
                continue
            values = [row.get(look.name, "") for row in self.rows]
            measured = any(isinstance(value, Measured) for value in values)
            form = look.form or (".3f" if measured else "")
            points = [value.value if isinstance(value, Measured) else value for value in values]
            if look.align is None and any(isinstance(value, str) and value for value in values):
                look = replace(look, align="left")
            texts.append(_text_column(heading, [shown(point, form) for point in points], look))
            spans = [value.interval if isinstance(value, Measured) else None for value in values]
            if any(spans):
                between = " to " if form.startswith("+") else "–"
                ends = [between.join(shown(end, form) for end in span or ()) for span in spans]
                bare = replace(look, folds=True, marks=False)
                texts.append(_text_column(INTERVAL, ends, bare))
        return texts

    def objects(self) -> list[dict[str, Any]]:
        """Rows as JSON objects; a value with an interval is an object of both."""
        return [
            {
                name: {"value": one.value, "ci": one.interval} if isinstance(one, Measured) else one
                for name, one in row.items()
            }
            for row in self.rows
        ]

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


def dollars(usd: float | None) -> str:
    """A cost as tables have it; below a cent with three digits that are not zero."""
    if usd is None or not 0 < usd < 0.01:
        return "–" if usd is None else f"${usd:,.2f}"
    return f"${usd:.{2 - floor(log10(usd))}f}".rstrip("0")


def shown(value: Any, form: str = "") -> str:
    """A value as text, in a form as columns have it."""
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
            return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"
        case "%":
            return f"{100 * value:.1f}"
        case "":
            return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
    return format(value, form)


class _Template(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        return shown(value, format_spec)

    def fill(self, form: str, row: Row) -> str:
        """Several values of a row in one text; nothing where one of several is missing."""
        fields = [name for _, name, _, _ in self.parse(form) if name]
        if [row.get(name, "") for name in fields] == [None]:
            return shown(None)
        missing = any(row.get(name) is None for name in fields)
        return "" if missing else self.vformat(form, (), row)


def _text_column(heading: str, cells: Sequence[str], look: Column) -> TextColumn:
    """Best and second best are marked; equal as printed is equal, unseen digits make no winner."""
    names: dict[float | None, Mark] = {}
    numbers: list[float | None] = [None] * len(cells)
    if look.marks and len(cells) > 1:
        numbers = [None if one in ("", "–") else float(one) for one in cells]
        best = sorted({one for one in numbers if one is not None}, reverse=True)
        names = dict(zip(best, ("best", "second"), strict=False))
    marks = tuple(map(names.get, numbers))
    return TextColumn((heading,), tuple((one,) for one in cells), marks, look)


def signature_notes(signatures: Iterable[object]) -> list[str]:
    """How the numbers of tables were made, a line for each way."""
    return [f"Signature: {one}" for one in dict.fromkeys(map(str, signatures)) if one]


class Result(ABC):
    """The answer to a call of the library, or to a command."""

    __slots__ = ()

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """As tables for people."""

    @abstractmethod
    def records(self) -> Sequence[Row]:
        """As rows for programs, all with the same columns."""

    def tests(self) -> Sequence[Row]:
        """Tests between what the rows are about, which have a file of their own."""
        return ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As the JSON object that the command line prints."""

    def to_frame(self) -> Any:
        """The rows as a pandas data frame, or a polars one where pandas is not installed."""
        records = self.records()
        for package in ("pandas", "polars"):
            try:
                library = import_module(package)
            except ImportError:
                continue
            names = list(records[0]) if records else []
            return library.DataFrame({name: [row.get(name) for row in records] for name in names})
        raise ReportError("a data frame needs pandas or polars: pip install pandas")

    def __str__(self) -> str:
        from audiocapbench.table.terminal import text_of

        return text_of(self.tables(), width=100)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from audiocapbench.table.forms import html_text

        return "".join(map(html_text, self.tables()))


@dataclass(frozen=True, repr=False)
class Findings(Result):
    """What an analysis found: tables, of which those with rows are shown, and facts beside them."""

    found: Sequence[Table]
    facts: dict[str, Any] = field(default_factory=dict)
    rows: Sequence[Row] | None = None

    def tables(self) -> list[Table]:
        return [one for one in self.found if one.rows]

    def records(self) -> Sequence[Row]:
        return self.found[0].records() if self.rows is None else self.rows

    def to_dict(self) -> dict[str, Any]:
        return self.facts | {one.name: one.objects() for one in self.found if one.name}
