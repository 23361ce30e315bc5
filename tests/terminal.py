"""A command in a process of its own, with some of its streams on a terminal that tests type at."""

import contextlib
import os
import pty
import select
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO
from unittest.mock import patch

from audiocapbench.cli import main as program
from command import run_command
from forks import Forked

QUESTION = b"Go on? [y/N]"
PATIENCE_S = 120
_OWNER = """
import fcntl, os, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from audiocapbench.cli import main
main()
"""


def on_a_terminal(
    words: Sequence[str],
    typed: bytes,
    *,
    cwd: Path,
    env: Mapping[str, str],
    files: Mapping[str, Path] | None = None,
) -> tuple[int, str]:
    """Run a command on a terminal and type an answer when it asks whether to go on.

    Args:
        words: What stands after the program.
        typed: Keys, such as ``b"y\\n"``; without any, the end of all input.
        cwd: The folder in which it runs.
        env: All of its environment variables.
        files: What ``stdout`` or ``stderr`` goes to in place of the terminal.

    Returns:
        The exit code, and all that the terminal showed.
    """
    main, other = pty.openpty()
    shown = bytearray()
    typist = threading.Thread(target=_type_when_asked, args=(main, typed or b"\x04", shown))
    with contextlib.ExitStack() as open_files:
        own = {
            name: open_files.enter_context(path.open("w", encoding="utf-8"))
            for name, path in (files or {}).items()
        }
        keys = open_files.enter_context(os.fdopen(os.dup(other), encoding="utf-8"))
        screen = open_files.enter_context(os.fdopen(other, "w", encoding="utf-8", buffering=1))
        typist.start()
        done = run_command(
            *words,
            cwd=cwd,
            env={**env, "COLUMNS": "100"},
            program=lambda: _with_streams(
                keys, own.get("stdout", screen), own.get("stderr", screen)
            ),
        )
    typist.join(PATIENCE_S)
    os.close(main)
    return done.returncode, shown.decode(errors="replace")


def _with_streams(stdin: TextIO, stdout: TextIO, stderr: TextIO) -> None:
    with (
        patch.object(sys, "stdin", stdin),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        program()


def _type_when_asked(main: int, typed: bytes, shown: bytearray) -> None:
    """Read what a terminal shows until nobody has it open any more."""
    answered = False
    with contextlib.suppress(OSError):  # the end, as Linux says it
        while read := os.read(main, 4096):
            shown += read
            if not answered and QUESTION in shown:
                os.write(main, typed)
                answered = True


def on_a_terminal_of_its_own(
    words: Sequence[str], typed: bytes, *, cwd: Path, env: Mapping[str, str]
) -> tuple[int, str]:
    """The same in a process that owns the terminal, for ``b"\\x03"``, which is Ctrl-C."""
    main, other = pty.openpty()
    with os.fdopen(other, "r+b", buffering=0) as terminal:
        process = Forked(
            "-c",
            _OWNER,
            *words,
            cwd=cwd,
            env={**env, "COLUMNS": "100"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
    shown, typed_at, deadline = b"", 0.0, time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if select.select([main], [], [], 0.2)[0]:
            try:
                read = os.read(main, 4096)
            except OSError:
                break
            if not read:
                break
            shown += read
        # Python may miss a signal that comes just before it waits for input: press the key again.
        if QUESTION in shown and time.monotonic() - typed_at > PATIENCE_S / 6:
            os.write(main, typed)
            typed_at = time.monotonic()
        if process.poll() is not None and not select.select([main], [], [], 0.2)[0]:
            break
    os.close(main)
    return process.wait(120), shown.decode(errors="replace")
