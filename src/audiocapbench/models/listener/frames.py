"""Turns samples into one common signal and its short frames; measures, but names nothing."""

from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Mask = NDArray[np.bool_]

RATE = 16_000
HOP = 160
WINDOW = 512
FRAMES_PER_SECOND = RATE // HOP
LONGEST_SECONDS = 120
SILENT_DB = -72.0
FLOOR_DB = -100.0


class Frames(NamedTuple):
    """Frame-by-frame measures, one row every 10 ms."""

    power: Array
    """Power spectrum of each frame (frames by frequency bins)."""
    hertz: Array
    """Centre frequency of each bin."""
    level: Array
    """Level of each frame in dB relative to full scale."""
    centroid: Array
    """Centre of gravity of each frame's spectrum in Hz."""
    flatness: Array
    """0 for a pure tone, towards 1 for white noise."""
    flux: Array
    """How much louder the spectrum grew since the frame before, in dB averaged over bands."""


def prepare(samples: NDArray[np.float32], rate: int) -> Array:
    """The clip at 16 kHz without its DC offset; only the first two minutes are kept."""
    rate = max(int(rate), 1)
    signal = np.asarray(samples, dtype=np.float32).ravel()[: LONGEST_SECONDS * rate]
    if signal.size == 0:
        return np.zeros(1, dtype=np.float32)
    signal = signal - np.float32(np.mean(signal, dtype=np.float64))
    from scipy.signal import butter, resample_poly, sosfilt

    if rate != RATE:
        common = gcd(rate, RATE)
        signal = resample_poly(signal, RATE // common, rate // common)
    # Below 70 Hz recordings are full of handling noise that a listener hardly notices.
    heard = sosfilt(butter(2, 70, "highpass", fs=RATE, output="sos"), signal)
    return np.asarray(heard, dtype=np.float32)[: LONGEST_SECONDS * RATE]


def slices(signal: Array, length: int, hop: int) -> Array:
    """Overlapping pieces of the signal, centred on multiples of the hop (a view, not a copy)."""
    padded = np.pad(signal, (length // 2, length))
    count = max(1, -(-signal.size // hop))
    return np.lib.stride_tricks.sliding_window_view(padded, length)[::hop][:count]


def decibels(power: Array) -> Array:
    """Power to dB, with a floor instead of minus infinity."""
    return np.asarray(10.0 * np.log10(np.maximum(power, 10 ** (FLOOR_DB / 10))), dtype=np.float32)


def cut(signal: Array) -> Frames:
    """Cut a prepared signal into frames and measure each of them."""
    from scipy.fft import rfft

    window = np.hanning(WINDOW).astype(np.float32)
    spectrum = rfft(slices(signal, WINDOW, HOP) * window, axis=1)
    # Scaled so that a frame's powers add up to its mean square.
    scale = np.float32(2.0 / (WINDOW * float(np.sum(window**2))))
    power = np.asarray(np.abs(spectrum) ** 2 * scale, dtype=np.float32)
    hertz = np.linspace(0, RATE / 2, power.shape[1], dtype=np.float32)
    total = power.sum(axis=1)
    return Frames(
        power=power,
        hertz=hertz,
        level=decibels(total),
        centroid=np.asarray(power @ hertz / np.maximum(total, 1e-12), dtype=np.float32),
        flatness=_flatness(power[:, 4:-8]),
        flux=_flux(power),
    )


def _flatness(power: Array) -> Array:
    safe = np.maximum(power, 1e-12)
    # The mean log of one periodogram of noise lies 2.5 dB under the log of its mean.
    ratio = 1.78 * np.exp(np.log(safe).mean(axis=1)) / safe.mean(axis=1)
    return np.asarray(np.minimum(1.0, ratio), dtype=np.float32)


def _flux(power: Array) -> Array:
    edges = np.unique(np.geomspace(2, power.shape[1], 25).astype(int))
    bands = np.add.reduceat(power, edges[:-1], axis=1)
    # The floor keeps jitter near silence from counting as attacks.
    loudness = 10.0 * np.log10(bands + 1e-7)
    flux = np.zeros(power.shape[0], dtype=np.float32)
    if power.shape[0] > 2:
        flux[2:] = np.maximum(loudness[2:] - loudness[:-2], 0).mean(axis=1)
    return flux
