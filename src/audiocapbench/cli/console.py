"""Where the command line prints: results to stdout, everything else to stderr.

Whatever comes from data is printed by these functions alone, which write its controls out.
"""

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from audiocapbench.report.escape_controls import escape_controls, escape_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

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


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    title: str | None = None,
    boxed: bool = False,
) -> "Table":
    """A table of texts from anywhere, with some columns set to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.HEAVY_HEAD if boxed else box.SIMPLE_HEAD, pad_edge=boxed)
    if title is not None:
        made.title, made.title_justify = Text(escape_controls(title)), "left"
    for name in columns:
        made.add_column(Text(escape_controls(name)), justify="right" if name in right else "left")
    for row in rows:
        made.add_row(*(Text(escape_controls(cell)) for cell in row))
    return made


def show(table: "Table") -> None:
    """Print a table of numbers whole: a narrow terminal wraps its lines but loses no digit."""
    console = stdout()
    wanted = console.measure(table, options=console.options.update(max_width=10_000)).maximum
    if wanted > console.width:
        console = stdout(wanted)
    console.print(table, crop=False)


def show_lines(*lines: str) -> None:
    """Print lines of plain words on stdout."""
    for line in lines:
        show_text(f"{line}\n")


def show_text(text: str) -> None:
    """Print text on stdout as it is, but for its controls."""
    typer.echo(escape_controls(text), nl=False)


def say(*lines: str) -> None:
    """Lines of plain words on stderr."""
    for line in lines:
        typer.echo(escape_controls(line), err=True)


def ask(question: str) -> bool | None:
    """Whether a person at the terminal says yes; None where there is no one to be asked."""
    asked = (sys.stdin, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in asked):
        return None
    typer.echo(f"{question} [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def signature_lines(signatures: "Iterable[Signature]") -> list[str]:
    """How the numbers of tables were made, a line for each way."""
    return [f"Signature: {one}" for one in dict.fromkeys(map(str, signatures)) if one]


def some(names: Sequence[str]) -> str:
    """The first names of a list."""
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


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
    show_lines(json_text(document))
