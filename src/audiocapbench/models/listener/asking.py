"""Reads from an instruction whether it asks about sounds, music or speech, and about what of it."""

import re
from enum import StrEnum

LONGEST_INSTRUCTION = 10_000

_SPEECH = re.compile(
    r"\b(?:speech|speakers?|speaking|spoken|says?|saying|said|talk\w*|voices?|utterances?"
    r"|transcri\w+)\b"
)
_MUSIC = re.compile(
    r"\b(?:music\w*|songs?|melod\w+|instruments?|instrumentation|genres?|tempo|tunes?|chords?)\b"
)


class Asked(StrEnum):
    """What an instruction asks about."""

    SOUND = "sound"
    MUSIC = "music"
    SPEECH = "speech"


def asked_about(instruction: str) -> Asked:
    """What the instruction asks about, decided by its words; sound where they do not tell."""
    text = instruction[:LONGEST_INSTRUCTION].lower()
    speech, music = len(_SPEECH.findall(text)), len(_MUSIC.findall(text))
    if speech == music:
        return Asked.SOUND
    return Asked.SPEECH if speech > music else Asked.MUSIC
