"""A command in a process of its own, with some of its streams on a terminal that tests type at."""

import fcntl
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from command import COMMAND

QUESTION = b"Go on? [y/N]"
PATIENCE_S = 60


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
        typed: Keys, such as ``b"y\\n"`` or ``b"\\x03"`` for Ctrl-C.
        cwd: The folder in which it runs.
        env: All of its environment variables.
        files: What ``stdout`` or ``stderr`` goes to in place of the terminal.

    Returns:
        The exit code, and all that the terminal showed.
    """
    main, other = pty.openpty()
    opened = {name: path.open("wb") for name, path in (files or {}).items()}
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=cwd,
        env={**env, "COLUMNS": "100"},
        stdin=other,
        stdout=opened.get("stdout", other),
        stderr=opened.get("stderr", other),
        start_new_session=True,
        preexec_fn=_own_the_terminal,  # noqa: PLW1509  so that Ctrl-C reaches it
    )
    os.close(other)
    shown, answered, deadline = b"", False, time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if select.select([main], [], [], 0.2)[0]:
            try:
                read = os.read(main, 4096)
            except OSError:
                break
            if not read:
                break
            shown += read
        if not answered and QUESTION in shown:
            os.write(main, typed)
            answered = True
        if process.poll() is not None and not select.select([main], [], [], 0.2)[0]:
            break
    os.close(main)
    for file in opened.values():
        file.close()
    return process.wait(120), shown.decode(errors="replace")


def _own_the_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
