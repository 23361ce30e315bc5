"""What a rule makes of a caption: a pair of a true caption and one that was made wrong."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from audiocapbench.meta.corrupt.captions import CaptionedClip, ReferenceCaption
from audiocapbench.meta.corrupt.text import written


class Corruption(StrEnum):
    """What was made wrong."""

    NOUN = "noun"
    ORDER = "order"
    ATTRIBUTE = "attribute"
    ADDED = "added"
    DROPPED = "dropped"
    COUNT = "count"

    @property
    def other_caption(self) -> str:
        """What the caption of a pair is that is not the better one."""
        return LESS_COMPLETE if self is Corruption.DROPPED else "false"


LESS_COMPLETE = "less complete, not false"
"""A caption that lacks an event says nothing wrong; it says less."""


@dataclass(frozen=True, slots=True)
class CorruptedPair:
    """A true caption of a clip and one that was made wrong, or less complete.

    Attributes:
        kind: What was made wrong.
        clip: The clip that both are about.
        sources: Which of its references the captions were made from; the others are held to.
        true: The better caption, in the plain form.
        false: The one that was made wrong, in the plain form.
        change: What was changed, for people.
    """

    kind: Corruption
    clip: CaptionedClip
    sources: tuple[int, ...]
    true: str
    false: str
    change: str

    @property
    def references(self) -> tuple[str, ...]:
        """What people said about the clip beside what the captions were made from."""
        return tuple(
            text for place, text in enumerate(self.clip.references) if place not in self.sources
        )


Unit = tuple[CorruptedPair, ...]
"""Pairs that belong together: what tells them apart points once this way and once the other."""


def corrupted(
    kind: Corruption, caption: ReferenceCaption, false: Sequence[str], change: str
) -> CorruptedPair:
    """The pair of a caption as it stands and the words that it was changed to."""
    true = written(caption.tokens)
    return CorruptedPair(kind, caption.clip, (caption.number,), true, written(false), change)


def alone(
    rule: Callable[[ReferenceCaption], CorruptedPair | None], captions: Iterable[ReferenceCaption]
) -> list[Unit]:
    """What a rule for single captions makes of each, as units of one."""
    return [(pair,) for pair in map(rule, captions) if pair is not None]


def unused(captions: Iterable[ReferenceCaption], units: Iterable[Unit]) -> list[ReferenceCaption]:
    """The captions that no unit was made from."""
    taken = {(pair.clip.id, pair.sources[0]) for unit in units for pair in unit}
    return [one for one in captions if (one.clip.id, one.number) not in taken]
