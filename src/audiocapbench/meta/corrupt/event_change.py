"""Captions with an event more or an event less; both captions of a pair are changed alike.

``added``: two clips lend each other an event. Caption A ends with a true event of A or with one of
B, and caption B the other way round, so that each event is right once and wrong once. The true
event comes from another reference of the clip; where there is no other, it is the caption's own
last event, taken off and put back.

``dropped``: of a caption with two events or more, the true caption loses the one that the fewest
other references name, the false one loses the one that the most name: it is not wrong, it is worse.
Which words main events are told with could still be learnt: the balancing that follows keeps as
many pairs in which a word stays as in which it goes.
"""

import random
from collections import defaultdict
from itertools import combinations
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.clauses import (
    FINITE,
    GERUND,
    Piece,
    joined,
    pieces_of,
    without_marks,
)
from audiocapbench.meta.corrupt.corruption import CorruptedPair, Corruption, Unit, alone
from audiocapbench.meta.corrupt.events import (
    ClipEvent,
    core,
    events_by_clip,
    is_clean,
    kin,
    may_be_heard,
    mentions,
)
from audiocapbench.meta.corrupt.text import Tokens, written
from audiocapbench.meta.corrupt.words import nouns, verb_forms

_LONGEST_BASE = 18
_LOOKED_AT = 60
_TAKEN_OFF = frozenset({("and",), ("with",), ("while",), ("as",)})
# How an event is added to a caption without saying when it happens.
_JOINTS = {FINITE: (",", "and"), GERUND: ("with",)}
_FEWEST_OTHERS = 2
_MAIN, _SIDE = 0.6, 0.34


class _BaseCaption(NamedTuple):
    """A caption and a true event that may be added to it."""

    caption: ReferenceCaption
    tokens: Tokens
    event: ClipEvent


def add_events(captions: CaptionSet, draw: random.Random) -> list[Unit]:
    """All pairs of clips in a set that can lend each other an event."""
    events = events_by_clip(captions)
    by_form: dict[str, list[_BaseCaption]] = defaultdict(list)
    for caption in captions.captions:
        base = _base(caption, events.get(caption.clip.id, []), draw)
        if base is not None:
            by_form[base.event.clause.form].append(base)
    return [unit for form in sorted(by_form) for unit in _lent(by_form[form], draw)]


def _base(
    caption: ReferenceCaption, events: list[ClipEvent], draw: random.Random
) -> _BaseCaption | None:
    if len(caption.clip.references) == 1:
        return _own_last_event(caption)
    own = core(caption.tokens)
    text = written(caption.tokens)
    if not own or len(caption.tokens) > _LONGEST_BASE or ";" in caption.tokens:
        return None
    fitting = [
        event
        for event in events
        if event.number != caption.number
        and not event.meaning & own
        and not mentions(text, event.meaning)
        and mentions(event.clip.references[event.number], own)
        and _is_confirmed(event, caption.number)
    ]
    return _BaseCaption(caption, caption.tokens, draw.choice(fitting)) if fitting else None


def _is_confirmed(event: ClipEvent, base: int) -> bool:
    """Whether a third person heard it too, where there is one: people guess differently."""
    told = enumerate(event.clip.references)
    texts = [text for number, text in told if number not in (event.number, base)]
    return not texts or any(mentions(text, event.meaning) for text in texts)


def _own_last_event(caption: ReferenceCaption) -> _BaseCaption | None:
    pieces = pieces_of(caption.tokens)
    last = pieces[-1]
    taken_off = len(pieces) > 1 and without_marks(last.joint) in _TAKEN_OFF
    if not taken_off or not is_clean(last.clause):
        return None
    rest = joined(pieces[:-1])
    event = ClipEvent(caption.clip, caption.number, last.clause)
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
    return CorruptedPair(
        Corruption.ADDED,
        base.caption.clip,
        tuple(sorted({base.caption.number, base.event.number})),
        written(start + own.tokens),
        written(start + lent.tokens),
        f"+ {' '.join(lent.tokens)}",
    )


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
