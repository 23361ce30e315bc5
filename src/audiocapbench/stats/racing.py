"""Which of several is best, decided as soon as the scores seen allow it, and right at any time.

Each pair is a bet: who believes that the second is at least as good over all clips is paid nothing,
on average, by a wager on the first, so that its winnings are large only by luck (Waudby-Smith and
Ramdas, 2024, without replacement). Rounds are drawn from every category by its share: with a fixed
wager a round's winnings are, by the inequality of means and the negative association of draws, no
more than those of a draw from all, so that the rounds keep the promise and waste less.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from audiocapbench.stats.bootstrap import FloatArray

ALPHA = 0.05
STAKES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)  # of the largest wager; the mean of all counts
_ROUNDING = 1e-12


class Round(NamedTuple):
    """Clips of one round: their places, and what each counts for so that categories keep shares."""

    places: tuple[int, ...]
    weights: tuple[float, ...]


def deal_rounds(categories: Sequence[str], size: int, seed: int) -> list[Round]:
    """All clips in random rounds of about ``size``, each with its share of every category.

    One that is too small for a place in every round has one until it is used up; where such would
    fill half of the rounds, they are dealt as one.
    """
    generator = np.random.default_rng(seed)
    sizes = Counter(categories)
    small = {name for name, count in sizes.items() if count * size < len(categories)}
    together = small if 2 * len(small) > size else set[str]()
    left: dict[str, list[int]] = {}
    for place in generator.permutation(len(categories)).tolist():
        name = categories[place]
        left.setdefault("" if name in together else name, []).append(place)
    rounds = []
    while total := sum(map(len, left.values())):
        most = min(size, total)
        drawn: list[tuple[int, float]] = []
        for name in sorted(left):
            share = len(left[name]) / total
            count = min(max(1, round(most * share)), len(left[name]))
            drawn += [(left[name].pop(), share / count) for _ in range(count)]
        left = {name: own for name, own in left.items() if own}
        places, weights = zip(*drawn, strict=True)
        rounds.append(Round(places, tuple(len(drawn) * one for one in weights)))
    return rounds


@dataclass
class Race:
    """Models that are compared on rounds of clips until it is clear which are the ``top`` best."""

    models: int
    clips: int
    top: int = 1
    alpha: float = ALPHA  # how often a wrong one may be named

    def __post_init__(self) -> None:
        shape = (self.models, self.models)
        self.seen = 0  # clips that were asked
        self.better = np.zeros(shape, dtype=bool)  # one surely than another, over all clips
        self.sums = np.zeros(shape)
        self.log_wealth = np.zeros((len(STAKES), *shape))

    @property
    def bound(self) -> float:
        """How large winnings must be: the best can be beaten by luck by each of the others."""
        pairs = self.models - 1 if self.top == 1 else self.models * (self.models - 1) / 2
        return float(np.log(max(pairs, 1) / self.alpha))

    def add(self, low: FloatArray, high: FloatArray, weights: Sequence[float]) -> None:
        """One round: the least and the most that scores can be, from 0 to 1, (models, clips)."""
        inside = np.ones(self.models, dtype=bool)
        inside[list(self.out)] = False
        both = inside[:, np.newaxis] & inside & ~np.eye(self.models, dtype=bool)
        # A wager on a against b takes the worst of a and the best of b.
        gains = low[:, np.newaxis] - high[np.newaxis]
        scale = np.asarray(weights)
        largest = float(scale.max())
        left = self.clips - self.seen
        # Were both alike over all clips, the rest would have to make up for what was seen.
        rest = -self.sums / left
        self.better |= both & (rest < -1)
        room = largest + np.clip(rest, -1, 1)
        payoff = gains * scale - np.clip(rest, -1, 1)[:, :, np.newaxis]
        for place, stake in enumerate(STAKES):
            wager = (stake / np.maximum(room, 1e-9))[:, :, np.newaxis]
            self.log_wealth[place] += np.log1p(np.maximum(wager * payoff, -0.999999)).sum(axis=-1)
        self.sums += gains.sum(axis=-1)
        self.seen += low.shape[1]
        wealth = np.logaddexp.reduce(self.log_wealth, axis=0) - np.log(len(STAKES))
        self.better |= both & (wealth >= self.bound)
        if self.seen >= self.clips:
            self.better |= both & (self.sums > _ROUNDING * self.clips)

    @property
    def out(self) -> set[int]:
        """Who is surely not among the best."""
        return set(np.flatnonzero(self.better.sum(axis=0) >= self.top).tolist())
