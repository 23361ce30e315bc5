"""Says in a sentence or two why a prediction got its scores; it decides nothing."""

from collections.abc import Iterable

from audiocapbench.judges.elements.demands import ReferenceElements
from audiocapbench.judges.elements.matching import Matches
from audiocapbench.judges.elements.splitting import Element
from audiocapbench.judges.elements.weights import MATCHED, UNSUPPORTED
from audiocapbench.judges.elements.words import ElementKind

_MOST_NAMED = 5
_LONGEST_WORD = 30

EMPTY = "The prediction is empty."
NO_CONTENT = "The prediction names nothing that could be heard."
NO_REFERENCE = "The references name nothing that could be compared, so that only equal text scores."


def explain(matches: Matches, references: ReferenceElements) -> str:
    """What matched, what is missing, what is unsupported."""
    matched = [
        element
        for element, support, _ in matches.claims
        if support >= UNSUPPORTED and element.kind is not ElementKind.VAGUE
    ]
    unsupported = [element for element, support, _ in matches.claims if support < UNSUPPORTED]
    reasoning = (
        f"Matched: {_listed(matched)}; missing: {_listed(_missing(matches, references))}; "
        f"unsupported: {_listed(unsupported)}."
    )
    if matches.order.turned > matches.order.agreed:
        reasoning += " The order of events is the other way round."
    if matches.unfinished:
        reasoning += " The caption breaks off."
    return reasoning


def _missing(matches: Matches, references: ReferenceElements) -> Iterable[Element]:
    """What the prediction lacks, from what most references agree on to what one mentions."""
    demands = references.demands
    lacking = (matches.covers < MATCHED).tolist()
    return [demands[place] for place in references.by_weight if lacking[place]]


def _listed(elements: Iterable[Element]) -> str:
    distinct = list(dict.fromkeys([(element.word, element.denied) for element in elements]))
    shown = [
        ("no " if denied else "") + word[:_LONGEST_WORD] for word, denied in distinct[:_MOST_NAMED]
    ]
    if len(distinct) > _MOST_NAMED:
        shown.append(f"{len(distinct) - _MOST_NAMED} more")
    return ", ".join(shown) or "nothing"
