"""Single events of a clip, as clauses that can stand in another caption."""

from collections.abc import Iterator
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import CaptionedClip, CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.clauses import FINITE, GERUND, OTHER, Clause, pieces_of
from audiocapbench.meta.corrupt.grammar import JOINING, PRONOUNS
from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.meta.corrupt.truth import core

_LONGEST = 8
_AUXILIARIES = frozenset("is are was were has have".split())
_HANGS_ON_ANOTHER = frozenset("once when whenever if because although since where until".split())


class ClipEvent(NamedTuple):
    """One event of a clip.

    Attributes:
        clip: Where it is heard.
        number: The reference that tells it.
        clause: Its words.
    """

    clip: CaptionedClip
    number: int
    clause: Clause

    @property
    def meaning(self) -> frozenset[str]:
        """What its words mean."""
        return core(self.clause.tokens)


def is_clean(clause: Clause) -> bool:
    """Whether a clause tells one event and points to nothing outside itself."""
    tokens = clause.tokens
    return (
        clause.form != OTHER
        and len(tokens) <= _LONGEST
        and PRONOUNS.isdisjoint(tokens)
        and JOINING.isdisjoint(tokens)
        and _HANGS_ON_ANOTHER.isdisjoint(tokens)
        and (clause.form == FINITE or _AUXILIARIES.isdisjoint(tokens))
    )


def events_by_clip(captions: CaptionSet) -> dict[str, list[ClipEvent]]:
    """The events of each clip that can be told on their own."""
    found: dict[str, list[ClipEvent]] = {}
    for caption in captions.captions:
        found.setdefault(caption.clip.id, []).extend(_events(caption))
    return found


def _events(caption: ReferenceCaption) -> Iterator[ClipEvent]:
    for piece in pieces_of(caption.tokens):
        if is_clean(piece.clause) and len(core(piece.clause.tokens)) > 1:
            yield ClipEvent(caption.clip, caption.number, piece.clause)


def joint_for(clause: Clause) -> Tokens:
    """How an event is added to a caption without saying when it happens."""
    return {FINITE: (",", "and"), GERUND: ("with",)}[clause.form]
