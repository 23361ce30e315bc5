"""What a text-only scorer could see in a caption: its length, its nouns' rarity, its words."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from audiocapbench.judges.elements.words import ElementKind, kind_of
from audiocapbench.meta.corrupt.trial import CorruptedPair, Unit

_RULE_WEIGHT = 10.0
"""How much more a simple rule (longer, rarer) weighs than a single word when sets are balanced."""

RULES = 2
"""How many columns at the end of ``differences`` are such rules."""


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


_SCALES = {"number of letters": 0.1, "number of words": 0.5}


def _counts(text: str) -> Counter[str]:
    words = words_of(text)
    found = Counter(words)
    if words:
        found.update([f"first word {words[0]}", f"last word {words[-1]}"])
    found["number of commas"] = text.count(",")
    found["number of letters"] = len(text)
    found["number of words"] = len(words)
    return found


def differences(units: Sequence[Unit], frequencies: Counter[str]) -> Any:
    """What each unit adds to the difference between true and false captions, as a sparse table.

    The last ``RULES`` columns say which caption simple rules would take.
    """
    from scipy.sparse import csr_matrix, hstack

    trials = [trial for unit in units for trial in unit]
    words = differences_of([one.true for one in trials], [one.false for one in trials])
    rules = [[_longer(trial), _rarer(trial, frequencies)] for trial in trials]
    table = hstack([words, csr_matrix(_RULE_WEIGHT * np.array(rules))], format="csr")
    owners = np.repeat(np.arange(len(units)), [len(unit) for unit in units])
    ones = np.ones(len(trials))
    owned = csr_matrix((ones, (owners, np.arange(len(trials)))), shape=(len(units), len(trials)))
    return owned @ table


def _longer(trial: CorruptedPair) -> float:
    return float(np.sign(len(trial.true) - len(trial.false)))


def _rarer(trial: CorruptedPair, frequencies: Counter[str]) -> float:
    return float(np.sign(_rarest(trial.false, frequencies) - _rarest(trial.true, frequencies)))


def _rarest(text: str, frequencies: Counter[str]) -> int:
    named = [frequencies[word] for word in words_of(text) if kind_of(word) is ElementKind.SOURCE]
    return min(named, default=1 << 30)
