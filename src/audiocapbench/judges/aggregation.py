"""From many judgements of an answer to one: rounds of a judge first, then the judges of a panel."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median, stdev
from typing import Literal

from audiocapbench.data.outcome import Status
from audiocapbench.errors import JudgeError
from audiocapbench.store.judgements import Judgement

OVERALL = "overall"
MAX_VALUE = 10.0
"""Every dimension is scored from 0 to this."""

How = Literal["mean", "median", "majority"]
Scores = Mapping[str, float]
ByJudge = dict[str, dict[str, Scores]]
"""Scores by judge and sample."""


@dataclass(frozen=True, slots=True)
class PanelScore:
    """What a panel makes of one answer: scores by dimension, and how many judges gave one.

    ``spread`` is the standard deviation of their overall scores; None for a single judge.
    """

    scores: Scores
    judges: int
    spread: float | None

    @property
    def overall(self) -> float:
        """The unrounded mean of the dimensions."""
        return overall(self.scores)


def overall(scores: Scores) -> float:
    """The unrounded mean of the dimensions."""
    return sum(scores.values()) / len(scores)


def majority(values: Sequence[float]) -> float:
    """The most frequent value; the mean of those that are equally frequent."""
    counted = Counter(values)
    most = max(counted.values())
    return mean(value for value, count in counted.items() if count == most)


_WAYS: Mapping[How, Callable[[Sequence[float]], float]] = {
    "mean": mean,
    "median": median,
    "majority": majority,
}


def aggregate(values: Sequence[float], how: How = "mean") -> float:
    """One value for several; there is at least one."""
    if how not in _WAYS:
        raise JudgeError(f"scores are put together by {', '.join(_WAYS)}, not by {how!r}")
    return float(_WAYS[how](values)) if len(values) > 1 else float(values[0])


def by_judge(judgements: Iterable[Judgement]) -> ByJudge:
    """Each judge's scores of each sample, its rounds put together; failures are left out."""
    rounds: dict[str, dict[str, list[Scores]]] = defaultdict(lambda: defaultdict(list))
    for one in judgements:
        if one.status is Status.OK:
            rounds[one.judge][one.sample_id].append(one.scores)
    return {
        judge: {sample: together(given) for sample, given in samples.items()}
        for judge, samples in rounds.items()
    }


def panel(opinions: ByJudge, how: How = "mean") -> dict[str, PanelScore]:
    """The panel's score of each sample, from the judges that gave one.

    Raises:
        JudgeError: The judges do not judge the same dimensions.
    """
    given: dict[str, list[Scores]] = defaultdict(list)
    for samples in opinions.values():
        for sample, scores in samples.items():
            given[sample].append(scores)
    kinds = {tuple(scores) for one in given.values() for scores in one}
    if len({frozenset(kind) for kind in kinds}) > 1:
        raise JudgeError("judges of one panel must judge the same dimensions")
    return {
        sample: PanelScore(
            together(scores, how),
            len(scores),
            stdev(map(overall, scores)) if len(scores) > 1 else None,
        )
        for sample, scores in given.items()
    }


def together(given: Sequence[Scores], how: How = "mean") -> Scores:
    """Scores of several rounds or judges as one."""
    return {name: aggregate([one[name] for one in given], how) for name in given[0]}
