"""What a pairwise trial shows beside its choices: position bias, consistency, what went unread."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.measures import CHOSEN, agreeing
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.scores.estimate import Coverage, Estimate
from audiocapbench.stats import mean_interval

FloatArray = NDArray[np.float64]
_COUNTED = ("certain", "read", "read_decided", "read_unusable")


class OrderChoices(NamedTuple):
    """One order of the captions: choices by position, and questions without an answer by status.

    Attributes:
        certain: Answers whose choice is the parser's, which was certain of it.
        read: Answers that the reader was given.
        read_decided: Those for which it named a caption or a tie.
        read_unusable: Those for which it did not keep to one word, or failed.
    """

    choices: list[Choice]
    failures: Counter[str]
    certain: int = 0
    read: int = 0
    read_decided: int = 0
    read_unusable: int = 0


@dataclass(frozen=True, slots=True)
class PairwiseDiagnostics:
    """How a model behaved as a judge of pairs.

    Attributes:
        asked: Questions that were put, in both orders together.
        first_position: Share of the caption that stood first, among answers that chose one. In
            both orders together a judge without position bias is at one half; in one order alone
            it says nothing of bias, because the better caption may stand first more often.
        consistency: Share of pairs whose two answers name the same caption or both tie, an
            unknown never agrees; None unless both orders were asked.
        unknown: Share of questions without a readable choice, failed ones among them.
        positions: How often answers chose the first position, the second, a tie, or nothing.
        certain: This and what follows as in ``OrderChoices``, in both orders together.
    """

    prompt: str
    orders: int
    asked: int
    first_position: Estimate
    consistency: Estimate | None
    unknown: Estimate
    positions: Mapping[str, int]
    failures: Mapping[str, int]
    certain: int = 0
    read: int = 0
    read_decided: int = 0
    read_unusable: int = 0

    def lines(self) -> list[str]:
        """The same in words, a line each."""
        bias = "position bias: " if self.orders > 1 else ""
        found = [f"{bias}the caption shown first is chosen {_shown(self.first_position)}"]
        if self.consistency is not None:
            found.append(f"the same answer in both orders: {_shown(self.consistency)}")
        found.append(f"no readable choice: {_shown(self.unknown)}")
        read = f"{self.read_decided:,} read by the reader, " if self.read else ""
        unknown = self.positions["unknown"]
        found.append(f"answers: {self.certain:,} certain, {read}{unknown:,} unknown")
        if self.failures:
            kinds = ", ".join(f"{count} {status}" for status, count in self.failures.items())
            found.append(f"questions without an answer: {kinds}")
        if self.read:
            found.append(
                f"answers read by the reader: {self.read}, decided {self.read_decided}, "
                f"unusable replies {self.read_unusable}"
            )
        return found

    def document(self) -> dict[str, Any]:
        """The same as plain data."""
        shares = (("first_position", self.first_position), ("unknown", self.unknown))
        return asdict(self) | {
            name: one and {"value": one.value, "count": one.n, "interval": one.interval}
            for name, one in (*shares, ("consistency", self.consistency))
        }


def _shown(share: Estimate) -> str:
    """A share in percent, with its interval and its count."""
    if share.value is None:
        return "– (nothing to count)"
    text = f"{100 * share.value:.1f} %"
    if share.interval is not None:
        text += f" ({100 * share.interval.low:.1f}–{100 * share.interval.high:.1f})"
    return f"{text} of {share.n:,}"


def diagnose(
    pairs: Sequence[CaptionPair], orders: Sequence[OrderChoices], *, prompt: str
) -> PairwiseDiagnostics:
    """See how a model behaved, from what it said of the pairs in each order."""
    clips = [pair.clip for pair in pairs]
    choices = [order.choices for order in orders]

    def share(hits: Sequence[Choice], among: Sequence[Choice]) -> Estimate:
        """Of all answers that are among these, those that are hits."""
        both = [[[one in wanted for one in order] for order in choices] for wanted in (hits, among)]
        return _share(np.array(both, dtype=np.float64).sum(axis=1).T, clips)

    consistency = None
    if len(orders) > 1:
        same = agreeing(choices[0], [choice.swapped for choice in choices[1]])
        table = np.stack([np.array(same, dtype=np.float64), np.ones(len(pairs))], axis=1)
        consistency = _share(table, clips)
    counted = Counter(choice for order in choices for choice in order)
    return PairwiseDiagnostics(
        prompt=prompt,
        orders=len(orders),
        asked=len(pairs) * len(orders),
        first_position=share([Choice.FIRST], CHOSEN),
        consistency=consistency,
        unknown=share([Choice.UNKNOWN], tuple(Choice)),
        positions={choice.name.lower(): counted[choice] for choice in Choice},
        failures=dict(sum((order.failures for order in orders), Counter())),
        **{name: sum(getattr(order, name) for order in orders) for name in _COUNTED},
    )


def _share(statistics: FloatArray, clips: Sequence[str]) -> Estimate:
    """The share of hits: each row is what a pair adds to the hits, and to what they are among."""
    hits, count = statistics.sum(axis=0)
    if not count:
        return Estimate(None, 0, Coverage(len(clips), 0, 0))
    interval = mean_interval(
        statistics,
        lambda means: means[..., 0] / np.maximum(means[..., 1], 1e-12),
        clusters=clips,
        bounds=(0.0, 1.0),
        share=True,
        most=float(count),
    )
    n = int(count)
    return Estimate(float(hits / count), n, Coverage(n, n, 0), interval=interval)
