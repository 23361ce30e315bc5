"""Words for what kind of sound a stretch is, with hedged guesses at its source."""

from collections.abc import Callable
from typing import NamedTuple

from audiocapbench.models.listener.kinds import Kind, middle
from audiocapbench.models.listener.texture import Background, Texture


class Phrase(NamedTuple):
    """A sound as the subject of a sentence, a guess at its source, and its verb."""

    subject: str
    guess: str
    verb: str


def phrase_for(kind: Kind, sound: Texture) -> Phrase:
    """The words for one stretch of sound."""
    return _PHRASES[kind](sound)


def background_words(kind: Kind, sound: Texture) -> str:
    """Words for a steady background behind the events of a stretch, or an empty string."""
    behind = sound.background
    if kind not in _OVER_BACKGROUND or behind.level < max(-58.0, sound.level - 32):
        return ""
    hum = behind.purity > 0.6 and behind.centroid < 300
    # What is left of a voice or a ringing tone between its moments is not yet a background.
    if behind.flatness < 0.1 and not hum:
        return ""
    if kind is Kind.SPEECH and (hum or behind.level < sound.level - 26):
        return ""
    strength = "a faint" if behind.level < sound.level - 16 else "a steady"
    return f"{strength} {'low hum' if hum else _backdrop(behind)}"


def above_words(kind: Kind, sound: Texture) -> str:
    """Words for calls or whistles that are heard above a noise, or an empty string."""
    if kind not in _UNDER_CALLS:
        return ""
    # Its noise hides most of a voice: what is left is a low pitch that comes and goes.
    if sound.flatness > 0.3 and 0.12 < sound.pitched < 0.6 and 75 < sound.hertz < 300:
        return "what seems to be a voice is talking in it"
    if not 0.07 < sound.whistling < 0.6:
        return ""
    if sound.whistle_hertz > 2200:
        return "high-pitched chirps, like those of birds, are heard"
    return "high calls, perhaps of birds or other animals, are heard"


def loudness(level: float) -> str:
    """An adjective for how loud, or an empty string when it is ordinary."""
    if level < -48:
        return "very faint"
    if level < -36:
        return "quiet"
    return "loud" if level > -11 else ""


def plucked(sound: Texture) -> bool:
    """Whether notes start sharply and die away, as plucked strings, keys and drums do."""
    sharpness = sound.rhythm.sharpness
    return sharpness > 12 or (sharpness > 7 and middle(sound.main, "hold") < 0.55)


def two_voices(sound: Texture) -> bool:
    """Whether some phrases are so much higher than others that two people seem to talk."""
    return sound.voice.turns > 1.6


def speaker(sound: Texture) -> str:
    """Man or woman where the pitch leaves little doubt; else a person."""
    hertz = sound.voice.hertz
    return "a man" if hertz < 165 else "a person" if hertz < 200 else "a woman"


def speaking_pace(sound: Texture) -> str:
    """How fast the syllables come."""
    rate = sound.voice.syllables
    return "slowly" if rate < 2.5 else "quickly" if rate > 3.9 else "at a measured pace"


def about(number: float) -> int:
    """A number rounded as a listener would say it."""
    step = 1 if number < 20 else 5 if number < 200 else 10 if number < 1000 else 100
    return int(round(number / step) * step)


def _backdrop(behind: Background) -> str:
    if behind.centroid < 450:
        return "low rumble"
    return "hiss" if behind.centroid > 1300 else "noise"


def _join(*words: str) -> str:
    return " ".join(word for word in words if word)


def _a(*words: str) -> str:
    text = _join(*words)
    return f"an {text}" if text[:1] in "aeiou" else f"a {text}"


def _register(hertz: float) -> str:
    return "low" if hertz < 200 else "mid-range" if hertz < 700 else "high"


def _hiss(sound: Texture) -> Phrase:
    steady = "steady" if sound.swing < 9 else "uneven"
    if sound.centroid > 3600:
        return Phrase(_a(loudness(sound.level), steady, "hiss"), "like white noise", "continues")
    guess = "perhaps rain or running water" if sound.centroid > 2000 else "perhaps wind or water"
    return Phrase(_a(loudness(sound.level), steady, "hiss"), guess, "continues")


def _waves(sound: Texture) -> Phrase:
    guess = "perhaps wind" if sound.centroid < 1200 else "perhaps waves, water or gusts of wind"
    return Phrase("a rushing noise", guess, "swells and fades")


