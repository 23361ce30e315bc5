"""Words for music: tempo, texture, register and a hedged mood; never a title or a named player."""

from audiocapbench.models.listener.kinds import Kind
from audiocapbench.models.listener.sound_words import about, plucked
from audiocapbench.models.listener.texture import Texture

CONFIDENT_PULSE = 0.2
_PACES = {"slow": "slow", "moderate": "medium-tempo", "fast": "fast"}


def describe_music(kind: Kind, sound: Texture) -> str:
    """Two sentences about music that was heard."""
    pace = pace_of(sound)
    tempo = ""
    if sound.rhythm.pulse > CONFIDENT_PULSE:
        tempo = f" at around {about(sound.rhythm.tempo)} beats per minute"
    words = ", ".join(word for word in (_PACES[pace], _volume(sound.level)) if word)
    article = "An" if words.startswith("u") else "A"
    opening = f"{article} {words} instrumental piece{tempo} with {_notes(kind, sound)}"
    return f"{opening}. The mood is {_mood(pace, sound)}{_unsure(sound)}."


def pace_of(sound: Texture) -> str:
    """Slow, moderate or fast: by the pulse, or by how often notes begin."""
    if sound.rhythm.pulse > CONFIDENT_PULSE:
        tempo = sound.rhythm.tempo
        return "slow" if tempo < 84 else "fast" if tempo > 126 else "moderate"
    rate = len(sound.rhythm.onsets) / max(sound.seconds, 0.5)
    return "slow" if rate < 1.2 else "fast" if rate > 3.5 else "moderate"


def _volume(level: float) -> str:
    return "loud" if level > -10 else "quiet" if level < -30 else ""


def _notes(kind: Kind, sound: Texture) -> str:
    if kind is Kind.BEAT:
        return "a steady drum beat and little melody"
    attack = "plucked or struck" if plucked(sound) else "sustained"
    height = "low" if sound.hertz < 110 else "high" if sound.hertz > 600 else "mid-range"
    notes = f"{attack} {height} notes"
    if sound.purity > 0.55 and sound.pitched > 0.85:
        notes = f"a simple melody of {notes}"
    elif sound.pitched < 0.7:
        notes = f"chords of {notes}"
    if sound.low_share > 0.5:
        return (
            f"{notes} over a heavy bass and beat" if plucked(sound) else f"{notes} and a deep bass"
        )
    return notes


def _mood(pace: str, sound: Texture) -> str:
    if pace == "slow":
        return "calm and peaceful" if sound.centroid < 700 else "slow and solemn"
    if pace == "fast":
        return "lively and energetic"
    return "warm and relaxed" if sound.centroid < 800 else "light and cheerful"


def _unsure(sound: Texture) -> str:
    """Layered sound hides its instruments; one bare line at least does not pretend to."""
    return "" if sound.purity > 0.45 else "; the instruments cannot be told apart for certain"
