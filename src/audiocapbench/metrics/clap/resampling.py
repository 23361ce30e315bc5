"""Clips at a model's rate by a product of matrices, as a GPU does it: soxr's filter, read off it.

What soxr answers to single pulses is its filter at every phase; the rest is a weighted sum. Samples
differ from soxr's by less than 1e-5 of full scale, but in the first 3 ms of a clip at most, where
soxr's own filter is not whole yet.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Samples, Waveform

_REACH = 104  # samples of the lower rate; soxr's filter has ended by then, on both sides
# From 11,025 to 48,000 Hz 147 samples become 640. Rates that meet as seldom as 44,056 and 48,000
# would take filters of a hundred megabytes: those stay with soxr.
_LONGEST_PERIOD = 640


@dataclass(frozen=True, slots=True)
class Recorded:
    """16 bits of shape (frames, one or two channels) as they lie in a file, to be resampled."""

    frames: NDArray[np.int16]
    source: int
    rate: int

    def __len__(self) -> int:
        """How many samples it has at the model's rate."""
        return max(1, round(len(self.frames) * self.rate / self.source))

    @property
    def nbytes(self) -> int:
        return self.frames.nbytes

    @property
    def kind(self) -> tuple[int, ...]:
        """What clips have in common that are resampled together."""
        return self.source, *self.frames.shape[1:]


def can_resample(source: int, rate: int) -> bool:
    return max(source, rate) // gcd(source, rate) <= _LONGEST_PERIOD


@lru_cache(maxsize=8)  # each rate that clips have
def filters(source: int, rate: int) -> tuple[Samples, int, int]:
    """Weights of shape (samples, samples at the other rate), how far samples are apart from one
    product to the next, and how many are heard before and behind those."""
    down, up = source // gcd(source, rate), rate // gcd(source, rate)
    reach = ceil(_REACH * max(1.0, down / up))
    # Pulses whose answers do not meet; each stands one step further in the period.
    apart = down * ceil(2 * reach / down + 1) + 1
    places = reach + apart * np.arange(down)
    pulses = np.zeros((places[-1] + reach + 1, 1), np.float32)
    pulses[places] = 1
    answers = Waveform(pulses, source).resampled(rate).samples[:, 0]
    times = np.arange(len(answers)) * down
    nearest = np.rint((times / up - reach) / apart).astype(np.int64).clip(0, down - 1)
    offsets = times - places[nearest] * up
    heard = np.abs(offsets) <= reach * up
    table = np.zeros(2 * reach * up + 1, np.float32)
    table[offsets[heard] + reach * up] = answers[heard]
    step = down * ceil(reach / down)  # short periods together, or frames would mostly overlap
    frames = np.arange(step + 2 * reach)[:, np.newaxis]
    wanted = np.arange(step // down * up) * down + (reach - frames) * up
    weights = table[wanted.clip(-reach * up, reach * up) + reach * up]
    return np.where(np.abs(wanted) <= reach * up, weights, np.float32(0)), step, reach


def resample(heard: Any, weights: Any, step: int) -> Any:
    """Samples at the other rate, of a tensor that has silence before and behind the clip."""
    return (heard.unfold(0, len(weights), step) @ weights).flatten()
