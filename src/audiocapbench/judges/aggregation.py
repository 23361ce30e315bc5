"""From many judgements of an answer to one: rounds of a judge first, then the judges of a panel."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from audiocapbench.data.outcome import Status
from audiocapbench.errors import JudgeError
from audiocapbench.store.judgements import Judgement

OVERALL = "overall"
MAX_VALUE = 10.0
"""Every dimension is scored from 0 to this."""

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


def panel(opinions: ByJudge) -> dict[str, PanelScore]:
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
            together(scores),
            len(scores),
            stdev(map(overall, scores)) if len(scores) > 1 else None,
        )
        for sample, scores in given.items()
    }


def together(given: Sequence[Scores]) -> Scores:
    """The mean scores of several rounds or judges; there is at least one."""
    if len(given) == 1:
        return given[0]
    return {name: float(mean(one[name] for one in given)) for name in given[0]}
