"""Sums up a stretch of sound in numbers: loudness, colour, pitch, rhythm, events and voice."""

from dataclasses import dataclass

import numpy as np

from audiocapbench.models.listener.events import Event, part
from audiocapbench.models.listener.frames import FRAMES_PER_SECOND, SILENT_DB, Array, Frames, Mask
from audiocapbench.models.listener.pitch import Track
from audiocapbench.models.listener.rhythm import Rhythm, rhythm_of
from audiocapbench.models.listener.speech import Voice, voice_of


@dataclass(frozen=True)
class Background:
    """The steady part of a stretch of sound."""

    level: float
    centroid: float
    flatness: float
    purity: float


@dataclass(frozen=True)
class Texture:
    """A stretch of sound in numbers; times are seconds from the start of the clip."""

    start: float
    end: float
    level: float
    """Level of its louder moments in dB relative to full scale."""
    centroid: float
    flatness: float
    low_share: float
    """Share of the power below 250 Hz."""
    high_share: float
    """Share of the power above 3 kHz."""
    tonality: float
    purity: float
    pitched: float
    """Share of the audible frames that have a pitch."""
    hertz: float
    wander: float
    """Range of the pitch in semitones, between its 10th and 90th percentile."""
    stepwise: float
    """Share of pitch movement that stays on a note: high for music, low for voices and sirens."""
    turns: int
    """How often the pitch changes between rising and falling by two semitones or more."""
    sweep: float
    """Semitones between where the pitch starts and where it ends."""
    notes: int
    """Distinct semitones on which the pitch rests."""
    trend: float
    """dB by which the last third is louder than the first."""
    swing: float
    """Range of the level in dB when smoothed over half a second."""
    flutter: float
    """Rate in Hz of a fast regular throb of the level, or 0."""
    whistling: float
    """Share of frames with a narrow peak above 900 Hz, even where noise drowns the level."""
    whistle_hertz: float
    background: Background
    event_share: float
    events: tuple[Event, ...]
    rhythm: Rhythm
    voice: Voice

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.end - self.start

    @property
    def main(self) -> tuple[Event, ...]:
        """The louder events, which a listener would count."""
        top = max((event.level for event in self.events), default=0.0)
        return tuple(event for event in self.events if event.level > top - 15)

    @property
    def silent(self) -> bool:
        """Whether there is nothing to hear."""
        return self.level < SILENT_DB


