"""A quality or a relation turned into its opposite: loud and quiet, while and before.

Qualities and relations are exchanged between two captions, as nouns are. Two people who do
different things change places within one caption: who spoke now laughs.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from audiocapbench.judges.elements.words import ATTRIBUTES, ElementKind, kind_of
from audiocapbench.meta.corrupt.captions import CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.clauses import ends_in_full_clause, has_own_subject
from audiocapbench.meta.corrupt.corruption import (
    CorruptedPair,
    Corruption,
    Unit,
    alone,
    corrupted,
    unused,
)
from audiocapbench.meta.corrupt.exchange import PhraseSpan, exchange, phrases_of_frames
from audiocapbench.meta.corrupt.text import Tokens, tokens_of
from audiocapbench.meta.corrupt.words import (
    JOINING,
    PRONOUNS,
    Quality,
    meaning_of,
    nouns,
    qualities,
    verb_forms,
    words,
)

_NAMED = (ElementKind.SOURCE, ElementKind.EVENT)
_FARTHEST_WORD = 4
_COMPARING = words("comparing")
_TOGETHER = frozenset({("while",), ("as",)})
_RELATIONS = (("and", "then"), ("after",), ("as",), ("before",), ("then",), ("while",))
_SAID_TOGETHER, _SAID_IN_TURN = words("said_together"), words("said_in_turn")
_PERSONS = frozenset({"man", "woman", "child", "baby", "male", "female"})
_ALL_OF_THEM = words("all_of_them")
_FARTHEST_VERB = 3


def change_attributes(captions: CaptionSet, draw: random.Random) -> list[Unit]:
    """All changes of qualities, relations and people that can be made in a set."""
    spans = [span for caption in captions.captions for span in _qualities_in(caption)]
    seen = phrases_of_frames(spans)

    def admits(span: PhraseSpan, phrase: Tokens) -> bool:
        return phrase in seen[span.frame] and _is_wrong_quality(span, phrase)

    rounds = (lambda span: span.frame, lambda span: span.frame.split(" ")[0])
    units = exchange(Corruption.ATTRIBUTE, spans, admits, draw, rounds=rounds)
    related = [span for caption in captions.captions for span in _relations_in(caption)]
    units += exchange(Corruption.ATTRIBUTE, related, _is_wrong_relation, draw)
    return units + alone(_swap_people, unused(captions.captions, units))


def _qualities_in(caption: ReferenceCaption) -> Iterator[PhraseSpan]:
    tokens = caption.tokens
    for start in range(len(tokens)):
        quality = _quality_at(tokens, start)
        if quality is None:
            continue
        end = start + len(quality.phrase)
        around = (*tokens[max(0, start - 1) : start], *tokens[end : end + 1])
        frame = _frame(quality, tokens, start, end)
        if frame is not None and _COMPARING.isdisjoint(around):
            yield PhraseSpan(caption, start, end, frame)


def _quality_at(tokens: Tokens, start: int) -> Quality | None:
    for quality in qualities().get(tokens[start], ()):
        end = start + len(quality.phrase)
        if tokens[start:end] == quality.phrase and _stands_right(quality, tokens, end):
            return quality
    return None


def _stands_right(quality: Quality, tokens: Tokens, end: int) -> bool:
    """ "Nearby" and its like before a noun are one line of the table, elsewhere another."""
    following = tokens[end] if end < len(tokens) else ","
    named = kind_of(following) in _NAMED or following in ATTRIBUTES
    if quality.frame == "next":
        return named or kind_of(following) is ElementKind.VAGUE
    return quality.phrase != ("nearby",) or not named


def _frame(quality: Quality, tokens: Tokens, start: int, end: int) -> str | None:
    if quality.frame == "free":
        return str(quality.line)
    around = tokens[end : end + _FARTHEST_WORD]
    if quality.frame == "last":
        around = tokens[max(0, start - _FARTHEST_WORD) : start][::-1]
    for word in around:
        if word in JOINING:
            return None
        if kind_of(word) in _NAMED or word in ("pitched", "pitch"):
            return f"{quality.line} {meaning_of(word)}"
    return None


def _is_wrong_quality(span: PhraseSpan, phrase: Tokens) -> bool:
    """Whether the phrase takes the other side, and no reference of the clip takes that side."""
    own = _quality_at(span.caption.tokens, span.start)
    others = [one for one in qualities()[phrase[0]] if one.phrase == phrase]
    other = next((one for one in others if own and one.line == own.line), None)
    if own is None or other is None or own.side == other.side:
        return False
    return not span.caption.clip.words & other.same_side


def _relations_in(caption: ReferenceCaption) -> Iterator[PhraseSpan]:
    """The only relation of a caption between two clauses that each have a subject and a verb."""
    tokens = caption.tokens
    stated = [token for token in tokens if token in _SAID_TOGETHER | _SAID_IN_TURN]
    if len(stated) != 1 or not PRONOUNS.isdisjoint(tokens) or "," in tokens:
        return
    for start in range(1, len(tokens)):
        for phrase in _RELATIONS:
            end = start + len(phrase)
            if tokens[start:end] == phrase:
                if ends_in_full_clause(tokens[:start]) and has_own_subject(tokens[end:]):
                    yield PhraseSpan(caption, start, end, "relation")
                return


def _is_wrong_relation(span: PhraseSpan, phrase: Tokens) -> bool:
    """Whether no other reference of the clip may be read as saying the new relation."""
    before_or_after = {span.phrase, phrase} == {("before",), ("after",)}
    if not before_or_after and (span.phrase in _TOGETHER) == (phrase in _TOGETHER):
        return False
    forbidden = _SAID_TOGETHER if phrase in _TOGETHER else _SAID_IN_TURN
    return not span.caption.clip.words_beside(span.caption.number) & forbidden


class _PersonAction(NamedTuple):
    place: int
    family: str
    verb: str


def _swap_people(caption: ReferenceCaption) -> CorruptedPair | None:
    """Who does what the other way round, where no other reference doubts it."""
    tokens = caption.tokens
    actions = list(_actions(tokens))
    people = [token for token in tokens if token in nouns() and nouns()[token].family in _PERSONS]
    if len(actions) != 2 or len(people) != 2 or not PRONOUNS.isdisjoint(tokens):
        return None
    one, other = actions
    # Each must be able to do what the other does: babies do not speak.
    baby = "baby" in (one.family, other.family) and {"speak", "sing"} & {one.verb, other.verb}
    if one.family == other.family or one.verb == other.verb or baby:
        return None
    if caption.clip.words & _ALL_OF_THEM:
        return None
    elsewhere = [tokens_of(text) for text in caption.clip.others(caption.number)]
    said = {(did.family, did.verb) for text in elsewhere for did in _actions(text or ())}
    if {(one.family, other.verb), (other.family, one.verb)} & said:
        return None
    changed = list(tokens)
    changed[one.place], changed[other.place] = tokens[other.place], tokens[one.place]
    change = f"{tokens[one.place]} ↔ {tokens[other.place]}"
    return corrupted(Corruption.ATTRIBUTE, caption, changed, change)


def _actions(tokens: Tokens) -> Iterator[_PersonAction]:
    for place, token in enumerate(tokens):
        noun = nouns().get(token)
        if noun is None or noun.number == "many" or noun.family not in _PERSONS:
            continue
        for word in tokens[place + 1 : place + 1 + _FARTHEST_VERB]:
            if word in nouns() or word in ("and", ",", "with"):
                break
            if word in verb_forms() and verb_forms()[word].gerund:
                yield _PersonAction(place, noun.family, meaning_of(word))
                break
