"""Turns matches into the three scores, from 0 to 10, and says in a sentence or two why.

The definitions stand in the package.
"""

from collections.abc import Iterable
from operator import mul
from typing import NamedTuple

import numpy as np

from audiocapbench.metrics.elements.demands import ReferenceElements
from audiocapbench.metrics.elements.matching import Matches
from audiocapbench.metrics.elements.splitting import Element
from audiocapbench.metrics.elements.words import ElementKind

RULES = 3
"""Goes up whenever a score can change."""

DIMENSIONS = ("accuracy", "completeness", "hallucination")

_ORDER_WEIGHT = 1.0
_UNFINISHED_WEIGHT = 2.5
# Likeness from which a claim is supported at all.
_UNSUPPORTED = 0.3
# What a caption that is certainly no sentence loses of its accuracy, and what it costs it, and
# completeness, to be twice as long.
_BROKEN_SHARE = 0.7
_EXCESS_WEIGHT = 0.4
# How strongly completeness falls with the amount that is said; below this share accuracy does too.
_BREVITY = 0.65
_TOO_LITTLE = 0.4
# A caption that names nothing neither invents nor reports.
_NOTHING_NAMED = 0.5
_MOST_NAMED = 5
_LONGEST_WORD = 30
_TOLD_FROM = 0.5
_QUALITIES = (ElementKind.ATTRIBUTE, ElementKind.MOOD, ElementKind.COUNT)


class Wording(NamedTuple):
    """How a prediction reads beside its references.

    ``broken`` says from 0 to 1 how much less it is a sentence than any of them, ``excess`` how
    often its length was doubled beyond them.
    """

    broken: float
    excess: float


def score(matches: Matches, references: ReferenceElements, wording: Wording) -> dict[str, float]:
    """The scores of one prediction."""
    said = _said_share(matches, references)
    length = 1 / (1 + _EXCESS_WEIGHT * wording.excess)
    whole = (1 - _BROKEN_SHARE * wording.broken) * min(1.0, said / _TOO_LITTLE)
    return {
        "accuracy": 10 * _accuracy(matches) * whole * length,
        "completeness": 10 * _completeness(matches, references) * said**_BREVITY * length,
        "hallucination": 10 * _hallucination(matches),
    }


def _accuracy(matches: Matches) -> float:
    claims = matches.claims
    total = sum(claims.weights)
    met = sum(map(mul, claims.weights, claims.supports))
    stated = matches.order.agreed + matches.order.turned
    if stated:
        total += _ORDER_WEIGHT
        met += _ORDER_WEIGHT * matches.order.agreed / stated
    if matches.unfinished:
        total += _UNFINISHED_WEIGHT
    return met / total if total else 0.0


def _completeness(matches: Matches, references: ReferenceElements) -> float:
    total = references.total
    met = float(np.add.reduce(references.weights * matches.covers))
    agreed, turned, unstated = matches.order
    wanted = agreed + turned + unstated
    if wanted:
        total += _ORDER_WEIGHT
        met += _ORDER_WEIGHT * (agreed + unstated / 2) / wanted
    return min(1.0, met / total) if total else 0.0


def _said_share(matches: Matches, references: ReferenceElements) -> float:
    """How much is said, whether right or not, of what a reference says; a word counts once."""
    said = {
        (element.word, element.kind): weight
        for element, support, weight in matches.claims.rows()
        if support or not element.denied
    }
    return min(1.0, sum(said.values()) / references.amount) if references.amount else 1.0


def _hallucination(matches: Matches) -> float:
    total = unsupported = 0.0
    for element, support, weight in matches.claims.rows():
        if element.kind in _QUALITIES and not element.denied:
            continue
        total += weight
        if support < _UNSUPPORTED:
            unsupported += weight
    if matches.unfinished:
        total += _UNFINISHED_WEIGHT
        unsupported += _UNFINISHED_WEIGHT
    share = 1 - unsupported / total if total else 1.0
    kinds = {element.kind for element in matches.claims.elements}
    names = ElementKind.VAGUE not in kinds or kinds - {ElementKind.VAGUE, ElementKind.ATTRIBUTE}
    return share if names else min(share, _NOTHING_NAMED)


def explain(matches: Matches, references: ReferenceElements, wording: Wording) -> str:
    """What matched, what is missing, what is unsupported."""
    matched = [
        element
        for element, support, _ in matches.claims.rows()
        if support >= _UNSUPPORTED and element.kind is not ElementKind.VAGUE
    ]
    unsupported = [one for one, support, _ in matches.claims.rows() if support < _UNSUPPORTED]
    # From what most references agree on to what one mentions.
    demands, heaviest = references.demands, (-references.weights).argsort(kind="stable").tolist()
    covers = matches.covers.tolist()
    missing = [demands[place] for place in heaviest if not covers[place]]
    reasoning = (
        f"Matched: {_listed(matched)}; missing: {_listed(missing)}; "
        f"unsupported: {_listed(unsupported)}."
    )
    if matches.order.turned > matches.order.agreed:
        reasoning += " The order of events is the other way round."
    if matches.unfinished:
        reasoning += " The caption breaks off."
    if wording.broken > _TOLD_FROM:
        reasoning += " It does not read as a sentence."
    if wording.excess > _TOLD_FROM:
        reasoning += " It is longer than any reference."
    return reasoning


def _listed(elements: Iterable[Element]) -> str:
    distinct = list(dict.fromkeys([(element.word, element.denied) for element in elements]))
    shown = [
        ("no " if denied else "") + word[:_LONGEST_WORD] for word, denied in distinct[:_MOST_NAMED]
    ]
    if len(distinct) > _MOST_NAMED:
        shown.append(f"{len(distinct) - _MOST_NAMED} more")
    return ", ".join(shown) or "nothing"
