"""Audio files in and out: decode, mix down, resample, cut into windows, fingerprint, encode.

Everything goes through soundfile, soxr and numpy. Nothing here knows about models or datasets.
"""

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import AudioError

Samples = NDArray[np.float32]

EXTENSIONS = frozenset({".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff"})


class AudioInfo(NamedTuple):
    """What a file's header says."""

    duration_s: float
    rate: int
    channels: int
    frames: int


@dataclass(frozen=True, slots=True)
class Waveform:
    """Decoded audio: float32 samples of shape (frames, channels) at a rate in hertz."""

    samples: Samples
    rate: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.rate

    @property
    def channels(self) -> int:
        """How many channels there are."""
        return int(self.samples.shape[1])

    def mono(self) -> "Waveform":
        """Mix all channels down to one by their mean."""
        if self.channels == 1:
            return self
        return Waveform(self.samples.mean(axis=1, keepdims=True, dtype=np.float32), self.rate)

    def resampled(self, rate: int) -> "Waveform":
        """Convert to another rate; at least one sample remains."""
        if rate == self.rate:
            return self
        if rate < 1:
            raise AudioError(f"cannot resample to {rate} Hz: a rate is at least 1")
        import soxr

        wanted = max(1, round(len(self.samples) * rate / self.rate))
        converted = soxr.resample(self.samples, self.rate, rate)[:wanted]
        # soxr returns nothing for a clip shorter than its filter; hold the last sample instead.
        short = wanted - len(converted)
        if short > 0:
            last = converted[-1:] if len(converted) else self.samples[-1:]
            converted = np.concatenate([converted, np.repeat(last, short, axis=0)])
        return Waveform(np.ascontiguousarray(converted, dtype=np.float32), rate)

    def first(self, seconds: float) -> "Waveform":
        """Keep at most the first seconds, and at least one sample."""
        return Waveform(self.samples[: max(1, int(seconds * self.rate))], self.rate)


def probe(path: Path) -> AudioInfo:
    """Read the header of an audio file.

    Raises:
        AudioError: The file is missing, empty, not audio, or holds no samples.
    """
    import soundfile

    with _checked(path):
        info = soundfile.info(str(path))
    if info.frames < 1:
        raise AudioError(f"{path}: holds no samples")
    return AudioInfo(info.frames / info.samplerate, info.samplerate, info.channels, info.frames)


def decode(path: Path) -> Waveform:
    """Decode a WAV, FLAC, OGG or MP3 file (whatever libsndfile reads).

    Raises:
        AudioError: The file is missing, empty, corrupt, or holds no (finite) samples.
    """
    import soundfile

    with _checked(path):
        samples, rate = soundfile.read(str(path), dtype="float32", always_2d=True)
    if not len(samples):
        raise AudioError(f"{path}: holds no samples")
    if not np.isfinite(samples).all():
        raise AudioError(f"{path}: holds samples that are not finite numbers; export it again")
    return Waveform(samples, rate)


def windows(
    samples: Samples, rate: int, window_s: float, hop_s: float, *, loop: bool = True
) -> Samples:
    """Cut mono samples into windows of equal length.

    Windows start at 0 and step by the hop until the end of the clip is covered. The last one is
    kept when it is partial: looped until it is full, or padded with zeros.
    """
    window, hop = round(window_s * rate), round(hop_s * rate)
    if window < 1 or hop < 1:
        raise AudioError(f"window ({window_s} s) and hop ({hop_s} s) must be at least one sample")
    if samples.ndim != 1 or not len(samples):
        raise AudioError("windows are cut from mono audio with at least one sample")
    count = 1 + max(0, -(-(len(samples) - window) // hop))
    cut = np.zeros((count, window), dtype=np.float32)
    for row, start in zip(cut, range(0, count * hop, hop), strict=True):
        piece = samples[start : start + window]
        row[:] = np.resize(piece, window) if loop else 0
        row[: len(piece)] = piece
    return cut


def pcm16(waveform: Waveform) -> bytes:
    """Encode as raw little-endian 16-bit PCM, channels interleaved."""
    return _whole_numbers(waveform).tobytes()


def wav(waveform: Waveform) -> bytes:
    """Encode as a 16-bit PCM WAV file."""
    import soundfile

    buffer = io.BytesIO()
    soundfile.write(buffer, _whole_numbers(waveform), waveform.rate, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def sha256(content: Path | bytes) -> str:
    """SHA-256 of a file's bytes, or of bytes in memory, in hex."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    try:
        with content.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise AudioError(f"{content}: cannot be read ({error.strerror})") from None


def _whole_numbers(waveform: Waveform) -> NDArray[np.int16]:
    scaled: Samples = np.rint(np.clip(waveform.samples, -1.0, 1.0) * 32767.0)
    return scaled.astype(np.dtype("<i2"))


@contextmanager
def _checked(path: Path) -> Iterator[None]:
    """Read a file that has bytes; what libsndfile cannot read is an AudioError."""
    import soundfile

    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AudioError(f"{path}: cannot be read ({reason})") from None
    if not path.is_file():
        raise AudioError(f"{path}: is not a file")
    if not size:
        raise AudioError(f"{path}: is empty (0 bytes)")
    try:
        yield
    except (soundfile.LibsndfileError, RuntimeError, TypeError, UnicodeError) as error:
        reason = str(error).rsplit(":", maxsplit=1)[-1].strip().rstrip(".") or "not an audio file"
        raise AudioError(f"{path}: cannot be decoded ({reason})") from None
    except MemoryError:
        raise AudioError(f"{path}: claims to be longer than memory can hold") from None
