"""Captions with an event that is not there, without their main event, or in another order.

``added``: one event of a caption gives way to one of another clip, told in the same form.

``dropped``: a caption loses the event that most other references name, and is compared with another
reference that names it: it is not wrong, it is worse.

``order``: the same events, another story. Whole clauses change places ("a dog barks, then a man
speaks"), or what one subject does ("a man coughs and then laughs"). Around "followed by", verbs
change places with their forms. "Before" and "after" are exchanged.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, islice, pairwise
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import (
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    corrupted,
    replaced,
)
from audiocapbench.meta.corrupt.clauses import (
    FINITE,
    ORDERED,
    OTHER,
    Clause,
    Piece,
    as_finite,
    as_gerund,
    core,
    is_clean,
    is_plain_name,
    joined,
    kin,
    may_be_heard,
    mentions,
    order_is_certain,
    pieces_of,
    without_marks,
)
from audiocapbench.meta.corrupt.text import Tokens, plain_form, written
from audiocapbench.meta.corrupt.words import PRONOUNS, nouns, verb_forms, words

_LOOKED_AT, _LENT = 40, 6
_FEWEST_OTHERS = 2
_MAIN, _SIDE = 0.6, 0.5
_ORDERING = words("ordering")
_FOLLOWED: Tokens = ("followed", "by")
_BEFORE: Tokens = ("before",)
_AFTER: Tokens = ("after",)


class _LentEvent(NamedTuple):
    """An event that a clip lends to others, and how it is told."""

    clip: str
    clause: Clause


def add_events(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every caption with one event exchanged for one that is surely not in its clip."""
    pieces = {id(caption): pieces_of(caption.tokens) for caption in captions.captions}
    lent: dict[tuple[str, bool], dict[Tokens, _LentEvent]] = defaultdict(dict)
    for caption in captions.captions:
        for piece in pieces[id(caption)]:
            clause = piece.clause
            if is_clean(clause) and len(core(clause.tokens)) > 1:
                event = _LentEvent(caption.clip.id, clause)
                lent[clause.form, clause.many].setdefault(clause.tokens, event)
    pools = {form: list(own.values()) for form, own in lent.items()}
    for caption in captions.captions:
        draw = random.Random(f"{caption.clip.id} {caption.number}")
        own = pieces[id(caption)]
        if len(own) > 1 and not _shares_subject(own):
            yield from _with_lent_event(caption, own, pools, draw)


def _with_lent_event(
    caption: ReferenceCaption,
    pieces: list[Piece],
    pools: dict[tuple[str, bool], list[_LentEvent]],
    draw: random.Random,
) -> Iterator[CorruptedPair]:
    for place, piece in enumerate(pieces):
        clause = piece.clause
        pool = pools.get((clause.form, clause.many), [])
        if not is_clean(clause) or not core(clause.tokens) or not pool:
            continue
        drawn = draw.sample(pool, min(_LOOKED_AT, len(pool)))
        wrong = (one for one in drawn if not may_be_heard(one.clause.tokens, caption.clip))
        for event in islice((one for one in wrong if one.clip != caption.clip.id), _LENT):
            false = [*pieces[:place], piece._replace(clause=event.clause), *pieces[place + 1 :]]
            change = f"{' '.join(clause.tokens)} → {' '.join(event.clause.tokens)}"
            yield corrupted(Corruption.ADDED, caption, joined(false), change, event.clip)


