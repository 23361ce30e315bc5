"""Scorers: a metric, or one dimension of a judge; every column of scores is one of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from audiocapbench.errors import MetricError
from audiocapbench.judges.aggregation import MAX_VALUE, OVERALL
from audiocapbench.metrics import METRICS, find_metric
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.result import first_column
from audiocapbench.scores.estimate import Estimate
from audiocapbench.stats.units import Aggregate

FEWEST_SHARE = 0.5
"""Who has a score for fewer of the samples is shown, but neither ranked nor tested."""

SLACK = 0.1
"""What leaving out costs beyond the zero, in the order by a metric that compares its samples.

What is left out still moves the weights of words in the other answers: in trials on MECAT, by up to
.07 of its share.
"""

_OWN_JUDGE = "elements"


@dataclass(frozen=True, slots=True)
class Scorer:
    """One column of scores: a metric, or a judge and one of its dimensions."""

    name: str
    dimension: str | None = None

    @property
    def judge(self) -> str | None:
        """The judge's name; None for a metric."""
        return None if self.dimension is None else self.name

    @property
    def is_overall(self) -> bool:
        """Whether it is a judge's overall score."""
        return self.dimension == OVERALL

    @property
    def column(self) -> str:
        """What stands above its column in a table of its kind: the metric, or the dimension."""
        return self.name if self.dimension is None else self.dimension

    @property
    def label(self) -> str:
        """What people read: ``meteor``, ``elements: accuracy``."""
        return self.name if self.dimension is None else f"{self.name}: {self.dimension}"

    @property
    def aggregate(self) -> Aggregate:
        """How mean statistics become the corpus score."""
        return find_metric(self.name)[0].aggregate if self.dimension is None else first_column

    @property
    def min_value(self) -> float:
        """The worst that an answer could score."""
        return find_metric(self.name)[0].min_value if self.dimension is None else 0.0

    @property
    def max_value(self) -> float:
        """The best that a sample could score."""
        return find_metric(self.name)[0].max_value if self.dimension is None else MAX_VALUE

    @property
    def is_mean(self) -> bool:
        """Whether a corpus scores the mean of its samples, each of which stands for itself."""
        if self.dimension is not None:
            return True
        metric = find_metric(self.name)[0]
        return metric.aggregate is first_column and not metric.of_corpus

    @property
    def digits(self) -> int:
        """How many places it is shown with."""
        return 3 if self.dimension is None else 2

    def sort_key(self, estimate: Estimate | None) -> tuple[bool, float, float]:
        """What sorts the best first: failures count as zero, and who has no value comes last."""
        if estimate is None:
            return (True, 0.0, 0.0)
        value = estimate.value or 0.0
        zero = value if estimate.as_zero is None else estimate.as_zero
        if estimate.bounds and self.dimension is None and find_metric(self.name)[0].of_corpus:
            zero -= SLACK * (estimate.bounds.high - estimate.bounds.low)
        return (estimate.value is None, -zero, -value)


def is_known(metric: str) -> bool:
    """Whether a metric can be found here, and its plug-in works."""
    try:
        find_metric(metric)
    except MetricError:
        return False
    return True


def without_plugin(metric: str) -> str:
    """What to say of scores that nothing here can add up."""
    return f"Scores of {metric} are left out: no metric of that name works here; its plug-in did."


def metrics_in_order(metrics: Iterable[str]) -> list[str]:
    """Metrics in the order of ``audiocapbench metrics``, plug-ins last; unknown ones are not there.

    A store may have scores of a metric whose plug-in is gone.
    """
    order = {name: place for place, name in enumerate(METRICS)}
    names = [name for name in metrics if is_known(name)]
    return sorted(names, key=lambda name: (order.get(parse_name(name).name, len(order)), name))


def judge_order(judge: str) -> tuple[bool, str]:
    """Judges by name, our own offline one after models."""
    return (judge.startswith(_OWN_JUDGE), judge)
