"""Loudness as ITU-R BS.1770-4 defines it: K-weighting, blocks of 400 ms, two gates."""

import math

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Samples

_BLOCK_S, _STEP = 0.4, 0.25
_ABSOLUTE, _RELATIVE = -70.0, -10.0
_GAINS = {6: (1.0, 1.0, 1.0, 0.0, 1.41, 1.41)}
"""Of the channels of a surround recording, whose fourth is for effects; of others the first five
are front, front, centre, and two at the back."""


def integrated_loudness(samples: Samples, rate: int) -> float | None:
    """Loudness in LUFS of samples of shape (frames, channels).

    None for what is shorter than a block, or so quiet that no block passes the gates.
    """
    block = _BLOCK_S * rate
    if len(samples) < block:
        return None
    weighted = _k_weighted(samples.astype(np.float64), rate)
    count = round((len(samples) / rate - _BLOCK_S) / (_BLOCK_S * _STEP)) + 1
    starts = [int(_BLOCK_S * place * _STEP * rate) for place in range(count)]
    ends = [int(_BLOCK_S * (place * _STEP + 1) * rate) for place in range(count)]
    sums = np.vstack([np.zeros(weighted.shape[1]), np.cumsum(weighted**2, axis=0)])
    powers = (sums[np.minimum(ends, len(samples))] - sums[starts]) / block
    power = powers @ np.array(_gains(weighted.shape[1]))
    with np.errstate(divide="ignore"):
        loudness = -0.691 + 10 * np.log10(power)
    loud = loudness >= _ABSOLUTE
    if not loud.any():
        return None
    gate = -0.691 + 10 * math.log10(power[loud].mean()) + _RELATIVE
    kept = power[loud & (loudness > gate)]
    return float(-0.691 + 10 * math.log10(kept.mean())) if len(kept) else None


def _gains(channels: int) -> tuple[float, ...]:
    usual = (1.0, 1.0, 1.0, 1.41, 1.41)[:channels]
    return _GAINS.get(channels, usual + (1.0,) * (channels - len(usual)))


def _k_weighted(samples: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """The standard's two filters, for any rate; at 48 kHz its own coefficients come out."""
    from scipy.signal import lfilter

    k, q = math.tan(math.pi * 1681.974450955533 / rate), 0.7071752369554196
    gain = 10 ** (3.999843853973347 / 20)
    band = gain**0.4996667741545416 * k / q
    shelf = np.array([gain + band + k * k, 2 * (k * k - gain), gain - band + k * k])
    high, low = (
        _poles(k, q),
        _poles(math.tan(math.pi * 38.13547087602444 / rate), 0.5003270373238773),
    )
    shelved = lfilter(shelf / high[0], high / high[0], samples, axis=0)
    # The standard leaves the zeros of the second filter as they are.
    made: NDArray[np.float64] = lfilter([1.0, -2.0, 1.0], low / low[0], shelved, axis=0)
    return made


def _poles(k: float, q: float) -> NDArray[np.float64]:
    return np.array([1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k])
