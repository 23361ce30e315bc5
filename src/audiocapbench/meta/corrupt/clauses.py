"""Captions as events: clauses with a subject and a verb of sound, and the words that join them.

This is no parser. A clause that it does not understand is left alone.
"""

from typing import NamedTuple

from audiocapbench.judges.elements.words import ATTRIBUTES, COUNTS, ElementKind, kind_of
from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.meta.corrupt.words import (
    AUXILIARIES,
    DETERMINERS,
    JOINING,
    MARKS,
    PREPOSITIONS,
    nouns,
    verb_forms,
    words,
)

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
_LONGEST_SUBJECT = 5


class Clause(NamedTuple):
    """A run of words that tells one event.

    Attributes:
        tokens: Its words.
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
    noun = nouns().get(word)
    if noun is not None:
        return noun.number == "many"
    if word in _IRREGULAR_PLURALS:
        return True
    return word.endswith("s") and not word.endswith("ss") and word not in _SINGULAR_IN_S


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


def has_own_subject(tokens: Tokens) -> bool:
    """Whether words begin with a full clause: "a dog barks"."""
    return read_clause(_first_segment(tokens)).form == FINITE


def ends_in_full_clause(tokens: Tokens) -> bool:
    """Whether the last clause of these words is a full one."""
    return bool(tokens) and pieces_of(tokens)[-1].clause.form == FINITE


def _first_segment(tokens: Tokens) -> Tokens:
    end = next((place for place, token in enumerate(tokens) if token in JOINING), len(tokens))
    return tokens[:end]


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
    clause = read_clause(_first_segment(tokens[place + length :]))
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
    tokens, place = clause.tokens, clause.verb
    if clause.form == GERUND:
        return clause
    if clause.form != FINITE:
        return None
    verb = verb_forms()[tokens[place]]
    if verb.gerund:
        changed = (*tokens[:place], verb.gerund, *tokens[place + 1 :])
        return Clause(changed, GERUND, place, clause.many)
    following = verb_forms().get(tokens[place + 1]) if place + 1 < len(tokens) else None
    if following is None or following.form != "gerund":
        return None
    return Clause(tokens[:place] + tokens[place + 1 :], GERUND, place, clause.many)


def as_finite(clause: Clause) -> Clause | None:
    """ "a dog barks" of "a dog barking"; None where it cannot be said."""
    if clause.form == FINITE:
        return clause
    if clause.form != GERUND:
        return None
    verb = verb_forms()[clause.tokens[clause.verb]]
    word = verb.base if clause.many else verb.third
    changed = (*clause.tokens[: clause.verb], word, *clause.tokens[clause.verb + 1 :])
    return Clause(changed, FINITE, clause.verb, clause.many)
