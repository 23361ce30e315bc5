"""Puts the elements of a clip's references together and weighs them by how many agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.judges.elements.splitting import Element, ParsedCaption
from audiocapbench.judges.elements.vocabulary import ElementVocabulary
from audiocapbench.judges.elements.weights import (
    DENIED_WEIGHT,
    MOST_ELEMENTS,
    QUOTE_AT_MOST,
    weights_for,
)
from audiocapbench.judges.elements.words import ElementKind, stem_of
from audiocapbench.metrics.batches import IntArray

_VAGUE, _QUOTED = ElementKind.VAGUE, ElementKind.QUOTED


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
        numbers: Their numbers in the vocabulary.
        starts: Where each reference that affirms anything begins.
        quoted: Distinct words that references quote.
        denied: Elements that references say are absent.
        denied_numbers: Their numbers in the vocabulary.
        kind_weights: What each kind of element weighs in clips of this category.
        weights: Of affirmed, quoted and denied elements, one after the other.
        by_weight: Places in that order of elements, heaviest first.
        staged: The references that state an order.
        said: Stems of the quoted words.
        counts: How often a word stands in the reference that repeats it most; those above 1.
        audible: Whether anything but silence is affirmed.
    """

    affirmed: list[Element]
    numbers: IntArray
    starts: list[int]
    quoted: list[Element]
    denied: list[Element]
    denied_numbers: IntArray
    kind_weights: dict[ElementKind, float]
    weights: NDArray[np.float32]
    by_weight: list[int]
    staged: list[StagedReference]
    said: frozenset[str]
    counts: dict[str, int]
    audible: bool

    @property
    def demands(self) -> list[Element]:
        """All elements, in the order of their weights."""
        return self.affirmed + self.quoted + self.denied


class _ReferenceCollector:
    """Elements while they are collected from one reference after the other."""

    def __init__(self, kind_weights: dict[ElementKind, float]) -> None:
        self.kind_weights = kind_weights
        self.affirmed: list[Element] = []
        self.starts: list[int] = []
        self.staged: list[StagedReference] = []
        self.quoted: list[Element] = []
        self.quoted_weights: list[float] = []
        self.denied: list[Element] = []
        self.counts: dict[str, int] = {}

    def add(self, caption: ParsedCaption) -> None:
        """Take in one reference."""
        start = len(self.affirmed)
        seen: dict[str, int] = {}
        quoted: dict[str, Element] = {}
        for element in caption.elements[:MOST_ELEMENTS]:
            word, kind, _, denied = element
            if denied:
                self.denied.append(element)
            elif kind is _QUOTED:
                quoted[stem_of(word)] = element
            elif word in seen:
                seen[word] += 1
                self.counts[word] = max(seen[word], self.counts.get(word, 1))
            elif kind is not _VAGUE:
                seen[word] = 1
                self.affirmed.append(element)
        if seen:
            self.starts.append(start)
        if seen and caption.ordered:
            stages = [element.stage for element in self.affirmed[start:]]
            self.staged.append(StagedReference(start, len(self.affirmed), stages))
        if quoted:
            weight = min(self.kind_weights[_QUOTED], QUOTE_AT_MOST / len(quoted))
            self.quoted += quoted.values()
            self.quoted_weights += [weight] * len(quoted)


def gather(
    captions: Sequence[ParsedCaption], category: str, vocabulary: ElementVocabulary
) -> ReferenceElements:
    """Put the elements of a clip's references together; their words must have been learnt."""
    found = _ReferenceCollector(weights_for(category))
    for caption in captions:
        found.add(caption)
    numbers = vocabulary.numbers([element.word for element in found.affirmed])
    weights = _weigh(found, numbers, vocabulary, len(captions))
    return ReferenceElements(
        affirmed=found.affirmed,
        numbers=numbers,
        starts=found.starts,
        quoted=found.quoted,
        denied=found.denied,
        denied_numbers=vocabulary.numbers([element.word for element in found.denied]),
        kind_weights=found.kind_weights,
        weights=weights,
        by_weight=np.argsort(-weights, kind="stable").tolist(),
        staged=found.staged,
        said=frozenset(stem_of(element.word) for element in found.quoted),
        counts=found.counts,
        audible=any(element.word not in ("silence", "silent") for element in found.affirmed),
    )


def _weigh(
    found: _ReferenceCollector, numbers: IntArray, vocabulary: ElementVocabulary, references: int
) -> NDArray[np.float32]:
    """Weight by kind, times the share of references that mention the like."""
    kinds = found.kind_weights
    weights = np.array([kinds[element.kind] for element in found.affirmed], dtype=np.float32)
    if found.affirmed:
        likeness = vocabulary.likeness(numbers, numbers)
        best = np.maximum.reduceat(likeness, found.starts, axis=1)
        weights *= np.maximum(best, 0).sum(axis=1) / np.float32(references)
    others = found.quoted_weights + [DENIED_WEIGHT] * len(found.denied)
    if not others:
        return weights
    return np.concatenate([weights, np.array(others, dtype=np.float32) / references])
