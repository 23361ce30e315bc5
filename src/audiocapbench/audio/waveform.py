"""Samples in memory and in blocks, bit for bit the same: mixed down, resampled, encoded."""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import AudioError

Samples = NDArray[np.float32]

_WAV_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")

MOST_BYTES = 1 << 31  # most bytes of one clip that are held in memory


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
        return int(self.samples.shape[1])

    def mono(self) -> "Waveform":
        """Mix all channels down to one by their mean."""
        return self if self.channels == 1 else Waveform(mixed(self.samples), self.rate)

    def resampled(self, rate: int) -> "Waveform":
        """Convert to another rate; at least one sample remains."""
        blocks = resampled([self.samples], self.rate, rate, self.channels)
        return self if rate == self.rate else Waveform(np.concatenate(list(blocks)), rate)

    def first(self, seconds: float) -> "Waveform":
        """Keep at most the first seconds, and at least one sample."""
        return Waveform(self.samples[: max(1, int(seconds * self.rate))], self.rate)


def mixed(samples: Samples) -> Samples:
    """All channels as one: their mean."""
    mean: Samples
    if samples.shape[1] == 2:
        # The same to the last bit; numpy's mean of two columns takes ten times as long.
        mean = (samples[:, :1] + samples[:, 1:]) / np.float32(2)
    else:
        mean = samples.mean(axis=1, keepdims=True, dtype=np.float32)
    return mean


def resampled(
    blocks: Iterable[Samples], source: int, rate: int, channels: int
) -> Iterator[Samples]:
    """Blocks at another rate; at least one sample remains."""
    if rate == source:
        yield from blocks
        return
    if rate < 1:
        raise AudioError(f"cannot resample to {rate} Hz: a rate is at least 1")
    import soxr

    resampler = soxr.ResampleStream(source, rate, channels, dtype="float32")
    nothing = np.zeros((0, channels), np.float32)
    taken, given, last = 0, 0, nothing
    for block in blocks:
        taken += len(block)
        converted = resampler.resample_chunk(np.ascontiguousarray(block))
        given += len(converted)
        last = converted[-1:] if given else block[-1:]
        yield converted
    wanted = max(1, round(taken * rate / source)) - given
    converted = resampler.resample_chunk(nothing, last=True)[: max(0, wanted)]
    # soxr returns nothing for a clip shorter than its filter; hold the last sample instead.
    last = converted[-1:] if len(converted) else last
    yield np.concatenate([converted, np.repeat(last, max(0, wanted - len(converted)), axis=0)])


def wav(waveform: Waveform) -> bytes:
    """Encode as a 16-bit PCM WAV file."""
    return encode([waveform.samples], waveform.rate, waveform.channels, "wav")[0]


def encode(
    blocks: Iterable[Samples],
    rate: int,
    channels: int,
    container: Literal["wav", "pcm16", "float32"],
    most: int = MOST_BYTES,
) -> tuple[bytes, int]:
    """Encode as a WAV file of 16 bits, raw PCM or samples, up to the most bytes; and frames."""
    parts, frames, as_it_is = [b""], 0, container == "float32"
    for block in blocks:
        whole = block if as_it_is else np.rint(np.clip(block, -1.0, 1.0) * 32767.0)
        parts.append(whole.astype("<f4" if as_it_is else "<i2").tobytes())
        frames += len(block)
        if frames * channels * (4 if as_it_is else 2) > most:
            break
    if container == "wav":
        size, width = frames * channels * 2, channels * 2
        shape = (b"fmt ", 16, 1, channels, rate, rate * width, width, 16)
        parts[0] = _WAV_HEADER.pack(b"RIFF", 36 + size, b"WAVE", *shape, b"data", size)
    return b"".join(parts), frames
