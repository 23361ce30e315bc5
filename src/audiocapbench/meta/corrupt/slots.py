"""Places in a caption where one phrase may stand for another: nouns, and qualities.

A slot has frames: what the noun does, or what is done to it, and with which preposition. A phrase
fits a slot where captions of other clips have it in each of its frames. The frames of many captions
come with the package as hashes (``tools/count_frames.py``); those of the set are added.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.corrupt.captions import ReferenceCaption
from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.meta.corrupt.words import (
    DETERMINERS,
    JOINING,
    PREPOSITIONS,
    Quality,
    meaning_of,
    nouns,
    qualities,
    verb_forms,
    words,
)
from audiocapbench.metrics.elements.words import ATTRIBUTES, COUNTS, ElementKind, kind_of

EVENTFUL = (ElementKind.SOURCE, ElementKind.EVENT)
AGES = words("ages")
# One turns a page and turns on a tap: such a verb does not say which nouns fit.
_DO_ALL = frozenset("turn put set pick place hold piec page make get go come start".split())
_COMPARING = words("comparing")
_FARTHEST_NOUN, _FARTHEST_QUALITY = 3, 4


class Slot(NamedTuple):
    """A phrase that may be replaced, from ``start`` up to ``end``, and its frames."""

    caption: ReferenceCaption
    start: int
    end: int
    frames: tuple[str, ...]

    @property
    def phrase(self) -> Tokens:
        """Its words."""
        return self.caption.tokens[self.start : self.end]


class PhraseFrames:
    """Which phrases stand in which frames, in the captions of a set and of the package."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._known = frozenset(load_counts()["frames"].tolist())
        self._clips: dict[int, set[str]] = defaultdict(set)
        for slot in slots:
            for frame in slot.frames:
                self._clips[frame_key(frame, slot.phrase)].add(slot.caption.clip.id)

    def admit(self, slot: Slot, phrase: Tokens) -> bool:
        """Whether the phrase was met in every frame of the slot, elsewhere than in this clip."""
        keys = [frame_key(frame, phrase) for frame in slot.frames]
        own = {slot.caption.clip.id}
        return bool(keys) and all(key in self._known or self._clips[key] - own for key in keys)


def frame_key(frame: str, phrase: Tokens) -> int:
    """The hash of a phrase in a frame."""
    return zlib.crc32(f"{frame}|{' '.join(phrase)}".encode())


@cache
def load_counts() -> dict[str, NDArray[np.integer[Any]]]:
    """What comes with the package: hashes of frames, and how often words stand together."""
    file = resources.files("audiocapbench.meta.corrupt") / "frames.npz"
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return dict(arrays)


def noun_slots(caption: ReferenceCaption) -> Iterator[Slot]:
    """Every noun of the table that stands where only a noun can, once in its caption."""
    known = nouns()
    families = [known[token].family for token in caption.tokens if token in known]
    for start, token in enumerate(caption.tokens):
        noun = known.get(token)
        if noun is not None and families.count(noun.family) == 1:
            frames = _noun_frames(caption.tokens, start)
            if frames and _is_noun(caption.tokens, start):
                yield Slot(caption, start, start + 1, tuple(frames))


def _is_noun(tokens: Tokens, place: int) -> bool:
    """Whether a word of the table stands where only a noun can, and heads no fixed compound."""
    noun = nouns()[tokens[place]]
    before = tokens[place - 1] if place else ""
    described = before in ATTRIBUTES or before in AGES
    if noun.number == "one":
        lead = tokens[place - 2] if described and place > 1 else before
        if lead in ATTRIBUTES and place > 2:
            lead = tokens[place - 3]
        return lead in DETERMINERS
    if noun.sort == "matter" and before in ("a", "an"):
        following = tokens[place + 1] if place + 1 < len(tokens) else ","
        return kind_of(following) is ElementKind.SOURCE or following in ("object", "surface")
    free = not before or before in JOINING or before in PREPOSITIONS or before in DETERMINERS
    return free or described or before in COUNTS


def _noun_frames(tokens: Tokens, place: int) -> list[str]:
    """What the noun does and what is done to it: the next words of content on either side."""
    found = []
    for distance, word in enumerate(tokens[place + 1 : place + 1 + _FARTHEST_NOUN]):
        if word in JOINING:
            break
        if _tells(word):
            # "A metal door" takes other words than "metal hits a door".
            named = distance == 0 and word not in verb_forms() and not word.endswith("ing")
            found.append(f"{'+' if named else '_'} {meaning_of(word)}")
            break
    towards = ""
    for word in reversed(tokens[max(0, place - _FARTHEST_NOUN) : place]):
        if word in JOINING:
            break
        if word in PREPOSITIONS:
            towards = word
        elif _tells(word) and word not in ATTRIBUTES:
            return [*found, f"{meaning_of(word)} {towards} _"]
    return found


def _tells(word: str) -> bool:
    return kind_of(word) in EVENTFUL and meaning_of(word) not in _DO_ALL


def quality_slots(caption: ReferenceCaption) -> Iterator[Slot]:
    """Every quality of the table, with the word that it is said of."""
    tokens = caption.tokens
    for start in range(len(tokens)):
        quality = quality_at(tokens, start)
        if quality is None:
            continue
        end = start + len(quality.phrase)
        around = (*tokens[max(0, start - 1) : start], *tokens[end : end + 1])
        about = [f"quality {word}" for word in _said_of(quality, tokens, start, end)]
        if about and _COMPARING.isdisjoint(around):
            yield Slot(caption, start, end, tuple(about))


def quality_at(tokens: Tokens, start: int) -> Quality | None:
    """ "Nearby" and its like before a noun are one line of the table, elsewhere another."""
    for quality in qualities().get(tokens[start], ()):
        end = start + len(quality.phrase)
        following = tokens[end] if end < len(tokens) else ","
        named = kind_of(following) in EVENTFUL or following in ATTRIBUTES
        right = named or kind_of(following) is ElementKind.VAGUE
        if quality.frame != "next":
            right = quality.phrase != ("nearby",) or not named
        if right and tokens[start:end] == quality.phrase:
            return quality
    return None


def _said_of(quality: Quality, tokens: Tokens, start: int, end: int) -> list[str]:
    """What the quality is said of: the next content word, the last one, or whichever is there."""
    after = tokens[end : end + _FARTHEST_QUALITY]
    before = tokens[max(0, start - _FARTHEST_QUALITY) : start][::-1]
    sides = {"next": [after], "last": [before]}.get(quality.frame, [after, before])
    for side in sides:
        for word in takewhile(lambda one: one not in JOINING, side):
            if kind_of(word) in EVENTFUL or word in ("pitched", "pitch"):
                return [meaning_of(word)]
    return []
