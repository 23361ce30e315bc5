"""Where the command line prints: results to stdout, everything else to stderr."""

import json
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from audiocapbench.report.escape_controls import escape_controls


def stdout() -> Console:
    """For results."""
    return Console(soft_wrap=False, highlight=False)


def stderr() -> Console:
    """For progress, warnings and advice."""
    return Console(stderr=True, highlight=False)


def show(table: Table) -> None:
    """Print a table of numbers whole: a narrow terminal wraps its lines but loses no digit."""
    console = stdout()
    wanted = console.measure(table, options=console.options.update(max_width=10_000)).maximum
    if wanted > console.width:
        console = Console(soft_wrap=False, highlight=False, width=wanted)
    console.print(table, crop=False)


def say(line: str) -> None:
    """A line of plain words on stderr."""
    typer.echo(escape_controls(line), err=True)


def print_json(document: Any) -> None:
    """One JSON document and nothing else."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
