"""Audio files that are not what they say, made of real ones."""

import io
from functools import cache
from pathlib import Path

import numpy as np
import soundfile


def noise(seconds: float = 3.0, rate: int = 44_100, channels: int = 1) -> np.ndarray:
    shape = (int(seconds * rate), channels)
    return np.random.default_rng(7).uniform(-0.3, 0.3, shape).astype("f4")


def encoded(
    samples: np.ndarray, kind: str = "WAV", rate: int = 44_100, subtype: str | None = None
) -> bytes:
    """Samples as the bytes of a file."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=kind, subtype=subtype)
    return buffer.getvalue()


def flac_that_claims(frames: int, samples: np.ndarray | None = None) -> bytes:
    """A FLAC file with another number of samples in its header; 0 is what a pipe leaves."""
    content = bytearray(encoded(noise() if samples is None else samples, "FLAC"))
    fields = int.from_bytes(content[18:26], "big") >> 36 << 36
    content[18:26] = (fields | frames).to_bytes(8, "big")
    return bytes(content)


def patched_wav(offset: int, value: int, size: int = 4, content: bytes = b"") -> bytes:
    """A WAV file with another number at a place of its header."""
    patched = bytearray(content or encoded(noise()))
    patched[offset : offset + size] = value.to_bytes(size, "little")
    return bytes(patched)


def half(content: bytes) -> bytes:
    """What is there of a file when its copy broke off."""
    return content[: len(content) // 2]


@cache
def liars() -> dict[str, tuple[bytes, str]]:
    """Files that open and claim what is not true, by name, and what is said of each."""
    nan = noise()
    nan[-1] = np.nan
    infinite = noise()
    infinite[70_000] = np.inf
    ogg = encoded(noise(1.0), "OGG")
    return {
        "2**36.flac": (flac_that_claims(2**36 - 1), "cut short"),
        "more.flac": (flac_that_claims(44_100 * 5), "cut short"),
        "half.flac": (half(encoded(noise(10.0), "FLAC")), "cannot be decoded"),
        "half-of-unknown.flac": (half(flac_that_claims(0, noise(10.0))), "cannot be decoded"),
        "half.wav": (half(encoded(noise())), "cut short"),
        "half.aiff": (half(encoded(noise(), "AIFF")), "cut short"),
        "half.mp3": (half(encoded(noise(), "MP3")), "cut short"),
        "gigahertz.wav": (patched_wav(24, 10**9), "cannot be true: 1,000,000,000 Hz"),
        "thousand.wav": (patched_wav(22, 1_000, 2), "1,000 channels"),
        "nan.wav": (encoded(nan, subtype="FLOAT"), "not finite"),
        "infinite.wav": (encoded(infinite, subtype="FLOAT"), "not finite"),
        "chained.ogg": (ogg + ogg, "several streams"),
    }


@cache
def broken() -> dict[str, tuple[bytes, str]]:
    """Files that cannot be opened as audio, by name, and what is said of each."""
    wav = encoded(noise())
    return {
        "zero-hertz.wav": (patched_wav(24, 0), "cannot be decoded"),
        "no-channels.wav": (patched_wav(22, 0, 2), "cannot be decoded"),
        "many.wav": (patched_wav(22, 65_535, 2), "cannot be decoded"),
        "no-data.wav": (patched_wav(40, 0), "holds no samples"),
        "header.wav": (wav[:44], "holds no samples"),
        "torn-header.wav": (wav[:30], "cannot be decoded"),
        "empty.wav": (b"", r"is empty \(0 bytes\)"),
        "half.opus": (half(encoded(noise(1.0, 48_000), "OGG", 48_000, "OPUS")), "cannot be"),
        "text.raw": (b"hello " * 999, "cannot be decoded"),
        "text.gsm": (b"hello " * 999, "it has no header"),
        "text.au": (b"hello " * 999, "it has no header"),
        "text.mp3": (b"hello " * 999, "cannot be decoded"),
        "zeros.flac": (bytes(100_000), "cannot be decoded"),
    }


@cache
def sound() -> dict[str, bytes]:
    """Odd files that are read to their end all the same: three seconds each."""
    wav, flac, mp3 = (encoded(noise(), kind) for kind in ("WAV", "FLAC", "MP3"))
    tag = b"ID3\x04\x00\x00\x00\x00\x08\x00" + bytes(1024)
    return {
        "unknown.flac": flac_that_claims(0),
        "piped.wav": patched_wav(40, 0xFFFFFFFF, content=patched_wav(4, 0xFFFFFFFF)),
        "piped-by-sox.wav": patched_wav(40, 0x7FFFFFFF - 43, content=patched_wav(4, 0x7FFFFFFF)),
        "rf64.wav": encoded(noise(), "RF64"),
        "tagged.mp3": tag + mp3,
        "tagged.flac": tag + flac,
        "flac.wav": flac,
        "wav.mp3": wav,
        "mp3.ogg": mp3,
        "without-ending": wav,
    }


def write_audio(path: Path, content: bytes) -> Path:
    """A file of these bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
