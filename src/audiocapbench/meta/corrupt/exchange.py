"""The exchange that noun, attribute and count share: two captions swap one phrase.

Caption A of one clip has phrase x, caption B of another clip has y in the same surroundings. A with
y and B with x are both wrong, and both read as well as captions of the set do. Since x and y are
each right once and wrong once, neither length nor rarity nor the words themselves say which.
"""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import ReferenceCaption
from audiocapbench.meta.corrupt.text import Tokens, written
from audiocapbench.meta.corrupt.trial import CorruptedPair, Corruption, Unit

_LOOKED_AT = 40


class PhraseSpan(NamedTuple):
    """A phrase in a caption that may be exchanged.

    Attributes:
        caption: Where it stands.
        start: Its first token.
        end: Past its last token.
        frame: Its surroundings; only places in the same frame are exchanged.
        phrase: The words.
    """

    caption: ReferenceCaption
    start: int
    end: int
    frame: str
    phrase: Tokens

    def with_phrase(self, phrase: Tokens) -> str:
        """The caption with another phrase in this place."""
        tokens = self.caption.tokens
        return written(tokens[: self.start] + phrase + tokens[self.end :])


Partners = list[tuple[PhraseSpan, PhraseSpan]]
Distance = Callable[[Tokens, Tokens], float]
Admits = Callable[[PhraseSpan, Tokens], bool]


def find_partners(
    rounds: Sequence[Iterable[PhraseSpan]], admits: Admits, distance: Distance, draw: random.Random
) -> Partners:
    """Pair places of the same frame; each caption is used once.

    Args:
        rounds: Places in any order; who finds no partner in one round may look again in the next.
        admits: Whether a phrase is surely wrong in a place.
        distance: How unlike the frequencies of two phrases are: the least unlike is taken, and
            those infinitely unlike never.
        draw: Source of chance.
    """
    used: set[tuple[str, int]] = set()
    found: Partners = []
    for places in rounds:
        by_frame: dict[str, dict[Tokens, list[PhraseSpan]]] = defaultdict(lambda: defaultdict(list))
        for place in places:
            by_frame[place.frame][place.phrase].append(place)
        frames = sorted(by_frame)
        draw.shuffle(frames)
        for frame in frames:
            phrases = by_frame[frame]
            for waiting in phrases.values():
                draw.shuffle(waiting)
            found += _within(phrases, admits, distance, used)
    return found


def _within(
    phrases: dict[Tokens, list[PhraseSpan]],
    admits: Admits,
    distance: Distance,
    used: set[tuple[str, int]],
) -> Partners:
    found: Partners = []
    # The rarest phrase chooses first: the common ones will find somebody.
    for phrase in sorted(phrases, key=lambda one: (len(phrases[one]), one)):
        gaps = sorted((distance(phrase, other), other) for other in phrases if other != phrase)
        waiting = [phrases[other] for gap, other in gaps if gap < math.inf]
        for place in phrases[phrase]:
            partner = _partner(place, waiting, admits, used)
            if partner is not None:
                used |= {_key(place), _key(partner)}
                found.append((place, partner))
    return found


def _partner(
    place: PhraseSpan, waiting: list[list[PhraseSpan]], admits: Admits, used: set[tuple[str, int]]
) -> PhraseSpan | None:
    if _key(place) in used:
        return None
    for others in waiting:
        if not admits(place, others[0].phrase):
            continue
        free = [one for one in others if _key(one) not in used]
        for other in free[:_LOOKED_AT]:
            apart = other.caption.clip.id != place.caption.clip.id
            if apart and admits(other, place.phrase):
                return other
    return None


def _key(place: PhraseSpan) -> tuple[str, int]:
    return place.caption.clip.id, place.caption.number


def units_of(kind: Corruption, partners: Partners) -> list[Unit]:
    """Both trials of each exchange, as one unit."""
    return [
        (_trial(kind, one, other.phrase), _trial(kind, other, one.phrase))
        for one, other in partners
    ]


def _trial(kind: Corruption, place: PhraseSpan, phrase: Tokens) -> CorruptedPair:
    return CorruptedPair(
        kind,
        place.caption.clip,
        (place.caption.number,),
        written(place.caption.tokens),
        place.with_phrase(phrase),
        f"{' '.join(place.phrase)} → {' '.join(phrase)}",
    )
