"""What a pairwise trial shows beside its choices: position bias, consistency, what went unread."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.orders import CHOSEN, agreeing
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.stats import FEWEST_FOR_INTERVAL, SEED, Interval, mean_interval

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """A share of something, with its interval over clips where there are enough of them.

    Attributes:
        value: From 0 to 1; None where there is nothing to take a share of.
        count: Of how many.
        interval: 95 %, by resampling clips.
    """

    value: float | None
    count: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class PairwiseDiagnostics:
    """How a model behaved as a judge of pairs.

    Attributes:
        prompt: Name of the prompt.
        orders: 1, or 2 where captions were also asked about in the other order.
        asked: Questions that were put, in both orders together.
        first_position: Share of the caption that stood first, among answers that chose one. In
            both orders together a judge without position bias is at one half; in one order alone
            it says nothing of bias, because the better caption may stand first more often.
        consistency: Share of pairs whose two answers name the same caption or both tie, an
            unknown never agrees; None unless both orders were asked.
        unknown: Share of questions without a readable choice, failed ones among them.
        positions: How often answers chose the first position, the second, a tie, or nothing.
        failures: Questions without an answer, by status; ``no clip`` where it was not found.
        read: Answers that the reader was given.
        read_decided: Those for which it named a caption or a tie.
        read_unusable: Those for which it did not keep to one word, or failed.
    """

    prompt: str
    orders: int
    asked: int
    first_position: ShareEstimate
    consistency: ShareEstimate | None
    unknown: ShareEstimate
    positions: Mapping[str, int]
    failures: Mapping[str, int]
    read: int = 0
    read_decided: int = 0
    read_unusable: int = 0

    def document(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """The same in words, a line each."""
        bias = "position bias: " if self.orders > 1 else ""
        found = [
            f"{bias}the caption shown first is chosen {_shown(self.first_position)}",
            f"no readable choice: {_shown(self.unknown)}",
        ]
        if self.consistency is not None:
            found.insert(1, f"the same answer in both orders: {_shown(self.consistency)}")
        if self.failures:
            kinds = ", ".join(f"{count} {status}" for status, count in self.failures.items())
            found.append(f"questions without an answer: {kinds}")
        if self.read:
            found.append(
                f"answers read by the reader: {self.read}, decided {self.read_decided}, "
                f"unusable replies {self.read_unusable}"
            )
        return found


def position_share(
    pairs: Sequence[CaptionPair], orders: Sequence[Sequence[Choice]], *, seed: int = SEED
) -> ShareEstimate:
    """Share of the first position among choices.

    Args:
        pairs: What was asked.
        orders: Choices by position, one list an order.
        seed: For the interval.
    """
    chose = [[choice in CHOSEN for choice in order] for order in orders]
    first = [[choice is Choice.FIRST for choice in order] for order in orders]
    return _share(_summed(first), _summed(chose), pairs, seed)


def consistency_share(
    pairs: Sequence[CaptionPair],
    one: Sequence[Choice],
    other: Sequence[Choice],
    *,
    seed: int = SEED,
) -> ShareEstimate:
    """Share of pairs with the same answer in both orders; choices are for the pairs as given."""
    return _share(_summed([agreeing(one, other)]), np.ones(len(pairs)), pairs, seed)


def unknown_share(
    pairs: Sequence[CaptionPair], orders: Sequence[Sequence[Choice]], *, seed: int = SEED
) -> ShareEstimate:
    """Share of questions without a readable choice."""
    unknown = [[choice is Choice.UNKNOWN for choice in order] for order in orders]
    return _share(_summed(unknown), np.full(len(pairs), float(len(orders))), pairs, seed)


def positions(orders: Sequence[Sequence[Choice]]) -> dict[str, int]:
    """How often each choice was made, by position."""
    found = Counter(choice for order in orders for choice in order)
    return {choice.name.lower(): found[choice] for choice in Choice}


def _summed(orders: Sequence[Sequence[bool]]) -> FloatArray:
    total: FloatArray = np.asarray(orders, dtype=np.float64).sum(axis=0)
    return total


def _share(
    hits: FloatArray, of: FloatArray, pairs: Sequence[CaptionPair], seed: int
) -> ShareEstimate:
    count = int(of.sum())
    if not count:
        return ShareEstimate(None, 0, None)
    value = float(hits.sum() / count)
    clips = [pair.clip for pair in pairs]
    if len(set(clips)) < FEWEST_FOR_INTERVAL:
        return ShareEstimate(value, count, None)

    def ratio(means: FloatArray) -> FloatArray:
        found: FloatArray = means[..., 0] / np.maximum(means[..., 1], 1e-12)
        return found

    statistics = np.stack([hits, of], axis=1)
    return ShareEstimate(value, count, mean_interval(statistics, ratio, seed=seed, clusters=clips))


def _shown(share: ShareEstimate) -> str:
    if share.value is None:
        return "– (nothing to count)"
    text = f"{100 * share.value:.1f} %"
    if share.interval is not None:
        text += f" ({100 * share.interval.low:.1f}–{100 * share.interval.high:.1f})"
    return f"{text} of {share.count:,}"
