"""Finds Java and the jars of pycocoevalcap, and talks to a jar line by line; knows no metric."""

import os
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO

from audiocapbench.errors import MetricError

LOCALE = ("-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US")
"""Options of Java that a program would otherwise take from the machine."""

_LAST_WORDS = 5


def find_java(metric: str) -> str:
    """Find the Java that is to run a metric: that of JAVA_HOME, else the first on PATH."""
    home = os.environ.get("JAVA_HOME")
    at_home = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = at_home or shutil.which("java")
    if found is None:
        raise MetricError(
            f"{metric} runs the original Java program, and no Java was found; install a Java "
            "runtime (8 or newer) and put it on PATH, or set JAVA_HOME."
        )
    return found


def check_java(metric: str) -> None:
    """Refuse a Java that does not run: some machines have only the name of one."""
    java = find_java(metric)
    try:
        done = subprocess.run(  # noqa: S603  # only asks for the version
            [java, "-version"], capture_output=True, timeout=60, check=False
        )
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        problem = f"exit code {done.returncode}: {said}" if done.returncode else None
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem is not None:
        raise MetricError(
            f"{metric} runs the original Java program, and {java} does not run ({problem}); "
            "install a Java runtime (8 or newer), or set JAVA_HOME."
        )


def find_jar(metric: str, *parts: str) -> Path:
    """Find a file of the installed package pycocoevalcap."""
    spec = find_spec("pycocoevalcap")
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise MetricError(
            f"{metric} runs a program that comes with pycocoevalcap; "
            "install it with: pip install 'audiocapbench[coco]'."
        )
    path = Path(places[0], *parts)
    if not path.is_file():
        raise MetricError(f"{metric} needs {path}, which is missing; reinstall pycocoevalcap.")
    return path


class LineProcess:
    """A program that answers each line on its input with lines on its output.

    Its error output is drained all the time and input is written by a thread of its own, so that
    no full pipe can stop both sides. Leaving the ``with`` block ends the program in any case. It is
    started in ``folder``, and any one line of its output may take ``patience`` seconds.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path, patience: float) -> None:
        self._name = name
        self._patience = patience
        self._replies: Queue[str | None] = Queue()
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        try:
            self._process = subprocess.Popen(  # noqa: S603  # no shell, and captions go by pipe
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise MetricError(f"{name} could not be started: {error}.") from error
        self._start(self._listen, _pipe(self._process.stdout))
        self._start(self._drain, _pipe(self._process.stderr))

    @property
    def pid(self) -> int:
        """Number of the running program."""
        return self._process.pid

    def ask(self, lines: Sequence[str], replies: int) -> list[str]:
        """Send lines and wait for a number of lines in return.

        Raises:
            MetricError: The program ended or stayed silent for too long.
        """
        writer = self._start(self._write, lines)
        answers = [self._next_reply() for _ in range(replies)]
        writer.join()
        return answers

    def __enter__(self) -> "LineProcess":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError, ValueError):
                _pipe(pipe).close()

    def _next_reply(self) -> str:
        try:
            reply = self._replies.get(timeout=self._patience)
        except Empty:
            self.close()
            raise MetricError(
                f"{self._name} gave no answer for {self._patience:g} seconds and was stopped."
            ) from None
        if reply is None:
            self._replies.put(None)
            said = " / ".join(self._last_words) or "nothing"
            raise MetricError(f"{self._name} ended before it had answered; it said: {said}")
        return reply

    def _write(self, lines: Sequence[str]) -> None:
        pipe = _pipe(self._process.stdin)
        # A program that died is noticed, and reported, where its replies are read.
        with suppress(OSError, ValueError):
            for line in lines:
                pipe.write(line + "\n")
            pipe.flush()

    def _listen(self, pipe: IO[str]) -> None:
        with suppress(OSError, ValueError):
            for line in pipe:
                self._replies.put(line.rstrip("\r\n"))
        self._process.wait()
        self._replies.put(None)

    def _drain(self, pipe: IO[str]) -> None:
        with suppress(OSError, ValueError):
            for line in pipe:
                self._last_words.append(line.strip())

    @staticmethod
    def _start(target: Callable[..., None], argument: object) -> Thread:
        thread = Thread(target=target, args=(argument,), daemon=True)
        thread.start()
        return thread


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise MetricError("A program was started without its pipes.")
    return pipe
