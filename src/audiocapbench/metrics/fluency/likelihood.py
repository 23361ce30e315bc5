"""How likely a caption's words are to follow one another, by a small n-gram model of captions.

It reads text alone. tools/train_ngrams.py counts the n-grams; they are kept as hashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.fluency.detector import (
    MIX,
    PAUSE,
    SPREAD,
    START,
    STOP,
    hash_words,
    mean_by_owner,
    sentences_of,
)
from audiocapbench.metrics.result import FloatArray
from audiocapbench.metrics.shipped import shipped_weights

ORDERS = 3
# What is left of a probability each time that the word before the last is forgotten.
_BACKED_OFF = 0.4
_UNSEEN = 0.5
_KEPT_BITS = np.uint64(32)


@dataclass(frozen=True, slots=True)
class NgramModel:
    """Counts of runs of one, two and three words, by the sorted hashes of the runs."""

    name: str
    hashes: tuple[NDArray[np.uint32], ...]
    counts: tuple[NDArray[np.uint32], ...]
    total: int

    def mean_log_probabilities(self, captions: Sequence[str]) -> FloatArray:
        """The mean, over a caption's words and its end, of the log of each one's probability.

        A run that was never counted is backed off from: the word before the last is forgotten.
        """
        framed = [framed_words(caption) for caption in captions]
        words = [word for own in framed for word in own]
        owners = np.repeat(np.arange(len(captions)), [len(own) for own in framed])
        unseen = _BACKED_OFF ** (ORDERS - 1) * _UNSEEN / self.total
        chances = np.full(len(words), unseen)
        before = np.full(len(words), float(self.total))
        for order, runs in enumerate(run_hashes(words)):
            known = self.hashes[order]
            places = np.minimum(np.searchsorted(known, runs), len(known) - 1)
            seen = np.where(known[places] == runs, self.counts[order][places], 0.0)
            left = _BACKED_OFF ** (ORDERS - 1 - order)
            shares = left * seen / np.maximum(before, np.maximum(seen, 1))
            chances = np.where(seen > 0, shares, chances)
            before[1:], before[:1] = seen[:-1], self.total
        counted = np.array([word != START for word in words], dtype=np.bool_)
        logs = np.log(chances)[counted]
        return mean_by_owner(logs, owners[counted], len(captions), np.log(unseen))


def framed_words(caption: str) -> list[str]:
    """The words of a caption's sentences, each sentence with two marks before and one behind."""
    sentences = [[word for word in own if word != PAUSE] for own in sentences_of(caption)]
    return [word for own in sentences if own for word in (START, START, *own, STOP)]


def run_hashes(words: Sequence[str]) -> list[NDArray[np.uint32]]:
    """Hashes of the runs of one, two and three words that end at each place."""
    distinct = list(dict.fromkeys(words))
    number = {word: place for place, word in enumerate(distinct)}
    own = hash_words(distinct)[np.array([number[word] for word in words], dtype=np.int64)]
    joint, found = np.zeros(len(own), dtype=np.uint64), []
    for order in range(ORDERS):
        earlier = np.zeros_like(own)
        earlier[order:] = own[: max(len(own) - order, 0)]
        joint = joint * SPREAD + earlier
        mixed = ((joint ^ (joint >> np.uint64(29))) + np.uint64(order)) * MIX
        found.append((mixed >> _KEPT_BITS).astype(np.uint32))
    return found


@cache
def load_ngrams() -> NgramModel:
    with shipped_weights("fluency", "ngrams.npz", "The n-gram model of captions") as (name, held):
        hashes = tuple(held[f"hashes_{order}"] for order in range(ORDERS))
        counts = tuple(held[f"counts_{order}"] for order in range(ORDERS))
        return NgramModel(f"trigrams@{name}", hashes, counts, int(held["total"]))
