"""Follows the pitch of a signal and how tonal it is; says nothing about what makes the tone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.models.listener.frames import RATE, Array, slices

LENGTH = 1024
HOP = 320
TRACKS_PER_SECOND = RATE // HOP
LOWEST_HZ = 60
HIGHEST_VOICE_HZ = 1000


class Track(NamedTuple):
    """Pitch measures, one row every 20 ms."""

    hertz: Array
    """Pitch, or 0 where there is none."""
    harmonicity: Array
    """How well the frame repeats itself at its pitch period, 0 to 1."""
    purity: Array
    """Share of the power in the one strongest spectral peak."""
    peak: Array
    """Frequency of the strongest peak."""
    tonality: Array
    """Share of the power that stands in narrow peaks."""


def follow(signal: Array) -> Track:
    """Follow the pitch of a prepared signal."""
    from scipy.fft import irfft, rfft

    window = np.hanning(LENGTH).astype(np.float32)
    spectrum = rfft(slices(signal, LENGTH, HOP) * window, n=2 * LENGTH, axis=1)
    power = np.asarray(np.abs(spectrum) ** 2, dtype=np.float32)
    shape = irfft(np.abs(rfft(window, n=2 * LENGTH)) ** 2)[: LENGTH // 2]
    repeats = irfft(power, axis=1)[:, : LENGTH // 2] / shape
    repeats = repeats / np.maximum(repeats[:, :1], 1e-9)
    voice, harmonicity = _period(np.asarray(repeats, dtype=np.float32))
    peak, purity = _strongest_peak(power)
    whistle = (purity > 0.5) & (peak > 0.9 * HIGHEST_VOICE_HZ)
    return Track(
        hertz=np.where(whistle, peak, voice).astype(np.float32),
        harmonicity=np.where(whistle, np.maximum(harmonicity, purity), harmonicity).astype(
            np.float32
        ),
        purity=purity,
        peak=peak,
        tonality=_tonality(power),
    )


def _period(repeats: Array) -> tuple[Array, Array]:
    """Pitch and harmonicity from the normalised autocorrelation of each frame."""
    first, last = RATE // HIGHEST_VOICE_HZ, RATE // LOWEST_HZ
    inner = repeats[:, first : last + 1]
    summit = np.zeros_like(inner, dtype=bool)
    summit[:, 1:-1] = (inner[:, 1:-1] >= inner[:, :-2]) & (inner[:, 1:-1] > inner[:, 2:])
    height = np.where(summit, inner, 0.0)
    best = height.max(axis=1)
    # Of nearly equal summits the first is the period; the later ones are its multiples.
    chosen = np.argmax(height >= np.maximum(0.88 * best, 1e-6)[:, None], axis=1)
    rows = np.arange(len(inner))
    lag = chosen + first + _parabola(repeats, rows, chosen + first)
    hertz = np.where(best > 0.3, RATE / np.maximum(lag, 1), 0.0)
    return hertz.astype(np.float32), np.clip(height[rows, chosen], 0, 1).astype(np.float32)


def _parabola(values: Array, rows: NDArray[np.intp], at: NDArray[np.intp]) -> Array:
    """Offset of the true summit from the sample `at`, by the parabola through its neighbours."""
    at = np.clip(at, 1, values.shape[1] - 2)
    left, middle, right = values[rows, at - 1], values[rows, at], values[rows, at + 1]
    bend = left - 2 * middle + right
    offset = np.where(np.abs(bend) > 1e-9, 0.5 * (left - right) / np.where(bend == 0, 1, bend), 0)
    return np.clip(offset, -0.5, 0.5).astype(np.float32)


def _strongest_peak(power: Array) -> tuple[Array, Array]:
    total = np.maximum(power.sum(axis=1), 1e-12)
    at = np.argmax(power[:, 4:], axis=1) + 4
    rows = np.arange(len(power))
    around = np.clip(at[:, None] + np.arange(-5, 6), 0, power.shape[1] - 1)
    purity = power[rows[:, None], around].sum(axis=1) / total
    logs = np.log(np.maximum(power, 1e-12))
    hertz = (at + _parabola(logs, rows, at)) * (RATE / (2 * LENGTH))
    return hertz.astype(np.float32), np.minimum(purity, 1).astype(np.float32)


def _tonality(power: Array) -> Array:
    """Share of power in bins that stand far above the median of their neighbourhood."""
    from scipy.ndimage import uniform_filter1d

    # Averaging five frames steadies noise, whose single frames are full of chance peaks.
    steady = uniform_filter1d(power, 5, axis=0, mode="nearest")
    around = uniform_filter1d(np.sqrt(np.maximum(steady, 0)), 65, axis=1, mode="nearest") ** 2
    stands = steady > 5 * around
    share = (steady * stands).sum(axis=1) / np.maximum(steady.sum(axis=1), 1e-12)
    return np.asarray(share, dtype=np.float32)
