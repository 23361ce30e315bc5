"""Compares captions with their references, many at a time: the three scores, and why."""

import threading
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from audiocapbench.metrics.elements.across import Across, ClipSet
from audiocapbench.metrics.elements.matching import Claim, Matches, ReferenceElements, gather, match
from audiocapbench.metrics.elements.splitting import Element, ElementKind, split, words_of
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.fluency.detector import breaks_off, excess_length, load_detector, longest
from audiocapbench.metrics.porter import stem

RULES = 10  # goes up whenever a score can change
_WORDS_KEPT = 50_000
_REFERENCES_KEPT = 20_000
_AT_ONCE = 4_096
# Below this probability a caption is not taken for broken, and above this one it surely is.
_SURELY_WHOLE, SURELY_BROKEN = 0.2, 0.5
_ORDER_WEIGHT = 1.0
# Likeness from which a claim is supported at all.
_UNSUPPORTED = 0.3
# What a caption that breaks off claims in vain.
_UNFINISHED_WEIGHT = 2.5
# A caption that names nothing neither invents nor reports.
_NOTHING_NAMED = 0.5
# Of how something sounds, references say little: it cannot be invented.
_QUALITIES = (ElementKind.ATTRIBUTE, ElementKind.MOOD, ElementKind.COUNT)
# What a caption that is certainly no sentence loses of its accuracy, and what it costs it, and
# completeness, to be twice as long.
_BROKEN_SHARE = 0.7
_EXCESS_WEIGHT = 0.4
# How strongly completeness falls with the amount that is said; below this share accuracy does too.
_BREVITY = 0.65
_TOO_LITTLE = 0.4
_MOST_NAMED = 5
_LONGEST_WORD = 30
_TOLD_FROM = 0.5
_Lengths = tuple[float, int]


class ElementCase(NamedTuple):
    """A caption and its references as plain text, with one of the paper's categories."""

    prediction: str
    references: tuple[str, ...]
    category: str = ""
    transcript: str | None = None


class ElementScores(NamedTuple):
    scores: dict[str, float]  # from 0 to 10
    unfinished: bool
    error: float  # the probability that it is broken
    usual: float  # that of the reference that reads worst
    excess: float  # how often its length was doubled
    references: ReferenceElements
    met: float = 0.0  # the share of the demands that it meets, whatever its form
    supported: float = 0.0  # the weight of what references support, each word once
    last: float = 0.0  # the support of what its last word says
    matches: Matches | None = None
    remark: str = ""  # why nothing matched

    @property
    def length(self) -> float:
        """What its length leaves it: 1 unless it is longer than any reference."""
        return 1 / (1 + _EXCESS_WEIGHT * self.excess)

    def wholeness(self, at_least: float = 0.0) -> float:
        """What it keeps for being a sentence, as far as it reads worse than any reference.

        They may be of a style of their own. ``at_least`` is the probability that counts at all.
        """
        usual = max(self.usual, at_least)
        broken = (self.error - usual) / (1 - usual) if self.error > usual else 0.0
        return 1 - _BROKEN_SHARE * broken

    @property
    def reasoning(self) -> str:
        if self.matches is None:
            return self.remark
        claims, covers, (agreed, turned, _) = self.matches
        kept = [
            one.element
            for one in claims
            if one.support >= _UNSUPPORTED and one.element.kind is not ElementKind.VAGUE
        ]
        unsupported = [one for one in claims if one.support < _UNSUPPORTED]
        invented = [one.element for one in unsupported if _is_named(one)]
        qualities = [one.element for one in unsupported if not _is_named(one)]
        aside = f" (not counted: {_listed(qualities)})" if qualities else ""
        # From what most references agree on to what one mentions.
        references = self.references
        demands = references.affirmed + references.quoted + references.denied
        heaviest = (-references.weights).argsort(kind="stable").tolist()
        missing = [demands[place] for place in heaviest if not covers[place]]
        remarks = {
            " The order of events is the other way round.": turned > agreed,
            " It names nothing in particular.": _names_nothing(claims),
            " The caption breaks off.": self.unfinished,
            " It does not read as a sentence.": self.wholeness() < 1 - _BROKEN_SHARE * _TOLD_FROM,
            " It is longer than any reference.": self.excess > _TOLD_FROM,
        }
        return (
            f"Matched: {_listed(kept)}; missing: {_listed(missing)}; "
            f"unsupported: {_listed(invented)}{aside}."
        ) + "".join(remark for remark, holds in remarks.items() if holds)


