"""Processes that begin at once: one has imported what a command needs, and each is a fork of it.

A race needs processes of its own, and so does a kill or a signal; none of them needs the second
that an import of everything takes. Where the start itself is looked at, a terminal, the memory, or
what is read while Python starts, a test takes a new interpreter: ``COMMAND`` in ``command.py``.

This file is also the program of the process that forks. It ends when the tests do, and with it
the processes that are forks of it.
"""

import atexit
import contextlib
import faulthandler
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import types
import weakref
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

# What a command imports before it asks or scores; nothing that costs more than it saves.
_ROOMS = (
    "annotate.check annotate.hear annotate.merge annotate.split benchmarks.audio_tables "
    "cli.progress engine judges.elements library metrics models.openai_chat "
    "report.runs scores.estimate store study.race"
).split()
_OTHERS = ("anyio._backends._asyncio", "scipy.special")
_WHERE_INSTALLED = ("httpx", "httpx2", "psycopg")

# What is read once, while Python starts or a package is imported.
_OF_A_START = (
    "LANG LC_ALL LC_CTYPE FORCE_COLOR PY_COLORS TERMINAL_WIDTH PYTHONDEVMODE PYTHONHASHSEED "
    "PYTHONIOENCODING PYTHONOPTIMIZE PYTHONUNBUFFERED PYTHONUTF8"
).split()
_AT_FIRST = dict(os.environ)

_NUMBER = struct.Struct("=q")


