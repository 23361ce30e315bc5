"""Two people of one caption change places: who spoke now laughs. The words stay the same."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import ReferenceCaption
from audiocapbench.meta.corrupt.grammar import PRONOUNS, verb_forms
from audiocapbench.meta.corrupt.meanings import meaning_of
from audiocapbench.meta.corrupt.nouns import nouns
from audiocapbench.meta.corrupt.text import Tokens, tokens_of, written
from audiocapbench.meta.corrupt.trial import CorruptedPair, Corruption, Unit

_FAMILIES = frozenset({"man", "woman", "child", "baby", "male", "female"})
_ALL_OF_THEM = frozenset(
    "people crowd group men women children kids others voices couple family everyone".split()
)
_FARTHEST_VERB = 3


class _PersonAction(NamedTuple):
    place: int
    family: str
    verb: str


def swap_agents(captions: Iterable[ReferenceCaption]) -> list[Unit]:
    """All captions in which two people do different things and no other reference doubts it."""
    found = (_swapped(caption) for caption in captions)
    return [(trial,) for trial in found if trial is not None]


def _swapped(caption: ReferenceCaption) -> CorruptedPair | None:
    tokens = caption.tokens
    deeds = list(_deeds(tokens))
    people = [token for token in tokens if token in nouns() and nouns()[token].family in _FAMILIES]
    if len(deeds) != 2 or len(people) != 2 or not PRONOUNS.isdisjoint(tokens):
        return None
    one, other = deeds
    if one.family == other.family or one.verb == other.verb or not _speaks_alike(one, other):
        return None
    if caption.clip.words & _ALL_OF_THEM:
        return None
    said = {(deed.family, deed.verb) for deed in _others(caption)}
    if {(one.family, other.verb), (other.family, one.verb)} & said:
        return None
    changed = list(tokens)
    changed[one.place], changed[other.place] = tokens[other.place], tokens[one.place]
    change = f"{tokens[one.place]} ↔ {tokens[other.place]}"
    sources = (caption.number,)
    return CorruptedPair(
        Corruption.ATTRIBUTE, caption.clip, sources, written(tokens), written(changed), change
    )


def _speaks_alike(one: _PersonAction, other: _PersonAction) -> bool:
    """Whether each can do what the other does: babies do not speak."""
    return "baby" not in (one.family, other.family) or not {"speak", "sing"} & {
        one.verb,
        other.verb,
    }


def _others(caption: ReferenceCaption) -> Iterator[_PersonAction]:
    for text in caption.clip.others(caption.number):
        tokens = tokens_of(text)
        if tokens is not None:
            yield from _deeds(tokens)


def _deeds(tokens: Tokens) -> Iterator[_PersonAction]:
    for place, token in enumerate(tokens):
        noun = nouns().get(token)
        if noun is None or noun.number == "many" or noun.family not in _FAMILIES:
            continue
        for word in tokens[place + 1 : place + 1 + _FARTHEST_VERB]:
            if word in nouns() or word in ("and", ",", "with"):
                break
            if word in verb_forms() and verb_forms()[word].gerund:
                yield _PersonAction(place, noun.family, meaning_of(word))
                break
