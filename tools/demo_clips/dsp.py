"""Noise, filters, oscillators and rooms that the demo clips are built from; no clip is made here.

Everything is synthesised at RATE and brought to its stored rate when it is encoded.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import signal

RATE = 32_000

Signal = NDArray[np.float64]
Rng = np.random.Generator


class Mode(NamedTuple):
    """One way a struck body rings: its pitch, its time to fall to 1/e, its strength."""

    hz: float
    tau: float
    gain: float = 1.0


class Formant(NamedTuple):
    """One resonance of a throat or a box."""

    hz: float
    width: float
    gain: float = 1.0


def samples(seconds: float) -> int:
    """Length of a stretch of time at RATE."""
    return round(seconds * RATE)


def clock(seconds: float) -> Signal:
    """The time of every sample, from 0."""
    return np.arange(samples(seconds)) / RATE


def curve(seconds: float, *points: tuple[float, float]) -> Signal:
    """A line through (time, value) points, held flat before the first and after the last."""
    times, values = zip(*points, strict=True)
    return np.asarray(np.interp(clock(seconds), times, values))


def decay(seconds: float, tau: float, attack: float = 0.001) -> Signal:
    """An exponential fall after a short linear rise."""
    t = clock(seconds)
    return np.minimum(1.0, t / attack) * np.exp(-t / tau)


def wander(rng: Rng, seconds: float, per_second: float, low: float, high: float) -> Signal:
    """A smooth random line between two values, with so many turning points a second."""
    count = max(4, round(seconds * per_second) + 2)
    knots = np.linspace(0.0, seconds, count)
    t = clock(seconds)
    where = np.searchsorted(knots, t, side="right") - 1
    where = np.clip(where, 0, count - 2)
    share = (t - knots[where]) / (knots[1] - knots[0])
    share = (1 - np.cos(np.pi * np.clip(share, 0, 1))) / 2
    values = rng.uniform(low, high, count)
    return np.asarray(values[where] * (1 - share) + values[where + 1] * share)


def noise(rng: Rng, seconds: float, slope: float = 0.0) -> Signal:
    """Noise of unit RMS whose power falls as 1/f**slope: 0 white, 1 pink, 2 brown."""
    count = samples(seconds)
    spectrum = np.fft.rfft(rng.standard_normal(count))
    hz = np.fft.rfftfreq(count, 1 / RATE)
    spectrum *= np.maximum(hz, 20.0) ** (-slope / 2)
    return unit(np.fft.irfft(spectrum, count))


def unit(x: Signal) -> Signal:
    """The same signal at an RMS of one; silence stays silence."""
    rms = float(np.sqrt(np.mean(x**2))) if x.size else 0.0
    return x / rms if rms > 0 else x


def low(x: Signal, hz: float, order: int = 2) -> Signal:
    """Keep what is below hz."""
    return np.asarray(signal.sosfilt(signal.butter(order, hz, "low", fs=RATE, output="sos"), x))


def high(x: Signal, hz: float, order: int = 2) -> Signal:
    """Keep what is above hz."""
    return np.asarray(signal.sosfilt(signal.butter(order, hz, "high", fs=RATE, output="sos"), x))


def band(x: Signal, lowest: float, highest: float, order: int = 2) -> Signal:
    """Keep what lies between two frequencies."""
    sos = signal.butter(order, (lowest, highest), "band", fs=RATE, output="sos")
    return np.asarray(signal.sosfilt(sos, x))


def sweep(x: Signal, centre: Signal, octaves: float, lowpass: bool = False) -> Signal:
    """A band-pass (or low-pass) filter whose centre follows a curve of frequencies."""
    hz, times, grid = signal.stft(x, RATE, nperseg=1024)
    middle = np.interp(times, np.arange(centre.size) / RATE, centre)
    away = np.log2(np.maximum(hz, 1.0)[:, None] / middle[None, :])
    if lowpass:
        away = np.maximum(away, 0.0)
    _, out = signal.istft(grid * np.exp(-0.5 * (away / octaves) ** 2), RATE, nperseg=1024)
    return np.asarray(out[: x.size])


def resonate(x: Signal, formants: Sequence[Formant]) -> Signal:
    """A sum of two-pole resonances, each of unit gain at its peak."""
    out = np.zeros_like(x)
    for hz, width, gain in formants:
        b, a = signal.iirpeak(hz, hz / width, fs=RATE)
        out += gain * signal.lfilter(b, a, x)
    return out


def tone(hz: Signal) -> Signal:
    """A sine that follows a curve of frequencies."""
    return np.sin(2 * np.pi * np.cumsum(hz) / RATE)


def buzz(hz: Signal, tilt: float = 1.0, harmonics: int = 60) -> Signal:
    """Harmonics that fall as 1/k**tilt and follow a curve of frequencies, without aliasing."""
    phase = 2 * np.pi * np.cumsum(hz) / RATE
    top = int(min(harmonics, 0.45 * RATE / max(1.0, float(hz.min()))))
    out = np.zeros_like(hz)
    for k in range(1, max(1, top) + 1):
        out += np.sin(k * phase) * (k * hz < 0.45 * RATE) / k**tilt
    return out


def strike(modes: Sequence[Mode], seconds: float) -> Signal:
    """A body that is hit once and rings in its modes."""
    t = clock(seconds)
    out = np.zeros_like(t)
    for hz, tau, gain in modes:
        out += gain * np.sin(2 * np.pi * hz * t) * np.exp(-t / tau)
    return out * np.minimum(1.0, t / 0.0004)


def click(rng: Rng, tau: float, lowest: float = 800.0) -> Signal:
    """A short scrape of noise."""
    length = max(0.01, 8 * tau)
    return high(rng.standard_normal(samples(length)), lowest) * decay(length, tau, 0.0003)


def add(target: Signal, at: float, sound: Signal, gain: float = 1.0) -> None:
    """Mix a sound into a longer one in place; what runs past the end is cut."""
    start = samples(at)
    stop = min(target.size, start + sound.size)
    if stop > start:
        target[start:stop] += gain * sound[: stop - start]


def blank(seconds: float) -> Signal:
    """An empty canvas."""
    return np.zeros(samples(seconds))


def room(rng: Rng, x: Signal, tail: float, wet: float, top: float = 5_000.0) -> Signal:
    """Put a sound into a room whose echo falls by 60 dB in `tail` seconds."""
    length = samples(tail)
    echo = rng.standard_normal(length) * np.exp(-6.9 * np.arange(length) / length)
    echo[: samples(0.004)] = 0.0
    echo = low(echo, top)
    echo /= np.sqrt(np.sum(echo**2))
    return x + wet * np.asarray(signal.fftconvolve(x, echo))[: x.size]


def fade(x: Signal, start: float = 0.01, end: float = 0.05) -> Signal:
    """Rise and fall at the two ends so that neither clicks."""
    out = x.copy()
    rise, fall = samples(start), samples(end)
    out[:rise] *= np.linspace(0, 1, rise)
    out[out.size - fall :] *= np.linspace(1, 0, fall)
    return out


def resample(x: Signal, old: int, new: int) -> Signal:
    """Bring a signal from one rate to another."""
    if old == new:
        return x
    factor = np.gcd(old, new)
    return np.asarray(signal.resample_poly(x, new // factor, old // factor))


def at_level(x: Signal, rms_db: float, ceiling: float = 0.7) -> Signal:
    """Set the RMS of the sounding part, rounding off peaks that would pass the ceiling.

    Frames more than 40 dB below the loudest are pauses and do not count.
    """
    frame = RATE // 20
    power = np.array([np.mean(x[i : i + frame] ** 2) for i in range(0, x.size, frame)])
    sounding = power[power > power.max() * 1e-4]
    out: Signal = x * (10 ** (rms_db / 20) / float(np.sqrt(sounding.mean())))
    knee = ceiling * 0.6
    over = np.abs(out) > knee
    rest = (np.abs(out[over]) - knee) / (ceiling - knee)
    out[over] = np.sign(out[over]) * (knee + (ceiling - knee) * np.tanh(rest))
    return out
