"""Finds which elements of a prediction the references support, and which of theirs it names.

Knows nothing of scores: it says how well each element is matched, and how much it weighs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.elements.demands import (
    MOST_ELEMENTS,
    ReferenceElements,
    StagedReference,
    quote_weight,
)
from audiocapbench.metrics.elements.splitting import Element, ParsedCaption
from audiocapbench.metrics.elements.vocabulary import AGAINST, ElementVocabulary, Likeness
from audiocapbench.metrics.elements.words import ElementKind
from audiocapbench.metrics.porter import stem

Covers = NDArray[np.float32]

# Support of a claim: the best reference, and the mean over references.
_MEAN_SHARE = 0.2
# A word that is said more often than in any reference keeps this much of its support.
_REPEATED = 0.6
# One that more references exclude than name, "woman" where most say "man", keeps this much.
_OPPOSED = 0.3
_VAGUE_SUPPORT = 0.5
# Likeness from which two words are one element, or match at all.
_SAME = 0.8
MATCHED = 0.45


class WeightedClaim(NamedTuple):
    """An element of the prediction, its support from 0 to 1, and its weight."""

    element: Element
    support: float
    weight: float


class Order(NamedTuple):
    """Pairs of events whose order the references state.

    The prediction states it alike, the other way round, or names both without an order.
    """

    agreed: int
    turned: int
    unstated: int


@dataclass(frozen=True, slots=True)
class Matches:
    """All that scores and reasoning are made of.

    ``covers`` says of each demand of the references how well it is met, from 0 to 1.
    """

    claims: list[WeightedClaim]
    covers: Covers
    order: Order
    unfinished: bool


def match(
    prediction: ParsedCaption,
    references: ReferenceElements,
    transcript: frozenset[str],
    vocabulary: ElementVocabulary,
) -> Matches:
    """Match a prediction with the references."""
    denied = [one for one in prediction.elements if one.denied]
    present = [one for one in prediction.elements if not one.denied]
    vague = [one for one in present if one.kind is ElementKind.VAGUE]
    quoted = [one for one in present if one.kind is ElementKind.QUOTED]
    affirmed = [one for one in present if one.kind < ElementKind.VAGUE]
    numbers = vocabulary.numbers([element.word for element in affirmed])
    likeness = vocabulary.likeness(numbers, references.numbers)
    said = references.said | transcript if transcript else references.said
    supports = _supports(likeness, references)
    if references.denied and affirmed:
        supports = _less_denied(supports, vocabulary.likeness(numbers, references.denied_numbers))
    claims = _affirmed_claims(affirmed, supports, references, said)
    if vague:
        support = _VAGUE_SUPPORT if references.audible else 0.0
        weight = references.kind_weights[ElementKind.VAGUE]
        claims += [WeightedClaim(element, support, weight) for element in vague]
    if quoted:
        claims += _quoted_claims(quoted, references, said)
    covers = _covers(affirmed, quoted, likeness, references)
    if denied or references.denied:
        denials = vocabulary.numbers([element.word for element in denied])
        claims += _denied_claims(denied, denials, references, vocabulary)
        met = _any_same(vocabulary.likeness(references.denied_numbers, denials))
        covers = np.concatenate([covers, np.array(met, dtype=np.float32)])
    order = _order(affirmed, likeness, references.staged)
    return Matches(claims, covers, order, prediction.unfinished)


def _supports(likeness: Likeness, references: ReferenceElements) -> list[float]:
    """Support of each affirmed element: by the best reference and by the mean of them."""
    if not likeness.size:
        return [0.0] * len(likeness)
    best = np.maximum.reduceat(likeness, references.starts, axis=1)
    named = np.maximum(best, 0)
    mean = named.sum(axis=1) / np.float32(named.shape[1])
    supports = named.max(axis=1) * np.float32(1 - _MEAN_SHARE) + mean * np.float32(_MEAN_SHARE)
    if likeness.min() < 0:
        worst = np.minimum.reduceat(likeness, references.starts, axis=1)
        opposing = ((worst < 0) & (best < MATCHED)).sum(axis=1)
        supports[opposing > (best >= MATCHED).sum(axis=1)] *= np.float32(_OPPOSED)
    found: list[float] = supports.tolist()
    return found


def _less_denied(supports: list[float], likeness: Likeness) -> list[float]:
    """What references say is absent has no support, unless one names that very thing."""
    denied = _any_same(likeness)
    return [
        0.0 if absent and support < _SAME else support
        for support, absent in zip(supports, denied, strict=True)
    ]


def _affirmed_claims(
    own: list[Element], supports: list[float], references: ReferenceElements, said: frozenset[str]
) -> list[WeightedClaim]:
    claims = []
    seen: dict[str, int] = {}
    for element, given in zip(own, supports, strict=True):
        word, support = element.word, given
        before = seen.get(word, 0)
        seen[word] = before + 1
        if before and before >= references.counts.get(word, 1):
            support *= _REPEATED
        elif said and support < 1 and stem(word) in said:
            support = 1.0
        claims.append(WeightedClaim(element, support, references.kind_weights[element.kind]))
    return claims


def _quoted_claims(
    quoted: list[Element], references: ReferenceElements, said: frozenset[str]
) -> list[WeightedClaim]:
    known = said | {stem(element.word) for element in references.affirmed}
    weight = quote_weight(references.kind_weights, len(quoted))
    return [
        WeightedClaim(element, float(stem(element.word) in known), weight) for element in quoted
    ]


def _denied_claims(
    denied: list[Element],
    numbers: NDArray[np.int64],
    references: ReferenceElements,
    vocabulary: ElementVocabulary,
) -> list[WeightedClaim]:
    """A denial counts where references deny the same, or affirm what is denied."""
    contradicted = _any_same(vocabulary.likeness(numbers, references.numbers))
    confirmed = _any_same(vocabulary.likeness(numbers, references.denied_numbers))
    return [
        WeightedClaim(element, float(yes and not no), references.kind_weights[element.kind])
        for element, yes, no in zip(denied, confirmed, contradicted, strict=True)
        if yes or no
    ]


def _any_same(likeness: Likeness) -> list[bool]:
    best = likeness.max(axis=1, initial=AGAINST)
    return [bool(value >= _SAME) for value in best]


def _covers(
    affirmed: list[Element],
    quoted: list[Element],
    likeness: Likeness,
    references: ReferenceElements,
) -> Covers:
    """How well affirmed and quoted elements of the references are met."""
    if affirmed and references.affirmed:
        covers: Covers = np.maximum(likeness.max(axis=0), 0)
    else:
        covers = np.zeros(len(references.affirmed), dtype=np.float32)
    said = {stem(element.word) for element in quoted}
    if said:
        covers[[stem(element.word) in said for element in references.affirmed]] = 1
    if references.quoted:
        known = said | {stem(element.word) for element in affirmed}
        met = [stem(element.word) in known for element in references.quoted]
        covers = np.concatenate([covers, np.array(met, dtype=np.float32)])
    return covers


def _order(own: list[Element], likeness: Likeness, staged: Sequence[StagedReference]) -> Order:
    """Compare the order of each two sources or events that both sides name, when first named."""
    if not staged:
        return Order(0, 0, 0)
    first = {element.word: row for row, element in reversed(list(enumerate(own)))}
    things = [row for row in sorted(first.values()) if own[row].kind <= ElementKind.EVENT][
        :MOST_ELEMENTS
    ]
    agreed = turned = unstated = 0
    for start, end, stages in staged if len(things) > 1 else ():
        part = likeness[:, start:end]
        places = part.argmax(axis=1).tolist()
        strengths = part.max(axis=1).tolist()
        found = [
            (own[row].stage, stages[places[row]]) for row in things if strengths[row] >= MATCHED
        ]
        for row, (stage, other_stage) in enumerate(found):
            for later, other_later in found[row + 1 :]:
                direction = (later - stage) * (other_later - other_stage)
                agreed += direction > 0
                turned += direction < 0
                unstated += later == stage and other_later != other_stage
    return Order(agreed, turned, unstated)