def texture_of(frames: Frames, track: Track, start: int, stop: int) -> Texture:
    """Sum up the frames from start to stop."""
    own = Frames(frames.power[start:stop], frames.hertz, *(part[start:stop] for part in frames[2:]))
    first = start // 2
    pitch = Track(*(part[first : max(first + 1, (stop + 1) // 2)] for part in track))
    rhythm = rhythm_of(own.flux)
    layers = part(own, pitch, rhythm.onsets)
    # Rare clicks fill few frames, so the level is that of the frames that are heard at all.
    loudest = float(own.level.max())
    top = float(np.percentile(own.level[own.level > loudest - 30], 90))
    audible = own.level > max(top - 30, SILENT_DB)
    heard = audible[::2][: pitch.hertz.size]
    pitched = heard & (pitch.harmonicity > 0.6)
    spectrum = own.power.sum(axis=0)
    wander, stepwise, notes = _pitch_habits(pitch, pitched)
    turns, sweep = _contour(pitch.hertz[pitched])
    whistling, whistle_hertz = _whistling(own)
    trend, swing = _loudness_shape(own.level)
    return Texture(
        start=start / FRAMES_PER_SECOND,
        end=stop / FRAMES_PER_SECOND,
        level=top,
        centroid=_median(own.centroid[audible]),
        flatness=_median(own.flatness[audible]),
        low_share=_share(spectrum, own.hertz < 250),
        high_share=_share(spectrum, own.hertz > 3000),
        tonality=_median(pitch.tonality[heard]),
        purity=_median(pitch.purity[heard]),
        pitched=float(pitched.sum() / max(int(heard.sum()), 1)),
        hertz=_median(pitch.hertz[pitched]),
        wander=wander,
        stepwise=stepwise,
        turns=turns,
        sweep=sweep,
        notes=notes,
        trend=trend,
        swing=swing,
        flutter=_flutter(own),
        whistling=whistling,
        whistle_hertz=whistle_hertz,
        background=_background_of(layers.background, layers.background_db, own.hertz),
        event_share=layers.share,
        events=layers.events,
        rhythm=rhythm,
        voice=voice_of(own, pitch),
    )


def _median(values: Array) -> float:
    return float(np.median(values)) if values.size else 0.0


def _share(spectrum: Array, where: Mask) -> float:
    return float(spectrum[where].sum() / max(float(spectrum.sum()), 1e-12))


def _pitch_habits(track: Track, pitched: Mask) -> tuple[float, float, int]:
    if pitched.sum() < 6:
        return 0.0, 0.0, 0
    semitones = 12 * np.log2(np.maximum(track.hertz, 1) / 440)
    low, high = np.percentile(semitones[pitched], [10, 90])
    steps = np.abs(np.diff(semitones))
    linked = pitched[1:] & pitched[:-1]
    resting = linked & (steps < 0.1)
    counts = np.unique(np.round(semitones[1:][resting]), return_counts=True)[1]
    notes = int((counts >= max(3, 0.04 * resting.sum())).sum())
    return float(high - low), float(resting.sum() / max(int(linked.sum()), 1)), notes


def _contour(hertz: Array) -> tuple[int, float]:
    from scipy.ndimage import median_filter

    if hertz.size < 8:
        return 0, 0.0
    line = median_filter(12 * np.log2(np.maximum(hertz, 1)), 7, mode="nearest")
    turns, direction, extreme = 0, 0, float(line[0])
    for value in line.tolist():
        if direction * (value - extreme) >= 0 and direction:
            extreme = value
        elif abs(value - extreme) >= 2:
            turns += direction != 0
            direction, extreme = (1 if value > extreme else -1), value
    eighth = max(1, line.size // 8)
    return turns, float(np.median(line[-eighth:]) - np.median(line[:eighth]))


def _loudness_shape(level: Array) -> tuple[float, float]:
    from scipy.ndimage import uniform_filter1d

    smooth = uniform_filter1d(np.maximum(level, SILENT_DB), FRAMES_PER_SECOND // 2, mode="nearest")
    third = max(1, smooth.size // 3)
    low, high = np.percentile(smooth, [10, 90])
    return float(smooth[-third:].mean() - smooth[:third].mean()), float(high - low)


def _flutter(frames: Frames) -> float:
    """A throb of 8 to 35 Hz, such as rotor blades or a slow engine make."""
    from scipy.fft import rfft

    if frames.level.size < FRAMES_PER_SECOND:
        return 0.0
    wave = np.sqrt(frames.power.sum(axis=1))
    wave = (wave - wave.mean()) * np.hanning(wave.size)
    strength = np.abs(rfft(wave)) ** 2
    hertz = np.arange(strength.size) * FRAMES_PER_SECOND / wave.size
    fast = (hertz > 8) & (hertz < 35)
    best = float(strength[fast].max(initial=0.0))
    typical = float(np.median(strength[fast])) if fast.any() else 0.0
    return float(hertz[fast][np.argmax(strength[fast])]) if best > 60 * typical > 0 else 0.0


def _whistling(frames: Frames) -> tuple[float, float]:
    from scipy.ndimage import binary_opening, uniform_filter1d

    # Not up to the very top, where the edge of a lossy codec looks like a peak.
    high = (frames.hertz > 900) & (frames.hertz < 6500)
    power = np.maximum(frames.power[:, high], 1e-12)
    logs = np.log(power)
    stands = logs - uniform_filter1d(logs, 41, axis=1, mode="nearest")
    rises = power / np.maximum(uniform_filter1d(power, 41, axis=1, mode="nearest"), 1e-12)
    # The highest bin of pure noise stands 11 times over the one mean and 6 over the other.
    clear = (np.where(rises > 7, stands, 0).max(axis=1) > np.log(40)) & (frames.level > SILENT_DB)
    lasting = binary_opening(clear, np.ones(3))
    if not lasting.any():
        return 0.0, 0.0
    peaks = frames.hertz[high][np.argmax(stands[lasting], axis=1)]
    return float(lasting.mean()), float(np.median(peaks))


def _background_of(spectrum: Array, level: float, hertz: Array) -> Background:
    total = max(float(spectrum.sum()), 1e-12)
    inner = np.maximum(spectrum[4:-8], 1e-12)
    peak = int(np.argmax(spectrum))
    return Background(
        level=level,
        centroid=float(spectrum @ hertz) / total,
        flatness=float(np.exp(np.log(inner).mean()) / inner.mean()),
        purity=float(spectrum[max(0, peak - 2) : peak + 3].sum()) / total,
    )
