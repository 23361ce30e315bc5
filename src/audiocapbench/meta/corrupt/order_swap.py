"""Two events told in the other order: the same words, another story.

Whole clauses change places ("a dog barks, then a man speaks"), or what one subject does ("a man
coughs and then laughs"). Around "followed by", verbs change places with their forms.
"""

from itertools import pairwise

from audiocapbench.meta.corrupt.captions import CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.clauses import (
    FINITE,
    ORDERED,
    OTHER,
    Clause,
    as_finite,
    as_gerund,
    is_plain_name,
    pieces_of,
    without_marks,
)
from audiocapbench.meta.corrupt.corruption import (
    CorruptedPair,
    Corruption,
    Unit,
    alone,
    corrupted,
)
from audiocapbench.meta.corrupt.events import core, order_is_certain
from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.meta.corrupt.words import PRONOUNS, verb_forms, words

_ORDERING = words("ordering")
_FOLLOWED = ("followed", "by")
_BEFORE = ("before",)


def swap_orders(captions: CaptionSet) -> list[Unit]:
    """All captions of a set whose two events can change places."""
    return alone(_swapped, captions.captions)


_Parts = tuple[Tokens, frozenset[str], frozenset[str]]
"""The words in the other order, and what the earlier and the later event mean."""


def _swapped(caption: ReferenceCaption) -> CorruptedPair | None:
    tokens = caption.tokens
    if not PRONOUNS.isdisjoint(tokens) or sum(token in _ORDERING for token in tokens) != 1:
        return None
    joints = (piece.joint for piece in pieces_of(tokens))
    joint = next((one for one in joints if without_marks(one) in ORDERED), ())
    if not joint:
        return None
    ends = range(len(joint), len(tokens) + 1)
    end = next(end for end in ends if tokens[end - len(joint) : end] == joint)
    first, second = tokens[: end - len(joint)], tokens[end:]
    parts = _one_subject(first, second, joint) or _two_subjects(first, second, joint)
    if parts is None:
        return None
    false, earlier, later = parts
    if not earlier or not later or earlier & later:
        return None
    if not order_is_certain(caption.clip, caption.number, earlier, later):
        return None
    change = f"{' '.join(first)} ↔ {' '.join(second)}"
    return corrupted(Corruption.ORDER, caption, false, change)


def _one_subject(first: Tokens, second: Tokens, joint: Tokens) -> _Parts | None:
    """What one subject does, in the other order."""
    pieces = pieces_of(first)
    clause = pieces[0].clause
    verb = verb_forms().get(second[0]) if second else None
    own = verb_forms().get(first[clause.verb]) if clause.verb >= 0 else None
    if own is None or not second or len(pieces) > 1 or len(pieces_of(second)) > 1:
        return None
    if without_marks(joint) in (_FOLLOWED, _BEFORE):
        return None
    place = clause.verb
    if not own.gerund:
        # "Is being opened and then closed": the auxiliaries stay where they are.
        place += 2 if first[place + 1 : place + 2] == ("being",) else 1
        if place >= len(first) or not _same_ending(first[place], second[0]):
            return None
    elif verb is None or verb.form != own.form or not verb.gerund:
        return None
    subject, deed = first[:place], first[place:]
    if not _adds_verbs_only(deed) or not _adds_verbs_only(second):
        return None
    return subject + second + joint + deed, core(deed), core(second)


def _adds_verbs_only(deed: Tokens) -> bool:
    """Whether every "and" of a deed joins verbs: "barks and growls", not "a man and a dog"."""
    return "," not in deed and all(
        word in verb_forms() or word.endswith(("ed", "ly"))
        for before, word in pairwise(deed)
        if before == "and"
    )


def _same_ending(one: str, other: str) -> bool:
    return any(one.endswith(ending) and other.endswith(ending) for ending in ("ing", "ed"))


def _two_subjects(first: Tokens, second: Tokens, joint: Tokens) -> _Parts | None:
    """Two clauses in the other order, each in the form that its new place asks for."""
    one, other = pieces_of(first)[0].clause, pieces_of(second)[0].clause
    followed = without_marks(joint) == _FOLLOWED
    if not _is_event(one, followed) or not _is_event(other, followed):
        return None
    if one.form == other.form or (followed and FINITE not in (one.form, other.form)):
        if followed and one.form == FINITE:
            return None
        return second + joint + first, core(first), core(second)
    if not followed or one.form != FINITE or len(pieces_of(first)) > 1:
        return None
    front, back = as_finite(other), as_gerund(one)
    if front is None or back is None:
        return None
    false = front.tokens + second[len(other.tokens) :] + joint + back.tokens
    return false, core(first), core(second)


def _is_event(clause: Clause, followed: bool) -> bool:
    return clause.form != OTHER or (followed and is_plain_name(clause.tokens))
