"""Turns matches into the three scores, from 0 to 10, and says in a sentence or two why.

The definitions stand in the package.
"""

from collections.abc import Iterable

from audiocapbench.metrics.elements.demands import ReferenceElements
from audiocapbench.metrics.elements.matching import MATCHED, Matches
from audiocapbench.metrics.elements.splitting import Element
from audiocapbench.metrics.elements.words import ElementKind

DIMENSIONS = ("accuracy", "completeness", "hallucination")

_ORDER_WEIGHT = 1.0
_UNFINISHED_WEIGHT = 2.5
# Likeness from which a claim is supported at all.
_UNSUPPORTED = 0.3
_MOST_NAMED = 5
_LONGEST_WORD = 30
_QUALITIES = (ElementKind.ATTRIBUTE, ElementKind.MOOD, ElementKind.COUNT)


def score(matches: Matches, references: ReferenceElements) -> dict[str, float]:
    """The scores of one prediction."""
    return {
        "accuracy": 10 * _accuracy(matches),
        "completeness": 10 * _completeness(matches, references),
        "hallucination": 10 * _hallucination(matches),
    }


def _accuracy(matches: Matches) -> float:
    total = met = 0.0
    for _, support, weight in matches.claims:
        total += weight
        met += weight * support
    stated = matches.order.agreed + matches.order.turned
    if stated:
        total += _ORDER_WEIGHT
        met += _ORDER_WEIGHT * matches.order.agreed / stated
    if matches.unfinished:
        total += _UNFINISHED_WEIGHT
    return met / total if total else 0.0


def _completeness(matches: Matches, references: ReferenceElements) -> float:
    total = float(references.weights.sum())
    met = float((references.weights * matches.covers).sum())
    agreed, turned, unstated = matches.order
    wanted = agreed + turned + unstated
    if wanted:
        total += _ORDER_WEIGHT
        met += _ORDER_WEIGHT * (agreed + unstated / 2) / wanted
    return min(1.0, met / total) if total else 0.0


def _hallucination(matches: Matches) -> float:
    total = unsupported = 0.0
    for element, support, weight in matches.claims:
        if element.kind in _QUALITIES and not element.denied:
            continue
        total += weight
        if support < _UNSUPPORTED:
            unsupported += weight
    if matches.unfinished:
        total += _UNFINISHED_WEIGHT
        unsupported += _UNFINISHED_WEIGHT
    return 1 - unsupported / total if total else 1.0


def explain(matches: Matches, references: ReferenceElements) -> str:
    """What matched, what is missing, what is unsupported."""
    matched = [
        element
        for element, support, _ in matches.claims
        if support >= _UNSUPPORTED and element.kind is not ElementKind.VAGUE
    ]
    unsupported = [element for element, support, _ in matches.claims if support < _UNSUPPORTED]
    # From what most references agree on to what one mentions.
    demands, heaviest = references.demands, (-references.weights).argsort(kind="stable").tolist()
    lacking = (matches.covers < MATCHED).tolist()
    missing = [demands[place] for place in heaviest if lacking[place]]
    reasoning = (
        f"Matched: {_listed(matched)}; missing: {_listed(missing)}; "
        f"unsupported: {_listed(unsupported)}."
    )
    if matches.order.turned > matches.order.agreed:
        reasoning += " The order of events is the other way round."
    if matches.unfinished:
        reasoning += " The caption breaks off."
    return reasoning


def _listed(elements: Iterable[Element]) -> str:
    distinct = list(dict.fromkeys([(element.word, element.denied) for element in elements]))
    shown = [
        ("no " if denied else "") + word[:_LONGEST_WORD] for word, denied in distinct[:_MOST_NAMED]
    ]
    if len(distinct) > _MOST_NAMED:
        shown.append(f"{len(distinct) - _MOST_NAMED} more")
    return ", ".join(shown) or "nothing"
