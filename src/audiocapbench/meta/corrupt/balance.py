"""Chooses trials so that nothing in the text tells true from false, and puts them in places.

Units of an exchange balance themselves. Of the others, those are left out one by one whose words,
length or rarity tip the set to one side more than chance would, down to half of them.
"""

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np

from audiocapbench.meta.corrupt.traces import RULES, differences
from audiocapbench.meta.corrupt.trial import CorruptedPair, Unit
from audiocapbench.meta.pairs.pair import Answer

_FEWEST_LEFT = 0.5
_STRICTER = 0.2
_MOST_AT_ONCE = 3_000


def choose(
    units: Sequence[Unit], limit: int | None, frequencies: Counter[str], draw: random.Random
) -> list[Unit]:
    """Units that together are level, at most so many trials.

    Args:
        units: All that could be made.
        limit: Most trials; all by default.
        frequencies: In how many captions of the set each word occurs.
        draw: Source of chance.
    """
    drawn = list(units)
    draw.shuffle(drawn)
    most = limit if limit is not None else sum(len(unit) for unit in drawn)
    # More than twice as many as wanted leave enough to choose from, and keep the table small.
    pool = _first(drawn, min(2 * most, _MOST_AT_ONCE) if limit is not None else _MOST_AT_ONCE)
    rest = drawn[len(pool) :] if limit is None else []
    level = _level(pool, most, frequencies)
    return [*level, *(_level(rest, most, frequencies) if rest else [])]


def _first(units: Sequence[Unit], trials: int) -> list[Unit]:
    found: list[Unit] = []
    count = 0
    for unit in units:
        if count >= trials:
            break
        found.append(unit)
        count += len(unit)
    return found


def _level(units: list[Unit], most: int, frequencies: Counter[str]) -> list[Unit]:
    """Leave out what tips the set most, one by one, until nothing tips it more than chance does.

    To go on to perfect balance would be another trace: whatever one half of the set leans to, the
    other half would then lean away from.
    """
    if not units:
        return []
    table = differences(units, frequencies)
    sizes = np.array([len(unit) for unit in units])
    kept = np.ones(len(units), dtype=bool)
    fewest = _FEWEST_LEFT * sizes.sum()
    sums = np.asarray(table.sum(axis=0)).ravel()
    squares = np.asarray(table.multiply(table).sum(axis=0)).ravel()
    while True:
        chance = np.sqrt(np.maximum(squares, 0.0))
        chance[-RULES:] *= _STRICTER
        gains = np.where(kept, table @ np.where(np.abs(sums) > chance, sums, 0.0), -np.inf)
        worst = int(np.argmax(gains))
        count = int(sizes[kept].sum())
        if count <= most and (gains[worst] <= 0 or count - sizes[worst] < fewest):
            return [unit for unit, stays in zip(units, kept, strict=True) if stays]
        kept[worst] = False
        row = table[worst].toarray().ravel()
        sums -= row
        squares -= row**2


def placed(units: Sequence[Unit], draw: random.Random) -> list[tuple[CorruptedPair, Answer]]:
    """Every trial with the place of its true caption: each place half of the time.

    The halves are level among trials in which the true caption is longer, shorter or as long, so
    that length and place together tell nothing either.
    """
    trials = [trial for unit in units for trial in unit]
    draw.shuffle(trials)
    trials.sort(
        key=lambda trial: (
            (len(trial.true) > len(trial.false)) - (len(trial.true) < len(trial.false))
        )
    )
    start = draw.randrange(2)
    answers: list[Answer] = [0, 1]
    found = [(trial, answers[(start + place) % 2]) for place, trial in enumerate(trials)]
    draw.shuffle(found)
    return found
