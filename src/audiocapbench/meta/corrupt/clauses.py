"""Captions as events: clauses with a subject and a verb of sound, and the words that join them.

This is no parser. A clause that it does not understand is left alone. What the references of a clip
say of an event is told here as well.
"""

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import CaptionedClip
from audiocapbench.meta.corrupt.slots import EVENTFUL
from audiocapbench.meta.corrupt.text import MARKS, Tokens
from audiocapbench.meta.corrupt.words import (
    AUXILIARIES,
    DETERMINERS,
    JOINING,
    PREPOSITIONS,
    PRONOUNS,
    excluding,
    meaning_of,
    nouns,
    verb_forms,
    words,
)
from audiocapbench.metrics.elements.splitting import split
from audiocapbench.metrics.elements.thesaurus import meanings
from audiocapbench.metrics.elements.words import ATTRIBUTES, COUNTS, ElementKind, kind_of

FINITE, GERUND, OTHER = "finite", "gerund", "other"
ORDERED = frozenset({("followed", "by"), ("then",), ("and", "then"), ("before",)})

_JOINTS = (
    ("followed", "by"),
    ("and", "then"),
    *((one,) for one in ("and", "while", "as", "with", "then", "before", "after", "but")),
)
_IRREGULAR_PLURALS, _PLURAL_SOUNDS = words("irregular_plurals"), words("plural_sounds")
_SINGULAR_IN_S = frozenset("bus glass grass gas brass".split())
_SOUNDS = frozenset("sound sounds noise noises machine machines of".split())
_NOT_IN_NAMES = words("not_in_names")
_NO_SUBJECT = JOINING | PREPOSITIONS | AUXILIARIES | words("no_subject")
_DETERMINING = DETERMINERS | ATTRIBUTES | COUNTS
_LONGEST_SUBJECT, _LONGEST_EVENT = 5, 8
_HANGING, _TOGETHER, _TAKING_TURNS = map(words, ("hanging", "together", "taking_turns"))


class Clause(NamedTuple):
    """A run of words that tells one event.

    Attributes:
        form: ``finite`` ("a dog barks"), ``gerund`` ("a dog barking") or ``other``.
        verb: Place of the verb, or of the auxiliary; -1 without one.
        many: Whether the subject is a plural.
    """

    tokens: Tokens
    form: str
    verb: int
    many: bool


class Piece(NamedTuple):
    """A clause and the words that join it to what stands before."""

    joint: Tokens
    clause: Clause


def is_plural(word: str) -> bool:
    """Whether a noun is a plural, as far as its form tells."""
    if word in nouns():
        return nouns()[word].number == "many"
    regular = word.endswith("s") and not word.endswith("ss") and word not in _SINGULAR_IN_S
    return regular or word in _IRREGULAR_PLURALS


def is_plain_name(tokens: Tokens) -> bool:
    """Whether words surely name a sound, as "a loud bang" does, and hold no verb unknown here."""
    return len(tokens) > 0 and not any(
        token in _NOT_IN_NAMES or (token.endswith(("ed", "s")) and token not in _PLURAL_SOUNDS)
        for token in tokens
    )


def read_clause(tokens: Tokens) -> Clause:
    """Find subject and verb of a clause."""
    first = verb_forms().get(tokens[0]) if tokens else None
    if first is not None and first.form != "base" and tokens[0] not in nouns():
        return Clause(tokens, OTHER, -1, False)
    for place in range(1, min(len(tokens), _LONGEST_SUBJECT + 1)):
        before = [word for word in tokens[:place] if not word.endswith("ly")]
        head = before[-1] if before else ""
        if any(word in _NO_SUBJECT for word in before):
            break
        verb = verb_forms().get(tokens[place])
        if verb is None or not head or head in _DETERMINING:
            continue
        many = is_plural(head)
        if verb.form == "gerund" and not _describes(tokens, place):
            return Clause(tokens, GERUND, place, many)
        if (verb.form == "third" and not many) or (verb.form == "base" and many):
            return Clause(tokens, FINITE, place, many)
    return Clause(tokens, OTHER, -1, is_plural(tokens[-1]) if tokens else False)


