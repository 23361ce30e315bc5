"""Reads clips, here or in processes of their own, which feed a GPU faster than threads can.

Such a process is asked by lines of JSON, and answers with a kind, a number of bytes, and the bytes.
"""

import io
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from queue import LifoQueue
from typing import Any, cast

import numpy as np

from audiocapbench import audio
from audiocapbench.audio import Samples
from audiocapbench.errors import AudioError

_HEAD = struct.Struct("<cQ")
_HASH, _SAMPLES, _ERROR = b"h", b"s", b"e"
_PIPE_BYTES = 1 << 20

Room = Callable[[int], Samples]
"""Gives an array for so many samples."""


def read_hash(path: Path) -> str | AudioError:
    """SHA-256 of a file, or why it has none."""
    try:
        return audio.sha256(path)
    except (AudioError, ValueError) as error:
        return AudioError(str(error))


def read_samples(path: Path, rate: int) -> Samples | AudioError:
    """A clip as an encoder hears it, all channels mixed down, at its rate; or why it cannot."""
    try:
        with np.errstate(over="ignore"):
            samples: Samples = audio.decode(path, mono=True, rate=rate).samples[:, 0]
        if not np.isfinite(samples).all():
            return AudioError(f"{path}: is too loud to be mixed down; export it again")
        return samples
    except AudioError as error:
        return error


class ReadingProcesses:
    """Processes that read clips; one that dies is replaced, and its clip cannot be read."""

    def __init__(self, count: int) -> None:
        self.running: set[subprocess.Popen[bytes]] = set()
        self._idle: LifoQueue[subprocess.Popen[bytes] | None] = LifoQueue()
        for _ in range(count):
            self._idle.put(None)

    def hash(self, path: Path) -> str | AudioError:
        """As ``read_hash``."""
        found = self._ask(path, None, np.empty)
        return found if isinstance(found, AudioError) else found.tobytes().decode()

    def samples(self, path: Path, rate: int, room: Room) -> Samples | AudioError:
        """As ``read_samples``, into room that is asked for."""
        return self._ask(path, rate, room)

    def _ask(self, path: Path, rate: int | None, room: Room) -> Samples | AudioError:
        process = self._idle.get()
        try:
            if process is None:
                process = _start()
                self.running.add(process)
            return _asked(process, path, rate, room)
        except (OSError, EOFError):
            if process is not None:
                self._end(process)
            process = None
            return AudioError(f"{path}: the process that decoded it died; export it again")
        finally:
            self._idle.put(process)

    def close(self) -> None:
        """End all processes; they would end with this one too."""
        for process in list(self.running):
            self._end(process)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self.running.discard(process)
        process.kill()
        process.communicate()


@cache
def reading_processes() -> ReadingProcesses:
    """One for each core but one; they are started when needed, and end with this process."""
    return ReadingProcesses(max(1, (os.cpu_count() or 1) - 1))


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
    # What glibc would give back after each clip is asked for again at once, a page at a time.
    kept = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 31)}
    place = os.environ | kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = subprocess.PIPE
    return subprocess.Popen(  # noqa: S603 - ourselves
        command, env=place, bufsize=0, stdin=pipe, stdout=pipe, pipesize=_PIPE_BYTES
    )


def _asked(
    process: subprocess.Popen[bytes], path: Path, rate: int | None, room: Room
) -> Samples | AudioError:
    asked, answers = cast(io.FileIO, process.stdin), cast(io.FileIO, process.stdout)
    asked.write(json.dumps([os.fspath(path), rate]).encode() + b"\n")
    head = bytearray(_HEAD.size)
    _fill(memoryview(head), answers)
    kind, size = _HEAD.unpack(head)
    found: Any = room(size // 4) if kind == _SAMPLES else np.empty(size, np.uint8)
    _fill(found.data.cast("B"), answers)
    return AudioError(found.tobytes().decode("utf-8", "replace")) if kind == _ERROR else found


def _fill(place: memoryview, stream: io.FileIO) -> None:
    while place:
        read = stream.readinto(place)
        if not read:
            raise EOFError
        place = place[read:]


def serve() -> None:
    """Answer until nobody asks any more; what libraries print goes elsewhere."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        name, rate = json.loads(line)
        found = read_hash(Path(name)) if rate is None else read_samples(Path(name), rate)
        if isinstance(found, np.ndarray):
            kind, content = _SAMPLES, np.ascontiguousarray(found).data.cast("B")
        else:
            kind = _HASH if isinstance(found, str) else _ERROR
            content = memoryview(str(found).encode("utf-8", "replace"))
        os.write(answers, _HEAD.pack(kind, len(content)))
        while content:
            content = content[os.write(answers, content) :]
