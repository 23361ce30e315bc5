"""Names the character of a stretch of sound by plain rules; the sources stay guesses elsewhere."""

from enum import StrEnum

import numpy as np

from audiocapbench.models.listener.events import Event
from audiocapbench.models.listener.texture import Texture


class Kind(StrEnum):
    """Characters of sound that can be told apart without knowing their source."""

    SILENCE = "silence"
    SPEECH = "speech"
    MUSIC = "music"
    BEAT = "beat"
    BELL = "bell"
    RINGING = "ringing"
    TICKING = "ticking"
    KNOCKING = "knocking"
    PATTER = "patter"
    BANG = "bang"
    BURSTS = "bursts"
    BARKS = "barks"
    BEEPS = "beeps"
    CHIRPS = "chirps"
    SIREN = "siren"
    RISING = "rising"
    FALLING = "falling"
    CALLS = "calls"
    CRY = "cry"
    TONE = "tone"
    HUM = "hum"
    HISS = "hiss"
    RUMBLE = "rumble"
    ROLL = "roll"
    THROB = "throb"
    GROWL = "growl"
    DRIPS = "drips"
    WAVES = "waves"
    NOISE = "noise"


def kind_of(sound: Texture) -> Kind:
    """The character of a stretch of sound."""
    if sound.silent:
        return Kind.SILENCE
    if sound.voice.likelihood > 0.5:
        return Kind.SPEECH
    for rule in (_musical, _struck, _sung, _tonal):
        kind = rule(sound)
        if kind is not None:
            return kind
    return _noisy(sound)


_IMPACTS = {Kind.TICKING, Kind.KNOCKING, Kind.PATTER, Kind.BEAT}
_BURSTS = {Kind.BURSTS, Kind.BARKS}
_CALLS = {Kind.CALLS, Kind.CRY, Kind.CHIRPS, Kind.RISING, Kind.FALLING, Kind.SIREN}
_FAMILIES = (
    _IMPACTS,
    _BURSTS,
    _CALLS,
    {Kind.HISS, Kind.NOISE, Kind.WAVES, Kind.THROB},
    {Kind.RUMBLE, Kind.ROLL},
    {Kind.BEEPS, Kind.TONE},
)
_IN_MUSIC = {Kind.MUSIC, Kind.BELL, Kind.TONE, Kind.HUM, Kind.BEEPS, Kind.BEAT, *_CALLS}


def alike(one: Kind, other: Kind) -> bool:
    """Whether two neighbouring stretches are better heard as one."""
    return one is other or any(one in family and other in family for family in _FAMILIES)


def belongs_to_speech(kind: Kind) -> bool:
    """Whether a stretch of this kind may be a piece of talk too short to tell by itself."""
    return kind in (Kind.SPEECH, Kind.BARKS, Kind.CALLS, Kind.CRY, Kind.BURSTS)


def is_row_of_impacts(kind: Kind) -> bool:
    """Whether a clip of this kind is a row of knocks, steps, clicks or barks."""
    return kind in _IMPACTS or kind is Kind.BARKS


def belongs_to_impacts(kind: Kind) -> bool:
    """Whether a stretch of this kind may be a piece of a row of knocks, steps or clicks."""
    return kind in _IMPACTS or kind in _BURSTS or kind in (Kind.BANG, Kind.DRIPS, Kind.THROB)


def belongs_to_music(kind: Kind) -> bool:
    """Whether a stretch of this kind is what music consists of."""
    return kind in _IN_MUSIC


def middle(events: tuple[Event, ...], name: str) -> float:
    """Median of one measure over events, 0 without any."""
    return float(np.median([getattr(event, name) for event in events])) if events else 0.0


def _attacks_per_second(sound: Texture) -> float:
    return len(sound.rhythm.onsets) / max(sound.seconds, 0.5)


def _musical(sound: Texture) -> Kind | None:
    rate = _attacks_per_second(sound)
    rhythm = sound.rhythm
    trill = rhythm.per_minute > 400 and rhythm.evenness > 0.5
    # The pitch of metal is hard to find: it seems to leap about.
    metallic = sound.centroid > 1500 and (sound.flutter > 0 or sound.wander > 30)
    if sound.tonality > 0.8 and (trill or metallic) and sound.whistling > 0.4:
        return Kind.RINGING
    if rhythm.pulse > 0.5 and rhythm.sharpness > 8 and 1.5 < rate < 8 and sound.tonality > 0.6:
        varied = sound.wander > 4 and middle(sound.main, "seconds") > 0.1
        if varied and sound.seconds > 4:
            return Kind.MUSIC
    rings = sound.rhythm.sharpness > 7 and middle(sound.main, "seconds") > 0.35
    rings = rings and middle(sound.main, "hold") < 0.75
    if sound.tonality > 0.75 and rings and rate < 1.5 and sound.hertz > 150 and sound.events:
        return Kind.BELL
    on_notes = sound.stepwise > 0.5 and sound.notes >= 3 and sound.pitched > 0.4
    if sound.seconds > 2 and sound.tonality > 0.55 and on_notes and sound.hertz < 1000:
        moves = rate > 0.7 or sound.notes >= 5
        return Kind.MUSIC if moves and sound.wander > 1.5 else None
    return None


