"""Where the command line prints: results to stdout, everything else to stderr.

Whatever comes from data is printed by these functions alone, which write its controls out.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.report.escape_controls import escape_controls, escape_json, escape_line

if TYPE_CHECKING:
    from rich.console import Console

    from audiocapbench.report.exports import Findings, Page
    from audiocapbench.signature import Signature

SHOWN = 5
"""How many of a long list people are shown; programs get them all."""


def stdout(width: int | None = None) -> "Console":
    """For results."""
    from rich.console import Console

    return Console(soft_wrap=False, highlight=False, width=width)


def stderr() -> "Console":
    """For what comes and goes beside the results."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def show_page(page: "Page", *, fit: bool = True) -> None:
    """Print a table on stdout, folded and broken in parts where the terminal is narrow."""
    from dataclasses import replace
    from textwrap import wrap

    from audiocapbench.library.result import rich_table
    from audiocapbench.report.exports import fitted, page_width

    width = stdout().width
    for part in fitted(page, width) if fit else [page]:
        # A title is as wide as the terminal, not as its table: no name in it is broken.
        title = escape_line(part.title)
        show_lines(*wrap(title, width, break_long_words=False, break_on_hyphens=False))
        table = rich_table(replace(part, title=""))
        # What is wider than the terminal is wrapped by it, and loses no digit.
        wide = None if part.wraps else max(width, page_width(part))
        stdout(wide).print(table, crop=False)
        show_lines(*part.notes, *([""] if part.notes else []))


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", *, left: int = 1
) -> None:
    """Print a table on stdout whose first columns hold names, and the others numbers."""
    from audiocapbench.report.exports import Heading, Page

    headings = (Heading(name, "right" if at >= left else "left") for at, name in enumerate(columns))
    show_page(Page(title, tuple(headings), tuple(map(tuple, rows))))


def show_findings(found: "Findings", *, json: bool) -> None:
    """Print what an analysis found."""
    if json:
        print_json(found.document)
    for page in () if json else found.pages:
        show_page(page)


def show_lines(*lines: str) -> None:
    """Print lines of plain words on stdout, each on one line whatever it names."""
    for line in lines:
        typer.echo(escape_line(line))


def show_text(text: str) -> None:
    """Print text on stdout as it is, but for its controls."""
    typer.echo(escape_controls(text), nl=False)


def say(*lines: str) -> None:
    """Lines of plain words on stderr, each on one line whatever it names.

    An argument that stands in backticks, as in the messages of errors, is printed as its option.
    """
    for line in lines:
        text = re.sub(r"`([a-z_]+)`", lambda name: _option(name[1]), line)
        typer.echo(escape_line(text), err=True)


def _option(argument: str) -> str:
    return f"--{argument.replace('hears', 'judge-hears').replace('_', '-')}"


def complain(*errors: Exception) -> None:
    """Say once what each of these errors says."""
    for text, error in {str(error): error for error in errors}.items():
        lines = error.args if isinstance(error, AudioCapBenchError) and not error.subject else ()
        first, *more = lines or [text]
        say(f"audiocapbench: {first}", *more)


def ask(question: str) -> bool | None:
    """Whether a person at the terminal says yes; None where there is no one to be asked."""
    asked = (sys.stdin, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in asked):
        return None
    typer.echo(f"{escape_line(question)} [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def signature_lines(signatures: "Iterable[Signature]") -> list[str]:
    """How the numbers of tables were made, a line for each way."""
    return [f"Signature: {one}" for one in dict.fromkeys(map(str, signatures)) if one]


def some(names: Sequence[str]) -> str:
    """The first names of a list."""
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def say_bad(bad: Sequence[object]) -> None:
    """The first lines that could not be read, and how many more there are."""
    say(*map(str, bad[:SHOWN]))
    if len(bad) > SHOWN:
        say(f"… and {len(bad) - SHOWN:,} more bad lines; --json lists them all")


def say_ids(ids: Sequence[str], what: str, words: str) -> None:
    """How many things of a kind there are, and the first of them, where there are any."""
    if ids:
        say(f"{len(ids):,} {what}{'' if len(ids) == 1 else 's'} {words}: {some(ids)}")


def relative(path: Path) -> str:
    """A path as a person in this folder would write it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def json_text(document: Any) -> str:
    """A JSON document as it is printed and written."""
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def print_json(document: Any) -> None:
    """One JSON document and nothing else."""
    show_text(f"{json_text(document)}\n")
