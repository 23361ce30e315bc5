"""Judges how much a stretch of sound behaves like a talking voice; it never recognises words."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.models.listener.frames import FRAMES_PER_SECOND, SILENT_DB, Array, Frames, Mask
from audiocapbench.models.listener.pitch import TRACKS_PER_SECOND, Track

LOWEST_VOICE_HZ = 70
HIGHEST_VOICE_HZ = 500


class Voice(NamedTuple):
    """What was measured of a possible talking voice."""

    likelihood: float
    """0 to 1; above one half it is called speech."""
    hertz: float
    """Median pitch of the voiced frames."""
    spread: float
    """Range of the pitch in semitones, between its 10th and 90th percentile."""
    syllables: float
    """Loudness peaks a second while the voice is active."""
    phrases: int
    """Stretches of voice between pauses."""
    turns: float
    """Pitch of the highest phrase over that of the lowest: near 2 when two people talk."""
    whisper: float
    """0 to 1: how much it has the rhythm and colour of talk, but no voice in it."""


def voice_of(frames: Frames, track: Track) -> Voice:
    """Measure a stretch of frames as if it were a voice, and say how likely it is one."""
    level = frames.level[::2][: track.hertz.size]
    active = level > max(float(np.percentile(frames.level, 95)) - 30, SILENT_DB)
    in_range = (track.hertz > LOWEST_VOICE_HZ) & (track.hertz < HIGHEST_VOICE_HZ)
    voiced = active & (track.harmonicity > 0.6) & in_range
    envelope = _envelope(frames)
    whisper = _whisper(frames, active, voiced, envelope)
    if voiced.sum() < 8:
        return Voice(0.0, 0.0, 0.0, _syllables(envelope, active), 0, 1.0, whisper)
    pitches = _phrase_pitches(track.hertz, active, voiced)
    semitones = 12 * np.log2(track.hertz[voiced] / 100)
    low, high = np.percentile(semitones, [10, 90])
    return Voice(
        likelihood=_likelihood(frames, track, active, voiced, envelope),
        hertz=float(np.median(track.hertz[voiced])),
        spread=float(high - low),
        syllables=_syllables(envelope, active),
        phrases=len(pitches),
        turns=max(pitches, default=1.0) / min(pitches, default=1.0),
        whisper=whisper,
    )


def _likelihood(
    frames: Frames,
    track: Track,
    active: Mask,
    voiced: Mask,
    envelope: Array,
) -> float:
    centroid = np.log2(np.maximum(frames.centroid[::2][: voiced.size], 50))
    lengths = _runs(voiced) / TRACKS_PER_SECOND
    runs = lengths[lengths >= 0.06]
    cues = (
        # Much of speech is voiced; its pitch slides a little all the time, as no instrument's does.
        (_ramp(float(voiced.sum() / max(active.sum(), 1)), 0.2, 0.5), 1.0),
        (_ramp(_motion(track, voiced), 0.06, 0.15), 1.0),
        # Syllables come four a second or so, and the mouth changes the colour of the voice.
        (_ramp(_syllabic_share(envelope), 0.25, 0.45), 1.0),
        (_ramp(float(np.std(centroid[voiced])), 0.2, 0.5), 1.0),
        (_ramp(runs.size / max(active.sum() / TRACKS_PER_SECOND, 0.1), 0.5, 2.0), 0.5),
        # A whistle or whine has nearly all of its power in one partial; a voice has not.
        (_ramp(-float(np.median(track.purity[voiced])), -0.9, -0.72), 1.0),
    )
    # Consonants are the surest sign, but telephone speech and soft voices may lack them.
    unvoiced = centroid[active & ~voiced]
    hissing = float(np.mean(unvoiced > np.log2(2200))) if unvoiced.size else 0.0
    product = float(np.prod([max(cue, 0.02) ** weight for cue, weight in cues]))
    return float(np.clip(product * (0.75 + _ramp(hissing, 0.0, 0.3) * 0.35), 0, 1))


def _whisper(frames: Frames, active: Mask, voiced: Mask, envelope: Array) -> float:
    if active.sum() < 50:
        return 0.0
    colour = np.log2(np.maximum(frames.centroid[::2][: active.size][active], 50))
    cues = (
        _ramp(_syllabic_share(envelope), 0.3, 0.45),
        _ramp(-float(voiced.sum() / active.sum()), -0.25, -0.12),
        _ramp(float(np.std(colour)), 0.2, 0.4),
        _ramp(float(np.median(colour)), np.log2(700), np.log2(1000)),
        _ramp(-float(np.median(frames.flatness[::2][: active.size][active])), -0.3, -0.15),
    )
    return float(np.prod(cues))


def _ramp(value: float, low: float, high: float) -> float:
    return float(np.clip((value - low) / (high - low), 0, 1))


def _envelope(frames: Frames) -> Array:
    band = (frames.hertz > 300) & (frames.hertz < 3400)
    return np.asarray(np.sqrt(frames.power[:, band].sum(axis=1)), dtype=np.float32)


def _syllabic_share(envelope: Array) -> float:
    """Share of the envelope's movement that has the speed of syllables, 2 to 9 Hz."""
    from scipy.fft import rfft

    if envelope.size < FRAMES_PER_SECOND // 2:
        return 0.0
    centred = (envelope - envelope.mean()) * np.hanning(envelope.size)
    size = max(4096, 1 << (envelope.size - 1).bit_length())
    strength = np.abs(rfft(centred, n=size)) ** 2
    hertz = np.arange(strength.size) * (FRAMES_PER_SECOND / size)
    whole = float(strength[(hertz > 0.4) & (hertz < 25)].sum())
    return float(strength[(hertz > 2) & (hertz < 9)].sum()) / max(whole, 1e-12)


def _motion(track: Track, voiced: Mask) -> float:
    """Median movement of the pitch in semitones from one voiced frame to the next."""
    semitones = 12 * np.log2(np.maximum(track.hertz, 1))
    steps = np.abs(np.diff(semitones))
    usable = voiced[1:] & voiced[:-1] & (steps < 3)
    return float(np.median(steps[usable])) if usable.sum() > 5 else 0.0


def _runs(mask: Mask) -> NDArray[np.intp]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return edges[1::2] - edges[::2]


def _syllables(envelope: Array, active: Mask) -> float:
    from scipy.ndimage import gaussian_filter1d
    from scipy.signal import find_peaks

    smooth = gaussian_filter1d(envelope, 4)
    peaks, _ = find_peaks(smooth, prominence=0.08 * float(np.percentile(smooth, 95)), distance=8)
    return len(peaks) / max(float(active.sum()) / TRACKS_PER_SECOND, 0.2)


def _phrase_pitches(hertz: Array, active: Mask, voiced: Mask) -> list[float]:
    """Median pitch of each stretch of voice between pauses."""
    from scipy.ndimage import binary_closing, label

    bridged = binary_closing(np.pad(active, 20), np.ones(14))[20:-20]
    marked, count = label(bridged)
    phrases = (voiced & (marked == number) for number in range(1, count + 1))
    return [float(np.median(hertz[phrase])) for phrase in phrases if phrase.sum() >= 12]
