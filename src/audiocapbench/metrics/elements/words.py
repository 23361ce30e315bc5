"""What single words do in a caption: which carry content, and of which kind."""

from enum import IntEnum
from functools import lru_cache

from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.shipped import word_set

_WORDS_KEPT = 100_000


class ElementKind(IntEnum):
    """The kinds of content elements that are words."""

    SOURCE = 0
    EVENT = 1
    ATTRIBUTE = 2
    MOOD = 3
    COUNT = 4
    VAGUE = 5
    QUOTED = 6


def words_that_are(name: str) -> frozenset[str]:
    """One of the lists of ``words.toml``."""
    return word_set("audiocapbench.metrics.elements", "words.toml", name)


ATTRIBUTES, COUNTS = words_that_are("attributes"), words_that_are("counts")
_STOP, _VAGUE, _MOODS = (words_that_are(name) for name in ("stop", "vague", "moods"))
_NOT_EVENTS = words_that_are("not_events")
_ATTRIBUTE_ENDINGS = ("ly", "able", "ible", "ous", "less", "ful", "ish")
_EVENT_ENDINGS = ("ing", "ed", "ings")
_EVENT_STEMS = frozenset(map(stem, words_that_are("events")))


@lru_cache(maxsize=_WORDS_KEPT)
def kind_of(word: str) -> ElementKind | None:
    """The kind of element that a lower-case word is, or None where it carries no content."""
    if word in _STOP or (len(word) < 2 and word.isascii() and not word.isdecimal()):
        return None
    if word in _VAGUE:
        return ElementKind.VAGUE
    if word in COUNTS or word.isdecimal():
        return ElementKind.COUNT
    if word in _MOODS:
        return ElementKind.MOOD
    if word in ATTRIBUTES or (len(word) > 6 and word.endswith(_ATTRIBUTE_ENDINGS)):
        return ElementKind.ATTRIBUTE
    # A word may name what happens, or what makes it happen.
    happens = word.endswith(_EVENT_ENDINGS) or stem(word) in _EVENT_STEMS
    return ElementKind.EVENT if happens and word not in _NOT_EVENTS else ElementKind.SOURCE
