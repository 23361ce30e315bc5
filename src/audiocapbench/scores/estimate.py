"""Columns of scores (a metric, or one dimension of a judge), and the estimates made of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.data.outcome import Status
from audiocapbench.errors import MetricError
from audiocapbench.judges.aggregation import MAX_VALUE, OVERALL
from audiocapbench.metrics import METRICS, find_metric
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.result import first_column
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, METHODS, Interval
from audiocapbench.stats.units import Aggregate
from audiocapbench.table import Table, shown, signature_notes

FEWEST_SHARE = 0.5
"""Who has a score for fewer of the samples is shown, but neither ranked nor tested."""

SLACK = 0.1
"""What leaving out costs beyond the zero, where a metric compares its samples: on MECAT, leaving
answers out moved the weights of words in others by up to .07 of its share."""


class Missing(StrEnum):
    """Why a sample has no score; one reason is never counted as another."""

    NOT_ASKED = "not asked"
    FAILED = "failed"
    SKIPPED = "skipped"
    REFUSED = "refused"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    NOT_JUDGED = "not judged"

    @property
    def is_failure(self) -> bool:
        """Whether it counts as 0 beside others; what nobody asked about is missing by design."""
        return self not in (Missing.NOT_ASKED, Missing.NOT_JUDGED)


Replies = Mapping[str, Missing | None]
"""What each sample that was asked lacks: nothing where there is an answer to score."""

HAVE_TEXT = frozenset({None, Missing.EMPTY})
"""Replies whose text is scored; an empty answer scores what an empty text scores."""

LACKING: dict[Status, Missing | None] = {
    **dict.fromkeys(Status, Missing.FAILED),
    Status.OK: None,
    Status.SKIPPED: Missing.SKIPPED,
    Status.EMPTY: Missing.EMPTY,
    Status.REFUSED: Missing.REFUSED,
    Status.FILTERED: Missing.REFUSED,
    Status.UNPARSED: Missing.UNREADABLE,
}
"""What a question that ended so has left missing; an answer that was cut off has failed."""


_BETTER = {"meteor": "preference"}
"""What agrees more with people than a paper's headline, and ranks where the runs have it."""


class Coverage(NamedTuple):
    total: int
    answered: int
    empty: int
    not_asked: int = 0

    @property
    def replied(self) -> int:
        """Samples with a text to score, be it empty."""
        return self.answered + self.empty

    @property
    def failed(self) -> int:
        return self.total - self.replied - self.not_asked


@dataclass(frozen=True, slots=True)
class Estimate:
    """One scorer on one group of samples, with all that is needed to trust the number.

    Attributes:
        value: Over the ``n`` samples that have a score, as published; None where there are none.
        as_zero: The same with every failure counted as 0, and nothing that was never asked.
        bounds: The worst and the best that the failures could make of it.
        interval: 95 %, by ``stats.METHODS``; None for too few samples or clips.
        lacks: Of a total: the corpora without a score that it cannot be formed for; None of others.
        missing: How many samples have no score, for each reason.
    """

    value: float | None
    n: int
    coverage: Coverage
    as_zero: float | None = None
    bounds: Interval | None = None
    interval: Interval | None = None
    signature: Signature = UNSIGNED
    lacks: tuple[str, ...] | None = None
    missing: Mapping[Missing, int] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        span = f" [{self.interval.low:.3f}, {self.interval.high:.3f}]" if self.interval else ""
        return f"{shown(self.value, '.3f')}{span}, n={self.n:,}/{self.coverage.total:,}"

    def _repr_html_(self) -> str:
        row = {"score": self, "scored": self.n, "samples": self.coverage.total}
        return Table("", [row], notes=signature_notes([self.signature]))._repr_html_()

    def scores(self) -> dict[str, Any]:
        return {
            "score": self.value,
            "ci": list(self.interval) if self.interval else None,
            "as_zero": self.as_zero,
            "bounds": list(self.bounds) if self.bounds else None,
        }

    def flat(self) -> dict[str, float | None]:
        low, high = self.interval or (None, None)
        worst, best = self.bounds or (None, None)
        ends = {"low": low, "high": high, "as_zero": self.as_zero, "worst": worst, "best": best}
        return {"score": self.value, **ends}

    def to_dict(self) -> dict[str, Any]:
        coverage = self.coverage
        total = {} if self.lacks is None else {"lacks": list(self.lacks)}
        return {
            **total,
            **self.scores(),
            "ci_method": METHODS if self.interval else None,
            "signature": str(self.signature),
            "coverage": coverage.replied / coverage.total if coverage.total else 0.0,
            "n": coverage.total,
            "scored": self.n,
            "answered": coverage.answered,
            "empty": coverage.empty,
            "failed": coverage.failed,
            "not_asked": coverage.not_asked,
            "unscored": dict(self.missing),
        }