class Forked:
    """A process as ``subprocess.Popen`` with ``text=True`` gives it, as far as tests use that.

    Args:
        words: What would stand after ``python``: ``-m`` and a module, or ``-c`` and code, and then
            its arguments.
        cwd: The folder in which it runs.
        env: All of its environment variables; without it, those of the tests.
        stdin: As for ``Popen``, and so are ``stdout`` and ``stderr``.
    """

    def __init__(
        self,
        *words: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[Any] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
    ) -> None:
        env = dict(os.environ if env is None else env)
        _refuse_settings_of_a_start(env)
        self.args = words
        self.returncode: int | None = None
        self.stdin: IO[str] | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
        self._told: dict[str, list[str]] = {}
        self._readers: list[threading.Thread] = []
        self._end, other = socket.socketpair()
        weakref.finalize(self, self._end.close)
        with contextlib.ExitStack() as given:
            given.callback(other.close)
            ends = [
                self._child_end(given, "stdin", stdin),
                self._child_end(given, "stdout", stdout),
            ]
            same = stderr == subprocess.STDOUT
            ends.append(ends[1] if same else self._child_end(given, "stderr", stderr))
            request = {"words": words, "cwd": str(cwd or Path.cwd()), "env": env}
            _server().ask(request, [*ends, other.fileno()])
        self.pid = self._read_number(flags=0)

    def _child_end(self, given: contextlib.ExitStack, name: str, how: int | IO[Any] | None) -> int:
        """What the process gets as one of its streams; the other end of a pipe is kept."""
        place = ("stdin", "stdout", "stderr").index(name)
        if how is None:
            return place
        if not isinstance(how, int):
            return how.fileno()
        if how == subprocess.DEVNULL:
            found = os.open(os.devnull, os.O_RDWR)
            given.callback(os.close, found)
            return found
        assert how == subprocess.PIPE
        reading, writing = os.pipe()
        theirs, ours = (writing, reading) if place else (reading, writing)
        given.callback(os.close, theirs)
        stream = open(ours, "r" if place else "w")  # noqa: SIM115  (as Popen does)
        weakref.finalize(self, stream.close)
        setattr(self, name, stream)
        return theirs

    def _read_number(self, flags: int) -> int:
        read = self._end.recv(_NUMBER.size, flags)
        assert read, "the process that forks has ended; stderr says why"
        number: int = _NUMBER.unpack(read)[0]
        return number

    def poll(self) -> int | None:
        """How it ended, if it has."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end: the exit code, or a signal's number below zero."""
        if self.returncode is None:
            end = select.poll()
            end.register(self._end, select.POLLIN)
            if not end.poll(None if timeout is None else 1000 * timeout):
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
            # Threads may wait for the same end, so that none takes it away from the others.
            self.returncode = self._read_number(flags=socket.MSG_PEEK)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Read all that it still says, and wait for its end."""
        until = None if timeout is None else time.monotonic() + timeout
        if self.stdin is not None:
            self.stdin.close()
        if not self._readers:
            self._readers = [
                threading.Thread(target=self._read, args=(name,), daemon=True)
                for name in ("stdout", "stderr")
            ]
            for reader in self._readers:
                reader.start()
        for reader in self._readers:
            reader.join(None if until is None else max(0, until - time.monotonic()))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
        self.wait(None if until is None else max(0, until - time.monotonic()))
        return "".join(self._told["stdout"]), "".join(self._told["stderr"])

    def _read(self, name: str) -> None:
        said = self._told.setdefault(name, [])
        stream: IO[str] | None = getattr(self, name)
        if stream is not None and not stream.closed:
            with stream:
                said.extend(stream)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for stream in (self.stdout, self.stderr, self.stdin):
            if stream is not None:
                stream.close()
        if kind is not None:
            self.kill()  # a test that has failed waits for nothing
        self.wait()


def run_at_once(code: str, *calls: Sequence[str]) -> list[int]:
    """Run this code in as many processes as there are lists of arguments; how each ended."""
    return [process.wait() for process in begin_at_once(code, *calls)]


def begin_at_once(code: str, *calls: Sequence[str]) -> list[Forked]:
    """Begin as many processes as there are lists of arguments."""
    return [Forked("-c", code, *words) for words in calls]


def _refuse_settings_of_a_start(env: Mapping[str, str]) -> None:
    for name in _OF_A_START:
        said = f"{name} is read while Python starts: take a new one, COMMAND"
        assert env.get(name) == _AT_FIRST.get(name), said


class _Server:
    """The process that forks, as the tests see it: it is asked with words and open files."""

    def __init__(self) -> None:
        self._asking, asked = socket.socketpair()
        self._lock = threading.Lock()
        with asked:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(asked.fileno())],
                env=_AT_FIRST,
                pass_fds=[asked.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        atexit.register(self.end)

    def ask(self, request: Mapping[str, object], files: Sequence[int]) -> None:
        """Have it fork a process with three streams, and say where its number and end are told."""
        content = json.dumps(request).encode()
        with self._lock:
            socket.send_fds(self._asking, [_NUMBER.pack(len(content))], files)
            self._asking.sendall(content)

    def end(self) -> None:
        """End it, and whatever it has started."""
        self._asking.close()
        self._process.wait()


_server = functools.cache(_Server)


class _Ending:
    """What a process ends with; the interpreter itself tells only those who outlive it."""

    code: int | None = 0

    @classmethod
    def leave(cls) -> None:
        """End at once: to tear down all that is imported takes longer than most commands."""
        try:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        except (OSError, ValueError):
            return  # the interpreter tries again and says what is wrong
        if cls.code is None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        os._exit(cls.code or 0)


def _serve(asked: socket.socket) -> dict[str, Any] | None:
    """Fork as often as is asked: returns in each child with what it is to do, and at the end."""
    children: dict[int, socket.socket] = {}
    waking, woken = socket.socketpair()
    for one in (waking, woken):
        one.setblocking(False)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([asked, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _reap(children)
        if asked not in ready:
            continue
        header, files, _, _ = socket.recv_fds(asked, _NUMBER.size, 4)
        if not header:
            break
        content, size = b"", _NUMBER.unpack(header)[0]
        while len(content) < size and (more := asked.recv(size - len(content))):
            content += more
        if len(content) < size:
            break
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, file in enumerate(files[:3]):
                os.dup2(file, number)
            for file in {*files}:
                os.close(file)
            for one in (asked, waking, woken, *children.values()):
                one.close()
            request: dict[str, Any] = json.loads(content)
            return request
        for file in files[:3]:
            os.close(file)
        children[child] = socket.socket(fileno=files[3])
        children[child].sendall(_NUMBER.pack(child))
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return None


def _reap(children: dict[int, socket.socket]) -> None:
    for child in list(children):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            with children.pop(child) as told, contextlib.suppress(OSError):
                told.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(status)))


def _become(request: dict[str, Any], path: Sequence[str]) -> None:
    """Run what was asked for as a new interpreter would."""
    how, what, *words = request["words"]
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv = [how, *words]
    own = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    sys.path[:] = [request["cwd"] if how == "-m" else "", *own, *path]
    importlib.invalidate_caches()
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        new = open(number, "w" if number else "r", encoding=old.encoding, errors=old.errors)  # noqa: SIM115
        new.reconfigure(line_buffering=old.line_buffering or new.isatty())
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    if os.environ.get("PYTHONFAULTHANDLER"):
        faulthandler.enable()
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if how == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(what, "<string>", "exec"), main.__dict__)
    except SystemExit as ended:
        _Ending.code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        raise
    except KeyboardInterrupt:
        _Ending.code = None
        raise
    except BaseException:
        _Ending.code = 1
        raise


def _main() -> None:
    atexit.register(_Ending.leave)  # what is registered first is called last
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it is meant for the tests
    path = sys.path[1:]
    for one in _AT_FIRST.get("PYTHONPATH", "").split(os.pathsep):
        if one in path:
            path.remove(one)
    import typer.main

    from audiocapbench.cli.app import app, load_commands

    load_commands()
    typer.main.get_command = functools.cache(typer.main.get_command)  # as in command.py
    typer.main.get_command(app)
    others = [*_OTHERS, *filter(find_spec, _WHERE_INSTALLED)]
    for name in [*(f"audiocapbench.{room}" for room in _ROOMS), *others]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        request = _serve(asked)
    if request is not None:
        _become(request, path)


if __name__ == "__main__":
    _main()
