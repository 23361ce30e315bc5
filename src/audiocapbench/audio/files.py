"""Bytes of files that are not trusted: what is no plain file is never waited for or read."""

import hashlib
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import AudioError

_PASSED_OVER = (b"LIST", b"fact", b"JUNK")
_WIDTHS = {1: (8, 16, 24, 32), 3: (32, 64)}
_HIGHEST_RATE, _MOST_CHANNELS = 1_000_000, 64
_BLOCK = 1 << 18


class WavHeader(NamedTuple):
    """How many frames there are, at which rate, of how many channels; and where they begin."""

    frames: int
    rate: int
    channels: int
    bits: int
    start: int


def plain_wav(head: bytes, size: int) -> WavHeader | None:
    """The header of a plain WAV file of so many bytes, of which some are given; None in doubt."""
    if len(head) < 44 or head[:4] != b"RIFF" or head[8:12] != b"WAVE":
        return None
    if int.from_bytes(head[4:8], "little") != size - 8:
        return None
    shape, at = None, 12
    while at + 8 <= len(head):
        name, length = struct.unpack_from("<4sI", head, at)
        at += 8
        if name == b"data":
            break
        if name == b"fmt " and shape is None and length == 16 and at + 16 <= len(head):
            shape = struct.unpack_from("<HHIIHH", head, at)
        elif name not in _PASSED_OVER:
            return None
        at += length + length % 2
    else:
        return None
    if shape is None or at + length != size:
        return None
    kind, channels, rate, bytes_a_second, width, bits = shape
    plain = (
        0 < channels <= _MOST_CHANNELS
        and 0 < rate <= _HIGHEST_RATE
        and bits in _WIDTHS.get(kind, ())
        and width == channels * bits // 8
        and bytes_a_second == rate * width
        and length > 0 == length % width
    )
    return WavHeader(length // width, rate, channels, bits, at) if plain else None


def open_plain(path: Path) -> BufferedReader:
    """Open a file to read it; what is missing, a pipe or a device is an AudioError at once."""
    with _named(path):
        # Without the flag, a pipe that nobody writes to would be waited for.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        if not stat.S_ISREG(mode := os.fstat(number).st_mode):
            os.close(number)
            what = "a folder" if stat.S_ISDIR(mode) else "not a file"
            raise AudioError(f"is {what}", subject=f"{path}:")
        return os.fdopen(number, "rb")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AudioError(f"cannot be read ({reason})", subject=f"{path}:") from None


def read_bytes(path: Path, most: int) -> bytes:
    """All bytes of a file; one that cannot be read, or has more than that, is an AudioError."""
    with _named(path), open_plain(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise AudioError(f"has more than {most / 1e6:,.0f} MB", subject=f"{path}:")
    return content


def sha256(content: Path | bytes) -> str:
    """SHA-256 of a file's bytes, or of bytes in memory, in hex."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    return hashed(content)[2]


def hashed(path: Path) -> tuple[bytes, int, str]:
    """How a file begins, how many bytes it has, and their SHA-256 in hex; read in blocks."""
    with _named(path), open_plain(path) as stream:
        head = block = stream.read(_BLOCK)
        size, digest = len(head), hashlib.sha256(head)
        while len(block) == _BLOCK:
            block = stream.read(_BLOCK)
            size += len(block)
            digest.update(block)
    return head, size, digest.hexdigest()
