"""Processes that begin at once: one imports the store, and each of the others is a fork of it.

A race needs processes of its own, and so does a kill; neither needs an import each.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Self

_PARENT = """
import gc, json, os, sys, traceback
import audiocapbench.store

gc.freeze()

for line in sys.stdin:
    code, calls = json.loads(line)
    children = []
    for words in calls:
        child = os.fork()
        if child == 0:
            sys.argv = ["-c", *words]
            try:
                exec(code, {"__name__": "__main__"})
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)  # to tear down all that is imported takes longer than the rest
        children.append(child)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(json.dumps(ends), flush=True)
"""


class Forks:
    """A process with the store imported, which forks; it is there until the ``with`` block ends."""

    def __enter__(self) -> Self:
        self._parent = subprocess.Popen(
            [sys.executable, "-c", _PARENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._parent.communicate()

    def begin(self, code: str, *calls: Sequence[str]) -> None:
        """Have this code run in as many processes at once as there are lists of arguments."""
        assert self._parent.stdin is not None
        self._parent.stdin.write(json.dumps([code, calls]) + "\n")
        self._parent.stdin.flush()

    def ends(self) -> list[int]:
        """Wait for them: how each ended, with the signal's number below zero if by one."""
        assert self._parent.stdout is not None
        found: list[int] = json.loads(self._parent.stdout.readline())
        return found

    def run(self, code: str, *calls: Sequence[str]) -> list[int]:
        """Begin them and wait for them."""
        self.begin(code, *calls)
        return self.ends()
