"""Votes: what people prefer, which pairs they agree on, and how far they agree at all."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from audiocapbench.meta.pairs.pair import CaptionPair, Preference
from audiocapbench.stats.agreement import category_counts, fleiss_kappa

AGREED = 2
"""BRACE keeps a pair when its votes add up to this much one way or the other."""

MADE_UNANIMOUS = frozenset({"HM_2", "MM_2"})
"""Subtypes of BRACE whose answer was set when one caption was broken on purpose: no vote."""


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
    votes = [pair.votes for pair in pairs if pair.votes and pair.subtype not in MADE_UNANIMOUS]
    kept = [one for one in votes if preferred(one, least) is not None]
    return Agreement(_kappa(votes), _kappa(kept))


def _kappa(votes: Sequence[Sequence[int]]) -> float | None:
    if len({len(one) for one in votes}) != 1 or len(votes[0]) < 2:
        return None
    return fleiss_kappa(category_counts(np.array(votes, dtype=np.float64).T))
