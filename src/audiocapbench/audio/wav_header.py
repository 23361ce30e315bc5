"""Reads the header of a plain WAV file, which most clips are, without opening a decoder for it.

Only what leaves no doubt is taken: a file that holds exactly what its header says. All else is for
the decoder, which knows the many ways of a WAV file to be odd.
"""

import struct
from typing import NamedTuple

_PASSED_OVER = (b"LIST", b"fact", b"JUNK")
_WIDTHS = {1: (8, 16, 24, 32), 3: (32, 64)}
_HIGHEST_RATE, _MOST_CHANNELS = 1_000_000, 64


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
    found, at = None, 12
    while at + 8 <= len(head):
        name, length = struct.unpack_from("<4sI", head, at)
        at += 8
        if name == b"data":
            return _whole(found, length, at) if found and at + length == size else None
        if name == b"fmt " and found is None and length == 16 and at + 16 <= len(head):
            found = struct.unpack_from("<HHIIHH", head, at)
        elif name not in _PASSED_OVER:
            return None
        at += length + length % 2
    return None


def _whole(found: tuple[int, ...], length: int, start: int) -> WavHeader | None:
    kind, channels, rate, bytes_a_second, width, bits = found
    sane = 0 < channels <= _MOST_CHANNELS and 0 < rate <= _HIGHEST_RATE
    if not sane or bits not in _WIDTHS.get(kind, ()) or width != channels * bits // 8:
        return None
    if bytes_a_second != rate * width or not length or length % width:
        return None
    return WavHeader(length // width, rate, channels, bits, start)
