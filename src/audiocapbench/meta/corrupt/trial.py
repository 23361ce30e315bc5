"""One trial and groups of them that balance each other."""

from dataclasses import dataclass, field
from enum import StrEnum

from audiocapbench.meta.corrupt.captions import CaptionedClip


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
"""Trials that belong together: what tells them apart points once this way and once the other."""


@dataclass(slots=True)
class Candidates:
    """What one kind of corruption can make of a caption set, before balancing.

    Attributes:
        units: Trials in groups that stay together.
        captions: How many captions the kind was tried on.
    """

    units: list[Unit] = field(default_factory=list)
    captions: int = 0

    @property
    def applicable(self) -> int:
        """How many trials could be made."""
        return sum(len(unit) for unit in self.units)
