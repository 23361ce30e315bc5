"""Pairs of captions that people compared, sets of them, and how far the votes agree.

The first caption of a pair is number 0 and the second number 1, as in BRACE.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from audiocapbench.stats.agreement import category_counts, fleiss_kappa

Preference = Literal[0, 1]
TrialProtocol = Literal["plain", "fense"]
Headline = Literal["f1", "accuracy"]

AGREED = 2
"""BRACE keeps a pair when its votes add up to this much one way or the other; FENSE needs one."""


@dataclass(frozen=True, slots=True)
class CaptionPair:
    """Two captions of one clip and which of them people prefer.

    Attributes:
        clip: Names the clip; intervals resample clips, because the pairs of one hang together.
        answer: 0 where people prefer the first, 1 the second, None where they are undecided.
        type: The kind of pair, such as ``HM``; ``subtype`` is the kind in full, such as ``HM_1``.
        dataset: Where the clip is from, such as ``AudioCaps``.
        references_first: What people wrote about the clip, to hold the first caption to.
        references_second: The same for the second; it differs where a caption is a reference.
        votes: 1 for the first, -1 for the second, 0 for neither; empty where there were none.
        audio: Name of the clip's file, where it is known.
        answer_set: Whether the answer was set when the pair was made; its votes are then none.
    """

    id: str
    clip: str
    first: str
    second: str
    answer: Preference | None
    type: str
    subtype: str
    dataset: str = ""
    references_first: tuple[str, ...] = ()
    references_second: tuple[str, ...] = ()
    votes: tuple[int, ...] = ()
    audio: str | None = None
    answer_set: bool = False

    def swapped(self) -> "CaptionPair":
        """The same pair with its captions, references, votes and answer in the other order."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            answer=None if self.answer is None else _OTHER[self.answer],
            references_first=self.references_second,
            references_second=self.references_first,
            votes=tuple(-vote for vote in self.votes),
        )


_OTHER: dict[Preference, Preference] = {0: 1, 1: 0}


@dataclass(frozen=True, slots=True)
class PairSet:
    """Pairs that are judged together.

    Attributes:
        text: What was done to captions and references: ``as-is`` or ``normalised``.
        left_out: How many pairs of the files are not among them: too few votes point one way.
        protocol: ``plain``, or ``fense`` for its way to hold n-gram metrics to references.
        headline: The measure that scorers are ranked by, as published: ``f1`` or ``accuracy``.
    """

    name: str
    pairs: tuple[CaptionPair, ...]
    text: str = "as-is"
    left_out: int = 0
    protocol: TrialProtocol = "plain"
    headline: Headline = "f1"

    @property
    def decided(self) -> tuple[CaptionPair, ...]:
        """The pairs that have an answer; only these are counted."""
        return tuple(pair for pair in self.pairs if pair.answer is not None)

    def map_text(self, change: Callable[[str], str], text: str) -> "PairSet":
        """The set with every caption and reference changed, and the name of the change."""
        changed = tuple(
            replace(
                pair,
                first=change(pair.first),
                second=change(pair.second),
                references_first=tuple(map(change, pair.references_first)),
                references_second=tuple(map(change, pair.references_second)),
            )
            for pair in self.pairs
        )
        return replace(self, pairs=changed, text=text)


def normalised(text: str) -> str:
    """The text without the marks of who wrote it: stray white space and the final full stop.

    A text of nothing else keeps its full stops, so that no caption vanishes.
    """
    flat = " ".join(text.split())
    return flat.rstrip(". ") or flat


def captions(pairs: Sequence[CaptionPair]) -> list[str]:
    """All first captions, then all second ones."""
    return [pair.first for pair in pairs] + [pair.second for pair in pairs]


def references(pairs: Sequence[CaptionPair]) -> list[tuple[str, ...]]:
    """The references of ``captions``, in the same order."""
    return [pair.references_first for pair in pairs] + [pair.references_second for pair in pairs]


class Agreement(NamedTuple):
    """Fleiss' kappa over the votes of all pairs, and of those that are kept.

    None where there is nothing to agree on, or where pairs have different numbers of votes.
    """

    before: float | None
    after: float | None


def preferred(votes: Sequence[int], least: int = 1) -> Preference | None:
    """Which caption the votes prefer by at least so many; None for neither."""
    total = sum(votes)
    if abs(total) < least:
        return None
    return 0 if total > 0 else 1


def agreement(pairs: Iterable[CaptionPair], least: int = AGREED) -> Agreement:
    """How far people agree before and after pairs without a clear vote are left out.

    Pairs whose answer was set when they were made are no evidence of agreement and do not count.
    """
    votes = [pair.votes for pair in pairs if pair.votes and not pair.answer_set]
    kept = [one for one in votes if preferred(one, least) is not None]
    return Agreement(_kappa(votes), _kappa(kept))


def _kappa(votes: Sequence[Sequence[int]]) -> float | None:
    if len({len(one) for one in votes}) != 1 or len(votes[0]) < 2:
        return None
    return fleiss_kappa(category_counts(np.array(votes, dtype=np.float64).T))
