"""Commands that cannot see each other: of two users where ``/proc`` hides others, or in namespaces.

A hidden command has the number of a user of its own, but root's right to read and write files.
"""

import os
import subprocess
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

from forks import Forked

_ENTER = textwrap.dedent(
    """
    import ctypes, os, runpy, sys

    how, lease_s, *sys.argv[1:] = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name, *args):
        if getattr(libc, name)(*args) < 0:
            raise OSError(ctypes.get_errno(), name)

    if how.isdigit():
        call("unshare", 0x20000)  # mounts
        call("mount", b"none", b"/", None, 0x44000, None)  # private, and all below it
        call("mount", b"proc", b"/proc", b"proc", 0, b"hidepid=2")
        os.setgroups([])
        os.setresgid(int(how), int(how), int(how))
        os.setresuid(int(how), int(how), 0)
        libc.setfsuid(0)
    else:
        from sqlalchemy import Engine, event

        def connected(connection, _record):
            if hasattr(connection, "create_function"):
                day = connection.execute("SELECT julianday('now')").fetchone()[0]
                connection.create_function("julianday", 1, lambda _: day + float(how) / 86400)

        event.listen(Engine, "connect", connected)
        call("unshare", 0x20000000)  # numbers of processes
        if child := os.fork():
            os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        call("prctl", 1, 9)  # it ends with the one that waits
    from audiocapbench.engine import workers

    workers.LEASE_S = float(lease_s)
    runpy.run_module("audiocapbench", run_name="__main__", alter_sys=True)
    """
)


@cache
def why_not() -> str | None:
    """Why no command can be hidden here; None if it can."""
    if os.getuid() != 0:
        return "only root can start commands of several users"
    tried = ["unshare", "-m", "-p", "-f", "mount", "-t", "proc", "-o", "hidepid=2", "proc", "/proc"]
    try:
        done = subprocess.run(tried, check=False, capture_output=True, text=True, timeout=180)
    except OSError as error:
        return f"no namespaces: {error}"
    return f"no namespaces: {done.stderr.strip()}" if done.returncode else None


def start_hidden(
    user: int, *words: str, lease_s: float = 30.0, **how: int | IO[Any] | Path | Mapping[str, str]
) -> Forked:
    """Start a command of a user; ``how`` is as for ``Forked``."""
    return Forked("-c", _ENTER, str(user), str(lease_s), *words, **how)  # type: ignore[arg-type]


def start_apart(clock_s: float, *words: str, lease_s: float = 30.0, **how: Any) -> Forked:
    """Start a command with numbers of processes of its own, and a clock that is wrong by so much.

    Signals reach the process that waits for it.
    """
    return Forked("-c", _ENTER, f"{clock_s:+f}", str(lease_s), *words, **how)
