"""Puts the elements of a clip's references together and weighs them by how many agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import starts_of
from audiocapbench.metrics.elements.nearness import ReferenceWords, compare_words
from audiocapbench.metrics.elements.splitting import Element, ParsedCaption
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary
from audiocapbench.metrics.elements.words import ElementKind
from audiocapbench.metrics.porter import stem

Weights = NDArray[np.float32]

# How much elements count, tuned on half of the clips of AudioCaps-Eval, as are all numbers here.
_SOUND_WEIGHTS = {
    ElementKind.SOURCE: 1.0,
    ElementKind.EVENT: 1.0,
    ElementKind.ATTRIBUTE: 0.4,
    ElementKind.MOOD: 0.5,
    ElementKind.COUNT: 0.3,
    ElementKind.VAGUE: 0.2,
    ElementKind.QUOTED: 0.3,
}
# In music and speech, tempo, style and mood are much of what there is to say.
_EXPRESSIVE_WEIGHTS = {**_SOUND_WEIGHTS, ElementKind.ATTRIBUTE: 0.7, ElementKind.MOOD: 0.8}
_DENIED_WEIGHT = 0.3
_QUOTE_AT_MOST = 1.5
_EXPRESSIVE = ("music", "speech")
MOST_ELEMENTS = 256
"""Elements of one reference that are read; captions have a dozen."""


@dataclass(frozen=True, slots=True)
class ReferenceElements:
    """What a clip's references say, and what they ask of a prediction.

    Attributes:
        affirmed: Elements that are there, reference after reference; in each, a word once.
        held_to: Their words by number and where each reference that affirms anything begins.
        staged: Which of these state an order.
        quoted: Distinct words that references quote.
        denied: What is said absent, and ``denied_numbers`` in the vocabulary.
        kind_weights: What each kind of element weighs in clips of this category.
        amount: What all that a reference affirms weighs, on average.
        weights: Of affirmed, quoted and denied elements, one after the other; and their sum.
        counts: How often a word stands in the reference that repeats it most; those above 1.
    """

    affirmed: tuple[Element, ...]
    held_to: ReferenceWords
    staged: tuple[int, ...]
    quoted: tuple[Element, ...]
    denied: tuple[Element, ...]
    denied_numbers: tuple[int, ...]
    kind_weights: dict[ElementKind, float]
    amount: float
    weights: Weights
    total: float
    said: frozenset[str]
    counts: dict[str, int]
    audible: bool

    @property
    def demands(self) -> tuple[Element, ...]:
        """All elements, in the order of their weights."""
        return self.affirmed + self.quoted + self.denied


def quote_weight(kind_weights: dict[ElementKind, float], count: int) -> float:
    """What each of so many quoted words weighs: a long quotation weighs no more than a short."""
    return min(kind_weights[ElementKind.QUOTED], _QUOTE_AT_MOST / count)


class _Demand(NamedTuple):
    """What one reference says: each word that it affirms and each that it quotes once."""

    affirmed: tuple[Element, ...]
    numbers: tuple[int, ...]
    stages: tuple[int, ...]
    quoted: tuple[Element, ...]
    denied: tuple[Element, ...]
    counts: dict[str, int]
    ordered: bool


def gather(
    keys: Sequence[tuple[str, ...]],
    read: Mapping[str, ParsedCaption],
    vocabulary: ElementVocabulary,
) -> list[ReferenceElements]:
    """Put the elements of each clip's references together; their words must have been learnt.

    Args:
        keys: The category of each clip, and its references.
        read: References as they were read.
        vocabulary: Where their words are.
    """
    texts = dict.fromkeys(chain.from_iterable(key[1:] for key in keys))
    said = {text: _demand(read[text], vocabulary) for text in texts}
    clips = [[said[text] for text in key[1:]] for key in keys]
    schemes = [_EXPRESSIVE_WEIGHTS if k[0] in _EXPRESSIVE else _SOUND_WEIGHTS for k in keys]
    every = [_held_to(own) for own in clips]
    distinct = [dict.fromkeys(one.numbers) for one in every]
    near = compare_words([tuple(own) for own in distinct], every, vocabulary)
    both = zip(schemes, clips, strict=True)
    kinds = np.array(
        [scheme[e.kind] for scheme, own in both for one in own for e in one.affirmed],
        dtype=np.float32,
    )
    # Weight by kind, times the share of references that mention the like.
    mentions = np.zeros(near.rows[-1], dtype=np.float32)
    for rows, cells in near.by_references():
        mentions[rows] = np.maximum(near.best[cells], 0).sum(axis=1)
    places: list[int] = []
    for start, own, one in zip(near.rows.tolist(), distinct, every, strict=False):
        row = dict(zip(own, range(start, start + len(own)), strict=True))
        places += map(row.__getitem__, one.numbers)
    counts = np.array([len(own) for own in clips], dtype=np.float32)
    lengths = [len(one.numbers) for one in every]
    weights = kinds.copy()
    weights *= mentions[np.array(places, dtype=np.int64)] / np.repeat(counts, lengths)
    runs = [slice(*two) for two in pairwise(starts_of(lengths).tolist())]
    return [
        _weighed(own, held_to, scheme, kinds[run], weights[run], vocabulary)
        for own, held_to, scheme, run in zip(clips, every, schemes, runs, strict=True)
    ]


def _demand(caption: ParsedCaption, vocabulary: ElementVocabulary) -> _Demand:
    seen: dict[str, int] = {}
    affirmed, denied = [], []
    quotes: dict[str, Element] = {}
    for element in caption.elements[:MOST_ELEMENTS]:
        word, kind = element.word, element.kind
        if element.denied:
            denied.append(element)
        elif kind is ElementKind.QUOTED:
            quotes[stem(word)] = element
        elif word in seen:
            seen[word] += 1
        elif kind is not ElementKind.VAGUE:
            seen[word] = 1
            affirmed.append(element)
    return _Demand(
        tuple(affirmed),
        vocabulary.numbers([element.word for element in affirmed]),
        tuple([element.stage for element in affirmed]),
        tuple(quotes.values()),
        tuple(denied),
        {word: count for word, count in seen.items() if count > 1},
        caption.ordered,
    )


def _held_to(clip: Sequence[_Demand]) -> ReferenceWords:
    numbers, stages = (
        tuple(chain.from_iterable(lists))
        for lists in ([one.numbers for one in clip], [one.stages for one in clip])
    )
    lengths = [len(one.numbers) for one in clip if one.numbers]
    return ReferenceWords(
        numbers, stages, tuple(accumulate(lengths[:-1], initial=0)) if lengths else ()
    )


def _weighed(
    clip: Sequence[_Demand],
    held_to: ReferenceWords,
    scheme: dict[ElementKind, float],
    kinds: Weights,
    weights: Weights,
    vocabulary: ElementVocabulary,
) -> ReferenceElements:
    """Put one clip's references together, whose affirmed elements weigh so much."""
    affirmed, quoted, denied = (
        tuple(chain.from_iterable(lists))
        for lists in (
            [one.affirmed for one in clip],
            [one.quoted for one in clip],
            [one.denied for one in clip],
        )
    )
    speaking = [one for one in clip if one.affirmed]
    quotes = [quote_weight(scheme, len(one.quoted)) for one in clip for _ in one.quoted]
    amount = (float(np.add.reduce(kinds)) + sum(quotes)) / max(1, len(clip))
    if others := quotes + [_DENIED_WEIGHT] * len(denied):
        weights = np.concatenate([weights, np.array(others, dtype=np.float32) / len(clip)])
    counts: dict[str, int] = {}
    for word, count in chain.from_iterable(one.counts.items() for one in clip):
        counts[word] = max(count, counts.get(word, 1))
    return ReferenceElements(
        affirmed,
        held_to,
        tuple([column for column, one in enumerate(speaking) if one.ordered]),
        quoted,
        denied,
        vocabulary.numbers([element.word for element in denied]),
        scheme,
        amount,
        weights,
        float(np.add.reduce(weights)),
        said=frozenset([stem(element.word) for element in quoted]),
        counts=counts,
        audible=any(element.word not in ("silence", "silent") for element in affirmed),
    )
