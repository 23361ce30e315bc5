"""Which of several is best, decided as soon as the scores seen allow it, and right at any time.

Clips come one by one in random order. Each pair is a bet: who believes that the second is at least
as good is paid nothing, on average, by a wager on the first, so that its winnings are large only by
luck (Waudby-Smith and Ramdas, 2024). What is believed is about these clips, drawn without
replacement, or about all clips like these, which they are drawn from. A model's rivals share one
stake: their mean winnings count, which need less luck than the winnings of each by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audiocapbench.stats.units import FloatArray

ALPHA = 0.05
STAKES = (0.05, 0.2, 0.5, 0.95)  # of the largest wager; half of the money
LARGEST = 0.95  # of what may be wagered without a debt
FIRST, FIRST_SQUARE = 5, 0.05  # clips that stand for none seen yet, and their squared difference
FEWEST_A_ROUND = 10
MOST_ROUNDS = 40  # of the largest size
_ROUNDING = 1e-12


def deal_clips(ids: Sequence[str], seed: int, fewest: int = FEWEST_A_ROUND) -> list[list[int]]:
    """The places of all clips in random rounds, the same in whatever order they are given.

    A round is a tenth of what came before: early ones put the worst out, and later ones are few.
    """
    known = sorted(range(len(ids)), key=ids.__getitem__)
    order = [known[place] for place in np.random.default_rng(seed).permutation(len(ids))]
    largest = max(fewest, -(-len(ids) // MOST_ROUNDS))
    rounds, start = list[list[int]](), 0
    while start < len(order):
        end = start + min(max(fewest, start // 10), largest)
        rounds.append(order[start:end])
        start = end
    return rounds


@dataclass
class Bets:
    """Bets of each model on being better than each other, until the ``top`` best are known.

    They are about these ``clips``, or, without a number, about all clips like these. There, equal
    models are no rarity: one that is named must be better, and its bets must win twice as much.
    """

    models: int
    clips: int | None
    top: int = 1
    alpha: float = ALPHA  # how often a wrong one may be named

    def __post_init__(self) -> None:
        self.seen = 0
        self.sums = self.squares = np.zeros((self.models, self.models))
        self.log_wealth = np.zeros((self.models, self.models, len(STAKES) + 1))
        self.out = np.zeros(self.models, dtype=bool)  # surely not among the best

    def add(self, low: FloatArray, high: FloatArray) -> None:
        """One clip: the least and the most that scores, from 0 to 1, can be; NaN if not asked."""
        # A wager on a against b takes the worst of a and the best of b.
        gains = low[..., :, np.newaxis] - high[..., np.newaxis, :]
        both = ~np.isnan(gains)
        gains = np.where(both, gains, 0)
        left = np.inf if self.clips is None else self.clips - self.seen
        # Were both alike over all clips, the rest would have to make up for what was seen.
        rest = -self.sums / left
        surely = rest < -1
        rest = rest.clip(-1, 1)
        room = np.maximum(1 + rest, 1e-9)
        ahead = self.sums / (self.seen + FIRST)
        square = (self.squares + FIRST * FIRST_SQUARE) / (self.seen + FIRST)
        # Wealth grows most by the mean over the mean square, and the less is left, the more.
        growing = (ahead - rest) / (square - ahead**2 + (ahead - rest) ** 2)
        scale = 1 if self.clips is None else self.clips / left
        stakes = [np.minimum(one * scale, LARGEST) / room for one in STAKES]
        wagers = np.stack([*stakes, growing.clip(0, LARGEST / room)], axis=-1)
        won = np.log1p(np.maximum(wagers * (gains - rest)[..., np.newaxis], -0.999999))
        self.log_wealth = self.log_wealth + np.where(both[..., np.newaxis], won, 0)
        self.sums, self.squares = self.sums + gains, self.squares + gains**2
        self.seen += 1
        self.log_wealth[surely & both] = np.inf
        is_last, asked = self.seen == self.clips, ~np.isnan(low)
        if is_last:  # of who was asked about all clips, nothing is left to bet on
            self.log_wealth[both] = -np.inf
            self.log_wealth[both & (self.sums > _ROUNDING * self.seen)] = np.inf
        beaten = self._against() >= np.log(self.top / self.alpha)
        self.out = beaten | (self.out & ~asked if is_last else self.out)

    def _against(self) -> FloatArray:
        """What was won against each model being among the best, by all but its top - 1 rivals."""
        shares = np.log([*[0.5 / len(STAKES)] * len(STAKES), 0.5])
        wealth = np.logaddexp.reduce(self.log_wealth + shares, axis=-1)
        own = np.eye(self.models, dtype=bool)
        rivals = np.sort(np.where(own, np.inf, wealth), axis=-2)[..., : self.models - self.top, :]
        mean: FloatArray = np.logaddexp.reduce(rivals, axis=-2) - np.log(self.models - self.top)
        return mean - (np.log(2) if self.clips is None else 0)
