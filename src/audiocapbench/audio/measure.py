"""What can be measured in a sound by itself: levels, loudness and decays.

At every moment the loudest channel counts, so that none cancels or thins out another.
"""

import math
from operator import lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio.waveform import Samples, Waveform

_BLOCK_S, _STEP = 0.4, 0.25
_ABSOLUTE, _RELATIVE = -70.0, -10.0
_GAINS, _SURROUND = (1.0, 1.0, 1.0, 1.41, 1.41), (1.0, 1.0, 1.0, 0.0, 1.41, 1.41)
"""Of channels: front, front, centre, two at the back; with six, the fourth is for effects."""

FLOOR_DB = -120.0
"""What digital silence is called; no recording is so quiet."""

_FRAME_S = 0.025
_SAME = 0.9  # of a channel's power that another explains: it is that other, louder or not
_DECAY_S, _DECAY_DB, _FIT = 0.1, 12.0, 0.95


def measured(wave: Waveform, silence_db: float) -> dict[str, Any]:
    """Levels in dB of full scale, loudness in LUFS, times in seconds; an offset is not heard."""
    samples, rate = np.clip(wave.samples, -1.0, 1.0), wave.rate
    powers, frames = frame_powers(samples, rate)
    reverberation, decays = reverberation_s(samples, rate)
    own: dict[str, Any] = {"mono": wave.mix().note}
    # An offset would be a sound to the filter of loudness, where it begins.
    heard = wave.samples - wave.samples.mean(axis=0, dtype=np.float64)
    if wave.channels > 1:
        own["channels_dbfs"] = [decibels(float(one.std(dtype=np.float64))) for one in samples.T]
    return {name: value for name, value in own.items() if value} | {
        "duration_s": round(wave.duration_s, 3),
        "rate_hz": rate,
        "channels": wave.channels,
        "rms_dbfs": level_dbfs(powers, frames),
        "peak_dbfs": decibels(float(np.abs(wave.samples).max())),
        "loudness_lufs": integrated_loudness(heard, rate),
        "silence_share": float(np.mean(levels_of(powers) < silence_db)),
        "clipped_share": float(np.mean((np.abs(samples) >= 0.999).any(axis=1))),
        "reverberation": {
            "t60_s": reverberation,
            "method": "blind estimate from free decays; rough",
            "confidence": min(1.0, decays / 5) * 0.5,
        },
    }


def integrated_loudness(samples: Samples, rate: int) -> float | None:
    """Loudness in LUFS of (frames, channels); None where no block passes the gates."""
    block = _BLOCK_S * rate
    if len(samples) < block:
        return None
    count = round((len(samples) / rate - _BLOCK_S) / (_BLOCK_S * _STEP)) + 1
    starts = [int(_BLOCK_S * place * _STEP * rate) for place in range(count)]
    ends = [int(_BLOCK_S * (place * _STEP + 1) * rate) for place in range(count)]
    until, channels, power = np.minimum(ends, len(samples)), samples.shape[1], np.zeros(count)
    gains = np.array(_SURROUND if channels == 6 else (_GAINS + (1.0,) * channels)[:channels])
    for channel, gain in zip(samples.T, gains, strict=True):  # one at a time, as hours are large
        weighted = _k_weighted(channel.astype(np.float64), rate)
        sums = np.concatenate([[0.0], np.cumsum(np.square(weighted, out=weighted), out=weighted)])
        power += gain * (sums[until] - sums[starts]) / block
    with np.errstate(divide="ignore"):
        loudness = -0.691 + 10 * np.log10(power)
    loud = loudness >= _ABSOLUTE
    if not loud.any():
        return None
    gate = -0.691 + 10 * math.log10(power[loud].mean()) + _RELATIVE
    kept = power[loud & (loudness > gate)]
    return float(-0.691 + 10 * math.log10(kept.mean())) if len(kept) else None


