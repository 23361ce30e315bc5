"""Finds which elements of a prediction the references support, and which of theirs it names.

Knows nothing of scores: it says how well each element is matched, and how much it weighs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.elements.demands import MOST_ELEMENTS, ReferenceElements, quote_weight
from audiocapbench.metrics.elements.nearness import Nearness, compare_words
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
# Distinct words of a prediction that are looked for in its references; others have no support.
_MOST_WORDS = 1_024


class Claims(NamedTuple):
    """Elements of the prediction, their support from 0 to 1, and their weights."""

    elements: list[Element]
    supports: list[float]
    weights: list[float]

    def rows(self) -> Iterator[tuple[Element, float, float]]:
        """One after the other."""
        return zip(self.elements, self.supports, self.weights, strict=True)

    def add(self, elements: Sequence[Element], supports: list[float], weight: float) -> None:
        """Claim more, each of the same weight."""
        self.elements.extend(elements)
        self.supports.extend(supports)
        self.weights.extend([weight] * len(supports))


class Order(NamedTuple):
    """Pairs of events whose order the references state.

    The prediction states it alike, the other way round, or names both without an order.
    """

    agreed: int
    turned: int
    unstated: int


_NO_ORDER = Order(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Matches:
    """All that scores and reasoning are made of.

    ``covers`` says of each demand of the references how well it is met, from 0 to 1, and 0 where
    it is not matched at all.
    """

    claims: Claims
    covers: Covers
    order: Order
    unfinished: bool


class MatchCase(NamedTuple):
    """A prediction, what its references say, and the stems of what is said in the clip."""

    prediction: ParsedCaption
    references: ReferenceElements
    transcript: frozenset[str]


def match(cases: Sequence[MatchCase], vocabulary: ElementVocabulary) -> Iterator[Matches]:
    """Match predictions with their references."""
    words = [vocabulary.numbers([e.word for e in one.prediction.affirmed]) for one in cases]
    distinct = [tuple(dict.fromkeys(own))[:_MOST_WORDS] for own in words]
    near = compare_words(distinct, [one.references.held_to for one in cases], vocabulary)
    every, covers = _supports(near), np.where(near.covers < MATCHED, 0, near.covers)
    rows, cells, columns = (starts.tolist() for starts in (near.rows, near.cells, near.columns))
    for place, one in enumerate(cases):
        order = _NO_ORDER
        if one.references.staged:
            cell = slice(cells[place], cells[place + 1])
            order = _order(one, near.best[cell].tolist(), near.stages[cell].tolist())
        supports = every[rows[place] : rows[place + 1]]
        if len(supports) < len(words[place]):
            found = dict(zip(distinct[place], supports, strict=True))
            supports = [found.get(number, 0.0) for number in words[place]]
        own = covers[columns[place] : columns[place + 1]]
        yield _match(one, words[place], supports, own, order, vocabulary)


def _match(
    case: MatchCase,
    words: Sequence[int],
    supports: list[float],
    covers: Covers,
    order: Order,
    vocabulary: ElementVocabulary,
) -> Matches:
    (prediction, references, transcript), quoted = case, []
    said = references.said | transcript if transcript else references.said
    if references.denied and words:
        absent = _any_same(vocabulary.likeness(words, references.denied_numbers))
        # What references say is absent has no support, unless one names that very thing.
        both = zip(supports, absent, strict=True)
        supports = [0.0 if no and support < _SAME else support for support, no in both]
    claims = _affirmed_claims(prediction.affirmed, supports, references, said)
    denied: list[Element] = []
    if len(prediction.elements) > len(prediction.affirmed):
        denied = [one for one in prediction.elements if one.denied]
        present = [one for one in prediction.elements if not one.denied]
        quoted = [one for one in present if one.kind is ElementKind.QUOTED]
        vague = [one for one in present if one.kind is ElementKind.VAGUE]
        support = _VAGUE_SUPPORT if references.audible else 0.0
        claims.add(vague, [support] * len(vague), references.kind_weights[ElementKind.VAGUE])
    if quoted:
        known = said | {stem(element.word) for element in references.affirmed}
        weight = quote_weight(references.kind_weights, len(quoted))
        claims.add(quoted, [float(stem(element.word) in known) for element in quoted], weight)
    if quoted or references.quoted:
        covers = _quotes_covered(prediction.affirmed, quoted, covers, references)
    if denied or references.denied:
        denials = vocabulary.numbers([element.word for element in denied])
        _claim_denied(claims, denied, denials, references, vocabulary)
        met = _any_same(vocabulary.likeness(references.denied_numbers, denials))
        covers = np.concatenate([covers, np.array(met, dtype=np.float32)])
    return Matches(claims, covers, order, prediction.unfinished)


def _supports(near: Nearness) -> list[float]:
    """Support of each affirmed element: by the best reference and by the mean of them."""
    supports = np.zeros(near.rows[-1], dtype=np.float32)
    for rows, cells in near.by_references():
        best, worst = near.best[cells], near.worst[cells]
        named = np.maximum(best, 0)
        mean = named.sum(axis=1) / np.float32(named.shape[1])
        own = named.max(axis=1) * np.float32(1 - _MEAN_SHARE) + mean * np.float32(_MEAN_SHARE)
        opposing = ((worst < 0) & (best < MATCHED)).sum(axis=1)
        own[opposing > (best >= MATCHED).sum(axis=1)] *= np.float32(_OPPOSED)
        supports[rows] = own
    found: list[float] = supports.tolist()
    return found


def _affirmed_claims(
    own: Sequence[Element],
    supports: list[float],
    references: ReferenceElements,
    said: frozenset[str],
) -> Claims:
    given, seen = list(supports), dict[str, int]()
    for place, element in enumerate(own):
        word = element.word
        before = seen.get(word, 0)
        seen[word] = before + 1
        if before and before >= references.counts.get(word, 1):
            given[place] *= _REPEATED
        elif said and given[place] < 1 and stem(word) in said:
            given[place] = 1.0
    weights = references.kind_weights
    return Claims(list(own), given, [weights[element.kind] for element in own])


def _claim_denied(
    claims: Claims,
    denied: Sequence[Element],
    numbers: Sequence[int],
    references: ReferenceElements,
    vocabulary: ElementVocabulary,
) -> None:
    """A denial counts where references deny the same, or affirm what is denied."""
    contradicted = _any_same(vocabulary.likeness(numbers, references.held_to.numbers))
    confirmed = _any_same(vocabulary.likeness(numbers, references.denied_numbers))
    for element, yes, no in zip(denied, confirmed, contradicted, strict=True):
        if yes or no:
            claims.add([element], [float(yes and not no)], references.kind_weights[element.kind])


def _any_same(likeness: Likeness) -> list[bool]:
    found: list[bool] = (likeness.max(axis=1, initial=AGAINST) >= _SAME).tolist()
    return found


def _quotes_covered(
    affirmed: Sequence[Element],
    quoted: Sequence[Element],
    covers: Covers,
    references: ReferenceElements,
) -> Covers:
    """How well affirmed and quoted elements of the references are met where any are quoted."""
    said = {stem(element.word) for element in quoted}
    named = [stem(element.word) in said for element in references.affirmed]
    known = said | {stem(element.word) for element in affirmed}
    met = [stem(element.word) in known for element in references.quoted]
    return np.concatenate([np.where(named, 1, covers), np.array(met)]).astype(np.float32)


def _order(case: MatchCase, best: list[float], stages: list[int]) -> Order:
    """Compare the order of each two sources or events that both sides name, when first named."""
    first: dict[str, Element] = {}
    for element in case.prediction.affirmed:
        first.setdefault(element.word, element)
    known = enumerate(list(first.values())[:_MOST_WORDS])
    things = [(row, own.stage) for row, own in known if own.kind <= ElementKind.EVENT]
    del things[MOST_ELEMENTS:]
    agreed = turned = unstated = 0
    step = len(case.references.held_to.starts)
    for column in case.references.staged:
        cells = [(row * step + column, stage) for row, stage in things]
        found = [(stage, stages[cell]) for cell, stage in cells if best[cell] >= MATCHED]
        for row, (stage, other_stage) in enumerate(found):
            for later, other_later in found[row + 1 :]:
                if other_later != other_stage:
                    direction = (later - stage) * (other_later - other_stage)
                    agreed += direction > 0
                    turned += direction < 0
                    unstated += direction == 0
    return Order(agreed, turned, unstated)
