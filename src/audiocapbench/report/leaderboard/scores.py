"""What a run scored, ready to be drawn from: statistics by sample, and how they add up."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks import Traits, stored_traits
from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome, median_latency, total_cost
from audiocapbench.errors import MetricError
from audiocapbench.judges.aggregation import Scores, by_judge, overall
from audiocapbench.judges.summary import MAX_VALUE, OVERALL
from audiocapbench.metrics import METRICS, find_metric
from audiocapbench.metrics.result import first_column
from audiocapbench.report.groups.total import joined
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats.units import Aggregate
from audiocapbench.store import Dataset, Run, Store, StoredScore
from audiocapbench.store.judgements import Judgement

FloatArray = NDArray[np.float64]

_OWN_JUDGE = "elements"


@dataclass(frozen=True, slots=True)
class Scorer:
    """One column of scores: a metric, or one dimension of a judge.

    Attributes:
        name: The metric's name, or the judge's.
        dimension: The judge's dimension; None for a metric.
    """

    name: str
    dimension: str | None = None

    @property
    def label(self) -> str:
        """What people read: ``meteor``, ``elements: accuracy``."""
        return self.name if self.dimension is None else f"{self.name}: {self.dimension}"

    @property
    def aggregate(self) -> Aggregate:
        """How mean statistics become the corpus score."""
        return find_metric(self.name)[0].aggregate if self.dimension is None else first_column

    @property
    def max_value(self) -> float:
        """The best that a sample could score."""
        return find_metric(self.name)[0].max_value if self.dimension is None else MAX_VALUE

    @property
    def digits(self) -> int:
        """How many places it is shown with."""
        return 3 if self.dimension is None else 2


@dataclass(frozen=True, slots=True)
class Scored:
    """One scorer on one run.

    Attributes:
        values: Score of each sample, by its id.
        statistics: What resampling needs of each sample, by its id; all of one length.
        signature: How the scores were made; empty where there are none.
    """

    values: dict[str, float]
    statistics: dict[str, tuple[float, ...]]
    signature: Signature


@dataclass(frozen=True, slots=True)
class Judged:
    """One judge on one run.

    Attributes:
        signature: The way in which most judgements were made; those of other ways are left out.
        scores: Scores by dimension of each sample, its rounds put together.
        cost_usd: Dollars that all judgements cost, where known.
    """

    signature: Signature
    scores: Mapping[str, Scores]
    cost_usd: float | None

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> "Judged":
        """Put one judge's judgements together; there is at least one."""
        signature = Counter(one.signature for one in judgements).most_common(1)[0][0]
        scores = by_judge(one for one in judgements if one.signature == signature)
        costs = [one.cost_usd for one in judgements if one.cost_usd is not None]
        return cls(signature, scores.get(judgements[0].judge, {}), sum(costs) if costs else None)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run with everything that the store has of it."""

    run: Run
    traits: Traits
    samples: tuple[Sample, ...]
    missing_clips: int
    outcomes: dict[str, Outcome]
    scores: dict[str, list[StoredScore]]
    judged: dict[str, Judged]

    @property
    def aggregation(self) -> Aggregation | None:
        """How the benchmark's samples make corpora; None where they are one."""
        return self.traits.aggregation

    @property
    def scorers(self) -> list[Scorer]:
        """Judges' overall scores first, our own offline judge after models; then metrics.

        Metrics of plug-ins come last; those that are not installed here are not among them.
        """
        judges = sorted(self.judged, key=lambda name: (name.startswith(_OWN_JUDGE), name))
        known = {name: place for place, name in enumerate(METRICS)}
        unknown = self.unknown_metrics
        metrics = sorted(
            (name for name in self.scores if name not in unknown),
            key=lambda name: (known.get(find_metric(name)[0].name, len(known)), name),
        )
        return [*(Scorer(name, OVERALL) for name in judges), *(Scorer(name) for name in metrics)]

    @property
    def unknown_metrics(self) -> list[str]:
        """Metrics with scores that nothing here can add up: their plug-in is gone, or broken."""
        return sorted(name for name in self.scores if not _is_known(name))

    @property
    def is_hopeless(self) -> bool:
        """Whether no sample has an answer, so that nothing can ever be scored."""
        return not any(one.reply.status in SCORED for one in self.outcomes.values())

    def dimensions(self, judge: str) -> list[Scorer]:
        """A judge's dimensions, without ``overall``."""
        if judge not in self.judged:
            return []
        return [Scorer(judge, name) for name in next(iter(self.judged[judge].scores.values()), {})]

    def scored(self, scorer: Scorer) -> Scored:
        """What one scorer says; nothing where it has not seen the run."""
        if scorer.dimension is None:
            return self._measured(self.scores.get(scorer.name, []))
        if scorer.name not in self.judged:
            return Scored({}, {}, UNSIGNED)
        return self._judged(self.judged[scorer.name], scorer.dimension)

    def _measured(self, scores: Sequence[StoredScore]) -> Scored:
        kept = [one for one in scores if self._counts(one.sample_id)]
        total = self.aggregation.total if self.aggregation is not None else ""
        return Scored(
            {one.sample_id: one.value for one in kept},
            {one.sample_id: one.statistics for one in kept},
            joined({one.signature for one in kept}, total),
        )

    def _judged(self, judged: Judged, dimension: str) -> Scored:
        chosen = set(self.run.sample_ids)
        values = {
            key: overall(given) if dimension == OVERALL else given[dimension]
            for key, given in judged.scores.items()
            if key in chosen and (dimension == OVERALL or dimension in given)
        }
        return Scored(values, {key: (value,) for key, value in values.items()}, judged.signature)

    def _counts(self, sample_id: str) -> bool:
        outcome = self.outcomes.get(sample_id)
        return outcome is not None and outcome.reply.status in SCORED

    @property
    def statuses(self) -> dict[str, int]:
        """How many samples ended in which way; those that were never asked are not among them."""
        return dict(Counter(str(one.reply.status) for one in self.outcomes.values()))

    @property
    def cost_usd(self) -> float | None:
        """Dollars that the answers cost, where known."""
        return total_cost(self.outcomes.values())

    @property
    def latency_s(self) -> float | None:
        """Median time of an answer that was asked for and not found in the cache."""
        return median_latency(self.outcomes.values())


def without_plugin(metric: str) -> str:
    """What to say of scores that nothing here can add up."""
    return f"Scores of {metric} are left out: no metric of that name works here; its plug-in did."


def _is_known(metric: str) -> bool:
    try:
        find_metric(metric)
    except MetricError:
        return False
    return True


class RunReader:
    """Reads runs from a store, and each dataset once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._datasets: dict[str, tuple[Dataset, Traits]] = {}

    def read(self, run: Run) -> StoredRun:
        """A run with all its outcomes, scores and judgements."""
        if run.dataset not in self._datasets:
            found = self._store.dataset(run.dataset)
            self._datasets[run.dataset] = (found, stored_traits(found))
        dataset, traits = self._datasets[run.dataset]
        chosen = set(run.sample_ids)
        judgements: dict[str, list[Judgement]] = {}
        for one in self._store.judgements(run.id):
            judgements.setdefault(one.judge, []).append(one)
        return StoredRun(
            run,
            traits,
            tuple(sample for sample in dataset.samples if sample.id in chosen),
            len(dataset.missing),
            self._store.outcomes(run.id),
            self._store.scores(run.id),
            {judge: Judged.of(given) for judge, given in judgements.items()},
        )
