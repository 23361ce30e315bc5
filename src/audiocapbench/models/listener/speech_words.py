"""Words for a talking voice: who, how and how fast; never what is said."""

from audiocapbench.models.listener.hearing import Heard
from audiocapbench.models.listener.kinds import Kind
from audiocapbench.models.listener.sound_words import (
    background_words,
    speaker,
    speaking_pace,
    two_voices,
)
from audiocapbench.models.listener.texture import Texture


def describe_voice(heard: Heard, sound: Texture) -> str:
    """One or two sentences about a voice that was heard."""
    behind = background_words(Kind.SPEECH, sound)
    scene = f" over {behind}" if behind else ""
    verb = "speak" if two_voices(sound) else "speaks"
    return f"{_who(sound)} {verb} {_how(sound)}{scene}; {_words_heard(heard, sound)}."


def _who(sound: Texture) -> str:
    if two_voices(sound):
        return "Two people, one with a higher and one with a lower voice, seem to"
    hertz = sound.voice.hertz
    if hertz > 270:
        return "A woman or a child with a high, raised voice"
    height = "low" if hertz < 125 else "mid-range" if hertz < 200 else "clear, fairly high"
    who = speaker(sound)
    likely = "" if who == "a person" else f", probably {who},"
    return f"A person{likely} with a {height} voice"


def _how(sound: Texture) -> str:
    return f"{_volume(sound)}{speaking_pace(sound)} in {_tone(sound)} tone"


def _raised(sound: Texture) -> bool:
    """Whether the voice is raised: the recording level alone cannot tell, the colour can."""
    return sound.level > -20 and (sound.centroid > 1000 or sound.voice.hertz > 270)


def _volume(sound: Texture) -> str:
    return "loudly and " if _raised(sound) else "softly and " if sound.level < -36 else ""


def _tone(sound: Texture) -> str:
    lively = sound.voice.spread
    if _raised(sound):
        return "an agitated or excited"
    if lively > 9:
        return "an expressive, lively"
    if sound.level < -36:
        return "a soft, subdued"
    return "a calm, even" if lively < 4.5 else "a neutral, conversational"


def _words_heard(heard: Heard, sound: Texture) -> str:
    if sound.background.level > sound.level - 18:
        return "the words are masked by the background and cannot be made out"
    if sound.voice.phrases > 2:
        return "several phrases with pauses between them are heard, but not which words"
    if heard.seconds < 5:
        return "it is one short phrase whose words cannot be made out"
    return "the words cannot be made out"
