"""Reads clips, here or in processes of their own, which feed a GPU faster than threads can.

Such a process is asked about several clips by a line of JSON. It answers with two numbers, of bytes
of a JSON document and of words of samples, with that document, and with the samples.
"""

import io
import json
import math
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from queue import LifoQueue
from typing import Any, NamedTuple, cast

import numpy as np

from audiocapbench import audio
from audiocapbench.audio import MOST_BYTES, Samples
from audiocapbench.audio.files import hashed, open_plain
from audiocapbench.audio.wav_header import plain_wav
from audiocapbench.errors import AudioError
from audiocapbench.metrics.clap.windows import Sound

_HEAD = struct.Struct("<QQ")
_SHORT_BYTES = 1 << 22

Room = Callable[[int], Samples]
"""Gives an array for so many samples."""


class FileHash(NamedTuple):
    """SHA-256 of a file, and whether it is plain and short, so that several may be read at once."""

    sha256: str
    short: bool


def read_hash(path: Path) -> FileHash | AudioError:
    """The hash of a file, or why it has none."""
    try:
        head, size, digest = hashed(path)
    except (AudioError, ValueError) as error:
        return AudioError(str(error))
    return FileHash(digest, size <= _SHORT_BYTES and plain_wav(head, size) is not None)


def read_sound(path: Path, rate: int) -> Sound | AudioError:
    """As ``read_samples``, but 16 bits of one or two channels at this rate as they lie there."""
    try:
        with open_plain(path) as file:
            header = plain_wav(file.peek(), os.fstat(file.fileno()).st_size)
            plain = header and (header.bits, header.rate, header.channels <= 2) == (16, rate, True)
            if header and plain and header.frames <= MOST_BYTES // 4:
                found = np.empty((header.frames, header.channels), "<i2")
                file.seek(header.start)
                if file.readinto(found.data.cast("B")) == found.nbytes:
                    return found
    except (AudioError, OSError):
        pass  # the decoder says why
    return read_samples(path, rate)


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
        self.running: set[_Process] = set()
        self._idle: LifoQueue[_Process | None] = LifoQueue()
        for _ in range(count):
            self._idle.put(None)

    def hashes(self, paths: Sequence[Path]) -> list[FileHash | AudioError]:
        """As ``read_hash``, of several files."""
        return self._ask(paths, None, np.empty)

    def sounds(self, paths: Sequence[Path], rate: int, room: Room) -> list[Sound | AudioError]:
        """As ``read_sound``, of several files, into room that is asked for once."""
        return self._ask(paths, rate, room)

    def _ask(self, paths: Sequence[Path], rate: int | None, room: Room) -> list[Any]:
        process = self._idle.get()
        try:
            if process is None:
                process = _Process()
                self.running.add(process)
            return process.ask([rate, *map(os.fspath, paths)], room)
        except (OSError, EOFError):
            if process is not None:
                self.running.discard(process)
                process.end()
            process = None
        finally:
            self._idle.put(process)
        if len(paths) > 1:  # one of them ended it, and the others are to be had
            return [self._ask([path], rate, room)[0] for path in paths]
        return [AudioError(f"{paths[0]}: the process that decoded it died; export it again")]

    def close(self) -> None:
        """End all processes; they would end with this one too."""
        for process in self.running:
            process.end()


@cache
def reading_processes() -> ReadingProcesses | None:
    """One for each core but one; they are started when needed, and end with this process."""
    # Elsewhere a socket is no file.
    return ReadingProcesses(max(1, (os.cpu_count() or 1) - 1)) if os.name == "posix" else None


class _Process(subprocess.Popen[bytes]):
    """Asked by a pipe; answers by a socket, where many bytes are waited for at once."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
        # What glibc would give back after each clip is asked for again at once, a page at a time.
        kept = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 31)}
        place = os.environ | kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.answers, theirs = socket.socketpair()
        with theirs:
            pipe, answers = subprocess.PIPE, theirs.fileno()
            super().__init__(command, env=place, bufsize=0, stdin=pipe, stdout=answers)

    def ask(self, question: list[Any], room: Room) -> list[Any]:
        cast(io.FileIO, self.stdin).write(json.dumps(question).encode() + b"\n")
        size, words = _HEAD.unpack(self._fill(bytearray(_HEAD.size)))
        found = json.loads(self._fill(bytearray(size)))
        held = self._fill(room(words)) if words else np.empty(0, np.float32)
        return [_unpacked(held, *one) for one in found]

    def _fill(self, place: Any) -> Any:
        left = memoryview(place).cast("B")
        while left:
            # A thread that woke up for each part would hold up the one that feeds the GPU.
            read = self.answers.recv_into(left, len(left), socket.MSG_WAITALL)
            if not read:
                raise EOFError
            left = left[read:]
        return place

    def end(self) -> None:
        self.kill()
        self.communicate()
        self.answers.close()


def _unpacked(held: Samples, kind: str, *found: Any) -> FileHash | Sound | AudioError:
    if kind == "error":
        return AudioError(*found)
    if kind == "hash":
        return FileHash(*found)
    start, shape = found
    sound: Sound = held[start:].view(kind)[: math.prod(shape)].reshape(shape)
    return sound


def serve() -> None:
    """Answer until nobody asks any more; what libraries print goes elsewhere."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        rate, *names = json.loads(line)
        found: list[list[Any]] = []
        contents: list[bytes | memoryview] = [b"", b""]
        words = 0
        for path in map(Path, names):
            one = read_hash(path) if rate is None else read_sound(path, rate)
            if isinstance(one, np.ndarray):
                found.append([one.dtype.str, words, one.shape])
                contents += [np.ascontiguousarray(one).data.cast("B"), bytes(-one.nbytes % 4)]
                words += -(-one.nbytes // 4)
            else:
                found.append(["hash", *one] if isinstance(one, FileHash) else ["error", str(one)])
        contents[1] = json.dumps(found).encode()
        contents[0] = _HEAD.pack(len(contents[1]), words)
        for content in contents:
            left = memoryview(content)
            while left:
                left = left[os.write(answers, left) :]
