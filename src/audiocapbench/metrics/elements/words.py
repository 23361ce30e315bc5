"""What single words do in a caption: which carry content, of which kind, and what they mean.

General word vectors and WordNet know little about sounds ("clank", "revving", "baaing");
``thesaurus.toml`` says which words a listener would accept as the same, akin or exclusive.
"""

from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple

from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.shipped import read_lists, word_set

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


class Meanings(NamedTuple):
    """The stem that stands for all words of a meaning, its groups of kin, and the sides that it
    takes: (line of exclusions, side)."""

    same: dict[str, str]
    akin: dict[str, frozenset[int]]
    sides: dict[str, tuple[tuple[int, int], ...]]


@cache
def meanings() -> Meanings:
    """The lists, ready for use."""
    same: dict[str, str] = {}
    for line in _lines("same"):
        stems = [_root(word) for word in line.split()]
        for root in stems:
            same.setdefault(root, same.get(stems[0], stems[0]))
    akin: dict[str, set[int]] = {}
    for number, line in enumerate(_lines("akin")):
        for own in map(_root, line.split()):
            akin.setdefault(same.get(own, own), set()).add(number)
    sides: dict[str, dict[tuple[int, int], None]] = {}
    for number, line in enumerate(_lines("against")):
        for side, words in enumerate(line.split("|")):
            for own in map(_root, words.split()):
                sides.setdefault(same.get(own, own), {})[number, side] = None
    return Meanings(
        same,
        {meaning: frozenset(groups) for meaning, groups in akin.items()},
        {meaning: tuple(taken) for meaning, taken in sides.items()},
    )


def meaning_of(word: str) -> str:
    """The stem that stands for a word and all that mean the same."""
    own = _root(word)
    return meanings().same.get(own, own)


def _lines(name: str) -> list[str]:
    text: str = read_lists("audiocapbench.metrics.elements", "thesaurus.toml")[name]
    return text.strip().splitlines()


def _root(word: str) -> str:
    return _MISLEADING.get(word) or stem(word)


_MISLEADING: dict[str, str] = dict(line.split() for line in _lines("misleading"))
