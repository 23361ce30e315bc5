"""Rows of numbers with intervals: as a table for people, and as JSON."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from audiocapbench.report.exports import Heading, Page, Record, Value
from audiocapbench.stats import Interval


class Figure(NamedTuple):
    """A number with its 95 % interval, None where there is none; shares are shown in percent."""

    value: float | None
    ci: Interval | None = None
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
