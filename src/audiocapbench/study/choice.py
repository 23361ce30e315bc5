"""Which answers people should rate, drawn so that each one's chance is known.

A stratum is a third of a category by the judge's scores. What is drawn says its stratum, and is
signed: a rating is weighed back by the choice that it is of, and by no other.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from audiocapbench.errors import ReportError
from audiocapbench.files import digest
from audiocapbench.store import Run

_PARTS, _FEWEST = 3, 4  # parts of a category, and answers that one has at least
_SAID = re.compile(r"(.+): \d+ of (\d+), [0-9a-f]{8}")


def choose(
    run: Run, scores: Mapping[str, float], categories: Mapping[str, str], count: int, seed: int
) -> dict[str, str]:
    """So many samples, each with what the choice says of it; those of a smaller count are in it."""
    strata: dict[str, list[str]] = defaultdict(list)
    for category in sorted({*categories.values()}):
        mine = sorted((one, key) for key, one in scores.items() if categories[key] == category)
        parts = max(1, min(_PARTS, len(mine) // _FEWEST))
        for place, (_, key) in enumerate(mine):
            strata[f"{category} {1 + place * parts // len(mine)}/{parts}"].append(key)
    if count < len(strata):
        raise ReportError(f"run {run.id} has {len(strata)} strata: choose as many answers or more")
    draw = random.Random(f"{seed} {run.id}")
    order = sorted(
        (place / len(keys), name, key)
        for name, keys in strata.items()
        for place, key in enumerate(draw.sample(keys, len(keys)))
    )[:count]
    counts = Counter(name for _, name, _ in order)
    return {
        key: _signed(run, key, f"{name}: {counts[name]} of {len(strata[name])}")
        for _, name, key in order
    }


def _signed(run: Run, sample: str, words: str) -> str:
    told = f"{run.id}\n{run.dataset}\n{sample}\n{words}"
    return f"{words}, {digest(told)[:8]}"


def strata_of(run: Run, said: Mapping[str, str], total: int) -> dict[str, tuple[str, int]] | None:
    """The stratum of each rated answer and its size; None for ratings that no choice is of."""
    if not any(said.values()):
        return None
    strata: dict[str, tuple[str, int]] = {}
    for key, words in said.items():
        match = _SAID.fullmatch(words)
        if match is None or words != _signed(run, key, words.rpartition(", ")[0]):
            what = f"says {words!r}" if words else "says nothing"
            raise ReportError(f"{key} of run {run.id} {what} of its choice: not as it was chosen")
        strata[key] = match[1], int(match[2])
    if (of := sum(size for _, size in {*strata.values()})) != total:
        what = f"what people rated is of strata with {of:,} answers, and {total:,} have a score"
        raise ReportError(f"run {run.id}: {what}; rate all that was chosen, or choose anew")
    return strata