def _k_weighted(samples: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """The standard's two filters, for any rate; at 48 kHz its own coefficients come out."""
    from scipy.signal import lfilter

    k, q = math.tan(math.pi * 1681.974450955533 / rate), 0.7071752369554196
    gain = 10 ** (3.999843853973347 / 20)
    band = gain**0.4996667741545416 * k / q
    shelf = np.array([gain + band + k * k, 2 * (k * k - gain), gain - band + k * k])
    high = _poles(k, q)
    low = _poles(math.tan(math.pi * 38.13547087602444 / rate), 0.5003270373238773)
    shelved = lfilter(shelf / high[0], high / high[0], samples, axis=0)
    # The standard leaves the zeros of the second filter as they are.
    return np.asarray(lfilter([1.0, -2.0, 1.0], low / low[0], shelved, axis=0))


def _poles(k: float, q: float) -> NDArray[np.float64]:
    return np.array([1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k])


def decibels(amplitude: float) -> float:
    return max(FLOOR_DB, 20 * math.log10(max(amplitude, 1e-12)))


def frame_powers(
    samples: Samples, rate: int, frame_s: float = _FRAME_S
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Mean square of each frame's loudest channel about its mean, and the frame's length."""
    length = max(1, round(frame_s * rate))
    starts = np.arange(0, len(samples), length)
    counts = np.minimum(length, len(samples) - starts)
    channels = (one - one.mean(dtype=np.float64) for one in samples.T)
    sums = [np.add.reduceat(np.square(one, dtype=np.float64), starts) for one in channels]
    return np.max(sums, axis=0) / counts, counts


def level_dbfs(powers: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    return decibels(float(np.average(powers, weights=counts)) ** 0.5)


def levels_of(powers: NDArray[np.float64]) -> NDArray[np.float64]:
    levels: NDArray[np.float64] = 10 * np.log10(np.maximum(powers, 1e-24))
    return np.maximum(FLOOR_DB, levels)


def reverberation_s(samples: Samples, rate: int) -> tuple[float | None, int]:
    """Seconds in which sound falls by 60 dB, and how many free decays say so; a blind estimate.

    A free decay is a stretch over which the level falls all the time; its first 5 dB are left out
    and 25 more are looked at. It counts where that takes 0.1 s or more and is a line. The median
    of the steeper half is given, as sources that fade by themselves fall more slowly than the room.
    """
    step = 0.02
    levels = levels_of(frame_powers(samples, rate, step)[0])
    levels = np.convolve(levels, np.ones(3) / 3, mode="valid")
    falling = np.concatenate([[False], np.diff(levels) < 0, [False]])
    edges = np.flatnonzero(np.diff(falling))
    times = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        part = levels[start : end + 1]
        part = part[(part <= part[0] - 5) & (part >= part[0] - 30)]
        if (len(part) - 1) * step < _DECAY_S or part[0] - part[-1] < _DECAY_DB:
            continue
        places = np.arange(len(part)) * step
        if np.corrcoef(places, part)[0, 1] ** 2 >= _FIT:
            times.append(-60 / float(np.polyfit(places, part, 1)[0]))
    steeper = sorted(times)[: max(1, len(times) // 2)]
    return (float(np.median(steeper)) if times else None), len(times)


def distinct_channels(wave: Waveform, rate: int, mono: Samples) -> list[Samples]:
    """One channel that is heard of a sound, and each that is not in it already, at a rate."""
    found = [mono]
    least = 1e-6 * float(np.square(wave.samples, dtype=np.float64).mean(0).max())
    for channel in wave.samples.T if wave.channels > 1 else ():
        one = Waveform(channel[:, None], wave.rate).resampled(rate).samples[:, 0]
        power, alike = float(one @ one), [float(one @ other) ** 2 for other in found]
        known = [_SAME * power * float(other @ other) for other in found]
        if power > least * len(one) and all(map(lt, alike, known)):
            found.append(np.clip(one, -1.0, 1.0))
    return found
