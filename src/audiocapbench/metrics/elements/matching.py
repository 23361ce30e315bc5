"""Finds which elements of a prediction the references support, and which of theirs it names.

What references say is put together first and weighed by how many agree. Nothing here knows of
scores: it says how well each element is matched, and how much it weighs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.batches import starts_of
from audiocapbench.metrics.elements.splitting import Element, ElementKind, ParsedCaption
from audiocapbench.metrics.elements.vocabulary import (
    AGAINST,
    ElementVocabulary,
    Likeness,
    ReferenceWords,
    compare_words,
)
from audiocapbench.metrics.porter import stem

Weights = NDArray[np.float32]

# How much elements count, tuned on half of the clips of AudioCaps-Eval, as are all numbers here.
SOUND_WEIGHTS = {
    ElementKind.SOURCE: 1.0,
    ElementKind.EVENT: 1.0,
    ElementKind.ATTRIBUTE: 0.4,
    ElementKind.MOOD: 0.5,
    ElementKind.COUNT: 0.3,
    ElementKind.VAGUE: 0.2,
    ElementKind.QUOTED: 0.3,
}
# In music and speech, tempo, style and mood are much of what there is to say.
_EXPRESSIVE_WEIGHTS = {**SOUND_WEIGHTS, ElementKind.ATTRIBUTE: 0.7, ElementKind.MOOD: 0.8}
_EXPRESSIVE = ("music", "speech")
DENIED_WEIGHT = 0.3
_QUOTE_AT_MOST = 1.5
# Elements of one reference that are read; captions have a dozen.
_MOST_ELEMENTS = 256
# Support of a claim: the best reference, and the mean over references.
MEAN_SHARE = 0.2
# A word that is said more often than in any reference keeps this much of its support.
_REPEATED = 0.6
# One that more references exclude than name, "woman" where most say "man", keeps this much.
_OPPOSED = 0.3
VAGUE_SUPPORT = 0.5
# Likeness from which two words are one element, or match at all.
SAME = 0.8
MATCHED = 0.45
# Distinct words of a prediction that are looked for in its references; others have no support.
_MOST_WORDS = 1_024


@dataclass(frozen=True, slots=True)
class ReferenceElements:
    """What a clip's references say, and what they ask of a prediction."""

    affirmed: tuple[Element, ...]  # reference after reference; in each, a word once
    held_to: ReferenceWords  # their words, of each reference that affirms anything
    staged: tuple[int, ...]  # which of these references state an order
    quoted: tuple[Element, ...]  # distinct words
    denied: tuple[Element, ...]  # what is said absent
    denied_numbers: tuple[int, ...]  # of these in the vocabulary
    kind_weights: dict[ElementKind, float]  # in clips of this category
    amount: float  # what all that a reference affirms weighs, on average
    weights: Weights  # of affirmed, quoted and denied elements, one after the other
    said: frozenset[str]  # stems of what is quoted
    counts: dict[str, int]  # of a word in the reference that repeats it most; those above 1
    audible: bool


class _Demand(NamedTuple):
    """What one reference says: each word that it affirms and each that it quotes once."""

    affirmed: list[Element]
    numbers: tuple[int, ...]
    quoted: list[Element]
    denied: list[Element]
    counts: dict[str, int]
    ordered: bool


def gather(
    keys: Sequence[tuple[str, ...]],
    read: Mapping[str, ParsedCaption],
    vocabulary: ElementVocabulary,
) -> list[ReferenceElements]:
    """Put together what each clip's references say; a key is its category, and its references."""
    texts = dict.fromkeys(chain.from_iterable(key[1:] for key in keys))
    said = {text: _demand(read[text], vocabulary) for text in texts}
    clips = [[said[text] for text in key[1:]] for key in keys]
    schemes = [_EXPRESSIVE_WEIGHTS if k[0] in _EXPRESSIVE else SOUND_WEIGHTS for k in keys]
    every = []
    for clip in clips:
        sizes = [len(one.numbers) for one in clip if one.numbers]
        numbers = tuple(number for one in clip for number in one.numbers)
        stages = tuple(element.stage for one in clip for element in one.affirmed)
        starts = tuple(accumulate(sizes[:-1], initial=0)) if sizes else ()
        every.append(ReferenceWords(numbers, stages, starts))
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
    for element in caption.elements[:_MOST_ELEMENTS]:
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
    numbers = vocabulary.numbers([element.word for element in affirmed])
    repeated = {word: count for word, count in seen.items() if count > 1}
    return _Demand(affirmed, numbers, list(quotes.values()), denied, repeated, caption.ordered)


