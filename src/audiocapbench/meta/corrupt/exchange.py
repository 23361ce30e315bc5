"""The exchange that noun, attribute and count share: two captions swap one phrase.

Caption A of one clip has phrase x, caption B of another clip has y in the same surroundings. A with
y and B with x are both wrong, and both read as well as captions of the set do. Since x and y are
each right once and wrong once, neither length nor rarity nor the words themselves say which.
"""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import (
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    Unit,
    corrupted,
)
from audiocapbench.meta.corrupt.text import Tokens

_LOOKED_AT = 40


class PhraseSpan(NamedTuple):
    """A phrase in a caption that may be exchanged, from ``start`` up to ``end``.

    ``frame`` names its surroundings.
    """

    caption: ReferenceCaption
    start: int
    end: int
    frame: str

    @property
    def phrase(self) -> Tokens:
        """Its words."""
        return self.caption.tokens[self.start : self.end]

    @property
    def key(self) -> tuple[str, int]:
        """Names the caption."""
        return self.caption.clip.id, self.caption.number


Admits = Callable[[PhraseSpan, Tokens], bool]
"""Whether a phrase is surely wrong in a place."""
Distance = Callable[[Tokens, Tokens], float]
"""How unlike the frequencies of two phrases are; those infinitely unlike are never swapped."""


def phrases_of_frames(spans: Sequence[PhraseSpan]) -> Mapping[str, set[Tokens]]:
    """Which phrases were seen in which surroundings."""
    seen: dict[str, set[Tokens]] = defaultdict(set)
    for span in spans:
        seen[span.frame].add(span.phrase)
    return seen


def exchange(
    kind: Corruption,
    spans: Sequence[PhraseSpan],
    admits: Admits,
    draw: random.Random,
    *,
    rounds: Sequence[Callable[[PhraseSpan], str]] = (lambda span: span.frame,),
    distance: Distance = lambda _one, _other: 0.0,
) -> list[Unit]:
    """Swap phrases between captions; each caption is used once, each unit is one swap.

    Only phrases for which a function of ``rounds`` gives the same are swapped; who finds no partner
    in one round may look again in the next. Of possible partners the least distant is taken.
    """
    used: set[tuple[str, int]] = set()
    found: list[Unit] = []
    for group_of in rounds:
        groups: dict[str, dict[Tokens, list[PhraseSpan]]] = defaultdict(lambda: defaultdict(list))
        for span in spans:
            groups[group_of(span)][span.phrase].append(span)
        names = sorted(groups)
        draw.shuffle(names)
        for name in names:
            for waiting in groups[name].values():
                draw.shuffle(waiting)
            for one, other in _partners(groups[name], admits, distance, used):
                found.append((_pair(kind, one, other.phrase), _pair(kind, other, one.phrase)))
    return found


def _partners(
    phrases: Mapping[Tokens, list[PhraseSpan]],
    admits: Admits,
    distance: Distance,
    used: set[tuple[str, int]],
) -> Iterator[tuple[PhraseSpan, PhraseSpan]]:
    # The rarest phrase chooses first: the common ones will find somebody.
    for phrase in sorted(phrases, key=lambda one: (len(phrases[one]), one)):
        gaps = sorted((distance(phrase, other), other) for other in phrases if other != phrase)
        waiting = [phrases[other] for gap, other in gaps if gap < math.inf]
        for span in phrases[phrase]:
            partner = None if span.key in used else _partner(span, waiting, admits, used)
            if partner is not None:
                used |= {span.key, partner.key}
                yield span, partner


def _partner(
    span: PhraseSpan, waiting: list[list[PhraseSpan]], admits: Admits, used: set[tuple[str, int]]
) -> PhraseSpan | None:
    free = (
        other
        for others in waiting
        if admits(span, others[0].phrase)
        for other in [one for one in others if one.key not in used][:_LOOKED_AT]
    )
    apart = (other for other in free if other.caption.clip.id != span.caption.clip.id)
    return next((other for other in apart if admits(other, span.phrase)), None)


def _pair(kind: Corruption, span: PhraseSpan, phrase: Tokens) -> CorruptedPair:
    tokens = span.caption.tokens
    false = tokens[: span.start] + phrase + tokens[span.end :]
    return corrupted(kind, span.caption, false, f"{' '.join(span.phrase)} → {' '.join(phrase)}")
