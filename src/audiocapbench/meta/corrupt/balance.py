"""Chooses one false caption a caption so that nothing in the texts tells true from false.

What a text-only scorer could see is length, the rarity of nouns, how likely the words are, and the
words themselves. As many captions as possible get one of their candidates, so that each of these
speaks as often for the false caption as for the true one: a linear programme.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from audiocapbench.meta.corrupt.captions import CaptionSet, CorruptedPair, words_of
from audiocapbench.meta.corrupt.evidence import CaptionEvidence, FloatArray
from audiocapbench.meta.pairs.pair import Preference
from audiocapbench.metrics.elements.words import ElementKind, kind_of

# Who has read more captions tells a little more: the set leans so much the other way, first by
# the control ``likelier``, then by all else. What was picked of many looks more level than it is.
LEAN, LEAN_OF_MANY = (0.03, 0.03), (0.01, 0.1)
_MOST_A_CAPTION = 16
# False captions that are this much less likely read odd: nats a word, and of words together.
_ODD = (1.0, 1.0, 7.0, 1.0)
# Sums of evidence that another reader of captions may make, in units of their spread.
_MIXES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 1))
# How much oftener a rule may say true than false, of all pairs, and a word, of those that have it.
_OF_PAIRS, _OF_WORDS, _FEW = 0.02, 0.1, 3
_SCALES = {"number of letters": 0.1, "number of words": 0.5}


def choose(
    candidates: Sequence[CorruptedPair],
    captions: CaptionSet,
    limit: int | None,
    draw: random.Random,
    lean: tuple[float, float] = LEAN,
) -> list[CorruptedPair]:
    """At most one candidate of every caption, so many in all, that together are level.

    ``lean`` is how far likelihood must speak for the false captions.
    """
    drawn = [
        candidates[place]
        for own in _by_caption(candidates).values()
        for place in (own if len(own) <= _MOST_A_CAPTION else draw.sample(own, _MOST_A_CAPTION))
    ]
    if not drawn:
        return []
    evidence = CaptionEvidence(captions).differences(drawn)
    sound = [bool(np.all(one < _ODD)) for one in evidence]
    kept = [one for one, good in zip(drawn, sound, strict=True) if good]
    if not kept:
        return []
    words = differences_of([one.true for one in kept], [one.false for one in kept])
    rules = _rules(kept, evidence[sound], captions.frequencies, lean)
    return [kept[place] for place in _level(kept, words, rules, limit, draw)]


def _by_caption(pairs: Sequence[CorruptedPair]) -> dict[tuple[str, int], list[int]]:
    groups: dict[tuple[str, int], list[int]] = {}
    for place, one in enumerate(pairs):
        groups.setdefault(one.caption, []).append(place)
    return groups


def _rules(
    pairs: Sequence[CorruptedPair],
    evidence: FloatArray,
    frequencies: Counter[str],
    lean: tuple[float, float],
) -> FloatArray:
    """What simple rules say of each pair: 1 for the true caption, -1 for the false, 0 for none."""
    rarity = [_rarest(one.false, frequencies) - _rarest(one.true, frequencies) for one in pairs]
    scaled = evidence / np.maximum(np.sqrt((evidence**2).mean(axis=0)), 1e-9)
    mixed = scaled @ np.array(_MIXES, dtype=np.float64).T
    leans = np.array([lean[0], *[lean[1]] * (len(_MIXES) - 1)])
    likely = np.hstack([np.sign(mixed) + leans, np.tanh(mixed) + leans])
    return np.column_stack([[_longer(one) for one in pairs], np.sign(rarity), likely])


def _level(
    pairs: Sequence[CorruptedPair],
    words: Any,
    rules: FloatArray,
    limit: int | None,
    draw: random.Random,
) -> list[int]:
    """The places of as many pairs as can be level, at most one of a caption."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, vstack

    groups = list(_by_caption(pairs).values())
    sizes = [len(own) for own in groups]
    owners = np.repeat(np.arange(len(groups)), sizes)
    ones, places = np.ones(len(pairs)), np.concatenate(groups)
    of_caption = csr_matrix((ones, (owners, places)), shape=(len(groups), len(pairs)))
    said = words[:, np.flatnonzero((words != 0).sum(axis=0) > _FEW)].T
    kinds = [
        (rules.T, _OF_PAIRS * np.ones_like(rules.T), 1.0),
        (said, _OF_WORDS * abs(said), float(_FEW)),
    ]
    most = float(len(groups) if limit is None else limit)
    rows, bounds = [of_caption, ones[np.newaxis]], [*[1.0] * len(groups), most]
    for told, allowed, at_least in kinds:
        rows += [told - allowed, -told - allowed]
        bounds += [at_least] * (2 * told.shape[0])
    worth = [-1 - 0.01 * draw.random() for _ in pairs]
    found = linprog(worth, vstack(rows, format="csr"), bounds, method="highs").x
    best = sorted((max(own, key=lambda place: found[place]) for own in groups),
                  key=lambda place: -found[place])  # fmt: skip
    return [place for place in best if found[place] > 0.5][: round(most)]


def placed(
    pairs: Sequence[CorruptedPair], draw: random.Random
) -> list[tuple[CorruptedPair, Preference]]:
    """Every pair with the place of its true caption: each place half of the time.

    The halves are level among pairs in which the true caption is longer, shorter or as long, so
    that length and place together tell nothing either.
    """
    drawn = list(pairs)
    draw.shuffle(drawn)
    drawn.sort(key=_longer)
    start = draw.randrange(2)
    answers: list[Preference] = [0, 1]
    found = [(pair, answers[(start + place) % 2]) for place, pair in enumerate(drawn)]
    draw.shuffle(found)
    return found


def differences_of(texts: Sequence[str], others: Sequence[str]) -> Any:
    """What each text has more than its other, as a sparse table of shape (texts, features).

    Features are counts of words, the first and the last word, commas, and lengths.
    """
    from scipy.sparse import csr_matrix

    rows, columns, values = [], [], []
    places: dict[str, int] = {}
    for row, (text, other) in enumerate(zip(texts, others, strict=True)):
        difference = _counts(text)
        difference.subtract(_counts(other))
        for name, number in difference.items():
            if number:
                rows.append(row)
                columns.append(places.setdefault(name, len(places)))
                values.append(float(number) * _SCALES.get(name, 1.0))
    return csr_matrix((values, (rows, columns)), shape=(len(texts), max(1, len(places))))


def _counts(text: str) -> Counter[str]:
    words = words_of(text)
    found = Counter(words)
    if words:
        found.update([f"first word {words[0]}", f"last word {words[-1]}"])
    found["number of commas"] = text.count(",")
    found["number of letters"] = len(text)
    found["number of words"] = len(words)
    return found


def _longer(pair: CorruptedPair) -> float:
    return float(np.sign(len(pair.true) - len(pair.false)))


def _rarest(text: str, frequencies: Counter[str]) -> int:
    named = [frequencies[word] for word in words_of(text) if kind_of(word) is ElementKind.SOURCE]
    return min(named, default=1 << 30)
