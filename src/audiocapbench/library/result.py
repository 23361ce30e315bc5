"""What every result can do: print itself, be a dictionary, a data frame, a notebook's cell."""

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial, wraps
from html import escape
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from anyio import to_thread

from audiocapbench.errors import ReportError
from audiocapbench.report.escape_controls import escape_line
from audiocapbench.report.exports import Heading, Page, Record, cell_lines, fitted
from audiocapbench.scores.groups import category
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.table import ScoreTable

_WIDTH = 100


Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def in_thread(
    call: Callable[Parameters, Returned],
) -> Callable[Parameters, Coroutine[Any, Any, Returned]]:
    """The same call for async code: in a thread, so that the event loop goes on."""

    @wraps(call)
    async def threaded(*args: Parameters.args, **options: Parameters.kwargs) -> Returned:
        return await to_thread.run_sync(partial(call, *args, **options))

    return threaded


class Result(ABC):
    """The answer to a call of the library."""

    __slots__ = ()

    @abstractmethod
    def pages(self) -> Sequence[Page]:
        """As tables for people."""

    @abstractmethod
    def records(self) -> Sequence[Record]:
        """As rows for programs, all with the same columns."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As the JSON object that the command line prints."""

    def to_frame(self) -> Any:
        """The rows as a pandas data frame, or a polars one where pandas is not installed.

        Raises:
            ReportError: Neither is installed.
        """
        records = self.records()
        for name in ("pandas", "polars"):
            try:
                library = import_module(name)
            except ImportError:
                continue
            names = list(records[0]) if records else []
            return library.DataFrame({name: [row.get(name) for row in records] for name in names})
        raise ReportError("a data frame needs pandas or polars: pip install pandas")

    def __str__(self) -> str:
        return page_text(self.pages())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(map(page_html, self.pages()))


def page_text(pages: Sequence[Page], width: int = _WIDTH) -> str:
    """Pages as text of at most so many columns, where they can be folded to fit."""
    from rich.console import Console
    from rich.text import Text

    stream = io.StringIO()
    console = Console(file=stream, width=width, color_system=None, legacy_windows=False)
    for page in (part for one in pages for part in fitted(one, width)):
        console.print(rich_table(page), soft_wrap=True, crop=False)
        for note in page.notes:
            console.print(Text(escape_line(note)), soft_wrap=True)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def rich_table(page: Page) -> Any:
    """A page as a table of a terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(escape_line(page.title)),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    last = page.headings[-1] if page.wraps else None
    for heading in page.headings:
        whole = heading is not last
        table.add_column(
            Text("\n".join(cell_lines(heading.text))), justify=heading.align, no_wrap=whole
        )
    styles = {"best": "bold", "second": "underline"}
    for line, row in enumerate(page.rows):
        marks = [styles.get(page.marks.get((line, place), ""), "") for place in range(len(row))]
        table.add_row(*map(_cell, row, marks))
    return table


def _cell(text: str, style: str) -> Any:
    """A cell of a terminal's table; what stands below its first line is dim."""
    from rich.text import Text

    first, *below = cell_lines(text)
    cell = Text(first, style)
    for line in below:
        cell.append(f"\n{line}", "dim")
    return cell


def page_html(page: Page) -> str:
    """A page as an HTML table, every text escaped."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="text-align:{heading.align}">{_html(cell)}</{tag}>'
            for heading, cell in zip(page.headings, cells, strict=True)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in page.rows)
    notes = "".join(f"<p><small>{_html(note)}</small></p>" for note in page.notes)
    return (
        f"<table><caption>{_html(page.title)}</caption>"
        f"<thead><tr>{row([one.text for one in page.headings], 'th')}</tr></thead>"
        f"<tbody>{body}</tbody></table>{notes}"
    )


def _html(text: str) -> str:
    return "<br>".join(map(escape, cell_lines(text)))


def estimate_page(
    title: str, table: ScoreTable, scorers: Sequence[Scorer], notes: Sequence[str] = ()
) -> Page:
    """Each scorer with its interval, what failures may mean, and its categories."""
    failed = any(table.estimate(one).n < table.estimate(one).coverage.total for one in scorers)
    groups = [name for name in table.categories if len(table.categories) > 1]
    headings = [
        Heading("scorer", "left"),
        Heading("score"),
        Heading("95 %", folds=True),
        Heading("scored"),
        *([Heading("as zero")] if failed else []),
        *(Heading(name) for name in groups),
    ]
    rows = []
    for scorer in scorers:
        one = table.estimate(scorer)
        parts = [table.point(scorer, category(name)).value for name in groups]
        rows.append(
            (
                scorer.label,
                scorer.shown(one.value),
                one.shown_interval(scorer.digits),
                f"{one.n:,}/{one.coverage.total:,}",
                *([scorer.shown(one.as_zero)] if failed else []),
                *map(scorer.shown, parts),
            )
        )
    return Page(title, tuple(headings), tuple(rows), tuple(notes))


def find_scorer(scorers: Iterable[Scorer], name: str) -> Scorer:
    """The scorer of a name: ``meteor``, ``elements: accuracy``, or a judge for its overall score.

    Raises:
        KeyError: There is none; the names are in its message.
    """
    by_name = {one.label: one for one in scorers}
    found = by_name.get(name) or by_name.get(f"{name}: overall")
    if found is None:
        raise KeyError(f"no score of {name!r}; there are {', '.join(by_name)}")
    return found
