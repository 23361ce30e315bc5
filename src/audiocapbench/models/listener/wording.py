"""Puts what was heard into a plain sentence or two that answer the instruction."""

from audiocapbench.models.listener.asking import Asked
from audiocapbench.models.listener.hearing import Heard, Segment
from audiocapbench.models.listener.kinds import Kind
from audiocapbench.models.listener.music_words import describe_music
from audiocapbench.models.listener.sound_words import above_words, background_words, phrase_for
from audiocapbench.models.listener.speech_words import describe_voice

TOO_SHORT_SECONDS = 0.02
ALMOST_SILENT_DB = -58.0
_NOISES = (Kind.HISS, Kind.NOISE, Kind.WAVES, Kind.RUMBLE, Kind.HUM)
_MUSICAL = (Kind.MUSIC, Kind.BEAT, Kind.BELL)
WHISPER = (
    "A breathy, unvoiced sound with the rhythm of talk, perhaps a person whispering softly; "
    "the words cannot be made out."
)
_EXPECTED = {
    Asked.SOUND: "nothing else can be heard",
    Asked.MUSIC: "no music can be heard",
    Asked.SPEECH: "nobody can be heard speaking",
}


def put_into_words(heard: Heard, asked: Asked) -> str:
    """A caption for what was heard."""
    if heard.seconds < TOO_SHORT_SECONDS:
        return "The clip is over in an instant, too short to tell what it is."
    if heard.silent:
        expected = "no sound can be heard" if asked is Asked.SOUND else _EXPECTED[asked]
        return f"The clip is silent; {expected}."
    if heard.whole.sound.level < ALMOST_SILENT_DB and heard.whole.kind in _NOISES:
        only = phrase_for(heard.whole.kind, heard.whole.sound).subject
        return f"The clip is almost silent: there is only {only}, and {_EXPECTED[asked]}."
    longest = max(heard.segments, key=lambda part: part.sound.seconds)
    if asked is Asked.SPEECH:
        voices = [part for part in (*heard.segments, heard.whole) if part.kind is Kind.SPEECH]
        if voices:
            return describe_voice(heard, voices[0].sound)
        if heard.whole.sound.voice.whisper > 0.5:
            return WHISPER
        return f"{describe_sounds(heard)} No speech can be made out."
    if asked is Asked.MUSIC:
        if longest.kind in _MUSICAL:
            return describe_music(longest.kind, longest.sound)
        return f"{describe_sounds(heard)} It hardly sounds like music."
    return describe_sounds(heard)


def describe_sounds(heard: Heard) -> str:
    """One sentence about all that was heard, in order of time."""
    if len(heard.segments) == 1:
        text = _alone(heard, heard.segments[0])
    else:
        text = _in_turn(heard.segments)
    if heard.tail > 0.4 * heard.seconds and heard.tail > 1:
        text = f"{text}, followed by silence"
    return f"{text[0].upper()}{text[1:]}."


def _alone(heard: Heard, part: Segment) -> str:
    phrase = phrase_for(part.kind, part.sound)
    guess = f", {phrase.guess}," if phrase.guess else ""
    text = f"{phrase.subject}{guess} {phrase.verb}{_shape(heard, part)}"
    above = above_words(part.kind, part.sound)
    if above:
        return f"{text}, and {above}"
    behind = background_words(part.kind, part.sound)
    return f"{text} over {behind}" if behind else text


def _shape(heard: Heard, part: Segment) -> str:
    if phrase_for(part.kind, part.sound).verb != "continues":
        return ""
    if part.sound.trend > 7:
        return " and grows louder"
    if part.sound.trend < -7:
        return " and fades away"
    return " throughout" if part.sound.seconds > 0.8 * heard.seconds else ""


def _in_turn(parts: tuple[Segment, ...]) -> str:
    clauses = []
    for part in parts:
        phrase = phrase_for(part.kind, part.sound)
        guess = f", {phrase.guess}," if phrase.guess else ""
        clauses.append(f"{phrase.subject}{guess} {phrase.verb}")
    return f"first {', then '.join(clauses)}"
