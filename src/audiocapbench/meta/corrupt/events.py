"""Events of clips: which clauses tell one, and what the references of a clip say of it."""

from collections.abc import Iterable
from typing import NamedTuple

from audiocapbench.judges.elements.splitting import split
from audiocapbench.judges.elements.thesaurus import meanings
from audiocapbench.judges.elements.words import ElementKind, kind_of
from audiocapbench.meta.corrupt.captions import CaptionedClip, CaptionSet
from audiocapbench.meta.corrupt.clauses import FINITE, OTHER, Clause, pieces_of
from audiocapbench.meta.corrupt.words import (
    AUXILIARIES,
    JOINING,
    PRONOUNS,
    excluding,
    meaning_of,
    nouns,
    words,
)

_EVENTFUL = (ElementKind.SOURCE, ElementKind.EVENT)
_LONGEST = 8
_HANGING, _TOGETHER, _TAKING_TURNS = map(words, ("hanging", "together", "taking_turns"))


class ClipEvent(NamedTuple):
    """One event of a clip.

    Attributes:
        clip: Where it is heard.
        number: The reference that tells it.
        clause: Its words.
    """

    clip: CaptionedClip
    number: int
    clause: Clause

    @property
    def meaning(self) -> frozenset[str]:
        """What its words mean."""
        return core(self.clause.tokens)


def core(tokens: Iterable[str]) -> frozenset[str]:
    """What the sources and events among these words mean."""
    return frozenset(meaning_of(token) for token in tokens if kind_of(token) in _EVENTFUL)


def kin(meant: Iterable[str]) -> set[int]:
    """The groups of the thesaurus in which these meanings are akin."""
    akin = meanings().akin
    return {group for word in meant for group in akin.get(word, ())}


def mentions(text: str, event: frozenset[str]) -> bool:
    """Whether a caption names one of the event's sources or sounds, or something akin to it."""
    elements = split(text).elements
    said = frozenset(meaning_of(element.word) for element in elements if not element.denied)
    return bool(said & event) or bool(kin(event) & kin(said))


def may_be_heard(tokens: Iterable[str], clip: CaptionedClip) -> bool:
    """Whether any reference of the clip could mean a source or event among these words."""
    tokens = list(tokens)
    families = {nouns()[token].family for token in tokens if token in nouns()}
    if any(clip.words & excluding(family) for family in families):
        return True
    own = core(tokens)
    return bool(own & clip.meanings or kin(own) & kin(clip.meanings))


def order_is_certain(
    clip: CaptionedClip, number: int, earlier: frozenset[str], later: frozenset[str]
) -> bool:
    """Whether no reference lets the later event come before the earlier one, or again."""
    if clip.words & _TAKING_TURNS:
        return False
    for text in clip.others(number):
        if "before and after" in text:
            return False
        told = [(meaning_of(one.word), one.stage) for one in split(text).elements]
        first = [stage for meaning, stage in told if meaning in earlier]
        second = [stage for meaning, stage in told if meaning in later]
        if not first or not second:
            continue
        together = max(first) == min(second) and _TOGETHER & set(text.split())
        if together or max(first) > min(second):
            return False
    return True


def is_clean(clause: Clause) -> bool:
    """Whether a clause tells one event and points to nothing outside itself."""
    foreign = PRONOUNS | JOINING | _HANGING
    return (
        clause.form != OTHER
        and len(clause.tokens) <= _LONGEST
        and foreign.isdisjoint(clause.tokens)
        and (clause.form == FINITE or AUXILIARIES.isdisjoint(clause.tokens))
    )


def events_by_clip(captions: CaptionSet) -> dict[str, list[ClipEvent]]:
    """The events of each clip that can be told on their own."""
    found: dict[str, list[ClipEvent]] = {}
    for caption in captions.captions:
        own = [
            ClipEvent(caption.clip, caption.number, piece.clause)
            for piece in pieces_of(caption.tokens)
        ]
        clean = [event for event in own if is_clean(event.clause) and len(event.meaning) > 1]
        found.setdefault(caption.clip.id, []).extend(clean)
    return found
