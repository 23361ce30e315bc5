"""An event added that is not in the clip; the other caption gets one that is, so both are longer.

Two clips lend each other an event: caption A ends with a true event of A or with one of B, and
caption B the other way round. Each event is right once and wrong once, so that its length, rarity
and wording say nothing. The true event comes from another reference of the clip; where there is no
other, it is the caption's own last event, taken off and put back.
"""

import random
from collections import defaultdict
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.clauses import joined, pieces_of
from audiocapbench.meta.corrupt.events import ClipEvent, events_by_clip, is_clean, joint_for
from audiocapbench.meta.corrupt.grammar import MARKS
from audiocapbench.meta.corrupt.text import Tokens, written
from audiocapbench.meta.corrupt.trial import Candidates, CorruptedPair, Corruption, Unit
from audiocapbench.meta.corrupt.truth import core, may_be_heard, mentions

_LONGEST_BASE = 18
_LOOKED_AT = 60
_TAKEN_OFF = frozenset({("and",), ("with",), ("while",), ("as",)})


class _BaseCaption(NamedTuple):
    """A caption and a true event that may be added to it."""

    caption: ReferenceCaption
    tokens: Tokens
    event: ClipEvent


def add_events(captions: CaptionSet, draw: random.Random) -> Candidates:
    """All pairs of clips in a set that can lend each other an event."""
    events = events_by_clip(captions)
    by_form: dict[str, list[_BaseCaption]] = defaultdict(list)
    for caption in captions.captions:
        base = _base(caption, events.get(caption.clip.id, []), draw)
        if base is not None:
            by_form[f"{base.event.clause.form}"].append(base)
    found = Candidates(captions=captions.total)
    for form in sorted(by_form):
        found.units += _lent(by_form[form], draw)
    return found


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
    numbers = [one for one in range(len(event.clip.references)) if one not in (event.number, base)]
    texts = [event.clip.references[number] for number in numbers]
    return not texts or any(mentions(text, event.meaning) for text in texts)


def _own_last_event(caption: ReferenceCaption) -> _BaseCaption | None:
    pieces = pieces_of(caption.tokens)
    last = pieces[-1]
    words = tuple(token for token in last.joint if token not in MARKS)
    if len(pieces) < 2 or words not in _TAKEN_OFF or not is_clean(last.clause):
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
            if _strange(base, other) and _strange(other, base):
                found.append((_trial(base, other), _trial(other, base)))
                del waiting[place]
                break
        else:
            waiting.append(base)
    return found


def _strange(base: _BaseCaption, other: _BaseCaption) -> bool:
    """Whether the other's event is surely not in this clip."""
    apart = base.caption.clip.id != other.caption.clip.id
    return apart and not may_be_heard(other.event.clause.tokens, base.caption.clip)


def _trial(base: _BaseCaption, other: _BaseCaption) -> CorruptedPair:
    own, lent = base.event.clause, other.event.clause
    joint = joint_for(own)
    sources = tuple(sorted({base.caption.number, base.event.number}))
    return CorruptedPair(
        Corruption.ADDED,
        base.caption.clip,
        sources,
        written(base.tokens + joint + own.tokens),
        written(base.tokens + joint + lent.tokens),
        f"+ {' '.join(lent.tokens)}",
    )