class ElementComparer:
    """Compares captions by their content elements; tuned to the default encoder's vectors."""

    dimensions = ("accuracy", "completeness", "hallucination")

    def __init__(self, encoder: Encoder | None = None) -> None:
        self.encoder = encoder or load()
        self.detector = load_detector()
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._vocabulary = ElementVocabulary(self.encoder)
        # What references say, how broken they read at most, and how long they are.
        self._references = dict[tuple[str, ...], tuple[ReferenceElements, float, _Lengths]]()

    def compare(self, items: Sequence[ElementCase]) -> Iterable[ElementScores]:
        """Score captions; each score depends on its own item alone, to the last bit."""
        for start in range(0, len(items), _AT_ONCE):
            with self._lock:
                scores = self._compare_block(items[start : start + _AT_ONCE])
            yield from scores

    def compare_across(self, captions: Sequence[str], clips: Sequence[tuple[str, ...]]) -> Across:
        """Hold each caption to all of these clips at once."""
        with self._lock:
            read = {text: split(text) for text in chain(captions, *clips)}
            self._vocabulary.learn({e.word for one in read.values() for e in one.elements})
            keys = [("", *own) for own in clips]
            new = [key for key in dict.fromkeys(keys) if key not in self._references]
            made = dict(zip(new, gather(new, read, self._vocabulary), strict=True))
            known = [made[key] if key in made else self._references[key][0] for key in keys]
            return ClipSet(known, self._vocabulary).compare([read[text] for text in captions])

    def _compare_block(self, items: Sequence[ElementCase]) -> list[ElementScores]:
        if len(self._vocabulary) > _WORDS_KEPT or len(self._references) > _REFERENCES_KEPT:
            self._forget()
        keys = [(item.category, *item.references) for item in items]
        new = [key for key in dict.fromkeys(keys) if key not in self._references]
        texts = chain((item.prediction for item in items), *(key[1:] for key in new))
        read = {text: split(text) for text in texts}
        self._vocabulary.learn({e.word for caption in read.values() for e in caption.elements})
        probabilities = self.detector.error_probabilities(list(read)).tolist()
        errors = dict(zip(read, probabilities, strict=True))
        for key, elements in zip(new, gather(new, read, self._vocabulary), strict=True):
            usual = max([_SURELY_WHOLE, *map(errors.__getitem__, key[1:])])
            self._references[key] = elements, usual, longest(key[1:])
        results, cases = [], []
        for item, key in zip(items, keys, strict=True):
            caption, error = read[item.prediction], errors[item.prediction]
            references, usual, most = self._references[key]
            value, remark = 0.0, ""
            if not item.prediction:
                remark = "The prediction is empty."
            elif not (references.affirmed or references.quoted or references.denied):
                equal = item.prediction in item.references
                value = 10.0 if equal else 0.0
                remark = "The references name nothing to compare, so that only equal text scores."
            elif not caption.elements:
                remark = "The prediction names nothing that could be heard."
            else:
                stems = frozenset(map(stem, words_of(item.transcript or "")))
                cases.append((caption, references, stems))
            excess = excess_length(item.prediction, most)
            reading = breaks_off(item.prediction), error, usual, excess, references
            scores, met = dict.fromkeys(self.dimensions, value), value / 10
            results.append(ElementScores(scores, *reading, met, supported=met, remark=remark))
        matched = match(cases, self._vocabulary)
        ends = (caption.ends_on for caption, *_ in cases)
        return [one if one.remark else _scored(one, next(matched), next(ends)) for one in results]


def _scored(result: ElementScores, matches: Matches, end: Element | None) -> ElementScores:
    claims, covers, (agreed, turned, unstated) = matches
    references = result.references
    total, met = sum([c.weight for c in claims]), sum([c.weight * c.support for c in claims])
    demanded, covered = map(float, (references.weights.sum(), (references.weights * covers).sum()))
    if stated := agreed + turned:
        total, met = total + _ORDER_WEIGHT, met + _ORDER_WEIGHT * agreed / stated
    if pairs := agreed + turned + unstated:
        demanded += _ORDER_WEIGHT
        covered += _ORDER_WEIGHT * (agreed + unstated / 2) / pairs
    named = [c for c in claims if _is_named(c)]
    named_total = sum([c.weight for c in named])
    invented = sum([c.weight for c in named if c.support < _UNSUPPORTED])
    if result.unfinished:
        total, named_total = total + _UNFINISHED_WEIGHT, named_total + _UNFINISHED_WEIGHT
        invented += _UNFINISHED_WEIGHT
    faithful = 1 - invented / named_total if named_total else 1.0
    if _names_nothing(claims):
        faithful = min(faithful, _NOTHING_NAMED)
    # How much is said, whether right or not, of what a reference says; a word counts once.
    amounts = {
        (c.element.word, c.element.kind): c.weight
        for c in claims
        if c.support or not c.element.denied
    }
    amount = references.amount
    said = min(1.0, sum(amounts.values()) / amount) if amount else 1.0
    accuracy = met / total if total else 0.0
    completeness = min(1.0, covered / demanded) if demanded else 0.0
    whole = result.wholeness() * min(1.0, said / _TOO_LITTLE)
    scores = {
        "accuracy": 10 * accuracy * (whole * result.length),
        "completeness": 10 * completeness * (said**_BREVITY * result.length),
        "hallucination": 10 * faithful,
    }
    supported: dict[tuple[str, ElementKind], float] = {}  # by word, which counts once
    for claim in claims:
        word = claim.element.word, claim.element.kind
        supported[word] = max(supported.get(word, 0.0), claim.weight * claim.support)
    once = sum(supported.values())
    last = next((c.support for c in reversed(claims) if c.element == end), 0.0)
    made = result._replace(scores=scores, met=completeness, matches=matches)
    return made._replace(supported=once, last=last)


def _is_named(claim: Claim) -> bool:
    """Whether a claim can be a hallucination; of how something sounds, references say little."""
    return claim.element.denied or claim.element.kind not in _QUALITIES


def _names_nothing(claims: Iterable[Claim]) -> bool:
    kinds = {one.element.kind for one in claims}
    return ElementKind.VAGUE in kinds and not kinds - {ElementKind.VAGUE, ElementKind.ATTRIBUTE}


def _listed(elements: Iterable[Element]) -> str:
    distinct = list(dict.fromkeys([(element.word, element.denied) for element in elements]))
    shown = [
        ("no " if denied else "") + word[:_LONGEST_WORD] for word, denied in distinct[:_MOST_NAMED]
    ]
    if len(distinct) > _MOST_NAMED:
        shown.append(f"{len(distinct) - _MOST_NAMED} more")
    return ", ".join(shown) or "nothing"
