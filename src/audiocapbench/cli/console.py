"""Where the command line prints: results to stdout, everything else to stderr.

Whatever comes from data is printed by these functions alone, which write its controls out.
"""

import ctypes
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import typer

from audiocapbench.errors import SHOWN, AudioCapBenchError, some
from audiocapbench.table import Result, Table
from audiocapbench.table.escape_controls import escape_controls, escape_json, escape_line

_results: ContextVar[Any] = ContextVar("results", default=None)


@contextmanager
def results_alone() -> Iterator[None]:
    """Leave stdout to results; what else prints, such as a metric or its C, has stderr."""
    own, results = sys.stdout, io.StringIO()
    token = _results.set(results)
    try:
        with redirect_stdout(sys.stderr), _descriptor_too():
            yield
    finally:
        _results.reset(token)
        typer.echo(results.getvalue(), own, nl=False)


@contextmanager
def _descriptor_too() -> Iterator[None]:
    if None in (sys.__stdout__, sys.__stderr__):  # closed, or by now another file's
        yield
        return
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)


def stderr() -> Any:
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def show(*tables: Table) -> None:
    from rich.console import Console

    from audiocapbench.table.terminal import print_table

    for table in tables:
        print_table(Console(soft_wrap=False, highlight=False), table)


def show_result(result: Result, *, json: bool) -> None:
    """Print what a command found, as tables or as one JSON document."""
    if json:
        print_json(result.to_dict())
    else:
        show(*result.tables())


def show_facts(document: Any, *lines: str, json: bool) -> None:
    """Print what a command found in plain words, or as one JSON document."""
    if json:
        print_json(document)
    else:
        show_lines(*lines)


def show_lines(*lines: str) -> None:
    """Print lines of plain words on stdout, each on one line whatever it names."""
    for line in lines:
        typer.echo(escape_line(line))


def show_text(text: str) -> None:
    """Print text on stdout as it is, but for its controls."""
    typer.echo(escape_controls(text), _results.get(), nl=False)


def say(*lines: str) -> None:
    """Lines of plain words on stderr, each on one line whatever it names.

    An argument that stands in backticks, as in the messages of errors, is printed as its option.
    """
    for line in lines:
        text = re.sub(r"`([a-z_]+)`", lambda name: f"--{name[1].replace('_', '-')}", line)
        text = text.replace("--hears", "--judge-hears").replace("--columns ", "--map ")
        typer.echo(escape_line(text), err=True)


def print_errors(*errors: Exception) -> None:
    """Say once what each of these errors says."""
    for text, error in {str(error): error for error in errors}.items():
        lines = error.args if isinstance(error, AudioCapBenchError) and not error.subject else ()
        first, *more = lines or [text]
        say(f"audiocapbench: {first}", *map(str, more))


def ask(question: str) -> bool | None:
    """Whether a person at the terminal says yes; None where there is no one to be asked."""
    asked = (sys.stdin, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in asked):
        return None
    typer.echo(f"{escape_line(question)} [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def say_bad(bad: Sequence[object], rest: str = "bad lines; --json lists them all") -> None:
    from audiocapbench.data.problems import by_cause

    causes = by_cause(bad)
    say(*causes[:SHOWN])
    if len(causes) > SHOWN:
        say(f"… and {len(causes) - SHOWN:,} more {rest}")


def say_ids(ids: Sequence[str], what: str, words: str) -> None:
    """How many things of a kind there are, and the first of them, where there are any."""
    if ids:
        say(f"{len(ids):,} {what}{'' if len(ids) == 1 else 's'} {words}: {some(ids)}")


def relative(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def json_text(document: Any) -> str:
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def print_json(document: Any) -> None:
    show_text(f"{json_text(document)}\n")
