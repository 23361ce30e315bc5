"""Finds attacks, how regular they are and the tempo of a pulse; does not say what struck."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.models.listener.frames import FRAMES_PER_SECOND, Array

SLOWEST_BPM = 40
FASTEST_BPM = 220


class Rhythm(NamedTuple):
    """The attacks of a stretch of sound."""

    onsets: tuple[float, ...]
    """Times of the attacks in seconds."""
    sharpness: float
    """Median rise of an attack in dB averaged over bands."""
    per_minute: float
    """Rate of the attacks from their median spacing, or 0 with fewer than three."""
    evenness: float
    """1 when the attacks are evenly spaced, 0 when they are scattered."""
    tempo: float
    """Beats a minute of the strongest pulse, or 0 when there is none."""
    pulse: float
    """How strong that pulse is, 0 to 1."""


def rhythm_of(flux: Array) -> Rhythm:
    """Attacks and pulse of the spectral flux of a stretch of frames."""
    at = _attacks(flux)
    spacing = np.diff(at) / FRAMES_PER_SECOND
    tempo, pulse = _tempo(flux)
    return Rhythm(
        onsets=tuple(float(t) for t in at / FRAMES_PER_SECOND),
        sharpness=float(np.median(flux[at])) if at.size else 0.0,
        per_minute=float(60 / np.median(spacing)) if spacing.size >= 2 else 0.0,
        evenness=_evenness(spacing),
        tempo=tempo,
        pulse=pulse,
    )


def _attacks(flux: Array) -> NDArray[np.intp]:
    from scipy.ndimage import median_filter
    from scipy.signal import find_peaks

    if flux.size < 5:
        return np.zeros(0, dtype=np.intp)
    above = flux - median_filter(flux, size=41, mode="nearest")
    # A third of the strongest attacks: fainter ones are ornaments or the grain of noise.
    threshold = max(2.5, 0.33 * float(np.percentile(above, 99.5)))
    peaks, _ = find_peaks(above, height=threshold, distance=6)
    return np.asarray(peaks, dtype=np.intp)


def _evenness(spacing: NDArray[np.floating]) -> float:
    if spacing.size < 2:
        return 0.0
    middle = float(np.median(spacing))
    # A missed attack doubles one gap; it must not hide an otherwise even row.
    folded = spacing / np.maximum(1, np.round(spacing / middle))
    spread = float(np.mean(np.abs(folded - middle))) / middle
    return float(np.clip(1 - 4 * spread, 0, 1))


def _tempo(flux: Array) -> tuple[float, float]:
    from scipy.fft import irfft, rfft
    from scipy.ndimage import gaussian_filter1d

    longest = 60 * FRAMES_PER_SECOND // SLOWEST_BPM
    shortest = 60 * FRAMES_PER_SECOND // FASTEST_BPM
    if flux.size < 2 * longest:
        return 0.0, 0.0
    smooth = gaussian_filter1d(flux, 1.5)
    smooth = smooth - gaussian_filter1d(flux, 60)
    spectrum = rfft(smooth, n=2 * flux.size)
    repeats = irfft(np.abs(spectrum) ** 2)[: longest + 2]
    if repeats[0] <= 1e-6:
        return 0.0, 0.0
    overlap = flux.size / (flux.size - np.arange(repeats.size))
    repeats = repeats / repeats[0] * overlap
    lags = np.arange(shortest, longest + 1)
    inner = repeats[lags]
    summit = (inner >= repeats[lags - 1]) & (inner >= repeats[lags + 1])
    # People tap near 110 beats a minute, so of several good periods that side is preferred.
    liking = np.exp(-0.5 * (np.log2(lags * 110 / (60 * FRAMES_PER_SECOND)) / 0.9) ** 2)
    score = np.where(summit, inner * liking, 0)
    best = int(np.argmax(score))
    if score[best] <= 0:
        return 0.0, 0.0
    return 60 * FRAMES_PER_SECOND / float(lags[best]), float(np.clip(inner[best], 0, 1))
