"""Puts the elements of a clip's references together and weighs them by how many agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import IntArray
from audiocapbench.metrics.elements.splitting import Element, ParsedCaption
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary
from audiocapbench.metrics.elements.words import ElementKind
from audiocapbench.metrics.porter import stem

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
MOST_ELEMENTS = 256
"""Elements of one reference that are read; captions have a dozen."""


class StagedReference(NamedTuple):
    """A reference that states an order: its affirmed elements' places and their stages."""

    start: int
    end: int
    stages: list[int]


@dataclass(frozen=True, slots=True)
class ReferenceElements:
    """What a clip's references say, and what they ask of a prediction.

    Attributes:
        affirmed: Elements that are there, reference after reference; in each, a word once.
        numbers: Their numbers in the vocabulary, as ``denied_numbers`` of what is said absent.
        starts: Where each reference that affirms anything begins.
        quoted: Distinct words that references quote.
        kind_weights: What each kind of element weighs in clips of this category.
        amount: What all that a reference affirms weighs, on average.
        weights: Of affirmed, quoted and denied elements, one after the other.
        staged: The references that state an order.
        counts: How often a word stands in the reference that repeats it most; those above 1.
    """

    affirmed: list[Element]
    numbers: IntArray
    starts: list[int]
    quoted: list[Element]
    denied: list[Element]
    denied_numbers: IntArray
    kind_weights: dict[ElementKind, float]
    amount: float
    weights: NDArray[np.float32]
    staged: list[StagedReference]
    said: frozenset[str]
    counts: dict[str, int]
    audible: bool

    @property
    def demands(self) -> list[Element]:
        """All elements, in the order of their weights."""
        return self.affirmed + self.quoted + self.denied


def quote_weight(kind_weights: dict[ElementKind, float], count: int) -> float:
    """What each of so many quoted words weighs: a long quotation weighs no more than a short."""
    return min(kind_weights[ElementKind.QUOTED], _QUOTE_AT_MOST / count)


def gather(
    captions: Sequence[ParsedCaption], category: str, vocabulary: ElementVocabulary
) -> ReferenceElements:
    """Put the elements of a clip's references together; their words must have been learnt."""
    kinds = _EXPRESSIVE_WEIGHTS if category in ("music", "speech") else _SOUND_WEIGHTS
    affirmed: list[Element] = []
    quoted: list[Element] = []
    denied: list[Element] = []
    starts: list[int] = []
    staged: list[StagedReference] = []
    counts: dict[str, int] = {}
    quoted_weights: list[float] = []
    for caption in captions:
        start, end = len(affirmed), len(quoted)
        _add(caption, affirmed, quoted, denied, counts)
        if len(affirmed) > start:
            starts.append(start)
            if caption.ordered:
                stages = [element.stage for element in affirmed[start:]]
                staged.append(StagedReference(start, len(affirmed), stages))
        if new := len(quoted) - end:
            quoted_weights += [quote_weight(kinds, new)] * new
    numbers = vocabulary.numbers([element.word for element in affirmed])
    # Weight by kind, times the share of references that mention the like.
    weights = np.array([kinds[element.kind] for element in affirmed], dtype=np.float32)
    amount = (float(weights.sum()) + sum(quoted_weights)) / max(1, len(captions))
    if affirmed:
        best = np.maximum.reduceat(vocabulary.likeness(numbers, numbers), starts, axis=1)
        weights *= np.maximum(best, 0).sum(axis=1) / np.float32(len(captions))
    if others := quoted_weights + [_DENIED_WEIGHT] * len(denied):
        extra = np.array(others, dtype=np.float32) / len(captions)
        weights = np.concatenate([weights, extra])
    return ReferenceElements(
        affirmed,
        numbers,
        starts,
        quoted,
        denied,
        vocabulary.numbers([element.word for element in denied]),
        kinds,
        amount,
        weights,
        staged,
        said=frozenset(stem(element.word) for element in quoted),
        counts=counts,
        audible=any(element.word not in ("silence", "silent") for element in affirmed),
    )


def _add(
    caption: ParsedCaption,
    affirmed: list[Element],
    quoted: list[Element],
    denied: list[Element],
    counts: dict[str, int],
) -> None:
    """Take in one reference: each word that it affirms and each that it quotes once."""
    seen: dict[str, int] = {}
    quotes: dict[str, Element] = {}
    for element in caption.elements[:MOST_ELEMENTS]:
        word, kind = element.word, element.kind
        if element.denied:
            denied.append(element)
        elif kind is ElementKind.QUOTED:
            quotes[stem(word)] = element
        elif word in seen:
            seen[word] += 1
            counts[word] = max(seen[word], counts.get(word, 1))
        elif kind is not ElementKind.VAGUE:
            seen[word] = 1
            affirmed.append(element)
    quoted += quotes.values()
