"""Turns matches into the three scores, from 0 to 10; the definitions stand in the package."""

from audiocapbench.judges.elements.demands import ReferenceElements
from audiocapbench.judges.elements.matching import Matches
from audiocapbench.judges.elements.weights import ORDER_WEIGHT, UNFINISHED_WEIGHT, UNSUPPORTED
from audiocapbench.judges.elements.words import ElementKind

DIMENSIONS = ("accuracy", "completeness", "hallucination")

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
        total += ORDER_WEIGHT
        met += ORDER_WEIGHT * matches.order.agreed / stated
    if matches.unfinished:
        total += UNFINISHED_WEIGHT
    return met / total if total else 0.0


def _completeness(matches: Matches, references: ReferenceElements) -> float:
    total = float(references.weights.sum())
    met = float((references.weights * matches.covers).sum())
    agreed, turned, unstated = matches.order
    wanted = agreed + turned + unstated
    if wanted:
        total += ORDER_WEIGHT
        met += ORDER_WEIGHT * (agreed + unstated / 2) / wanted
    return min(1.0, met / total) if total else 0.0


def _hallucination(matches: Matches) -> float:
    total = unsupported = 0.0
    for element, support, weight in matches.claims:
        if element.kind in _QUALITIES and not element.denied:
            continue
        total += weight
        if support < UNSUPPORTED:
            unsupported += weight
    if matches.unfinished:
        total += UNFINISHED_WEIGHT
        unsupported += UNFINISHED_WEIGHT
    return 1 - unsupported / total if total else 1.0
