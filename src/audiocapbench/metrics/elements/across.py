"""How well captions fit all clips of a set, at once: what they say of others than their own.

A word's support by each clip is looked up once, and so is what clips ask for together. The order of
events is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from audiocapbench.metrics.batches import IntArray, starts_of
from audiocapbench.metrics.elements.matching import (
    MATCHED,
    MEAN_SHARE,
    SAME,
    SOUND_WEIGHTS,
    VAGUE_SUPPORT,
    ReferenceElements,
    quote_weight,
)
from audiocapbench.metrics.elements.splitting import ElementKind, ParsedCaption
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary, Likeness
from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.result import FloatArray

_HEAVIEST = 512  # of what clips ask for
_WORDS_AT_ONCE, _CAPTIONS_AT_ONCE = 128, 64

_KIND_WEIGHTS = np.array([SOUND_WEIGHTS[kind] for kind in ElementKind])


class Across(NamedTuple):
    """Means over the clips of a set, of each caption."""

    supported: FloatArray  # the weight of what it says, each word once, and a clip supports
    completeness: FloatArray  # the share of a clip's demands that it meets
    last: FloatArray  # the support of what its last word says


def heaviest(things: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """The distinct things that weigh most together, and the shares of the weight that they have."""
    distinct, places = np.unique(things, return_inverse=True)
    totals = np.bincount(places, weights=weights, minlength=len(distinct))
    kept = np.sort(np.argsort(-totals, kind="stable")[:_HEAVIEST])
    return distinct[kept], totals[kept] / max(float(totals[kept].sum()), 1e-9)


def shares_met(
    likeness: Likeness, rows: IntArray, starts: IntArray, weights: FloatArray
) -> FloatArray:
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

    def __init__(self, clips: Sequence[ReferenceElements], vocabulary: ElementVocabulary) -> None:
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
        words = chain.from_iterable(one.affirmed for one in clips)
        stems = dict(zip(self._words.tolist(), (stem(one.word) for one in words), strict=True))
        named = [own[: len(one.affirmed)] for one, own in both]
        weights = np.concatenate(named, dtype=np.float64) if named else np.zeros(0)
        self._asked, self._weights = heaviest(self._words, weights)
        self._asked_stems = list(map(stems.__getitem__, self._asked.tolist()))
        self._weights *= weights.sum()
        self._quotes, self._denials = defaultdict[str, float](float), defaultdict[int, float](float)
        for one, own in both:
            for element, weight in zip(one.quoted, own[len(one.affirmed) :].tolist(), strict=False):
                self._quotes[stem(element.word)] += weight
            last = len(own) - len(one.denied)
            for number, weight in zip(one.denied_numbers, own[last:].tolist(), strict=True):
                self._denials[number] += weight

    def compare(self, captions: Sequence[ParsedCaption]) -> Across:
        """Hold captions to all clips; one that names nothing is held to nothing."""
        said = [one.affirmed for one in captions]
        count, starts = len(captions), starts_of(list(map(len, said)))
        every = list(chain.from_iterable(said))
        numbers = np.array(self._vocabulary.numbers([e.word for e in every]), dtype=np.int64)
        kinds = np.array([element.kind for element in every], dtype=np.int64)
        owners = np.repeat(np.arange(count), np.diff(starts))
        words, rows = np.unique(numbers, return_inverse=True)
        said_once = zip(owners.tolist(), [(e.word, e.kind) for e in every], strict=True)
        last = {word: place for place, word in enumerate(said_once)}
        once = np.fromiter(last.values(), np.int64)
        support, of_last = self._support(words)[rows], np.zeros(count)
        ends = np.flatnonzero([one.ends_on is not None for one in captions])
        of_last[ends] = support[starts[ends + 1] - 1]
        weights = _KIND_WEIGHTS[kinds[once]] * support[once]
        supported = np.bincount(owners[once], weights, minlength=count).astype(np.float64)
        near = self._vocabulary.between(words, self._asked)
        near = np.where(near < MATCHED, 0, near)
        met = shares_met(near, rows, starts, self._weights)
        for place, caption in enumerate(captions):
            if len(caption.elements) > len(caption.affirmed):
                supported[place] += self._others(caption)
                met[place] += self._denials_met(caption)
                quotes = {stem(e.word) for e in caption.elements if e.kind is ElementKind.QUOTED}
                if quotes:
                    best = near[rows[starts[place] : starts[place + 1]]].max(axis=0, initial=0)
                    heard = np.array(list(map(quotes.__contains__, self._asked_stems)))
                    met[place] += float(self._weights @ (heard * (1 - best)))
            if self._quotes:
                stems = {stem(one.word) for one in caption.elements if not one.denied}
                met[place] += sum(self._quotes.get(one, 0.0) for one in stems)
        return Across(supported, np.minimum(met, 1), of_last)

    def _support(self, words: IntArray) -> FloatArray:
        """The mean support of each word by a clip."""
        support = np.zeros(len(words))
        filled = self._counts[self._counts > 0]
        if not len(filled):
            return support
        distinct, places = np.unique(self._words, return_inverse=True)
        clips = starts_of(filled)[:-1]
        for start in range(0, len(words), _WORDS_AT_ONCE):
            block = slice(start, start + _WORDS_AT_ONCE)
            near = np.maximum(self._vocabulary.between(words[block], distinct), 0)
            best = np.maximum.reduceat(near[:, places], self._references, axis=1)
            mean = np.add.reduceat(best, clips, axis=1) / filled
            own = (1 - MEAN_SHARE) * np.maximum.reduceat(best, clips, axis=1) + MEAN_SHARE * mean
            support[block] = own.sum(axis=1) / self._size
        return support

    def _others(self, caption: ParsedCaption) -> float:
        """The weight of what is supported of what is vague, quoted or denied."""
        others = [one for one in caption.elements if one.denied or one.kind >= ElementKind.VAGUE]
        quoted = sum(one.kind is ElementKind.QUOTED and not one.denied for one in others)
        total = 0.0
        for one in others:
            weight = SOUND_WEIGHTS[one.kind]
            if one.denied:
                support = self._denied_by(self._vocabulary.numbers([one.word]))
            elif one.kind is ElementKind.QUOTED:
                weight = quote_weight(SOUND_WEIGHTS, quoted)
                support = self._said[stem(one.word)] / self._size
            else:
                support = VAGUE_SUPPORT * self._audible
            total += weight * support
        return total

    def _denied_by(self, word: Sequence[int]) -> float:
        """The share of clips that deny a word and say no more of it."""
        own, distinct = np.array(word), np.unique(self._words)
        same = self._vocabulary.between(own, distinct)[0] >= SAME
        affirmed = np.zeros(self._size, dtype=np.bool_)
        affirmed[self._owners[np.isin(self._words, distinct[same])]] = True
        denied = np.array(
            [bool((self._vocabulary.likeness(word, one) >= SAME).any()) for one in self._denied]
        )
        return float((denied & ~affirmed).mean())

    def _denials_met(self, caption: ParsedCaption) -> float:
        numbers = self._vocabulary.numbers([one.word for one in caption.elements if one.denied])
        asked = [*self._denials]
        if not (numbers and asked):
            return 0.0
        met = (self._vocabulary.likeness(asked, numbers) >= SAME).any(axis=1)
        return sum(self._denials[asked[place]] for place in np.flatnonzero(met).tolist())
