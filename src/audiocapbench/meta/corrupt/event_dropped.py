"""The main event dropped; the other caption drops a side event, so that both are shorter.

A caption that lacks an event is not wrong, it is worse. Of a caption with two events or more, the
true caption loses the one that the fewest other references name, the false one loses the one that
the most name. Which words main events are told with could still be learnt: the balancing that
follows keeps as many trials in which a word stays as in which it goes.
"""

from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.clauses import Piece, joined, pieces_of
from audiocapbench.meta.corrupt.events import is_clean
from audiocapbench.meta.corrupt.grammar import verb_forms
from audiocapbench.meta.corrupt.nouns import nouns
from audiocapbench.meta.corrupt.text import Tokens, written
from audiocapbench.meta.corrupt.trial import Candidates, CorruptedPair, Corruption
from audiocapbench.meta.corrupt.truth import core, kin, mentions

_FEWEST_OTHERS = 2
_MAIN, _SIDE = 0.6, 0.34


class _EventSupport(NamedTuple):
    place: int
    support: float


def drop_events(captions: CaptionSet) -> Candidates:
    """All captions of a set with a main and a side event."""
    found = Candidates(captions=captions.total)
    for caption in captions.captions:
        trial = _dropped(caption)
        if trial is not None:
            found.units.append((trial,))
    return found


def _dropped(caption: ReferenceCaption) -> CorruptedPair | None:
    others = caption.clip.others(caption.number)
    pieces = pieces_of(caption.tokens)
    if len(others) < _FEWEST_OTHERS or len(pieces) < 2 or _shares_subject(pieces):
        return None
    meanings = [core(piece.clause.tokens) for piece in pieces]
    if not all(meanings) or any(
        one & other for place, one in enumerate(meanings) for other in meanings[:place]
    ):
        return None
    weighed = [
        _EventSupport(place, sum(mentions(text, meaning) for text in others) / len(others))
        for place, meaning in enumerate(meanings)
        if is_clean(pieces[place].clause)
    ]
    if len(weighed) < 2:
        return None
    main = max(weighed, key=lambda one: one.support)
    side = min(weighed, key=lambda one: one.support)
    if main.support < _MAIN or side.support > _SIDE:
        return None
    if kin(meanings[main.place]) & kin(meanings[side.place]):
        return None
    true, false = _without(pieces, side.place), _without(pieces, main.place)
    change = f"− {' '.join(pieces[main.place].clause.tokens)}"
    sources = (caption.number,)
    return CorruptedPair(
        Corruption.DROPPED, caption.clip, sources, written(true), written(false), change
    )


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
