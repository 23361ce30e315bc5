"""Samples in memory and in blocks, bit for bit the same: mixed down, resampled, encoded."""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import AudioError

Samples = NDArray[np.float32]

_WAV_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
_PASSED_OVER = (b"LIST", b"fact", b"JUNK")
_WIDTHS = {1: (8, 16, 24, 32), 3: (32, 64)}
_HIGHEST_WAV_RATE, _MOST_WAV_CHANNELS = 1_000_000, 64

MOST_BYTES = 1 << 31  # most bytes of one clip that are held in memory

Mono = bool | Literal["mean"]
"""Whether channels become one: by ``Mix``, or by their plain mean, as others' tools do it."""
_AT_ONCE = 1 << 22  # frames that are looked at together, as hours in double precision are large
_PART_S = 0.4  # seconds, as of the blocks in which loudness is measured
_HEARD = 1e-3  # of the loudest part's power; what is below is not counted
_ROUNDING = 1e-12  # of a part's power with its offset; what is left below is of arithmetic alone
_LEAST = 1e-6  # of a part's power that is left, at least; below is silence
# One-sided stereo loses 6 dB and unlike channels 3; a channel alone among six loses 15.6.
_MOST_LOST_DB = 10.0


@dataclass(frozen=True, slots=True)
class Waveform:
    """Decoded audio: float32 samples of shape (frames, channels) at a rate in hertz."""

    samples: Samples
    rate: int

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.rate

    @property
    def channels(self) -> int:
        return int(self.samples.shape[1])

    def mix(self) -> "Mix":
        parts = (self.samples[at : at + _AT_ONCE] for at in range(0, len(self.samples), _AT_ONCE))
        return Mix.of(parts, self.rate, self.channels)

    def mono(self) -> "Waveform":
        """One channel by the rule of ``Mix``."""
        return self if self.channels == 1 else Waveform(self.mix().down(self.samples), self.rate)

    def resampled(self, rate: int) -> "Waveform":
        """Convert to another rate; at least one sample remains."""
        blocks = resampled([self.samples], self.rate, rate, self.channels)
        return self if rate == self.rate else Waveform(np.concatenate(list(blocks)), rate)

    def first(self, seconds: float) -> "Waveform":
        """Keep at most the first seconds, and at least one sample."""
        return Waveform(self.samples[: max(1, int(seconds * self.rate))], self.rate)


class Mix(NamedTuple):
    """Which channels of a clip are heard, by their mean; where not all are, the note says why.

    All are, unless their mean loses more than 10 dB to the loudest of them, on average over the
    parts of .4 s that are heard: where channels cancel, for some of the time or for all, or where
    few of many sound. Then it is the mean of as many of the loudest channels as lose least.
    An offset is not heard: powers are about each part's own mean.
    """

    channels: tuple[int, ...] = ()
    note: str = ""

    @classmethod
    def of(cls, blocks: Iterable[NDArray[Any]], rate: int, count: int) -> "Mix":
        """Decide for a clip, by all that is heard of it, before it is resampled."""
        length, at = max(1, round(_PART_S * rate)), 0
        products = [np.zeros((count + 1, count + 1))]
        for block in blocks if count > 1 else ():
            parts = np.split(block, range(-at % length, len(block), length))
            first, *others = map(_products, parts)
            products[-1] += first
            products += others
            at += len(block)
        raw = np.array(products)
        sums, frames = raw[:, :count, count:], np.maximum(raw[:, count:, count:], 1)
        raw = raw[:, :count, :count]
        shared = raw - sums * sums.transpose(0, 2, 1) / frames
        silent = np.einsum("pcc->pc", shared - _ROUNDING * raw) <= 0
        shared[silent[:, :, None] | silent[:, None]] = 0
        powers = np.einsum("pcc->pc", shared)
        loudest = powers.max(1)
        heard = loudest > _HEARD * loudest.max()
        # Rounded, so that channels of one loudness have one order on every machine.
        order = np.argsort(-np.round(np.log10(powers.sum(0) + 1e-30), 3), kind="stable")
        sums = shared[heard][:, order][:, :, order].cumsum(1).cumsum(2)
        means = np.einsum("pcc->pc", sums) / np.arange(1, count + 1) ** 2
        left = np.maximum(means / loudest[heard, None], _LEAST)
        lost = -10 * np.log10(left).sum(0) / max(1, len(left))
        if lost[-1] <= max(_MOST_LOST_DB, lost.min()):
            return cls()
        chosen = sorted(order[: lost.argmin() + 1].tolist())
        numbers = " and ".join(str(one + 1) for one in chosen)
        what = f"the mean of its {count} channels loses {lost[-1]:.1f} dB"
        return cls(tuple(chosen), f"{what}; heard by channel {numbers}")

    def down(self, samples: Samples) -> Samples:
        mean: Samples
        samples = samples[:, self.channels] if self.channels else samples
        if samples.shape[1] == 2:
            # The same to the last bit; numpy's mean of two columns takes ten times as long.
            mean = (samples[:, :1] + samples[:, 1:]) / np.float32(2)
        else:
            mean = samples.mean(axis=1, keepdims=True, dtype=np.float32)
        return mean


def _products(part: NDArray[Any]) -> NDArray[np.float64]:
    """Of a block's channels with each other, and with one of ones: their sums."""
    channels = part.T.astype(np.float64, order="C")
    products = np.full((len(channels) + 1,) * 2, float(len(part)))
    # Of so few rows BLAS makes a product in twice the time.
    products[:-1, :-1] = np.einsum("in,jn->ij", channels, channels)
    products[-1, :-1] = products[:-1, -1] = channels.sum(1)
    return products


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
        0 < channels <= _MOST_WAV_CHANNELS
        and 0 < rate <= _HIGHEST_WAV_RATE
        and bits in _WIDTHS.get(kind, ())
        and width == channels * bits // 8
        and bytes_a_second == rate * width
        and length > 0 == length % width
    )
    return WavHeader(length // width, rate, channels, bits, at) if plain else None


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