def _rumble(sound: Texture) -> Phrase:
    subject = _a(loudness(sound.level), "low rumble")
    return Phrase(subject, "perhaps wind, traffic or an engine", "continues")


def _roll(sound: Texture) -> Phrase:
    return Phrase(_a(loudness(sound.level), "low rumble"), _ROLLING, "rolls and dies away")


def _throb(sound: Texture) -> Phrase:
    guess = "perhaps an engine or a helicopter" if sound.centroid < 1500 else "perhaps a machine"
    return Phrase(_a(loudness(sound.level), "throbbing noise"), guess, "runs")


def _growl(sound: Texture) -> Phrase:
    return Phrase("a low, rough growl", "perhaps an animal or a motor", "is heard")


def _drips(sound: Texture) -> Phrase:
    pace = "slowly" if sound.rhythm.per_minute < 100 else "quickly"
    return Phrase("a short, hollow plink", "like dripping water", f"repeats {pace}")


def _noise(sound: Texture) -> Phrase:
    colour = "dull" if sound.centroid < 900 else "rough" if sound.centroid < 2500 else "bright"
    subject = _a(loudness(sound.level), colour, "noise")
    whine = sound.tonality > 0.5
    return Phrase(subject, "perhaps a motor" if whine else "perhaps machinery or wind", "continues")


def _hum(sound: Texture) -> Phrase:
    subject = _a(loudness(sound.level), "low", "humming drone")
    return Phrase(subject, "perhaps an engine or a motor", "continues")


def _tone(sound: Texture) -> Phrase:
    shape = "pure tone" if sound.purity > 0.9 else "buzzing tone"
    subject = _a("steady", _register(sound.hertz), shape)
    return Phrase(f"{subject} of about {about(sound.hertz)} Hz", "", "sounds")


def _ticking(sound: Texture) -> Phrase:
    rate = sound.rhythm.per_minute
    if sound.rhythm.evenness < 0.5:
        return Phrase("a series of sharp clicks", "", "is heard at uneven intervals")
    clock = any(abs(rate - beat) < 0.08 * beat for beat in (60, 120, 240, 300))
    guess = "like a clock" if clock else "like tapping"
    return Phrase("regular sharp ticks", guess, f"are heard about {about(rate)} times a minute")


def _knocking(sound: Texture) -> Phrase:
    rate = sound.rhythm.per_minute
    if sound.rhythm.evenness < 0.5:
        return Phrase("a series of dull knocks", "perhaps footsteps or handling", "is heard")
    guess = "like footsteps" if 80 <= rate <= 150 else "like knocking on a door"
    if rate < 80:
        guess = "like a slow knock"
    return Phrase("regular dull thuds", guess, f"are heard about {about(rate)} times a minute")


def _patter(sound: Texture) -> Phrase:
    if middle(sound.main, "bite") > 1800:
        return Phrase("a rapid, irregular clatter", "like typing, rattling or crackling", "goes on")
    return Phrase("a rapid, irregular patter", "like footsteps or things being moved", "goes on")


def _count(sound: Texture) -> str:
    number = len(sound.main)
    return (
        ("once", "once", "twice", "three times", "four times")[number]
        if number < 5
        else ("again and again")
    )


def _bang(sound: Texture) -> Phrase:
    centroid = middle(sound.main, "centroid") or sound.centroid
    sharp = "click" if middle(sound.main, "seconds") < 0.1 else "burst of noise"
    name = "thump" if centroid < 500 else "bang" if centroid < 2500 else sharp
    return Phrase(_a(loudness(sound.level), "short", name), "", f"is heard {_count(sound)}")


def _bursts(sound: Texture) -> Phrase:
    colour = "low" if sound.centroid < 600 else "bright" if sound.centroid > 3500 else "rough"
    return Phrase(f"a {colour} noise", "perhaps something being moved", "comes in bursts")


def _barks(sound: Texture) -> Phrase:
    return Phrase("a short, harsh sound", "like a bark or a cough", f"is heard {_count(sound)}")


def _beat(sound: Texture) -> Phrase:
    tempo = f"at about {about(sound.rhythm.tempo)} beats per minute"
    return Phrase("a drum-like beat", "", f"plays {tempo}")