def _describes(tokens: Tokens, place: int) -> bool:
    """Whether a gerund belongs to a noun behind it, as in "a car racing engine"."""
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    return following in _SOUNDS or (
        kind_of(following) is ElementKind.SOURCE
        and following not in verb_forms()
        and tokens[place] in ("sewing", "washing", "running", "racing", "speaking")
    )


def first_clause(tokens: Tokens) -> Clause:
    """The clause that words begin with."""
    return read_clause(tuple(takewhile(lambda token: token not in JOINING, tokens)))


def pieces_of(tokens: Tokens) -> list[Piece]:
    """Split a caption at its joints; what has no subject of its own stays with what is before."""
    found: list[Piece] = []
    joint: Tokens = ()
    start = place = 0
    while place < len(tokens):
        length = _joint_at(tokens, place)
        if length and place > start and _parts(tokens, start, place, length):
            found.append(Piece(joint, read_clause(tokens[start:place])))
            joint = tokens[place : place + length]
            start = place = place + length
        else:
            place += max(1, length)
    found.append(Piece(joint, read_clause(tokens[start:])))
    return found


def _joint_at(tokens: Tokens, place: int) -> int:
    """Length of the joint that begins here; 0 without one."""
    start = place + (tokens[place] == ",")
    ends = (start + len(joint) for joint in _JOINTS if tokens[start : start + len(joint)] == joint)
    return next(ends, start) - place


def _parts(tokens: Tokens, start: int, place: int, length: int) -> bool:
    """Whether the joint at a place parts two clauses, rather than two nouns or two verbs."""
    joint = without_marks(tokens[place : place + length])
    if joint in ORDERED:
        return True
    if joint in ((), ("and",)) and read_clause(tokens[start:place]).form == OTHER:
        return False
    clause = first_clause(tokens[place + length :])
    return clause.form == FINITE or (clause.form == GERUND and joint != ())


def without_marks(tokens: Tokens) -> Tokens:
    """The words alone."""
    return tuple(token for token in tokens if token not in MARKS)


def joined(pieces: list[Piece]) -> Tokens:
    """Pieces as one caption, without the first joint."""
    tokens: Tokens = pieces[0].clause.tokens
    for piece in pieces[1:]:
        tokens += piece.joint + piece.clause.tokens
    return tokens


def as_gerund(clause: Clause) -> Clause | None:
    """ "a dog barking" of "a dog barks" or "a dog is barking"; None where it cannot be said."""
    tokens, form, place, _ = clause
    if form != FINITE:
        return clause if form == GERUND else None
    verb = verb_forms()[tokens[place]]
    following = verb_forms().get(tokens[place + 1]) if place + 1 < len(tokens) else None
    if not verb.gerund and (following is None or following.form != "gerund"):
        return None
    said = (verb.gerund,) if verb.gerund else ()
    return clause._replace(tokens=tokens[:place] + said + tokens[place + 1 :], form=GERUND)


def as_finite(clause: Clause) -> Clause | None:
    """ "a dog barks" of "a dog barking"; None where it cannot be said."""
    tokens, form, place, many = clause
    if form != GERUND:
        return clause if form == FINITE else None
    verb = verb_forms()[tokens[place]]
    said = (verb.base if many else verb.third,)
    return clause._replace(tokens=tokens[:place] + said + tokens[place + 1 :], form=FINITE)


def core(tokens: Iterable[str]) -> frozenset[str]:
    """What the sources and events among these words mean."""
    return frozenset(meaning_of(token) for token in tokens if kind_of(token) in EVENTFUL)


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
        and len(clause.tokens) <= _LONGEST_EVENT
        and foreign.isdisjoint(clause.tokens)
        and (clause.form == FINITE or AUXILIARIES.isdisjoint(clause.tokens))
    )