def drop_events(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every caption without its main event, beside every other reference that names it."""
    for caption in captions.captions:
        yield from _dropped(caption)


def _dropped(caption: ReferenceCaption) -> Iterator[CorruptedPair]:
    clip, number = caption.clip, caption.number
    others = [place for place in range(len(clip.references)) if place != number]
    pieces = pieces_of(caption.tokens)
    if len(others) < _FEWEST_OTHERS or len(pieces) < 2 or _shares_subject(pieces):
        return
    meanings = [core(piece.clause.tokens) for piece in pieces]
    if not all(meanings) or any(one & other for one, other in combinations(meanings, 2)):
        return
    naming = [
        {other for other in others if mentions(clip.references[other], meaning)}
        for meaning in meanings
    ]
    for main, own in enumerate(naming):
        rest = [place for place in range(len(pieces)) if place != main]
        if len(own) < _MAIN * len(others) or not is_clean(pieces[main].clause):
            continue
        if any(kin(meanings[main]) & kin(meanings[place]) for place in rest):
            continue
        false = written(_without(pieces, main))
        change = f"− {' '.join(pieces[main].clause.tokens)}"
        said_by_few = all(len(naming[place]) <= _SIDE * len(others) for place in rest)
        # Where the rest is as well known, only a reference that has it all is more complete.
        better = own if said_by_few else set.intersection(*naming)
        for other in sorted(better):
            true = plain_form(clip.references[other])
            yield CorruptedPair(Corruption.DROPPED, clip, (number, other), true, false, change)


def _shares_subject(pieces: list[Piece]) -> bool:
    """Whether a piece has its subject in the one before, as in "a car starts, then drives off"."""
    firsts = [piece.clause.tokens[0] for piece in pieces[1:] if piece.clause.tokens]
    return any(word in verb_forms() and word not in nouns() for word in firsts)


def _without(pieces: list[Piece], place: int) -> Tokens:
    left = [piece for number, piece in enumerate(pieces) if number != place]
    if place == len(pieces) - 1 and len(left) > 1 and left[-1].joint == (",",):
        # A list keeps its last joint: "a dog barks, and a man speaks".
        left[-1] = left[-1]._replace(joint=pieces[place].joint)
    return joined(left)


def swap_orders(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every caption whose two events can be told in the other order."""
    for caption in captions.captions:
        yield from _swapped(caption)


_Parts = tuple[Tokens, frozenset[str], frozenset[str]]
"""The words in the other order, and what the earlier and the later event mean."""


def _swapped(caption: ReferenceCaption) -> Iterator[CorruptedPair]:
    tokens = caption.tokens
    if not PRONOUNS.isdisjoint(tokens) or sum(token in _ORDERING for token in tokens) != 1:
        return
    joints = (piece.joint for piece in pieces_of(tokens))
    joint = next((one for one in joints if without_marks(one) in ORDERED | {_AFTER}), ())
    if not joint:
        return
    ends = range(len(joint), len(tokens) + 1)
    end = next(end for end in ends if tokens[end - len(joint) : end] == joint)
    first, second = tokens[: end - len(joint)], tokens[end:]
    parts = _one_subject(first, second, joint) or _two_subjects(first, second, joint)
    if parts is None:
        return
    false, earlier, later = parts
    if not earlier or not later or earlier & later:
        return
    if not order_is_certain(caption.clip, caption.number, earlier, later):
        return
    change = f"{' '.join(first)} ↔ {' '.join(second)}"
    yield corrupted(Corruption.ORDER, caption, false, change)
    if joint in (_BEFORE, _AFTER):
        other = _AFTER if joint == _BEFORE else _BEFORE
        yield replaced(Corruption.ORDER, caption, end - 1, end, other)


def _one_subject(first: Tokens, second: Tokens, joint: Tokens) -> _Parts | None:
    """What one subject does, in the other order."""
    pieces = pieces_of(first)
    clause = pieces[0].clause
    verb = verb_forms().get(second[0]) if second else None
    own = verb_forms().get(first[clause.verb]) if clause.verb >= 0 else None
    if own is None or not second or len(pieces) > 1 or len(pieces_of(second)) > 1:
        return None
    if without_marks(joint) in (_FOLLOWED, _BEFORE, _AFTER):
        return None
    place = clause.verb
    if not own.gerund:
        # "Is being opened and then closed": the auxiliaries stay where they are.
        place += 2 if first[place + 1 : place + 2] == ("being",) else 1
        ends = (first[place] if place < len(first) else "", second[0])
        if not any(all(one.endswith(form) for one in ends) for form in ("ing", "ed")):
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


def _two_subjects(first: Tokens, second: Tokens, joint: Tokens) -> _Parts | None:
    """Two clauses in the other order, each in the form that its new place asks for."""
    one, other = pieces_of(first)[0].clause, pieces_of(second)[0].clause
    followed = without_marks(joint) == _FOLLOWED
    for clause in (one, other):
        if clause.form == OTHER and not (followed and is_plain_name(clause.tokens)):
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
