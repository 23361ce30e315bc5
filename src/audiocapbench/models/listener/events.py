"""Parts a stretch of sound into a steady background and the events that stand out of it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from audiocapbench.models.listener.frames import (
    FRAMES_PER_SECOND,
    SILENT_DB,
    Array,
    Frames,
    Mask,
    decibels,
)
from audiocapbench.models.listener.pitch import Track

QUANTILE = 0.2
# In noise, a bin's 20th percentile over time lies at this share of its mean.
QUANTILE_OF_NOISE = 0.223
STANDS_OUT = 6.0


@dataclass(frozen=True)
class Event:
    """One sound that stands out of the background."""

    start: float
    end: float
    level: float
    centroid: float
    bite: float
    """Centre of gravity of the spectrum of its attack, which echoes do not dull."""
    hertz: float
    """Median pitch, or the strongest partial where the sound has no pitch."""
    purity: float
    harmonicity: float
    glide: float
    """Semitones between the start and the end of its pitch."""
    attack: float
    """Seconds until it is loudest."""
    hold: float
    """Share of its time within 6 dB of its loudest: low for plucked, high for blown or bowed."""

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.end - self.start

    @property
    def tonal(self) -> bool:
        """Whether it has a pitch."""
        return self.harmonicity > 0.65 or self.purity > 0.6


class Layers(NamedTuple):
    """A steady background and what stands out of it."""

    background: Array
    """Mean power spectrum of the background."""
    background_db: float
    events: tuple[Event, ...]
    share: float
    """Share of the time that events fill."""


def part(frames: Frames, track: Track, onsets: tuple[float, ...]) -> Layers:
    """Part a stretch of frames into background and events."""
    background = _background(frames.power)
    background_db = float(decibels(np.asarray(background.sum(), dtype=np.float32)))
    power = np.where(frames.power > STANDS_OUT * background, frames.power - background, 0)
    level = decibels(power.sum(axis=1))
    top = float(np.percentile(level, 98))
    present = level > max(background_db - 6, top - 28, SILENT_DB)
    spans = _split(_spans(present), onsets)
    events = tuple(_event(span, frames, power, level, track) for span in spans)
    filled = sum(stop - start for start, stop in spans)
    return Layers(background, background_db, events, filled / max(1, level.size))


def _background(power: Array) -> Array:
    if len(power) < FRAMES_PER_SECOND // 2:
        return np.zeros(power.shape[1], dtype=np.float32)
    low = np.quantile(power, QUANTILE, axis=0) / QUANTILE_OF_NOISE
    # A steady tone does not flicker as noise does: its quantile is its mean already.
    low = np.minimum(low, power.mean(axis=0))
    # Nor can the background be louder than the quiet frames are.
    quiet = float(np.quantile(power.sum(axis=1), QUANTILE))
    return np.asarray(low * min(1.0, quiet / max(float(low.sum()), 1e-12)), dtype=np.float32)


def _spans(present: Mask) -> list[tuple[int, int]]:
    from scipy.ndimage import binary_closing

    bridged = binary_closing(np.pad(present, 6), np.ones(6))[6:-6]
    edges = np.flatnonzero(np.diff(np.concatenate(([0], bridged.astype(np.int8), [0]))))
    return [
        (int(a), int(b))
        for a, b in zip(edges[::2], edges[1::2], strict=True)
        if b - a >= 2 or present.size < 10
    ]


def _split(spans: list[tuple[int, int]], onsets: tuple[float, ...]) -> list[tuple[int, int]]:
    """Cut spans at the attacks inside them, so that notes struck over others count each."""
    attacks = [round(t * FRAMES_PER_SECOND) - 1 for t in onsets]
    pieces: list[tuple[int, int]] = []
    for start, stop in spans:
        left = start
        for attack in attacks:
            if left + 6 <= attack <= stop - 6:
                pieces.append((left, attack))
                left = attack
        pieces.append((left, stop))
    return pieces


def _event(
    span: tuple[int, int], frames: Frames, power: Array, level: Array, track: Track
) -> Event:
    start, stop = span
    spectrum = power[start:stop].sum(axis=0)
    total = max(float(spectrum.sum()), 1e-12)
    peak = int(np.argmax(spectrum))
    own = slice(start // 2, max(start // 2 + 1, min((stop + 1) // 2, track.hertz.size)))
    hertz, harmonicity = track.hertz[own], track.harmonicity[own]
    pitched = hertz[harmonicity > 0.55]
    return Event(
        start=start / FRAMES_PER_SECOND,
        end=stop / FRAMES_PER_SECOND,
        level=float(level[start:stop].max()),
        centroid=float(spectrum @ frames.hertz) / total,
        bite=_bite(power[start : min(stop, start + 4)], frames.hertz),
        hertz=float(np.median(pitched)) if pitched.size else float(frames.hertz[peak]),
        purity=_purity(power[start:stop]),
        harmonicity=float(np.median(harmonicity)) if harmonicity.size else 0.0,
        glide=_glide(pitched),
        attack=int(np.argmax(level[start:stop])) / FRAMES_PER_SECOND,
        hold=float(np.mean(level[start:stop] > level[start:stop].max() - 6)),
    )


def _bite(power: Array, hertz: Array) -> float:
    spectrum = power.sum(axis=0)
    return float(spectrum @ hertz) / max(float(spectrum.sum()), 1e-12)


def _purity(power: Array) -> float:
    """Median share of the power near the strongest bin, over the frames of one event."""
    rows = np.arange(len(power))
    peaks = np.argmax(power, axis=1)
    around = np.clip(peaks[:, None] + np.arange(-2, 3), 0, power.shape[1] - 1)
    share = power[rows[:, None], around].sum(axis=1) / np.maximum(power.sum(axis=1), 1e-12)
    return float(np.median(share))


def _glide(hertz: Array) -> float:
    if hertz.size < 6:
        return 0.0
    third = hertz.size // 3
    return float(12 * np.log2(np.median(hertz[-third:]) / np.median(hertz[:third])))
