"""How a scorer adds up on a set of samples: as one corpus, or as a benchmark's total of several."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.data import Sample
from audiocapbench.report.groups.total import (
    corpus_means,
    enough_in_each,
    spread_by_corpus,
    total_finish,
    total_interval,
)
from audiocapbench.report.leaderboard.scores import Scorer
from audiocapbench.stats import Interval, Policies, mean_interval, with_failures
from audiocapbench.stats.units import Aggregate

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Part:
    """Samples that are scored together.

    Attributes:
        samples: The samples.
        aggregation: How the benchmark's samples make corpora; None where they are one.
        is_total: Whether the score is the weighted sum of the corpora rather than of one.
    """

    samples: tuple[Sample, ...]
    aggregation: Aggregation | None = None
    is_total: bool = False

    @property
    def clusters(self) -> list[str] | None:
        """The clip of each sample; None where every sample has its own."""
        clip = self.aggregation.clip if self.aggregation is not None else _clip
        clips = [clip(sample) for sample in self.samples]
        return clips if len(set(clips)) < len(clips) else None

    @property
    def weights(self) -> FloatArray:
        """What each corpus counts for; a single one where the score is no total."""
        if not self.is_total or self.aggregation is None:
            return np.ones(1)
        return np.array(list(self.aggregation.weights.values()))

    @property
    def places(self) -> NDArray[np.int64]:
        """The corpus of each sample, by its place among the weights."""
        if not self.is_total or self.aggregation is None:
            return np.zeros(len(self.samples), dtype=np.int64)
        order = {name: place for place, name in enumerate(self.aggregation.weights)}
        return np.array([order[sample.category] for sample in self.samples], dtype=np.int64)


def whole(samples: Sequence[Sample], scorer: Scorer, aggregation: Aggregation | None) -> Part:
    """All samples; of a benchmark with corpora those that count, and the score is their total."""
    asked = _asked(samples, scorer, aggregation)
    if aggregation is None:
        return Part(tuple(asked))
    counted = tuple(sample for sample in asked if sample.category in aggregation.weights)
    return Part(counted, aggregation, is_total=True)


def by_category(
    samples: Sequence[Sample], aggregation: Aggregation | None, scorer: Scorer | None = None
) -> dict[str, Part]:
    """The samples of each category, or those of them that a scorer is about."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples if scorer is None else _asked(samples, scorer, aggregation):
        groups.setdefault(sample.category, []).append(sample)
    return {name: Part(tuple(group), aggregation) for name, group in groups.items()}


def spread_out(part: Part, statistics: FloatArray) -> FloatArray:
    """Statistics of shape (n, ..., k), for a total with a place for each corpus and a count."""
    if not part.is_total or part.aggregation is None:
        return statistics
    return spread_by_corpus(statistics, part.places, len(part.aggregation.weights))


def finish_of(part: Part, scorer: Scorer, whole: FloatArray | float = 1.0) -> Aggregate:
    """What makes a score of mean statistics as ``spread_out`` gives them.

    Args:
        part: The samples.
        scorer: The metric or judge.
        whole: Each corpus's means, for what may draw no sample of one.
    """
    if not part.is_total:
        return scorer.aggregate
    return total_finish(scorer.aggregate, part.weights, whole)


def as_zeros(part: Part, statistics: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    """Statistics of shape (n, ..., k) such that samples without a score count as zero.

    Each corpus has a place, with a count of its samples with a score, and one of all.
    """
    here = present[..., np.newaxis].astype(np.float64)
    asked = np.concatenate([statistics * here, here], axis=-1)
    return spread_by_corpus(asked, part.places, len(part.weights))


def finish_as_zeros(part: Part, scorer: Scorer) -> Aggregate:
    """What makes a score of mean statistics as ``as_zeros`` gives them."""
    weights = part.weights

    def aggregate(means: FloatArray) -> FloatArray:
        # Of all samples of a corpus: mean statistics with zeros, and the share that has a score.
        table = corpus_means(means, len(weights))
        share = table[..., -1:]
        own = np.where(share > 0, table[..., :-1] / np.where(share > 0, share, 1.0), 1.0)
        total: FloatArray = (scorer.aggregate(own) * share[..., 0]) @ weights
        return total

    return aggregate


def interval_of(
    part: Part, scorer: Scorer, statistics: FloatArray, present: NDArray[np.bool_]
) -> Interval | None:
    """95 % interval of a score; None for too few samples. Arguments as for ``policies``."""
    if not enough(part, present):
        return None
    clips = part.clusters
    own = None if clips is None else list(compress(clips, present.tolist()))
    if not part.is_total:
        return mean_interval(statistics[present], scorer.aggregate, clusters=own)
    places = part.places[present]
    return total_interval(scorer.aggregate, part.weights, statistics[present], places, own)


def enough(part: Part, present: NDArray[np.bool_]) -> bool:
    """Whether there are as many samples, in every corpus of a total, as an interval takes."""
    return enough_in_each(part.places[present], len(part.weights))


def lacks(part: Part, present: NDArray[np.bool_]) -> list[str]:
    """Corpora of a total that have no score, so that there is no total."""
    if not part.is_total or part.aggregation is None:
        return []
    found = set(part.places[present].tolist())
    return [name for place, name in enumerate(part.aggregation.weights) if place not in found]


def policies(
    part: Part, scorer: Scorer, statistics: FloatArray, present: NDArray[np.bool_]
) -> Policies | None:
    """Failures counted as zero, and their bounds; for a total, corpus by corpus.

    Args:
        part: The samples.
        scorer: The metric or judge.
        statistics: Shape (n, k), as stored.
        present: Which of the samples have a score.

    Returns:
        None where there are no samples, or none of a corpus of a total.
    """
    places, zero, low, high = part.places, 0.0, 0.0, 0.0
    for place, weight in enumerate(part.weights.tolist()):
        rows = places == place
        if not rows.any():
            return None
        one = _policies(scorer, statistics[rows], present[rows])
        zero += weight * one.as_zero
        low, high = low + weight * one.bounds.low, high + weight * one.bounds.high
    return Policies(zero, Interval(low, high))


def _policies(scorer: Scorer, statistics: FloatArray, present: NDArray[np.bool_]) -> Policies:
    if not present.any():
        return with_failures(0.0, 0.0, scorer.max_value)
    means = statistics[present].mean(axis=0)
    score = float(scorer.aggregate(means[np.newaxis])[0])
    return with_failures(score, float(present.mean()), scorer.max_value)


def _asked(
    samples: Sequence[Sample], scorer: Scorer, aggregation: Aggregation | None
) -> Sequence[Sample]:
    """The samples that a scorer is about: some leave those out that have nothing to describe."""
    if aggregation is None or scorer.dimension is not None or not leaves_null_out(scorer.name):
        return samples
    return [sample for sample in samples if not aggregation.null(sample)]


def _clip(sample: Sample) -> str:
    return sample.clip.sha256
