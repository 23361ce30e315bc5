"""Groups: samples that are scored together, as one corpus or as a benchmark's total of several."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.data import Sample
from audiocapbench.scores.estimate import Missing
from audiocapbench.scores.scorer import Scorer
from audiocapbench.signature import Signature

FloatArray = NDArray[np.float64]

CATEGORY = "category"


class GroupKey(NamedTuple):
    """Which group: all samples, or those of a category or another facet, such as a domain."""

    facet: str = "all"
    place: str = ""

    def __str__(self) -> str:
        return f"{self.facet}={self.place}" if self.place else self.facet


ALL = GroupKey()


def category(name: str) -> GroupKey:
    """The samples of one category."""
    return GroupKey(CATEGORY, name)


@dataclass(frozen=True, slots=True)
class SampleScores:
    """One scorer's scores by sample id, how each was made, and what resampling needs of it.

    ``missing`` says why answers have none, where that is known of the scorer.
    """

    values: dict[str, float] = field(default_factory=dict)
    statistics: dict[str, Sequence[float]] = field(default_factory=dict)
    signatures: dict[str, Signature] = field(default_factory=dict)
    missing: dict[str, Missing] = field(default_factory=dict)

    @classmethod
    def of_values(
        cls,
        values: dict[str, float],
        signature: Signature,
        missing: dict[str, Missing] | None = None,
    ) -> "SampleScores":
        """Scores that add up to their mean."""
        statistics: dict[str, Sequence[float]] = {key: (one,) for key, one in values.items()}
        return cls(values, statistics, dict.fromkeys(values, signature), missing or {})

    def add(
        self, key: str, value: float, statistics: Sequence[float], signature: Signature
    ) -> None:
        """One more sample."""
        self.values[key], self.statistics[key] = value, statistics
        self.signatures[key] = signature


@dataclass(frozen=True)
class Group:
    """Samples that are scored together.

    Attributes:
        clips: The clip of each, which is drawn whole.
        aggregation: Of a total alone: which corpora it is the weighted sum of.
    """

    samples: tuple[Sample, ...]
    clips: tuple[str, ...]
    aggregation: Aggregation | None = None

    @cached_property
    def clusters(self) -> list[str] | None:
        """The clip of each sample; None where every sample has its own."""
        return list(self.clips) if len(set(self.clips)) < len(self.clips) else None

    @property
    def corpora(self) -> list[str]:
        """The corpora of a total; a single nameless one where the score is no total."""
        return [""] if self.aggregation is None else list(self.aggregation.weights)

    @cached_property
    def weights(self) -> FloatArray:
        """What each corpus counts for."""
        weights = self.aggregation.weights.values() if self.aggregation is not None else [1.0]
        return np.array(list(weights))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The corpus of each sample, by its place among the weights."""
        if self.aggregation is None:
            return np.zeros(len(self.samples), dtype=np.int64)
        order = {name: place for place, name in enumerate(self.corpora)}
        return np.array([order[sample.category] for sample in self.samples], dtype=np.int64)

    def arrays(self, runs: Sequence[SampleScores]) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Statistics of shape (samples, runs, k), zero where there are none; which there are."""
        width = max((len(next(iter(one.statistics.values()), ())) for one in runs), default=0)
        statistics = np.zeros((len(self.samples), len(runs), max(width, 1)))
        present = np.zeros((len(self.samples), len(runs)), dtype=bool)
        for place, run in enumerate(runs):
            for row, sample in enumerate(self.samples):
                found = run.statistics.get(sample.id)
                if found is not None:
                    statistics[row, place], present[row, place] = found, True
        return statistics, present

    def asked_by(self, scorer: Scorer, aggregation: Aggregation | None) -> "Group":
        """What a scorer is about: some leave samples out that have nothing to describe."""
        if aggregation is None or scorer.dimension is not None or not leaves_null_out(scorer.name):
            return self
        kept = [not aggregation.null(sample) for sample in self.samples]
        samples, clips = compress(self.samples, kept), compress(self.clips, kept)
        return Group(tuple(samples), tuple(clips), self.aggregation)


def group_samples(
    samples: Iterable[Sample], aggregation: Aggregation | None
) -> dict[GroupKey, Group]:
    """Everything, and each category.

    Of a benchmark with corpora, everything is those that count, and its score is their total;
    the corpora that count come first among the categories.
    """
    members: dict[GroupKey, list[Sample]] = {ALL: []}
    for name in aggregation.weights if aggregation is not None else ():
        members[category(name)] = []
    for sample in samples:
        if aggregation is None or sample.category in aggregation.weights:
            members[ALL].append(sample)
        if sample.category:
            members.setdefault(category(sample.category), []).append(sample)
    return _groups({key: own for key, own in members.items() if own or key == ALL}, aggregation)


def facet_groups(
    samples: Iterable[Sample], aggregation: Aggregation | None
) -> dict[GroupKey, Group]:
    """Other views of the samples: each place of each facet, as one corpus."""
    members: dict[GroupKey, list[Sample]] = {}
    if aggregation is not None:
        for sample in samples:
            for facet, place in aggregation.facets(sample).items():
                members.setdefault(GroupKey(facet, place), []).append(sample)
    return _groups(members, aggregation)


def _groups(
    members: Mapping[GroupKey, Sequence[Sample]], aggregation: Aggregation | None
) -> dict[GroupKey, Group]:
    clip = aggregation.clip if aggregation else lambda one: one.clip.sha256
    return {
        key: Group(tuple(own), tuple(map(clip, own)), aggregation if key == ALL else None)
        for key, own in members.items()
    }
