"""Chooses one false caption a caption so that nothing in the texts tells true from false.

What a text-only scorer could see is length, the rarity of nouns, how likely the words are, and the
words themselves. Of a caption's candidates the one is taken that levels the set; those are then
left out that still tip it to one side more than chance would.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.corrupt.captions import CaptionSet, CorruptedPair, words_of
from audiocapbench.meta.corrupt.evidence import CaptionEvidence, FloatArray
from audiocapbench.meta.pairs.pair import Preference
from audiocapbench.metrics.elements.words import ElementKind, kind_of

_ROUNDS = 4
# Who has read more captions tells a little more: the set leans so much the other way, first by
# the control ``likelier``, then by all else. What was picked of many looks more level than it is.
LEAN, LEAN_OF_MANY = (0.03, 0.03), (0.02, 0.1)
_MOST_A_CAPTION = 10
# False captions that are this much less likely read odd: nats a word, and of words together.
_ODD = (1.0, 1.0, 7.0, 1.0)
# Sums of evidence that another reader of captions may make, in units of their spread.
_MIXES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 1))
# How often a rule may say true more than false: of the pairs for the first rules, which `--check`
# knows as controls, and of what chance does for the others.
_CONTROLS, _ALLOWED, _LOOSE = 3, 0.02, 0.4
_SCALES = {"number of letters": 0.1, "number of words": 0.5}
# How much more a simple rule (longer, likelier) weighs than a single word.
_RULE_WEIGHT = 5.0
_CHANCE = 2.0
_FEWEST_LEFT = 0.65


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
    places = _pick(kept, words, rules, draw)
    most = len(places) if limit is None else limit
    left = _level(words[places], rules[places], most)
    return [kept[places[place]] for place in left]


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


def _pick(
    pairs: Sequence[CorruptedPair], words: Any, rules: FloatArray, draw: random.Random
) -> list[int]:
    """The place of one pair of every caption, each taken to level what all the others add up to."""
    groups = _by_caption(pairs)
    order = sorted(groups)
    draw.shuffle(order)
    own_words = {key: words[groups[key]] for key in order}
    chosen: dict[tuple[str, int], int] = {}
    sums, squares = np.zeros((2, words.shape[1]))
    tipped = np.zeros(rules.shape[1])

    def count(key: tuple[str, int], sign: int) -> None:
        row = own_words[key][chosen[key]]
        sums[row.indices] += sign * row.data
        squares[row.indices] += sign * row.data**2
        tipped[:] += sign * rules[groups[key][chosen[key]]]

    for _ in range(_ROUNDS):
        for key in order:
            if key in chosen:
                count(key, -1)
            cost = own_words[key] @ _beyond_chance(sums, squares)
            cost += rules[groups[key]] @ tipped * (_RULE_WEIGHT / np.sqrt(len(chosen) + 1))
            chosen[key] = draw.choice(np.flatnonzero(cost <= cost.min() + 1e-9).tolist())
            count(key, 1)
    return [groups[key][chosen[key]] for key in order]


def _beyond_chance(sums: FloatArray, squares: FloatArray) -> FloatArray:
    """Sums that are larger than chance would make them, 0 for the others.

    To level those as well would be another trace: whatever one half of the set leans to, the other
    half would then lean away from.
    """
    return np.where(np.abs(sums) > _CHANCE * np.sqrt(np.maximum(squares, 0.0)), sums, 0.0)


def _level(words: Any, rules: FloatArray, most: int) -> NDArray[np.int64]:
    """The places of what is left when what tips the set most has been left out, one by one."""
    kept, fewest = np.arange(len(rules)), 0.0
    sums = np.asarray(words.sum(axis=0)).ravel()
    squares = np.asarray(words.multiply(words).sum(axis=0)).ravel()
    while len(kept):
        tipped = rules[kept].sum(axis=0)
        gains = _excess(tipped, len(kept)) - _excess(tipped - rules[kept], len(kept) - 1)
        if gains.max() <= 0:
            # The rules are level; single words may cost some more.
            fewest = fewest or _FEWEST_LEFT * len(kept)
            pull = _beyond_chance(sums, squares) * (len(kept) > fewest)
            gains = _RULE_WEIGHT * gains + words[kept] @ pull
        worst = int(np.argmax(gains))
        if len(kept) <= most and gains[worst] <= 0:
            break
        row = words[kept[worst]]
        sums[row.indices] -= row.data
        squares[row.indices] -= row.data**2
        kept = np.delete(kept, worst)
    return kept


def _excess(tipped: FloatArray, count: int) -> FloatArray:
    """By how much simple rules do better than chance, beyond what is allowed."""
    allowed = np.full(tipped.shape[-1], 1 + _LOOSE * np.sqrt(count))
    allowed[:_CONTROLS] = 1 + _ALLOWED * count
    beyond = np.maximum(np.abs(tipped) - allowed, 0.0)
    return np.asarray((beyond**2).sum(axis=-1))


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
