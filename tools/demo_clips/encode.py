"""OGG Vorbis files that are the same bytes each time they are written."""

import io
import zlib
from functools import cache

import soundfile

from demo_clips.dsp import Signal

BLOCK = 8_192
COMPRESSION = 0.4
SERIAL_AT, CRC_AT, COUNT_AT, HEADER = 14, 22, 26, 27


def encode(sound: Signal, rate: int, name: str) -> bytes:
    """The bytes of an OGG Vorbis file, its stream numbered by its name and not by chance."""
    buffer = io.BytesIO()
    form = {"format": "OGG", "subtype": "VORBIS", "compression_level": COMPRESSION}
    with soundfile.SoundFile(buffer, "w", samplerate=rate, channels=1, **form) as file:
        # libsndfile overflows its stack when Vorbis is given a long clip in one piece.
        for start in range(0, sound.size, BLOCK):
            file.write(sound[start : start + BLOCK])
    return renumber(buffer.getvalue(), zlib.crc32(name.encode()))


def renumber(ogg: bytes, serial: int) -> bytes:
    """Give every page of an OGG file one serial number and the checksum that goes with it."""
    out = bytearray(ogg)
    at = 0
    while at < len(out):
        segments = out[at + COUNT_AT]
        table = out[at + HEADER : at + HEADER + segments]
        end = at + HEADER + segments + sum(table)
        out[at + SERIAL_AT : at + SERIAL_AT + 4] = serial.to_bytes(4, "little")
        out[at + CRC_AT : at + CRC_AT + 4] = bytes(4)
        out[at + CRC_AT : at + CRC_AT + 4] = page_crc(out[at:end]).to_bytes(4, "little")
        at = end
    return bytes(out)


def page_crc(page: bytes | bytearray) -> int:
    """The checksum of an OGG page: CRC-32 with its bits unreflected, from zero, not inverted."""
    table = _crc_table()
    crc = 0
    for byte in page:
        crc = ((crc << 8) & 0xFFFFFFFF) ^ table[(crc >> 24) ^ byte]
    return crc


@cache
def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte << 24
        for _ in range(8):
            crc = ((crc << 1) ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
        table.append(crc)
    return tuple(table)
