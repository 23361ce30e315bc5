"""A process that holds a SQLite store as a backup or a stuck program would."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=120)
for words in sys.argv[2].split(";"):
    held.execute(words).fetchall()
print("held", flush=True)
sys.stdin.read()
"""

WRITERS_OUT = "BEGIN EXCLUSIVE"
EVERYBODY_OUT = "PRAGMA locking_mode = EXCLUSIVE;PRAGMA journal_mode = DELETE;BEGIN EXCLUSIVE"


@contextmanager
def locked(path: Path, how: str = WRITERS_OUT) -> Iterator[subprocess.Popen[bytes]]:
    """Hold a store until the block ends."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield holder
    finally:
        holder.kill()
        holder.communicate()
