"""What Whisper is known to say where nobody speaks; the phrases are a data file."""

import re
from functools import cache
from importlib.resources import files


@cache
def phantoms() -> tuple[str, ...]:
    """The phrases, in small letters without punctuation, the longest first."""
    text = files("audiocapbench.annotate").joinpath("phantoms.txt").read_text("utf-8")
    return tuple(
        sorted(
            {plain_words(one) for one in text.splitlines()} - {""}, key=lambda one: (-len(one), one)
        )
    )


def plain_words(text: str) -> str:
    """Small letters and single spaces."""
    return " ".join(re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("’", "'")))


def is_phantom(text: str) -> bool:
    """Whether a transcript is made of such phrases alone, be it one over and over."""
    left = f" {plain_words(text)} "
    if not left.strip():
        return False
    for phrase in phantoms():
        while f" {phrase} " in left:
            left = left.replace(f" {phrase} ", "  ")
    return not left.strip()