def _struck(sound: Texture) -> Kind | None:
    attacks = len(sound.rhythm.onsets)
    # An echo makes an impact long, but it still dies away at once.
    decays = middle(sound.main, "hold") < 0.3 and sound.rhythm.sharpness > 12
    impact = decays or middle(sound.main, "seconds") < 0.3
    if sound.rhythm.sharpness < 8 or not impact or attacks == 0 or not sound.events:
        return None
    tonal = sum(event.tonal for event in sound.main) / len(sound.main)
    blip = middle(sound.main, "seconds") < 0.15 and middle(sound.main, "purity") < 0.8
    sings = tonal > 0.6 and sound.tonality > 0.5 and middle(sound.main, "hertz") > 250
    if sings and not blip and middle(sound.main, "hold") > 0.25:
        return None
    pitched = not blip and tonal > 0.6 and middle(sound.main, "hertz") > 400
    if pitched and attacks > 2 and middle(sound.main, "hold") < 0.25:
        return Kind.DRIPS
    even = sound.rhythm.evenness > 0.6 and attacks > 2
    if not even and middle(sound.main, "seconds") > 0.1 and _throaty(sound.main):
        return Kind.BARKS
    if attacks < 3:
        return Kind.BANG
    colours = [event.bite for event in sound.main]
    mixed = len(colours) > 7 and np.percentile(colours, 85) > 4 * np.percentile(colours, 15)
    if mixed and sound.rhythm.pulse > 0.4 and _attacks_per_second(sound) > 1.5:
        return Kind.BEAT
    if _attacks_per_second(sound) > 7 and middle(sound.main, "bite") < 1000:
        return Kind.GROWL
    if sound.rhythm.evenness < 0.4 and _attacks_per_second(sound) > 3:
        return Kind.PATTER
    if middle(sound.main, "seconds") > 0.12 and sound.rhythm.evenness < 0.4:
        return Kind.BURSTS
    return Kind.TICKING if middle(sound.main, "bite") > 1500 else Kind.KNOCKING


def _throaty(events: tuple[Event, ...]) -> bool:
    """Neither noise nor clear tone, in the middle of the spectrum: barks, coughs, laughs."""
    half_voiced = 0.38 < middle(events, "harmonicity") < 0.85
    return half_voiced and 450 < middle(events, "centroid") < 2500


def _sung(sound: Texture) -> Kind | None:
    """Short or gliding pitched sounds: birds, beeps, sirens, animals."""
    tonal = tuple(event for event in sound.main if event.tonal)
    filled = sum(event.seconds for event in tonal) / max(sound.seconds, 0.1)
    if not tonal or (filled < 0.5 * sound.event_share and sound.pitched < 0.5):
        return None
    hertz, seconds = middle(tonal, "hertz"), middle(tonal, "seconds")
    gaps = filled < 0.75
    if hertz > 1700 and gaps and seconds < 0.8:
        plain = middle(tonal, "purity") > 0.8 and sound.wander < 1 and sound.stepwise > 0.8
        return Kind.BEEPS if plain else Kind.CHIRPS
    if sound.pitched > 0.6 and sound.tonality > 0.5 and sound.stepwise < 0.6:
        if sound.turns == 0 and abs(sound.sweep) > 4:
            return Kind.RISING if sound.sweep > 0 else Kind.FALLING
        pure = sound.purity > (0.4 if not gaps else 0.75)
        if sound.turns >= 1 and filled > 0.6 and pure and 250 < sound.hertz < 2500:
            return Kind.SIREN
    if gaps and sound.stepwise > 0.75 and sound.wander < 1.5 and len(tonal) > 1:
        return Kind.BEEPS
    clear = sound.tonality > 0.3 and sound.background.level < sound.level - 10
    if clear and sound.pitched > 0.3 and sound.wander > 1.5:
        return Kind.CALLS if seconds < 0.5 and len(tonal) < 8 and gaps else Kind.CRY
    return None


def _tonal(sound: Texture) -> Kind | None:
    steady = sound.swing < 12 and (sound.pitched > 0.7 or sound.tonality > 0.8)
    if not steady or (sound.flatness > 0.1 and sound.pitched < 0.9):
        return None
    return Kind.HUM if sound.hertz < 200 or sound.centroid < 250 else Kind.TONE


def _noisy(sound: Texture) -> Kind:
    if sound.flutter and sound.centroid < 2500 and sound.flatness < 0.4:
        return Kind.THROB
    if sound.seconds < 0.6:
        return Kind.BANG
    low = sound.centroid < 600 or sound.low_share > 0.4
    fading = sound.trend < -3 or (sound.event_share < 0.6 and sound.swing > 12)
    if low and _attacks_per_second(sound) > 3:
        return Kind.THROB
    if low:
        return Kind.ROLL if fading and sound.swing > 5 else Kind.RUMBLE
    if len(sound.rhythm.onsets) > 3 * sound.seconds and sound.rhythm.sharpness > 4:
        return Kind.PATTER
    if sound.swing > 14 and 0.05 < sound.event_share < 0.7:
        return Kind.BURSTS
    if sound.swing > 7 and sound.seconds > 3:
        return Kind.WAVES
    return Kind.HISS if sound.centroid > 1300 and sound.flatness > 0.15 else Kind.NOISE
