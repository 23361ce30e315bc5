"""How a scorer adds up on a set of samples: as one corpus, or as a benchmark's total of several."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.benchmarks.layout import Layout
from audiocapbench.data import Sample
from audiocapbench.report.leaderboard.scores import Scorer
from audiocapbench.stats import Interval, Policies, with_failures
from audiocapbench.stats.units import Finish

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Part:
    """Samples that are scored together.

    Attributes:
        samples: The samples.
        layout: How the benchmark's samples make corpora; None where they are one.
        is_total: Whether the score is the weighted sum of the corpora rather than of one.
    """

    samples: tuple[Sample, ...]
    layout: Layout | None = None
    is_total: bool = False

    @property
    def clusters(self) -> list[str] | None:
        """The clip of each sample; None where every sample has its own."""
        clip = self.layout.clip if self.layout is not None else _clip
        clips = [clip(sample) for sample in self.samples]
        return clips if len(set(clips)) < len(clips) else None


def whole(samples: Sequence[Sample], scorer: Scorer, layout: Layout | None) -> Part:
    """All samples; a metric of a benchmark with corpora is their total, a judge's score is not."""
    asked = _asked(samples, scorer, layout)
    if layout is None or scorer.dimension is not None:
        return Part(tuple(asked), layout)
    counted = tuple(sample for sample in asked if sample.category in layout.weights)
    return Part(counted, layout, is_total=True)


def by_category(
    samples: Sequence[Sample], layout: Layout | None, scorer: Scorer | None = None
) -> dict[str, Part]:
    """The samples of each category, or those of them that a scorer is about."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples if scorer is None else _asked(samples, scorer, layout):
        groups.setdefault(sample.category, []).append(sample)
    return {name: Part(tuple(group), layout) for name, group in groups.items()}


def spread_out(part: Part, statistics: FloatArray) -> FloatArray:
    """Statistics of shape (n, ..., k), for a total with a place for each corpus and a count."""
    if not part.is_total or part.layout is None:
        return statistics
    places = _places(part.layout, part.samples)
    columns = len(part.layout.weights)
    spread = np.zeros((*statistics.shape[:-1], columns, statistics.shape[-1] + 1))
    for place in range(columns):
        rows = places == place
        spread[rows, ..., place, :-1] = statistics[rows]
        spread[rows, ..., place, -1] = 1.0
    return spread.reshape(*statistics.shape[:-1], -1)


def finish_of(part: Part, scorer: Scorer) -> Finish:
    """What makes a score of mean statistics as ``spread_out`` gives them."""
    if not part.is_total or part.layout is None:
        return scorer.finish
    weights = np.array(list(part.layout.weights.values()))
    own = scorer.finish

    def finish(means: FloatArray) -> FloatArray:
        table = means.reshape(*means.shape[:-1], len(weights), -1)
        counts = table[..., -1:]
        # A round may miss a very small corpus; a corpus without samples then scores as zeros do.
        scores = own(table[..., :-1] / np.where(counts > 0, counts, 1.0))
        total: FloatArray = scores @ weights
        return total

    return finish


def lacks(part: Part, present: NDArray[np.bool_]) -> list[str]:
    """Corpora of a total that have no score, so that there is no total."""
    if not part.is_total or part.layout is None:
        return []
    found = {
        sample.category for sample, here in zip(part.samples, present.tolist(), strict=True) if here
    }
    return [name for name in part.layout.weights if name not in found]


def policies(
    part: Part, scorer: Scorer, statistics: FloatArray, present: NDArray[np.bool_]
) -> Policies:
    """Failures counted as zero, and their bounds; for a total, corpus by corpus.

    Args:
        part: The samples.
        scorer: The metric or judge.
        statistics: Shape (n, k), as stored.
        present: Which of the samples have a score; there is one, in every corpus of a total.
    """
    if not part.is_total or part.layout is None:
        return _policies(scorer, statistics, present)
    places = _places(part.layout, part.samples)
    zero = low = high = 0.0
    for place, weight in enumerate(part.layout.weights.values()):
        rows = places == place
        one = _policies(scorer, statistics[rows], present[rows])
        zero += weight * one.as_zero
        low, high = low + weight * one.bounds.low, high + weight * one.bounds.high
    return Policies(zero, Interval(low, high))


def _policies(scorer: Scorer, statistics: FloatArray, present: NDArray[np.bool_]) -> Policies:
    means = statistics[present].mean(axis=0)
    score = float(scorer.finish(means[np.newaxis])[0])
    return with_failures(score, float(present.mean()), scorer.highest)


def _places(layout: Layout, samples: Sequence[Sample]) -> NDArray[np.int64]:
    order = {name: place for place, name in enumerate(layout.weights)}
    return np.array([order[sample.category] for sample in samples], dtype=np.int64)


def _asked(samples: Sequence[Sample], scorer: Scorer, layout: Layout | None) -> Sequence[Sample]:
    """The samples that a scorer is about: some leave those out that have nothing to describe."""
    if layout is None or scorer.dimension is not None or not leaves_null_out(scorer.name):
        return samples
    return [sample for sample in samples if not layout.null(sample)]


def _clip(sample: Sample) -> str:
    return sample.clip.sha256