def _weighed(
    clip: Sequence[_Demand],
    held_to: ReferenceWords,
    scheme: dict[ElementKind, float],
    kinds: Weights,
    weights: Weights,
    vocabulary: ElementVocabulary,
) -> ReferenceElements:
    """Put one clip's references together, whose affirmed elements weigh so much."""
    affirmed = tuple(element for one in clip for element in one.affirmed)
    quoted = tuple(element for one in clip for element in one.quoted)
    denied = tuple(element for one in clip for element in one.denied)
    quotes = [quote_weight(scheme, len(one.quoted)) for one in clip for _ in one.quoted]
    if others := quotes + [DENIED_WEIGHT] * len(denied):
        weights = np.concatenate([weights, np.array(others, dtype=np.float32) / len(clip)])
    counts: dict[str, int] = {}
    for word, count in chain.from_iterable(one.counts.items() for one in clip):
        counts[word] = max(count, counts.get(word, 1))
    speaking = [one.ordered for one in clip if one.affirmed]
    return ReferenceElements(
        affirmed,
        held_to,
        tuple(column for column, ordered in enumerate(speaking) if ordered),
        quoted,
        denied,
        vocabulary.numbers([element.word for element in denied]),
        scheme,
        amount=(float(np.add.reduce(kinds)) + sum(quotes)) / max(1, len(clip)),
        weights=weights,
        said=frozenset([stem(element.word) for element in quoted]),
        counts=counts,
        audible=any(element.word not in ("silence", "silent") for element in affirmed),
    )


def quote_weight(kind_weights: dict[ElementKind, float], count: int) -> float:
    """What each of so many quoted words weighs: a long quotation weighs no more than a short."""
    return min(kind_weights[ElementKind.QUOTED], _QUOTE_AT_MOST / count)


class Claim(NamedTuple):
    """An element of the prediction, its support from 0 to 1, and its weight."""

    element: Element
    support: float
    weight: float


class Matches(NamedTuple):
    claims: list[Claim]
    covers: Likeness  # how well each demand of the references is met, from 0 to 1
    # Pairs of events whose order the references state, and the prediction states alike, the other
    # way round, or not at all though it names both.
    order: tuple[int, int, int]


MatchCase = tuple[ParsedCaption, ReferenceElements, frozenset[str]]
"""A prediction, what its references say, and the stems of what is said in the clip."""


def match(cases: Sequence[MatchCase], vocabulary: ElementVocabulary) -> Iterator[Matches]:
    words = [vocabulary.numbers([e.word for e in said.affirmed]) for said, _, _ in cases]
    distinct = [tuple(dict.fromkeys(own))[:_MOST_WORDS] for own in words]
    near = compare_words(distinct, [references.held_to for _, references, _ in cases], vocabulary)
    # Support of each affirmed element: by the best reference and by the mean of them.
    every = np.zeros(near.rows[-1], dtype=np.float32)
    for row, compared in near.by_references():
        best, worst = near.best[compared], near.worst[compared]
        named = np.maximum(best, 0)
        mean = named.sum(axis=1) / np.float32(named.shape[1])
        own = named.max(axis=1) * np.float32(1 - MEAN_SHARE) + mean * np.float32(MEAN_SHARE)
        opposing = ((worst < 0) & (best < MATCHED)).sum(axis=1)
        own[opposing > (best >= MATCHED).sum(axis=1)] *= np.float32(_OPPOSED)
        every[row] = own
    covers = np.where(near.covers < MATCHED, 0, near.covers)
    rows, cells, columns = (starts.tolist() for starts in (near.rows, near.cells, near.columns))
    for place, case in enumerate(cases):
        order, (prediction, references, _) = (0, 0, 0), case
        if references.staged:
            own_cells = slice(cells[place], cells[place + 1])
            both = near.best[own_cells].tolist(), near.stages[own_cells].tolist()
            order = _order(prediction, references, *both)
        supports = every[rows[place] : rows[place + 1]].tolist()
        if len(supports) < len(words[place]):
            known = dict(zip(distinct[place], supports, strict=True))
            supports = [known.get(number, 0.0) for number in words[place]]
        covered = covers[columns[place] : columns[place + 1]]
        claims, covered = _match(case, words[place], supports, covered, vocabulary)
        yield Matches(claims, covered, order)


