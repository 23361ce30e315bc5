"""The command line as tests call it: in this process, but otherwise as a process would.

A new process costs a second before it does anything. Tests that kill one or send it a signal take
``Forked`` of ``forks.py``; those that look at its start, measure it or give it a terminal take
``COMMAND``.
"""

import contextlib
import functools
import gc
import importlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

import typer.main

from audiocapbench.cli import main
from audiocapbench.cli.app import Commands

COMMAND = [sys.executable, "-m", "audiocapbench"]

_new_parser = typer.main.get_command


@functools.cache
def _parser(app: typer.Typer) -> Any:
    """The parser of all commands, made once: each that came later would have all made anew."""
    parser: Any = _new_parser(app)
    if isinstance(parser, Commands):
        parser.list_commands(None)
    return parser


def run_command(
    *words: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    given: str = "",
    program: Callable[[], object] = main,
) -> CompletedProcess[str]:
    """Run ``audiocapbench`` with these words.

    Args:
        words: What stands after the program's name.
        cwd: The folder in which it runs.
        env: All of its environment variables; without it, those of the tests.
        given: What it reads from standard input.
        program: What is called instead of ``audiocapbench``.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code, usual = 0, gc.get_threshold()
    with (
        contextlib.chdir(cwd or Path.cwd()),
        patch.dict(os.environ, dict(os.environ if env is None else env), clear=True),
        patch.object(sys, "argv", ["audiocapbench", *words]),
        patch.object(sys, "stdin", io.StringIO(given)),
        patch.object(typer.main, "get_command", _parser),
        patch.object(gc, "freeze"),  # this process goes on, with what others have left in it
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _own_packages(cwd),
    ):
        try:
            program()
        except SystemExit as ended:
            code = _exit_code(ended)
        except Exception:
            traceback.print_exc()
            code = 1
        finally:
            gc.set_threshold(*usual)
    texts = [_text(stream) for stream in (out, err)]
    return CompletedProcess(list(words), code, *texts)


@contextlib.contextmanager
def _own_packages(place: Path | None) -> Iterator[None]:
    """Put the folders of ``PYTHONPATH`` on the path; forget afterwards what came from them."""
    listed = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    added = [one for one in listed if one not in sys.path]
    before = set(sys.modules)
    with patch.object(sys, "path", [*added, *sys.path]):
        importlib.invalidate_caches()
        try:
            yield
        finally:
            own = (*added, *([str(place)] if place else []))
            for name in sys.modules.keys() - before:
                if (getattr(sys.modules[name], "__file__", None) or "").startswith(own):
                    del sys.modules[name]
    importlib.invalidate_caches()


def _exit_code(ended: SystemExit) -> int:
    if isinstance(ended.code, str):
        print(ended.code, file=sys.stderr)  # noqa: T201  (as the interpreter does)
        return 1
    return ended.code or 0


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()
