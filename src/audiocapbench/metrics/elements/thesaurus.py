"""Which words of captions mean the same, are akin, or exclude each other.

General word vectors and WordNet know little about sounds ("clank", "revving", "baaing");
``thesaurus.toml`` says what a listener would accept.
"""

from functools import cache
from typing import NamedTuple

from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.shipped import read_lists


class Meanings(NamedTuple):
    """The stem that stands for all words of a meaning; of a meaning, its groups of kin, and the
    sides that it takes: (line of exclusions, side).
    """

    same: dict[str, str]
    akin: dict[str, frozenset[int]]
    sides: dict[str, tuple[tuple[int, int], ...]]


@cache
def meanings() -> Meanings:
    """The lists, ready for use."""
    same: dict[str, str] = {}
    for line in _lines("same"):
        stems = [_root(word) for word in line.split()]
        for one in stems:
            same.setdefault(one, same.get(stems[0], stems[0]))
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
