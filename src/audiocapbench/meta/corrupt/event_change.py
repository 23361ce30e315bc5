"""Captions with an event more, an event less, or two events told in the other order.

Of ``added`` and ``dropped``, both captions of a pair are changed alike.

``added``: two clips lend each other an event. Caption A ends with a true event of A or with one of
B, and caption B the other way round, so that each event is right once and wrong once. The true
event comes from another reference of the clip; where there is no other, it is the caption's own
last event, taken off and put back.

``dropped``: of a caption with two events or more, the true caption loses the one that the fewest
other references name, the false one loses the one that the most name: it is not wrong, it is worse.
Which words main events are told with could still be learnt: the balancing that follows keeps as
many pairs in which a word stays as in which it goes.

``order``: the same words, another story. Whole clauses change places ("a dog barks, then a man
speaks"), or what one subject does ("a man coughs and then laughs"). Around "followed by", verbs
change places with their forms.
"""

import random
from collections import defaultdict
from itertools import combinations, pairwise
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import (
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    Unit,
    alone,
    corrupted,
)
from audiocapbench.meta.corrupt.clauses import (
    FINITE,
    GERUND,
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
from audiocapbench.meta.corrupt.text import Tokens, written
from audiocapbench.meta.corrupt.words import PRONOUNS, nouns, verb_forms, words

_LONGEST_BASE = 18
_LOOKED_AT = 60
_TAKEN_OFF = frozenset({("and",), ("with",), ("while",), ("as",)})
# How an event is added to a caption without saying when it happens.
_JOINTS = {FINITE: (",", "and"), GERUND: ("with",)}
_FEWEST_OTHERS = 2
_MAIN, _SIDE = 0.6, 0.34
_ORDERING = words("ordering")
_FOLLOWED, _BEFORE = ("followed", "by"), ("before",)


class _ClipEvent(NamedTuple):
    """An event of a clip: which reference tells it, and how."""

    number: int
    clause: Clause
    meaning: frozenset[str]


class _BaseCaption(NamedTuple):
    """A caption and a true event that may be added to it."""

    caption: ReferenceCaption
    tokens: Tokens
    event: _ClipEvent


def add_events(captions: CaptionSet, draw: random.Random) -> list[Unit]:
    """All pairs of clips in a set that can lend each other an event."""
    events: dict[str, list[_ClipEvent]] = defaultdict(list)
    for caption in captions.captions:
        told = [piece.clause for piece in pieces_of(caption.tokens)]
        own = [_ClipEvent(caption.number, clause, core(clause.tokens)) for clause in told]
        events[caption.clip.id] += [e for e in own if is_clean(e.clause) and len(e.meaning) > 1]
    by_form: dict[str, list[_BaseCaption]] = defaultdict(list)
    for caption in captions.captions:
        base = _base(caption, events[caption.clip.id], draw)
        if base is not None:
            by_form[base.event.clause.form].append(base)
    return [unit for form in sorted(by_form) for unit in _lent(by_form[form], draw)]


def _base(
    caption: ReferenceCaption, events: list[_ClipEvent], draw: random.Random
) -> _BaseCaption | None:
    if len(caption.clip.references) == 1:
        return _own_last_event(caption)
    own, text, clip = core(caption.tokens), written(caption.tokens), caption.clip
    if not own or len(caption.tokens) > _LONGEST_BASE or ";" in caption.tokens:
        return None
    fitting = [
        event
        for event in events
        if event.number != caption.number
        and not event.meaning & own
        and not mentions(text, event.meaning)
        and mentions(clip.references[event.number], own)
        # A third person heard it too, where there is one: people guess differently.
        and (
            not (others := clip.others(event.number, caption.number))
            or any(mentions(text, event.meaning) for text in others)
        )
    ]
    return _BaseCaption(caption, caption.tokens, draw.choice(fitting)) if fitting else None


def _own_last_event(caption: ReferenceCaption) -> _BaseCaption | None:
    pieces = pieces_of(caption.tokens)
    last = pieces[-1]
    taken_off = len(pieces) > 1 and without_marks(last.joint) in _TAKEN_OFF
    if not taken_off or not is_clean(last.clause):
        return None
    rest = joined(pieces[:-1])
    event = _ClipEvent(caption.number, last.clause, core(last.clause.tokens))
    return None if core(rest) & event.meaning else _BaseCaption(caption, rest, event)


def _lent(bases: list[_BaseCaption], draw: random.Random) -> list[Unit]:
    draw.shuffle(bases)
    waiting: list[_BaseCaption] = []
    found: list[Unit] = []
    for base in bases:
        for place, other in enumerate(waiting[:_LOOKED_AT]):
            if _is_strange(base, other) and _is_strange(other, base):
                found.append((_with_events(base, other), _with_events(other, base)))
                del waiting[place]
                break
        else:
            waiting.append(base)
    return found


def _is_strange(base: _BaseCaption, other: _BaseCaption) -> bool:
    """Whether the other's event is surely not in this clip."""
    apart = base.caption.clip.id != other.caption.clip.id
    return apart and not may_be_heard(other.event.clause.tokens, base.caption.clip)


def _with_events(base: _BaseCaption, other: _BaseCaption) -> CorruptedPair:
    own, lent = base.event.clause, other.event.clause
    start = base.tokens + _JOINTS[own.form]
    true, false = written(start + own.tokens), written(start + lent.tokens)
    sources = tuple(sorted({base.caption.number, base.event.number}))
    change = f"+ {' '.join(lent.tokens)}"
    return CorruptedPair(Corruption.ADDED, base.caption.clip, sources, true, false, change)


def drop_events(captions: CaptionSet) -> list[Unit]:
    """All captions of a set with a main and a side event."""
    return alone(_dropped, captions.captions)


def _dropped(caption: ReferenceCaption) -> CorruptedPair | None:
    others = caption.clip.others(caption.number)
    pieces = pieces_of(caption.tokens)
    if len(others) < _FEWEST_OTHERS or len(pieces) < 2 or _shares_subject(pieces):
        return None
    meanings = [core(piece.clause.tokens) for piece in pieces]
    if not all(meanings) or any(one & other for one, other in combinations(meanings, 2)):
        return None
    support = {
        place: sum(mentions(text, meaning) for text in others) / len(others)
        for place, meaning in enumerate(meanings)
        if is_clean(pieces[place].clause)
    }
    if len(support) < 2:
        return None
    main, side = max(support, key=support.__getitem__), min(support, key=support.__getitem__)
    if support[main] < _MAIN or support[side] > _SIDE or kin(meanings[main]) & kin(meanings[side]):
        return None
    true, false = written(_without(pieces, side)), written(_without(pieces, main))
    change = f"− {' '.join(pieces[main].clause.tokens)}"
    return CorruptedPair(Corruption.DROPPED, caption.clip, (caption.number,), true, false, change)


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
