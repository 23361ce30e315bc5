"""Listens to a clip: parts it where its character changes and measures each part; has no words."""

import re
from bisect import bisect
from math import gcd
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft, signal
from scipy.ndimage import gaussian_filter1d, median_filter, uniform_filter1d

Array = NDArray[np.float32]
SoundKind = Literal["silence", "speech", "music", "impacts", "tone", "calls", "hiss", "rumble"]

RATE, HOP, WINDOW = 16_000, 160, 1024
FPS = RATE // HOP
LONGEST_S, SILENT_DB = 120, -72.0
HERTZ = np.linspace(0, RATE / 2, WINDOW // 2 + 1, dtype=np.float32)
BANDS = np.unique(np.geomspace(4, HERTZ.size, 25).astype(int))[:-1]
SHORTEST, LONGEST = RATE // 1000, RATE // 60  # periods of a pitch, in samples
BEATS = np.arange(60 * FPS // 220, 60 * FPS // 40)  # periods of a pulse, in frames


class Frames(NamedTuple):
    """What is measured every 10 ms."""

    bands: Array  # power from low to high frequencies
    level: Array  # dB relative to full scale
    centroid: Array  # centre of gravity of the spectrum in Hz
    tonality: Array  # share of the power in narrow peaks
    purity: Array  # share of the power in the strongest peak
    hertz: Array  # pitch
    harmonicity: Array  # how well the sound repeats itself at its pitch, 0 to 1
    flux: Array  # dB by which the bands grew within 30 ms

    def between(self, start: int, stop: int, step: int = 1) -> "Frames":
        return Frames(*(part[start:stop:step] for part in self))


class Stretch(NamedTuple):
    """A stretch of one character in numbers."""

    seconds: float
    level: float  # dB relative to full scale, of its louder moments
    swing: float  # range of the level in dB, smoothed over half a second
    centroid: float
    tonality: float
    pitched: float  # share of the audible time that has a pitch
    hertz: float
    wander: float  # range of the pitch in semitones
    resting: float  # share of the pitched time on a note: high for music, low for voices
    notes: float  # number of semitones on which the pitch rests
    attacks: float
    sharpness: float  # dB of a typical attack
    bite: float  # centroid of a typical attack
    hold: float  # seconds until a sound has fallen by 10 dB after its attack
    per_minute: float  # attacks a minute where they are evenly spaced, else 0
    tempo: float  # beats a minute of the strongest pulse
    pulse: float  # how strong that pulse is, 0 to 1
    voice: float  # how much it behaves like talk, 0 to 1

    @property
    def kind(self) -> SoundKind:
        """Its character, by plain rules from the surest to the vaguest."""
        if self.level < SILENT_DB:
            return "silence"
        if self.voice > 0.5:
            return "speech"
        on_notes = self.resting > 0.5 and self.notes >= 3 and self.hertz < 1000
        if on_notes and self.tonality > 0.55 and self.wander > 1.5 and self.seconds > 2:
            return "music"
        if self.sharpness > 8 and self.hold < 0.25:
            return "impacts"
        if self.pitched > 0.6 and self.tonality > 0.5 and (self.wander < 2 or self.resting < 0.6):
            return "tone" if self.swing < 18 else "calls"
        if self.pitched > 0.3 and self.wander > 1.5 and self.swing > 6 and self.hertz > 100:
            return "calls"
        return "hiss" if self.centroid > 1000 else "rumble"


def hear(samples: NDArray[np.float32], rate: int) -> tuple[Stretch, ...]:
    """One or two stretches of a mono clip's first two minutes, and a long quiet end."""
    frames = _frames(_prepare(samples, max(int(rate), 1)))
    size = frames.level.size
    heard = np.flatnonzero(frames.level > max(SILENT_DB, float(frames.level.max()) - 45))
    start, stop = (int(heard[0]), int(heard[-1]) + 1) if heard.size else (0, size)
    stretches = [_measure(frames.between(start, stop))]
    cut = start + (_cut(frames.between(start, stop)) if stop - start > 2 * FPS else 0)
    # Words and notes change all the time; that is their nature, not a new scene.
    if cut > start and stretches[0].kind not in ("speech", "music"):
        parts = [_measure(frames.between(start, cut)), _measure(frames.between(cut, stop))]
        stretches = parts if parts[0].kind != parts[1].kind else stretches
    if size - stop > max(FPS, 0.4 * size):
        stretches.append(_measure(frames.between(stop + FPS // 10, size)))
    return tuple(stretches)


def _prepare(samples: NDArray[np.float32], rate: int) -> Array:
    wave = np.asarray(samples, dtype=np.float32).ravel()[: LONGEST_S * rate]
    wave = wave - np.float32(np.mean(wave, dtype=np.float64))
    if rate != RATE:
        common = gcd(rate, RATE)
        wave = signal.resample_poly(wave, RATE // common, rate // common)[: LONGEST_S * RATE]
    # Below 70 Hz recordings are full of handling noise that a listener hardly notices.
    high_pass = signal.butter(2, 70, "highpass", fs=RATE, output="sos")
    return np.asarray(signal.sosfilt(high_pass, wave), dtype=np.float32)


def _frames(wave: Array) -> Frames:
    window = np.hanning(WINDOW).astype(np.float32)
    padded = np.pad(wave, (WINDOW // 2, WINDOW))
    cut = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][: -(-wave.size // HOP)]
    # Scaled so that a frame's powers add up to its mean square.
    scale = np.float32(2.0 / (WINDOW * float(np.sum(window**2))))
    power = np.asarray(np.abs(fft.rfft(cut * window, axis=1)) ** 2 * scale, dtype=np.float32)
    total = np.maximum(power.sum(axis=1), 1e-10)
    peak = np.argmax(power[:, 2:-2], axis=1) + 2
    purity = np.take_along_axis(power, peak[:, None] + np.arange(-2, 3), axis=1).sum(axis=1) / total
    repeats = fft.irfft(power, axis=1) / np.maximum(fft.irfft(np.abs(fft.rfft(window)) ** 2), 1e-9)
    period, harmonicity = _period(repeats / np.maximum(repeats[:, :1], 1e-12))
    whistle = (purity > 0.6) & (HERTZ[peak] > 900)
    # Averaging some frames steadies noise, whose single frames are full of chance peaks.
    steady = uniform_filter1d(power, 9, axis=0, mode="nearest")
    around = uniform_filter1d(np.sqrt(np.maximum(steady, 0)), 33, axis=1, mode="nearest") ** 2
    narrow = (steady * (steady > 5 * around)).sum(axis=1)
    bands = np.add.reduceat(power, BANDS, axis=1)
    # The floor keeps jitter near silence from counting as attacks.
    loudness = np.pad(10 * np.log10(bands + 1e-7), ((3, 0), (0, 0)), mode="edge")
    return Frames(
        bands=bands,
        level=10 * np.log10(total),
        centroid=power @ HERTZ / total,
        tonality=narrow / np.maximum(steady.sum(axis=1), 1e-10),
        purity=purity,
        hertz=np.where(whistle, HERTZ[peak], period),
        harmonicity=np.where(whistle, np.maximum(harmonicity, purity), harmonicity),
        flux=np.maximum(loudness[3:] - loudness[:-3], 0).mean(axis=1),
    )


def _period(repeats: Array) -> tuple[Array, Array]:
    """Pitch and harmonicity from the normalised autocorrelation of each frame."""
    before, here, after = (repeats[:, SHORTEST + i : LONGEST + i] for i in (-1, 0, 1))
    height = np.where((here >= before) & (here > after), here, 0.0)
    # Of nearly equal summits the first is the period; the later ones are its multiples.
    enough = np.maximum(0.88 * height.max(axis=1, keepdims=True), 1e-6)
    at = np.argmax(height >= enough, axis=1)[:, None]
    left, middle, right = (np.take_along_axis(part, at, axis=1) for part in (before, here, after))
    # The true summit is that of the parabola through the three values.
    offset = 0.5 * (left - right) / np.minimum(left - 2 * middle + right, -1e-9)
    hertz = RATE / (SHORTEST + at + np.clip(offset, -0.5, 0.5))
    return hertz[:, 0], np.clip(np.take_along_axis(height, at, axis=1)[:, 0], 0, 1)


def _cut(frames: Frames) -> int:
    """The frame at which the character changes, or 0 where it hardly does."""
    size, least = frames.level.size, int(0.8 * FPS)
    # Ticks, steps and words alternate with pauses; over a second they are one thing.
    marks = np.column_stack((np.log10(frames.bands + 1e-7), 8 * frames.tonality))
    marks = uniform_filter1d(marks, FPS, axis=0, mode="nearest")
    marks = marks - marks.mean(axis=0)
    at = np.arange(least, size - least)
    explained = (np.cumsum(marks, axis=0)[at - 1] ** 2).sum(axis=1) * size / (at * (size - at))
    best = int(np.argmax(explained))
    return int(at[best]) if explained[best] > 0.4 * (marks**2).sum() else 0


def _measure(own: Frames) -> Stretch:
    # Rare clicks fill few frames, so the level is that of the frames that are heard at all.
    top = float(np.percentile(own.level[own.level > own.level.max() - 30], 90))
    audible = own.level > max(top - 30, SILENT_DB)
    pitched = audible & (own.harmonicity > 0.6)
    smooth = uniform_filter1d(np.maximum(own.level, SILENT_DB), FPS // 2, mode="nearest")
    semitones = 12 * np.log2(np.maximum(own.hertz, 1) / 440)
    line = semitones[pitched] if pitched.sum() > 12 else np.zeros(1)
    linked = pitched[2:] & pitched[:-2]
    resting = linked & (np.abs(semitones[2:] - semitones[:-2]) < 0.1)
    counts = np.unique(np.round(semitones[2:][resting]), return_counts=True)[1]
    return Stretch(
        seconds=own.level.size / FPS,
        level=top,
        swing=float(np.subtract(*np.percentile(smooth, [90, 10]))),
        centroid=_median(own.centroid[audible]),
        tonality=_median(own.tonality[audible]),
        pitched=float(pitched.sum() / max(int(audible.sum()), 1)),
        hertz=_median(own.hertz[pitched]),
        wander=float(np.subtract(*np.percentile(line, [90, 10]))),
        resting=float(resting.sum() / max(int(linked.sum()), 1)),
        notes=float((counts >= max(6, 0.04 * resting.sum())).sum()),
        **_rhythm(own),
        voice=_voice(own.between(0, own.level.size, 2)),
    )


def _median(values: NDArray[np.floating]) -> float:
    return float(np.median(values)) if values.size else 0.0


def _rhythm(frames: Frames) -> dict[str, float]:
    above = frames.flux - median_filter(frames.flux, size=41, mode="nearest")
    # A third of the strongest attacks: fainter ones are ornaments or the grain of noise.
    least = max(2.5, 0.33 * float(np.percentile(above, 99.5)))
    attacks = signal.find_peaks(above, height=least, distance=6)[0]
    spacing = np.diff(attacks) / FPS
    usual = _median(spacing) or 1.0
    # A missed attack doubles one gap; it must not hide an otherwise even row.
    scatter = np.abs(spacing / np.maximum(1, np.round(spacing / usual)) - usual) / usual
    after = [frames.level[at : at + 2 * FPS] for at in attacks]
    fallen = [np.flatnonzero(tail < tail[:10].max() - 10) for tail in after]
    falls = [next((at for at in places if at > 5), 2 * FPS) / FPS for places in fallen]
    smooth = gaussian_filter1d(frames.flux, 1.5) - gaussian_filter1d(frames.flux, 60)
    lags = BEATS if smooth.size > 2 * BEATS[-1] else BEATS[:0]
    repeats = np.zeros(BEATS.size)
    repeats[: lags.size] = [np.mean(smooth[lag:] * smooth[:-lag]) for lag in lags]
    # People tap near 110 beats a minute, so of several good periods that side is preferred.
    liking = np.exp(-0.5 * (np.log2(BEATS * 110 / (60 * FPS)) / 0.9) ** 2)
    best = int(np.argmax(repeats * liking))
    return {
        "attacks": float(attacks.size),
        "sharpness": _median(frames.flux[attacks]),
        "bite": _median(frames.centroid[attacks]),
        "hold": _median(np.array(falls)),
        "per_minute": 60 / usual if spacing.size > 1 and scatter.mean() < 0.12 else 0.0,
        "tempo": 60 * FPS / float(BEATS[best]),
        "pulse": float(repeats[best] / max(float(np.mean(smooth**2)), 1e-6)),
    }


def _voice(frames: Frames) -> float:
    """How much frames behave like talk; they lie 20 ms apart."""
    active = frames.level > max(float(np.percentile(frames.level, 95)) - 30, SILENT_DB)
    voiced = active & (frames.harmonicity > 0.6) & (frames.hertz > 70) & (frames.hertz < 500)
    if not voiced.any():
        return 0.0
    envelope = np.sqrt(frames.bands[:, 8:20].sum(axis=1))
    swing = (envelope - envelope.mean()) * np.hanning(envelope.size)
    strength = np.abs(fft.rfft(swing, n=max(1024, swing.size))) ** 2
    speed = np.linspace(0, FPS / 4, strength.size)
    syllabic = strength[(speed > 2) & (speed < 9)].sum() / max(strength[speed > 0.4].sum(), 1e-20)
    steps = np.abs(np.diff(12 * np.log2(np.maximum(frames.hertz, 1))))
    cues = (
        # Much of speech is voiced, and its pitch slides a little all the time.
        (voiced.sum() / active.sum(), 0.2, 0.5),
        (_median(steps[voiced[1:] & voiced[:-1] & (steps < 3)]), 0.06, 0.15),
        # Syllables come four a second or so, and the mouth changes the colour of the voice.
        (syllabic, 0.15, 0.35),
        (np.std(np.log2(np.maximum(frames.centroid[voiced], 50))), 0.2, 0.5),
        # A whistle or whine has nearly all of its power in one partial; a voice has not.
        (1 - _median(frames.purity[voiced]), 0.1, 0.28),
    )
    value, low, high = np.array(cues).T
    return float(np.prod(np.clip((value - low) / (high - low), 0, 1)))


_SPEECH = re.compile(r"\b(?:speech|speak\w*|spoken|sa(?:y|id)\w*|talk\w*|voices?|transcri\w+)\b")
_MUSIC = re.compile(r"\b(?:music\w*|songs?|melod\w+|instrument\w*|genres?|tempo|tunes?|chords?)\b")
_ABSENT = {"speech": "no speech can be made out", "music": "no music can be made out"}


def topic_of(instruction: str) -> str:
    """What an instruction asks about, by its words; sound where they do not tell."""
    text = instruction[:10_000].lower()
    speech, music = len(_SPEECH.findall(text)), len(_MUSIC.findall(text))
    return "sound" if speech == music else "speech" if speech > music else "music"


def put_into_words(stretches: tuple[Stretch, ...], instruction: str) -> str:
    topic = topic_of(instruction)
    loudest = max(stretches, key=lambda sound: sound.level)
    if loudest.seconds < 0.02:
        return "The clip is over in an instant, too short to tell what it is."
    if loudest.kind == "silence":
        return f"The clip is silent; {_ABSENT.get(topic, 'no sound can be heard')}."
    if loudest.level < -58 and loudest.kind in ("hiss", "rumble"):
        subject, absent = _phrase(loudest)[0], _ABSENT.get(topic, "nothing else can be heard")
        return f"The clip is almost silent: there is only {subject}, and {absent}."
    for sound in stretches:
        if topic == sound.kind == "speech":
            return f"{_sentence(_phrase(sound))}; the words cannot be made out."
        on_notes = sound.tonality > 0.5 and sound.notes >= 2
        has_beat = sound.pulse > 0.4 and sound.attacks > 4
        if topic == "music" and sound.seconds > 2 and (on_notes or has_beat):
            mood = ("calm and peaceful", "relaxed and warm", "lively and energetic")[_pace(sound)]
            return f"{_sentence(_phrase(sound, 'music'))}. The mood is perhaps {mood}."
    denial = f" {_ABSENT[topic].capitalize()}." if topic in _ABSENT else ""
    return f"{_sentence(*map(_phrase, stretches))}.{denial}"


def _sentence(*phrases: tuple[str, str, str]) -> str:
    clauses = [f"{a}, {b}, {c}" if b else f"{a} {c}" for a, b, c in phrases]
    text = f"first {', then '.join(clauses)}" if len(clauses) > 1 else clauses[0]
    return text[0].upper() + text[1:]


def _pace(sound: Stretch) -> int:
    """0 for slow, 1 for medium, 2 for fast music."""
    rate = sound.tempo if sound.pulse > 0.2 else 40 * sound.attacks / max(sound.seconds, 0.5)
    return bisect((84, 126), rate)


def _about(number: float) -> int:
    """A number as a person would say it."""
    step = (1, 5, 10, 100)[bisect((20, 200, 1000), number)]
    return round(number / step) * step


def _phrase(sound: Stretch, kind: SoundKind | None = None) -> tuple[str, str, str]:
    """A stretch as the subject of a sentence, a guess at its source, and its verb."""
    loud = ("very faint ", "quiet ", "", "loud ")[bisect((-48, -36, -11), sound.level)]
    lasts = "continues" if sound.swing < 7 or sound.seconds < 3 else "swells and fades"
    match kind or sound.kind:
        case "silence":
            return "silence", "", "follows"
        case "speech":
            tone = ("a calm, even", "a neutral", "a lively")[bisect((4.5, 9), sound.wander)]
            if sound.level > -20 and (sound.centroid > 1000 or sound.hertz > 270):
                tone = "an excited"
            at = bisect((165, 200), sound.hertz)
            who = ("probably a man", "a man or a woman", "probably a woman")[at]
            voice = f"with a {('low', 'mid-range', 'high')[at]} voice"
            return "a person", f"{who} {voice}", f"speaks in what seems {tone} tone"
        case "music":
            pace = ("slow", "medium-tempo", "fast")[_pace(sound)]
            struck = sound.sharpness > 7 and sound.attacks > 0.7 * sound.seconds
            notes = "plucked or struck notes" if struck else "sustained notes"
            beat = f" at around {_about(sound.tempo)} beats per minute" if sound.pulse > 0.2 else ""
            return f"what sounds like {pace} instrumental music with {notes}", "", f"plays{beat}"
        case "impacts":
            sharp = sound.bite > 1500
            if sound.attacks < 3:
                return f"a {loud}short {'click' if sharp else 'thump'}", "", "is heard"
            guess = "perhaps a clock or tapping" if sharp else "perhaps footsteps or knocks"
            pace = f"about {_about(sound.per_minute)} times a minute"
            pace = pace if sound.per_minute else "at uneven intervals"
            return f"{loud}{'sharp ticks' if sharp else 'dull thuds'}", guess, f"are heard {pace}"
        case "tone" if sound.wander > 2:
            return "a wailing tone", "perhaps a siren or an animal", "rises and falls in pitch"
        case "tone":
            return f"a {loud}steady tone of about {_about(sound.hertz)} Hz", "", "sounds"
        case "calls":
            return f"a {loud}voice-like call", "perhaps of an animal or a person", "is heard"
        case "hiss":
            steady = "steady " if sound.swing < 7 else ""
            return f"a {loud}{steady}hiss", "perhaps rain or running water", lasts
        case "rumble":
            return f"a {loud}low rumble", "perhaps wind or an engine", lasts
