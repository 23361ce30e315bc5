"""What a scorer says when captions change places: how often it is the same, and who stood first.

One definition for every place that shows it. Choices speak of the captions as the pair has them,
in whatever order they were shown. Two answers agree that name the same caption, or that both tie:
a scorer that ties both ways says the same of the captions. An unknown never agrees, not even with
another unknown, because nothing was said.
"""

from collections.abc import Sequence
from typing import NamedTuple

from audiocapbench.meta.scorers.scorer import Choice

CHOSEN = (Choice.FIRST, Choice.SECOND)
"""Choices that name a caption."""


class PositionBias(NamedTuple):
    """What the order of the captions does to a scorer that was asked both ways, in percent.

    Attributes:
        consistency: Share of pairs whose two answers agree.
        first: Share of choices that fall on the caption that stood first; 50 has no bias. None
            where it never chose.
    """

    consistency: float
    first: float | None

    def __str__(self) -> str:
        """In a line."""
        first = "–" if self.first is None else f"{self.first:.1f} %"
        same = f"the same in both orders {self.consistency:.1f} %"
        return f"{same}, the caption shown first chosen {first}"


def agreeing(given: Sequence[Choice], swapped: Sequence[Choice]) -> list[bool]:
    """Of every pair, whether both orders got the same answer."""
    both = zip(given, swapped, strict=True)
    return [one is other and one is not Choice.UNKNOWN for one, other in both]


def position_bias(given: Sequence[Choice], swapped: Sequence[Choice]) -> PositionBias:
    """Compare what was chosen in both orders."""
    same = agreeing(given, swapped)
    first = list(given).count(Choice.FIRST) + list(swapped).count(Choice.SECOND)
    chosen = sum(choice in CHOSEN for choice in (*given, *swapped))
    return PositionBias(
        100 * sum(same) / max(1, len(same)), 100 * first / chosen if chosen else None
    )
