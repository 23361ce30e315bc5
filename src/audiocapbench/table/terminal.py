"""Tables on a terminal: as many columns as there is room for, the most important ones."""

import io
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from audiocapbench.table.escape_controls import escape_line
from audiocapbench.table.forms import INTERVAL, MultilineCell, Table, TextColumn

if TYPE_CHECKING:
    from rich.console import Console

_BETWEEN, _EDGES, _LONGEST_NAME, _RUNNING_TEXT = 3, 2, 26, 20
_WHOLE_WORDS: Mapping[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
_NAME_PARTS = re.compile(r"(?<=/)(?!/)|(?=@)|(?=\[)|(?= \()")


def print_table(console: "Console", table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    room = console.width
    if table.stacks and table_width(table.text_columns()) > room:
        texts = [textwrap.wrap(one, room, **_WHOLE_WORDS) for one in (table.title, *table.notes)]
        for line in (*table.verdicts, *texts[0], *_stacked(table, room), *chain(*texts[1:])):
            console.print(Text(escape_line(line)), soft_wrap=True)
        return
    columns, left_out = fitted(table, room)
    unseen = f"Not shown, for want of room: {', '.join(left_out)}; JSON has all."
    notes = textwrap.wrap(unseen, room) if left_out else []
    notes += map(escape_line, table.notes)
    # As wide as the terminal, not as its table: no name is broken.
    for words, style in [*((one, "bold") for one in table.verdicts), (table.title, "")]:
        own = escape_line(words)
        for line in textwrap.wrap(own, room, **_WHOLE_WORDS):
            console.print(Text(line, style), soft_wrap=True)
    # What is wider than the terminal is wrapped by it, and loses no digit.
    console.width = max(room, table_width(columns))
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for one in columns:
        heading, align = Text("\n".join(one.heading)), one.look.align or "right"
        grid.add_column(heading, justify=align, no_wrap=not one.look.wraps)
    marked = (zip(one.cells, one.marks, strict=True) for one in columns)
    for row in zip(*marked, strict=True):
        cells = []
        for (first, *below), mark in row:
            dim = ((f"\n{line}", "dim") for line in below)
            cells.append(Text.assemble((first, "bold" if mark else ""), *dim))
        grid.add_row(*cells)
    console.print(grid, crop=False)
    console.width = room
    for line in (*notes, *([""] if notes else [])):
        console.print(Text(line), soft_wrap=True)


def text_of(tables: Iterable[Table], width: int) -> str:
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream, width=width, color_system=None, legacy_windows=False, force_jupyter=False
    )
    for table in tables:
        print_table(console, table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def _stacked(table: Table, width: int) -> Iterator[str]:
    """What no table of this width can show: a name, and below it what is known of it."""
    names, *facts = table.text_columns()
    for at, (name,) in enumerate(names.cells):
        yield from textwrap.wrap(name, width, subsequent_indent="    ", **_WHOLE_WORDS)
        for one in facts:
            (fact,), (heading,) = one.cells[at], one.heading
            words = fact if heading == "description" else f"{heading}: {fact}"
            lines = textwrap.wrap(words if fact else "", max(width, 40) - 4, **_WHOLE_WORDS)
            yield from (f"{'    ' if number else '  '}{line}" for number, line in enumerate(lines))


def fitted(table: Table, width: int) -> tuple[list[TextColumn], list[str]]:
    """The columns that fit into so many columns of text, and the headings of those that do not.

    First cells are folded, then names and headings broken, then intervals but the first left out,
    then the least important columns. A single row is turned: it has a line for each value.
    """
    columns = [
        one._replace(
            heading=tuple(map(escape_line, one.heading)),
            cells=tuple(tuple(map(escape_line, cell)) for cell in one.cells),
        )
        for one in table.text_columns()
    ]
    if table_width(columns) <= width:
        return columns, []
    folded = _folded(columns, table.title)
    if table_width(folded) <= width:
        return folded, []
    key = next((at for at, one in enumerate(folded) if one.look.align == "left"), 0)
    if len(table.rows) == 1:
        return _turned(columns, key), []
    narrow, left_out = _narrow(folded, key), list[str]()
    intervals = [at for at, one in enumerate(columns) if one.heading == (INTERVAL,)][1:]
    if intervals and table_width(narrow) > width:
        others = [one for at, one in enumerate(columns) if at not in intervals]
        folded, left_out = _folded(others, table.title), ["other intervals"]
        narrow = _narrow(folded, key)
    kept = list(range(len(narrow)))
    while table_width([narrow[at] for at in kept]) > width and len(kept) > key + 1:
        kept.remove(min(kept[key + 1 :], key=lambda at: (narrow[at].look.importance, -at)))
    left_out += [", ".join(one.heading) for at, one in enumerate(folded) if at not in kept]
    whole = [folded[at] for at in kept]
    return whole if table_width(whole) <= width else [narrow[at] for at in kept], left_out


def _turned(columns: Sequence[TextColumn], key: int) -> list[TextColumn]:
    lines: list[tuple[MultilineCell, MultilineCell, MultilineCell]] = []
    for column in (*columns[:key], *columns[key + 1 :]):
        if column.heading == (INTERVAL,):
            lines[-1] = (*lines[-1][:2], column.cells[0])
        elif any(column.cells[0]):
            lines.append((column.heading, column.cells[0], ("",)))
    names, values, intervals = zip(*lines, strict=True)
    left, right = (replace(columns[key].look, align=align) for align in ("left", "right"))
    unmarked = (False,) * len(lines)
    turned = [
        TextColumn(columns[key].heading, names, unmarked, left),
        TextColumn(_name_lines(columns[key].cells[0]), values, unmarked, right),
        TextColumn((INTERVAL,), intervals, unmarked, right),
    ]
    return turned if any(map(any, intervals)) else turned[:2]


def table_width(columns: Sequence[TextColumn]) -> int:
    """Columns of text that a table takes: three between its own, and two edges."""
    from rich.cells import cell_len

    width = _BETWEEN * (len(columns) - 1) + _EDGES
    for one in columns:
        widest = max(cell_len(line) for cell in (one.heading, *one.cells) for line in cell)
        width += min(widest, _RUNNING_TEXT) if one.look.wraps else widest
    return width


def _folded(columns: Sequence[TextColumn], title: str) -> list[TextColumn]:
    folded: list[TextColumn] = []
    for one in columns:
        if not one.look.folds:
            folded.append(one)
            continue
        above = folded[-1]
        pairs = zip(above.cells, one.cells, strict=True)
        cells = tuple((*upper, *filter(None, lower)) for upper, lower in pairs)
        # Where the title speaks of intervals, what stands below a number needs no heading.
        heading = () if one.heading == (INTERVAL,) and INTERVAL in title else one.heading
        folded[-1] = above._replace(heading=(*above.heading, *heading), cells=cells)
    return folded


def _narrow(columns: Sequence[TextColumn], key: int) -> list[TextColumn]:
    narrow = []
    for at, one in enumerate(columns):
        cells = tuple(map(_name_lines, one.cells)) if at == key else one.cells
        widest = max((len(line) for cell in cells for line in cell), default=0)
        parts = ([line] if len(line) <= widest else line.split() or [line] for line in one.heading)
        heading = tuple(chain.from_iterable(parts))
        # Running text is wrapped before anything is left out.
        wraps = at != key and one.look.align == "left" and widest > _RUNNING_TEXT
        look = replace(one.look, wraps=one.look.wraps or wraps)
        cut = one if one.look.wraps else one._replace(heading=heading, cells=cells)
        narrow.append(cut._replace(look=look))
    return narrow


def _name_lines(cell: MultilineCell) -> MultilineCell:
    lines: list[str] = []
    for name in cell:
        lines.append("")
        for part in chain(*(textwrap.wrap(one, _LONGEST_NAME) for one in _NAME_PARTS.split(name))):
            if lines[-1] and len(lines[-1] + part.rstrip()) > _LONGEST_NAME:
                lines.append("")
            lines[-1] += part
    return tuple(line.strip() for line in lines)