def _bell(sound: Texture) -> Phrase:
    size = "deep" if sound.hertz < 350 else "bright" if sound.hertz > 1200 else "ringing"
    return Phrase(_a(size, "bell-like tone"), "", f"is struck {_count(sound)} and rings on")


def _ringing(sound: Texture) -> Phrase:
    return Phrase("a rapid metallic ringing", "like a telephone or an alarm bell", "is heard")


def _beeps(sound: Texture) -> Phrase:
    hertz = middle(sound.main, "hertz")
    subject = _a(_register(hertz), "electronic-sounding beep")
    pace = " at regular intervals" if sound.rhythm.evenness > 0.6 else ""
    return Phrase(subject, "like an alarm", f"repeats{pace}")


def _chirps(sound: Texture) -> Phrase:
    return Phrase("a high-pitched chirping", "like a bird", "is heard")


def _siren(sound: Texture) -> Phrase:
    return Phrase("a wailing tone", "like a siren", "rises and falls in pitch")


def _rising(sound: Texture) -> Phrase:
    return Phrase("a smooth tone", "", "glides upwards in pitch")


def _falling(sound: Texture) -> Phrase:
    return Phrase("a smooth tone", "", "glides downwards in pitch")


def _calls(sound: Texture) -> Phrase:
    height = _register(sound.hertz)
    return Phrase(_a(height, "voice-like call"), "perhaps an animal", f"is heard {_count(sound)}")


def _cry(sound: Texture) -> Phrase:
    if sound.hertz < 300:
        return Phrase("a low, drawn-out call", "perhaps an animal", "is heard")
    guess = "perhaps a crying baby or an animal" if sound.hertz < 700 else "perhaps an animal"
    return Phrase("a high, wailing cry", guess, "is heard")


def _music(sound: Texture) -> Phrase:
    struck = "plucked or struck" if plucked(sound) else "sustained"
    pace = ""
    if sound.rhythm.pulse > 0.25:
        pace = f" at about {about(sound.rhythm.tempo)} beats per minute"
    return Phrase(f"music with {struck} notes", "", f"plays{pace}")


def _speech(sound: Texture) -> Phrase:
    if two_voices(sound):
        return Phrase("two people", "by the sound of the voices", "speak in turn")
    return Phrase(speaker(sound), "by the sound of the voice", f"speaks {speaking_pace(sound)}")


def _silence(sound: Texture) -> Phrase:
    return Phrase("silence", "", "follows")


_ROLLING = "perhaps thunder or something heavy passing"
_PHRASES: dict[Kind, Callable[[Texture], Phrase]] = {
    Kind.SILENCE: _silence,
    Kind.SPEECH: _speech,
    Kind.MUSIC: _music,
    Kind.BEAT: _beat,
    Kind.BELL: _bell,
    Kind.RINGING: _ringing,
    Kind.TICKING: _ticking,
    Kind.KNOCKING: _knocking,
    Kind.PATTER: _patter,
    Kind.BANG: _bang,
    Kind.BURSTS: _bursts,
    Kind.BARKS: _barks,
    Kind.BEEPS: _beeps,
    Kind.CHIRPS: _chirps,
    Kind.SIREN: _siren,
    Kind.RISING: _rising,
    Kind.FALLING: _falling,
    Kind.CALLS: _calls,
    Kind.CRY: _cry,
    Kind.TONE: _tone,
    Kind.HUM: _hum,
    Kind.HISS: _hiss,
    Kind.RUMBLE: _rumble,
    Kind.ROLL: _roll,
    Kind.THROB: _throb,
    Kind.GROWL: _growl,
    Kind.DRIPS: _drips,
    Kind.WAVES: _waves,
    Kind.NOISE: _noise,
}
_OVER_BACKGROUND = frozenset(
    {
        Kind.SPEECH,
        Kind.ROLL,
        Kind.BEAT,
        Kind.BELL,
        Kind.TICKING,
        Kind.KNOCKING,
        Kind.PATTER,
        Kind.BANG,
        Kind.BARKS,
        Kind.BEEPS,
        Kind.CHIRPS,
        Kind.CALLS,
        Kind.CRY,
        Kind.SIREN,
    }
)
_UNDER_CALLS = frozenset({Kind.HISS, Kind.WAVES, Kind.NOISE, Kind.RUMBLE, Kind.ROLL})