def _match(
    case: MatchCase,
    words: Sequence[int],
    supports: list[float],
    covers: Likeness,
    vocabulary: ElementVocabulary,
) -> tuple[list[Claim], Likeness]:
    prediction, references, transcript = case
    weights, said = references.kind_weights, references.said | transcript
    if references.denied and words:
        absent = _any_same(vocabulary.likeness(words, references.denied_numbers))
        # What references say is absent has no support, unless one names that very thing.
        both = zip(supports, absent, strict=True)
        supports = [0.0 if no and support < SAME else support for support, no in both]
    claims: list[Claim] = []
    seen: dict[str, int] = {}
    for element, named in zip(prediction.affirmed, supports, strict=True):
        support, before = named, seen.get(element.word, 0)
        seen[element.word] = before + 1
        if before and before >= references.counts.get(element.word, 1):
            support *= _REPEATED
        elif said and support < 1 and stem(element.word) in said:
            support = 1.0
        claims.append(Claim(element, support, weights[element.kind]))
    quoted, denied = [], []
    if len(prediction.elements) > len(prediction.affirmed):
        denied = [one for one in prediction.elements if one.denied]
        present = [one for one in prediction.elements if not one.denied]
        quoted = [one for one in present if one.kind is ElementKind.QUOTED]
        support = VAGUE_SUPPORT if references.audible else 0.0
        vague = (one for one in present if one.kind is ElementKind.VAGUE)
        claims += [Claim(one, support, weights[ElementKind.VAGUE]) for one in vague]
    quotes = {stem(element.word) for element in quoted}
    if quoted:
        known = said | {stem(element.word) for element in references.affirmed}
        weight = quote_weight(weights, len(quoted))
        claims += [Claim(one, float(stem(one.word) in known), weight) for one in quoted]
    if quoted or references.quoted:
        heard = [stem(element.word) in quotes for element in references.affirmed]
        met_by = quotes | {stem(element.word) for element in prediction.affirmed}
        met = [stem(element.word) in met_by for element in references.quoted]
        covers = np.concatenate([np.where(heard, 1, covers), np.array(met)]).astype(np.float32)
    if denied or references.denied:
        # A denial counts where references deny the same, or affirm what is denied.
        denials = vocabulary.numbers([element.word for element in denied])
        contradicted = _any_same(vocabulary.likeness(denials, references.held_to.numbers))
        confirmed = _any_same(vocabulary.likeness(denials, references.denied_numbers))
        for element, yes, no in zip(denied, confirmed, contradicted, strict=True):
            if yes or no:
                claims.append(Claim(element, float(yes and not no), weights[element.kind]))
        met = _any_same(vocabulary.likeness(references.denied_numbers, denials))
        covers = np.concatenate([covers, np.array(met, dtype=np.float32)])
    return claims, covers


def _any_same(likeness: Likeness) -> list[bool]:
    same: list[bool] = (likeness.max(axis=1, initial=AGAINST) >= SAME).tolist()
    return same


def _order(
    prediction: ParsedCaption, references: ReferenceElements, best: list[float], stages: list[int]
) -> tuple[int, int, int]:
    """Compare the order of each two sources or events that both sides name, when first named."""
    first: dict[str, Element] = {}
    for element in prediction.affirmed:
        first.setdefault(element.word, element)
    known = enumerate(list(first.values())[:_MOST_WORDS])
    things = [(row, own.stage) for row, own in known if own.kind <= ElementKind.EVENT]
    del things[_MOST_ELEMENTS:]
    agreed = turned = unstated = 0
    step = len(references.held_to.starts)
    for column in references.staged:
        cells = [(row * step + column, stage) for row, stage in things]
        found = [(stage, stages[cell]) for cell, stage in cells if best[cell] >= MATCHED]
        for row, (stage, other_stage) in enumerate(found):
            for later, other_later in found[row + 1 :]:
                if other_later != other_stage:
                    direction = (later - stage) * (other_later - other_stage)
                    agreed += direction > 0
                    turned += direction < 0
                    unstated += direction == 0
    return agreed, turned, unstated
