"""What a scorer says when captions change places: how often it is the same, and who stood first.

One definition for every place that shows it. Choices speak of the captions as the pair has them,
in whatever order they were shown. Two answers agree that name the same caption, or that both tie:
a scorer that ties both ways says the same of the captions. An unknown never agrees, not even with
another unknown, because nothing was said.
"""

from collections.abc import Sequence

from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.scorer import Choice, GivenOrderScorer, PairScorer

CHOSEN = (Choice.FIRST, Choice.SECOND)
"""Choices that name a caption."""


def agreeing(given: Sequence[Choice], swapped: Sequence[Choice]) -> list[bool]:
    """Of every pair, whether both orders got the same answer."""
    return [
        one is other and one is not Choice.UNKNOWN
        for one, other in zip(given, swapped, strict=True)
    ]


def as_given(scorer: PairScorer, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
    """What it answered with the captions in their own order, before orders were combined."""
    if isinstance(scorer, GivenOrderScorer):
        return scorer.choose_as_given(pairs)
    return scorer.choose(pairs)


def shown_first(given: Sequence[Choice], swapped: Sequence[Choice]) -> tuple[int, int]:
    """How many answers chose the caption that was shown first, and how many chose any."""
    first = given.count(Choice.FIRST) + swapped.count(Choice.SECOND)
    return first, sum(choice in CHOSEN for choice in (*given, *swapped))
