"""Captions as events: whether one may be heard in a clip, and when one is heard beside another.

What is not understood is left alone.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import (
    AUXILIARIES,
    DETERMINERS,
    EVENTFUL,
    JOINING,
    MARKS,
    PREPOSITIONS,
    PRONOUNS,
    CaptionedClip,
    CaptionSet,
    CorruptedPair,
    ReferenceCaption,
    Tokens,
    excluding,
    meaning_of,
    nouns,
    plain_form,
    verb_forms,
    words,
)
from audiocapbench.metrics.elements import splitting

FINITE, GERUND, OTHER = "finite", "gerund", "other"
_ORDERED = frozenset({("followed", "by"), ("then",), ("and", "then"), ("before",)})
_JOINTS = (
    ("followed", "by"),
    ("and", "then"),
    *((one,) for one in ("and", "while", "as", "with", "then", "before", "after", "but")),
)
_IRREGULAR_PLURALS = words("irregular_plurals")
_SINGULAR_IN_S = frozenset("bus glass grass gas brass".split())
_DESCRIBING = ("sewing", "washing", "running", "racing", "speaking")
_SOUNDS = frozenset("sound sounds noise noises machine machines of".split())
NO_SUBJECT = JOINING | PREPOSITIONS | AUXILIARIES | words("no_subject")
_DETERMINING = DETERMINERS | splitting.ATTRIBUTES | splitting.COUNTS
_LONGEST_SUBJECT = 5
_AT_ONCE, _TAKING_TURNS = words("together"), words("taking_turns")
_FOLLOWED, _BEFORE, _AFTER = ("followed", "by"), ("before",), ("after",)
_AT_ONCE_JOINTS = frozenset({("while",), ("as",), ("with",)})
_TOGETHER, _IN_TURN, _BACK = "together", "in turn", "back"
# What goes on, or another sentence, has a time of its own.
_GOING_ON = frozenset(". stop stops stopping continue continues continuing".split())


class Clause(NamedTuple):
    """A run of words that tells one event, and the words that join it to what stands before."""

    tokens: Tokens
    form: str  # FINITE ("a dog barks"), GERUND ("a dog barking") or OTHER
    joint: Tokens


def is_plural(word: str) -> bool:
    if word in nouns():
        return nouns()[word].number == "many"
    regular = word.endswith("s") and not word.endswith("ss") and word not in _SINGULAR_IN_S
    return regular or word in _IRREGULAR_PLURALS


def form_of(tokens: Tokens) -> str:
    """The form of a clause."""
    first = verb_forms().get(tokens[0]) if tokens else None
    if first is not None and first.form != "base" and tokens[0] not in nouns():
        return OTHER
    for place in range(1, min(len(tokens), _LONGEST_SUBJECT + 1)):
        before = [word for word in tokens[:place] if not word.endswith("ly")]
        head = before[-1] if before else ""
        if any(word in NO_SUBJECT for word in before):
            break
        verb = verb_forms().get(tokens[place])
        if verb is None or not head or head in _DETERMINING:
            continue
        many = is_plural(head)
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        # A gerund may belong to a noun behind it, as in "a car racing engine".
        describes = following in _SOUNDS or (
            splitting.kind_of(following) is splitting.ElementKind.SOURCE
            and following not in verb_forms()
            and tokens[place] in _DESCRIBING
        )
        if verb.form == "gerund" and not describes:
            return GERUND
        if (verb.form == "third" and not many) or (verb.form == "base" and many):
            return FINITE
    return OTHER


def clauses_of(tokens: Tokens) -> list[Clause]:
    """Split a caption at its joints; what has no subject of its own stays with what is before."""
    clauses: list[Clause] = []
    joint: Tokens = ()
    start = place = 0
    while place < len(tokens):
        word = place + (tokens[place] == ",")
        ends = (word + len(one) for one in _JOINTS if tokens[word : word + len(one)] == one)
        end = next(ends, word)
        if place < end and place > start and _parts(tokens, start, place, end):
            clauses.append(Clause(tokens[start:place], form_of(tokens[start:place]), joint))
            joint, start = tokens[place:end], end
        place = max(place + 1, end)
    return [*clauses, Clause(tokens[start:], form_of(tokens[start:]), joint)]


def _parts(tokens: Tokens, start: int, place: int, end: int) -> bool:
    """Whether the joint at a place parts two clauses, rather than two nouns or two verbs."""
    joint = _without_marks(tokens[place:end])
    if joint in _ORDERED:
        return True
    if joint in ((), ("and",)) and form_of(tokens[start:place]) == OTHER:
        return False
    form = form_of(tuple(takewhile(lambda token: token not in JOINING, tokens[end:])))
    return form == FINITE or (form == GERUND and joint != ())


def _without_marks(tokens: Tokens) -> Tokens:
    return tuple(token for token in tokens if token not in MARKS)


def core(tokens: Iterable[str]) -> frozenset[str]:
    """What the sources and events among these words mean."""
    return frozenset(meaning_of(token) for token in tokens if splitting.kind_of(token) in EVENTFUL)


@lru_cache(maxsize=8192)
def _kin(meant: frozenset[str]) -> frozenset[int]:
    """The groups of the thesaurus in which these meanings are akin."""
    return frozenset(group for word in meant for group in splitting.meanings().akin.get(word, ()))


def may_be_heard(tokens: Tokens, clip: CaptionedClip) -> bool:
    """Whether any reference of the clip could mean a source or event among these words."""
    families = {nouns()[token].family for token in tokens if token in nouns()}
    meant = core(tokens)
    return bool(
        any(clip.words & excluding(family) for family in families)
        or meant & clip.meanings
        or _kin(meant) & _kin(clip.meanings)
    )


def _told_orders(
    caption: ReferenceCaption, earlier: frozenset[str], later: frozenset[str]
) -> set[str]:
    """How the other references tell the time of two events, where they name both."""
    if caption.clip.words & _TAKING_TURNS:
        return {_BACK}
    told = set()
    for text in map(plain_form, caption.clip.others(caption.number)):
        stages = [(meaning_of(one.word), one.stage) for one in splitting.split(text).elements]
        first = [stage for meaning, stage in stages if meaning in earlier]
        second = [stage for meaning, stage in stages if meaning in later]
        if "before and after" in text or (first and second and max(first) > min(second)):
            told.add(_BACK)
        elif first and second and max(first) < min(second):
            told.add(_IN_TURN)
        elif first and second and not _AT_ONCE.isdisjoint(text.split()):
            told.add(_TOGETHER)
    return told


def change_times(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every caption that tells two events at once, in turn or in an order, as they are not."""
    for caption in captions.captions:
        clauses = clauses_of(caption.tokens)
        if not (PRONOUNS | _GOING_ON).isdisjoint(caption.tokens):
            continue
        for place, (before, clause) in enumerate(pairwise(clauses), 1):
            joint, events = _without_marks(clause.joint), (core(before.tokens), core(clause.tokens))
            own = _TOGETHER if joint in _AT_ONCE_JOINTS else _IN_TURN
            others = _other_times(before, clause, joint)
            if not others or not all(events) or events[0] & events[1]:
                continue
            # All others that tell both tell this time, and one does: one person may be mistaken.
            told, alone = _told_orders(caption, *events), len(caption.clip.references) == 1
            if alone or told == {own}:
                through = sum(len(one.joint + one.tokens) for one in clauses[: place + 1])
                end = through - len(clause.tokens)
                for other in others:
                    yield caption.replaced("attribute", end - len(joint), end, other)


def _other_times(before: Clause, clause: Clause, joint: Tokens) -> tuple[Tokens, ...]:
    """What says that a clause's event is heard at another time than the joint has it."""
    then = ("and", "then")
    if not AUXILIARIES.isdisjoint(before.tokens[-1:]):  # "are followed by"
        return ()
    if joint in _AT_ONCE_JOINTS and OTHER not in (before.form, clause.form):
        if clause.form == GERUND:
            return _FOLLOWED, then
        # "After leaves are rustling" reads odd.
        steady = joint == ("with",) or not AUXILIARIES.isdisjoint(clause.tokens)
        return (then,) if steady else (_BEFORE, _AFTER, then)
    finite = clause.form == FINITE and joint in _ORDERED | {_AFTER}
    back = _BEFORE if joint == _AFTER else _AFTER
    return (("while",), ("as",), back) if finite else ()
