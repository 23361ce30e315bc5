"""How well captions fit all clips of a set, at once: what they say of others than their own.

A word's support by each clip is looked up once, and so is what clips ask for together. The order of
events is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import IntArray, starts_of
from audiocapbench.metrics.elements.matching import (
    MATCHED,
    MEAN_SHARE,
    NOTHING_NAMED,
    QUALITIES,
    SAME,
    SOUND_WEIGHTS,
    UNFINISHED_WEIGHT,
    UNSUPPORTED,
    VAGUE_SUPPORT,
    ReferenceElements,
    quote_weight,
)
from audiocapbench.metrics.elements.splitting import ElementKind, ParsedCaption
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary, Likeness
from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.result import FloatArray, ratio

_HEAVIEST = 512  # of what clips ask for
_WORDS_AT_ONCE, _CAPTIONS_AT_ONCE = 128, 64

_KIND_WEIGHTS = np.array([SOUND_WEIGHTS[kind] for kind in ElementKind])
_IS_NAMED = np.array([kind not in QUALITIES for kind in ElementKind])

Weights = NDArray[np.float64]


class Across(NamedTuple):
    """Means over the clips of a set, of each caption."""

    accuracy: FloatArray  # the share of what it claims that a clip supports
    completeness: FloatArray  # what is taken off of the share that it meets of a clip's demands
    faithfulness: FloatArray  # the share of what it names that a clip has
    taken: float  # what is taken off of completeness where all is met


def heaviest(things: IntArray, weights: Weights) -> tuple[IntArray, Weights]:
    """The distinct things that weigh most together, and the shares of the weight that they have."""
    distinct, places = np.unique(things, return_inverse=True)
    totals = np.bincount(places, weights=weights, minlength=len(distinct))
    kept = np.sort(np.argsort(-totals, kind="stable")[:_HEAVIEST])
    return distinct[kept], totals[kept] / max(float(totals[kept].sum()), 1e-9)


def taken_off(alike: NDArray[np.bool_], sizes: Sequence[int], share: float) -> Weights:
    """What is taken off of each thing that is asked for: a share, and all where all clips ask.

    ``alike`` says of what each clip asks for, one after the other, whether it is the like of each.
    """
    starts = starts_of([size for size in sizes if size])[:-1]
    asking = np.maximum.reduceat(alike, starts, axis=1).sum(axis=1) / max(1, len(sizes))
    return np.asarray(share + (1 - share) * asking**2)


def shares_met(likeness: Likeness, rows: IntArray, starts: IntArray, weights: Weights) -> Weights:
    """The weighted mean, over the columns, of the most that any row of each caption has there."""
    lengths = np.diff(starts)
    order = np.argsort(-lengths, kind="stable")
    order, found = order[lengths[order] > 0], np.zeros(len(lengths))
    for first in range(0, len(order), _CAPTIONS_AT_ONCE):
        chosen = order[first : first + _CAPTIONS_AT_ONCE]
        begins, counts = starts[chosen], -lengths[chosen]
        best = likeness[rows[begins]]
        for place in range(1, -int(counts[0])):
            many = int(np.searchsorted(counts, -place))
            np.maximum(best[:many], likeness[rows[begins[:many] + place]], out=best[:many])
        found[chosen] = best.astype(np.float64) @ weights
    return found


class ClipSet:
    """What the clips of a set say and ask for."""

    def __init__(
        self, clips: Sequence[ReferenceElements], vocabulary: ElementVocabulary, share: float
    ) -> None:
        self._vocabulary, self._size = vocabulary, len(clips)
        held_to = [one.held_to for one in clips]
        self._words = np.array([n for one in held_to for n in one.numbers], dtype=np.int64)
        sizes = [len(one.numbers) for one in held_to]
        self._owners, before = np.repeat(np.arange(len(clips)), sizes), starts_of(sizes).tolist()
        cuts = [
            at + start for at, one in zip(before, held_to, strict=False) for start in one.starts
        ]
        self._references = np.array(cuts, dtype=np.int64)
        self._counts = np.array([len(one.starts) for one in held_to], dtype=np.int64)
        self._denied = [one.denied_numbers for one in clips]
        self._said = Counter(
            chain.from_iterable(
                one.said | {stem(element.word) for element in one.affirmed} for one in clips
            )
        )
        self._audible = sum(one.audible for one in clips) / max(1, len(clips))
        shares = [one.weights / max(float(one.weights.sum()), 1e-9) / len(clips) for one in clips]
        both = list(zip(clips, shares, strict=True))
        named = [own[: len(one.affirmed)] for one, own in both]
        weights = np.concatenate(named, dtype=np.float64) if named else np.zeros(0)
        self._asked, self._weights = heaviest(self._words, weights)
        distinct, places = np.unique(self._words, return_inverse=True)
        alike = (vocabulary.between(self._asked, distinct) >= MATCHED)[:, places]
        self._weights *= weights.sum() * taken_off(alike, sizes, share)
        self._quotes, self._denials = defaultdict[str, float](float), defaultdict[int, float](float)
        denied = Counter(chain.from_iterable(map(set, self._denied)))
        for one, own in both:
            for element, weight in zip(one.quoted, own[len(one.affirmed) :].tolist(), strict=False):
                name = stem(element.word)
                self._quotes[name] += weight * (share + (1 - share) * self._said[name] / len(clips))
            last = len(own) - len(one.denied)
            for number, weight in zip(one.denied_numbers, own[last:].tolist(), strict=True):
                taken = share + (1 - share) * denied[number] / len(clips)
                self._denials[number] += weight * taken
        others = sum(chain(self._quotes.values(), self._denials.values()))
        self._taken = float(self._weights.sum()) + others

    def compare(self, captions: Sequence[ParsedCaption]) -> Across:
        """Hold captions to all clips; one that names nothing is held to nothing."""
        said = [one.affirmed for one in captions]
        count, starts = len(captions), starts_of(list(map(len, said)))
        every = list(chain.from_iterable(said))
        numbers = np.array(self._vocabulary.numbers([e.word for e in every]), dtype=np.int64)
        kinds = np.array([element.kind for element in every], dtype=np.int64)
        owners = np.repeat(np.arange(count), np.diff(starts))
        words, rows = np.unique(numbers, return_inverse=True)
        support, invented = self._support(words)
        weights = _KIND_WEIGHTS[kinds]
        columns = [weights, weights * support[rows], weights * _IS_NAMED[kinds]]
        columns.append(columns[2] * invented[rows])
        sums = np.zeros((4, count))
        for row, column in zip(sums, columns, strict=True):
            np.add.at(row, owners, column)
        near = self._vocabulary.between(words, self._asked)
        met = shares_met(np.where(near < MATCHED, 0, near), rows, starts, self._weights)
        most = np.ones(count)
        for place, caption in enumerate(captions):
            if len(caption.elements) > len(caption.affirmed):
                sums[:, place] += self._others(caption)
                met[place] += self._denials_met(caption)
                shown = {one.kind for one in caption.elements if not one.denied}
                if shown and shown <= {ElementKind.VAGUE, ElementKind.ATTRIBUTE}:
                    most[place] = NOTHING_NAMED
            if self._quotes:
                stems = {stem(one.word) for one in caption.elements if not one.denied}
                met[place] += sum(self._quotes.get(one, 0.0) for one in stems)
        cut = UNFINISHED_WEIGHT * np.array([one.unfinished for one in captions], dtype=np.float64)
        total, supported, named, wrong = sums + np.outer((1, 0, 1, 1), cut)
        faithful = np.minimum(1 - ratio(wrong, named), most)
        return Across(ratio(supported, total), np.minimum(met, self._taken), faithful, self._taken)

    def _support(self, words: IntArray) -> tuple[Weights, Weights]:
        """The mean support of each word by a clip, and the share of clips that have none of it."""
        support, invented = np.zeros(len(words)), np.ones(len(words))
        filled = self._counts[self._counts > 0]
        if not len(filled):
            return support, invented
        distinct, places = np.unique(self._words, return_inverse=True)
        clips, silent = starts_of(filled)[:-1], self._size - len(filled)
        for start in range(0, len(words), _WORDS_AT_ONCE):
            block = slice(start, start + _WORDS_AT_ONCE)
            near = np.maximum(self._vocabulary.between(words[block], distinct), 0)
            best = np.maximum.reduceat(near[:, places], self._references, axis=1)
            mean = np.add.reduceat(best, clips, axis=1) / filled
            own = (1 - MEAN_SHARE) * np.maximum.reduceat(best, clips, axis=1) + MEAN_SHARE * mean
            support[block] = own.sum(axis=1) / self._size
            invented[block] = ((own < UNSUPPORTED).sum(axis=1) + silent) / self._size
        return support, invented

    def _others(self, caption: ParsedCaption) -> Weights:
        """What is claimed, supported, named and invented by what is vague, quoted or denied."""
        others = [one for one in caption.elements if one.denied or one.kind >= ElementKind.VAGUE]
        quoted = sum(one.kind is ElementKind.QUOTED and not one.denied for one in others)
        sums = np.zeros(4)
        for one in others:
            weight, claimed = SOUND_WEIGHTS[one.kind], 1.0
            if one.denied:
                claimed, support = self._denied_by(self._vocabulary.numbers([one.word]))
                wrong = claimed - support
            elif one.kind is ElementKind.QUOTED:
                weight = quote_weight(SOUND_WEIGHTS, quoted)
                support = self._said[stem(one.word)] / self._size
                wrong = 1 - support
            else:
                support, wrong = VAGUE_SUPPORT * self._audible, 1 - self._audible
            sums += weight * np.array([claimed, support, claimed, wrong])
        return sums

    def _denied_by(self, word: Sequence[int]) -> tuple[float, float]:
        """The shares of clips that say anything of a word, and that deny it and no more."""
        own, distinct = np.array(word), np.unique(self._words)
        same = self._vocabulary.between(own, distinct)[0] >= SAME
        affirmed = np.zeros(self._size, dtype=np.bool_)
        affirmed[self._owners[np.isin(self._words, distinct[same])]] = True
        denied = np.array(
            [bool((self._vocabulary.likeness(word, one) >= SAME).any()) for one in self._denied]
        )
        return float((affirmed | denied).mean()), float((denied & ~affirmed).mean())

    def _denials_met(self, caption: ParsedCaption) -> float:
        numbers = self._vocabulary.numbers([one.word for one in caption.elements if one.denied])
        asked = [*self._denials]
        if not (numbers and asked):
            return 0.0
        met = (self._vocabulary.likeness(asked, numbers) >= SAME).any(axis=1)
        return sum(self._denials[asked[place]] for place in np.flatnonzero(met).tolist())
