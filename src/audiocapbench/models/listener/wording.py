"""Puts what was heard into a plain sentence or two that answer the instruction."""

import re
from bisect import bisect

from audiocapbench.models.listener.hearing import SoundKind, Stretch

_SPEECH = re.compile(r"\b(?:speech|speak\w*|spoken|sa(?:y|id)\w*|talk\w*|voices?|transcri\w+)\b")
_MUSIC = re.compile(r"\b(?:music\w*|songs?|melod\w+|instrument\w*|genres?|tempo|tunes?|chords?)\b")
_ABSENT = {"speech": "no speech can be made out", "music": "no music can be made out"}


def topic_of(instruction: str) -> str:
    """What an instruction asks about, by its words; sound where they do not tell."""
    text = instruction[:10_000].lower()
    speech, music = len(_SPEECH.findall(text)), len(_MUSIC.findall(text))
    return "sound" if speech == music else "speech" if speech > music else "music"


def put_into_words(stretches: tuple[Stretch, ...], instruction: str) -> str:
    """A caption that answers the instruction."""
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
        if topic == "music" and _may_be_music(sound):
            mood = ("calm and peaceful", "relaxed and warm", "lively and energetic")[_pace(sound)]
            return f"{_sentence(_phrase(sound, 'music'))}. The mood is perhaps {mood}."
    denial = f" {_ABSENT[topic].capitalize()}." if topic in _ABSENT else ""
    return f"{_sentence(*map(_phrase, stretches))}.{denial}"


def _sentence(*phrases: tuple[str, str, str]) -> str:
    clauses = [f"{a}, {b}, {c}" if b else f"{a} {c}" for a, b, c in phrases]
    text = f"first {', then '.join(clauses)}" if len(clauses) > 1 else clauses[0]
    return text[0].upper() + text[1:]


def _may_be_music(sound: Stretch) -> bool:
    """Whether there are notes or a beat, for someone who was told to listen for music."""
    on_notes = sound.tonality > 0.5 and sound.notes >= 2
    return sound.seconds > 2 and (on_notes or (sound.pulse > 0.4 and sound.attacks > 4))


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