def missing_words(missing: Mapping[Missing, int]) -> str:
    """What has no score and why: ``3 failed, 2 not asked``."""
    return ", ".join(f"{count:,} {reason}" for reason, count in missing.items())


def interval_words(estimates: Iterable[Estimate]) -> str:
    """How the title of a table goes on: with intervals, or why none of its numbers has one."""
    known = list(estimates)
    if any(one.interval is not None for one in known):
        return ", with 95 % intervals"
    many = [one for one in known if one.n >= FEWEST_FOR_INTERVAL and one.value is not None]
    if many and not any(Missing.NOT_ASKED in one.missing for one in many):
        few = f"clips, of all or of a category, that are worth fewer than {FEWEST_FOR_INTERVAL}"
        return f" ({few}: no intervals)"
    if not known or any(one.n >= FEWEST_FOR_INTERVAL for one in known):
        return ""
    asked = max(one.coverage.total for one in known)
    few = f"fewer than {FEWEST_FOR_INTERVAL} samples"
    return f" ({few}{' with a score' if asked >= FEWEST_FOR_INTERVAL else ''}: no intervals)"


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Scorer:
    """One column of scores: a metric, or a judge and one of its dimensions."""

    name: str
    dimension: str | None = None

    @property
    def judge(self) -> str | None:
        return None if self.dimension is None else self.name

    @property
    def is_overall(self) -> bool:
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
        return find_metric(self.name)[0].aggregate if self.dimension is None else first_column

    @property
    def min_value(self) -> float:
        return find_metric(self.name)[0].min_value if self.dimension is None else 0.0

    @property
    def max_value(self) -> float:
        return find_metric(self.name)[0].max_value if self.dimension is None else MAX_VALUE

    def bounds(self, least: float) -> tuple[float, float]:
        """Between what samples lie of which the least has so much: below 0 only if one does."""
        return (0.0 if least >= 0 else -self.max_value, self.max_value)

    @property
    def of_corpus(self) -> bool:
        return self.dimension is None and find_metric(self.name)[0].of_corpus

    @property
    def is_mean(self) -> bool:
        """Whether a corpus scores the mean of its samples, each of which stands for itself."""
        return self.aggregate is first_column and not self.of_corpus

    @property
    def digits(self) -> int:
        return 3 if self.dimension is None else 2

    def sort_key(self, estimate: Estimate | None) -> tuple[bool, float, float]:
        """What sorts the best first: failures count as zero, and who has no value comes last."""
        if estimate is None:
            return (True, 0.0, 0.0)
        value = estimate.value or 0.0
        zero = value if estimate.as_zero is None else estimate.as_zero
        if estimate.bounds and self.of_corpus:
            zero -= SLACK * (estimate.bounds.high - estimate.bounds.low)
        return (estimate.value is None, -zero, -value)


def is_known(metric: str) -> bool:
    try:
        find_metric(metric)
    except MetricError:
        return False
    return True


def without_plugin(metric: str) -> str:
    return f"Scores of {metric} are left out: no metric of that name works here; its plug-in did."


def metrics_in_order(metrics: Iterable[str]) -> list[str]:
    """Metrics that work here, in the order of ``audiocapbench metrics``, plug-ins last."""
    order = {name: place for place, name in enumerate(METRICS)}
    names = [name for name in metrics if is_known(name)]
    return sorted(names, key=lambda name: (order.get(parse_name(name).name, len(order)), name))


def default_scorer(counts: Mapping[Scorer, int], runs: int, headline: str) -> Scorer | None:
    """What ranks so many runs that have answers by default: a judge that most of them have; else
    what is better than the benchmark's headline, or that, whatever its options, if most have it;
    else what most have."""
    order = sorted(counts, key=lambda one: -counts[one])
    judges = [one for one in order if one.is_overall]
    metrics = [one for one in order if one.judge is None and not leaves_null_out(one.name)]
    wanted = [_BETTER.get(headline), headline]
    own = [one for name in wanted for one in metrics if one.name == name]
    own += [one for one in metrics if parse_name(one.name).name == headline]
    usual = [one for one in (*judges, *own) if 2 * counts[one] > runs]
    order.sort(key=lambda one: (-counts[one], one not in own))
    return next(iter([*usual, *order]), None)


def judge_order(judge: str) -> tuple[bool, str]:
    return (judge.startswith("elements"), judge)  # our own offline one after models
