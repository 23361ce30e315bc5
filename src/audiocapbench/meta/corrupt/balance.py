"""Chooses pairs so that nothing in the text tells true from false, and puts them in places.

What a text-only scorer could see in a caption is its length, its nouns' rarity and its words. Units
of an exchange balance themselves. Of the others, those are left out one by one that tip the set to
one side more than chance would, down to half of them.
"""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from audiocapbench.meta.corrupt.captions import CorruptedPair, Unit
from audiocapbench.meta.pairs.pair import Preference
from audiocapbench.metrics.elements.words import ElementKind, kind_of

_FEWEST_LEFT = 0.5
_STRICTER = 0.2
_MOST_AT_ONCE = 3_000
_SCALES = {"number of letters": 0.1, "number of words": 0.5}
# How much more a simple rule (longer, rarer) weighs than a single word, and how many there are.
_RULE_WEIGHT, _RULES = 10.0, 2


def choose(
    units: Sequence[Unit], limit: int | None, frequencies: Counter[str], draw: random.Random
) -> list[Unit]:
    """Of the units that could be made, those that together are level, at most so many pairs.

    ``frequencies`` says in how many captions of the set each word occurs.
    """
    drawn = list(units)
    draw.shuffle(drawn)
    most = limit if limit is not None else sum(len(unit) for unit in drawn)
    # More than twice as many as wanted leave enough to choose from, and keep the table small.
    wanted = _MOST_AT_ONCE if limit is None else min(2 * most, _MOST_AT_ONCE)
    before = accumulate((len(unit) for unit in drawn), initial=0)
    size = sum(count < wanted for count in list(before)[:-1])
    rest = drawn[size:] if limit is None else []
    return _level(drawn[:size], most, frequencies) + _level(rest, most, frequencies)


def _level(units: list[Unit], most: int, frequencies: Counter[str]) -> list[Unit]:
    """Leave out what tips the set most, one by one, until nothing tips it more than chance does.

    To go on to perfect balance would be another trace: whatever one half of the set leans to, the
    other half would then lean away from.
    """
    if not units:
        return []
    table = _differences(units, frequencies)
    sizes = np.array([len(unit) for unit in units])
    kept = np.ones(len(units), dtype=bool)
    fewest = _FEWEST_LEFT * sizes.sum()
    sums = np.asarray(table.sum(axis=0)).ravel()
    squares = np.asarray(table.multiply(table).sum(axis=0)).ravel()
    while True:
        chance = np.sqrt(np.maximum(squares, 0.0))
        chance[-_RULES:] *= _STRICTER
        gains = np.where(kept, table @ np.where(np.abs(sums) > chance, sums, 0.0), -np.inf)
        worst = int(np.argmax(gains))
        count = int(sizes[kept].sum())
        if count <= most and (gains[worst] <= 0 or count - sizes[worst] < fewest):
            return [unit for unit, stays in zip(units, kept, strict=True) if stays]
        kept[worst] = False
        row = table[worst].toarray().ravel()
        sums -= row
        squares -= row**2


def placed(units: Sequence[Unit], draw: random.Random) -> list[tuple[CorruptedPair, Preference]]:
    """Every pair with the place of its true caption: each place half of the time.

    The halves are level among pairs in which the true caption is longer, shorter or as long, so
    that length and place together tell nothing either.
    """
    pairs = [pair for unit in units for pair in unit]
    draw.shuffle(pairs)
    pairs.sort(key=_longer)
    start = draw.randrange(2)
    answers: list[Preference] = [0, 1]
    found = [(pair, answers[(start + place) % 2]) for place, pair in enumerate(pairs)]
    draw.shuffle(found)
    return found


def words_of(text: str) -> list[str]:
    """The words of a caption in lower case, without marks."""
    return text.lower().replace(",", " ").replace(";", " ").rstrip(".").split()


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


def _differences(units: Sequence[Unit], frequencies: Counter[str]) -> Any:
    """What each unit adds to the difference between true and false captions, as a sparse table.

    The last columns say which caption simple rules would take.
    """
    from scipy.sparse import csr_matrix, hstack

    pairs = [pair for unit in units for pair in unit]
    words = differences_of([one.true for one in pairs], [one.false for one in pairs])
    gaps = [_rarest(one.false, frequencies) - _rarest(one.true, frequencies) for one in pairs]
    rules = np.stack([[_longer(pair) for pair in pairs], np.sign(gaps)], axis=1)
    table = hstack([words, csr_matrix(_RULE_WEIGHT * rules)], format="csr")
    owners = np.repeat(np.arange(len(units)), [len(unit) for unit in units])
    ones = np.ones(len(pairs))
    owned = csr_matrix((ones, (owners, np.arange(len(pairs)))), shape=(len(units), len(pairs)))
    return owned @ table


def _longer(pair: CorruptedPair) -> float:
    return float(np.sign(len(pair.true) - len(pair.false)))


def _rarest(text: str, frequencies: Counter[str]) -> int:
    named = [frequencies[word] for word in words_of(text) if kind_of(word) is ElementKind.SOURCE]
    return min(named, default=1 << 30)
