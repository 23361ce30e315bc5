"""A quality or a relation turned into its opposite: loud and quiet, while and before.

Qualities and relations are exchanged between two captions, as nouns are. Two people who do
different things change places within one caption: who spoke now laughs.
"""

import random
from collections.abc import Iterator
from itertools import takewhile

from audiocapbench.meta.corrupt.captions import (
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    Unit,
    alone,
    corrupted,
    unused,
)
from audiocapbench.meta.corrupt.clauses import EVENTFUL, FINITE, first_clause, pieces_of
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
from audiocapbench.metrics.elements.words import ATTRIBUTES, ElementKind, kind_of

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


def _frame(quality: Quality, tokens: Tokens, start: int, end: int) -> str | None:
    if quality.frame == "free":
        return str(quality.line)
    around = tokens[end : end + _FARTHEST_WORD]
    if quality.frame == "last":
        around = tokens[max(0, start - _FARTHEST_WORD) : start][::-1]
    for word in takewhile(lambda one: one not in JOINING, around):
        if kind_of(word) in EVENTFUL or word in ("pitched", "pitch"):
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
                before, after = pieces_of(tokens[:start])[-1].clause, first_clause(tokens[end:])
                if before.form == after.form == FINITE:
                    yield PhraseSpan(caption, start, end, "relation")
                return


def _is_wrong_relation(span: PhraseSpan, phrase: Tokens) -> bool:
    """Whether no other reference of the clip may be read as saying the new relation."""
    before_or_after = {span.phrase, phrase} == {("before",), ("after",)}
    if not before_or_after and (span.phrase in _TOGETHER) == (phrase in _TOGETHER):
        return False
    forbidden = _SAID_TOGETHER if phrase in _TOGETHER else _SAID_IN_TURN
    return not span.caption.clip.words_beside(span.caption.number) & forbidden


def _swap_people(caption: ReferenceCaption) -> CorruptedPair | None:
    """Who does what the other way round, where no other reference doubts it."""
    tokens = caption.tokens
    actions = list(_actions(tokens))
    people = [token for token in tokens if token in nouns() and nouns()[token].family in _PERSONS]
    if len(actions) != 2 or len(people) != 2 or not PRONOUNS.isdisjoint(tokens):
        return None
    (place, who, does), (later, whom, did) = actions
    # Each must be able to do what the other does: babies do not speak.
    baby = "baby" in (who, whom) and {"speak", "sing"} & {does, did}
    if who == whom or does == did or baby or caption.clip.words & _ALL_OF_THEM:
        return None
    elsewhere = [tokens_of(text) or () for text in caption.clip.others(caption.number)]
    if {(who, did), (whom, does)} & {action[1:] for text in elsewhere for action in _actions(text)}:
        return None
    changed = list(tokens)
    changed[place], changed[later] = tokens[later], tokens[place]
    change = f"{tokens[place]} ↔ {tokens[later]}"
    return corrupted(Corruption.ATTRIBUTE, caption, changed, change)


def _actions(tokens: Tokens) -> Iterator[tuple[int, str, str]]:
    """People who do something: where they are named, their family, and what they do."""
    for place, token in enumerate(tokens):
        noun = nouns().get(token)
        if noun is None or noun.number == "many" or noun.family not in _PERSONS:
            continue
        for word in tokens[place + 1 : place + 1 + _FARTHEST_VERB]:
            if word in nouns() or word in ("and", ",", "with"):
                break
            if word in verb_forms() and verb_forms()[word].gerund:
                yield place, noun.family, meaning_of(word)
                break
