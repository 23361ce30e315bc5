"""Where the command line prints: results to stdout, everything else to stderr."""

import json
from typing import Any

import typer
from rich.console import Console


def stdout() -> Console:
    """For results."""
    return Console(soft_wrap=False, highlight=False)


def stderr() -> Console:
    """For progress, warnings and advice."""
    return Console(stderr=True, highlight=False)


def say(line: str) -> None:
    """A line of plain words on stderr."""
    typer.echo(line, err=True)


def print_json(document: Any) -> None:
    """One JSON document and nothing else."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
