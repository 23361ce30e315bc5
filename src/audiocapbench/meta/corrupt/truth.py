"""What the references of a clip say: which events may be in it, and in which order."""

from collections.abc import Iterable

from audiocapbench.judges.elements.splitting import split
from audiocapbench.judges.elements.thesaurus import meanings
from audiocapbench.judges.elements.words import ElementKind, kind_of
from audiocapbench.meta.corrupt.captions import CaptionedClip
from audiocapbench.meta.corrupt.meanings import meaning_of
from audiocapbench.meta.corrupt.nouns import excluding, nouns

_EVENTFUL = (ElementKind.SOURCE, ElementKind.EVENT)
_TOGETHER = frozenset("while as during over".split())
_TAKES_TURNS = frozenset("again alternating alternate alternates forth repeats".split())


def core(tokens: Iterable[str]) -> frozenset[str]:
    """What the sources and events among these words mean."""
    return frozenset(meaning_of(token) for token in tokens if kind_of(token) in _EVENTFUL)


def may_be_heard(tokens: Iterable[str], clip: CaptionedClip) -> bool:
    """Whether any reference of the clip could mean a source or event among these words."""
    tokens = list(tokens)
    known = nouns()
    families = {known[token].family for token in tokens if token in known}
    if any(clip.words & excluding(family) for family in families):
        return True
    own = core(tokens)
    return bool(own & clip.meanings or kin(own) & kin(clip.meanings))


def kin(words: Iterable[str]) -> set[int]:
    """The groups of the thesaurus in which these meanings are akin."""
    akin = meanings().akin
    return {group for word in words for group in akin.get(word, ())}


def mentions(text: str, event: frozenset[str]) -> bool:
    """Whether a caption names one of the event's sources or sounds, or something akin to it."""
    said = frozenset(
        meaning_of(element.word) for element in split(text).elements if not element.denied
    )
    return bool(said & event) or bool(kin(event) & kin(said))


def order_is_certain(
    clip: CaptionedClip, number: int, earlier: frozenset[str], later: frozenset[str]
) -> bool:
    """Whether no reference lets the later event come before the earlier one, or again."""
    if clip.words & _TAKES_TURNS:
        return False
    for text in clip.others(number):
        if "before and after" in text:
            return False
        stages: dict[bool, list[int]] = {True: [], False: []}
        for element in split(text).elements:
            meaning = meaning_of(element.word)
            if meaning in earlier:
                stages[True].append(element.stage)
            if meaning in later:
                stages[False].append(element.stage)
        if not stages[True] or not stages[False]:
            continue
        together = max(stages[True]) == min(stages[False]) and _TOGETHER & set(text.split())
        if together or max(stages[True]) > min(stages[False]):
            return False
    return True
