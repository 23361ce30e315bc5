"""Aggregations: how a benchmark's samples make corpora, and how corpora add up to one number.

A benchmark without one is a single corpus, and its number is that corpus's. An aggregation is data
alone, so that it is stored with the dataset and scores an old run as it scored it then.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from audiocapbench.data import Sample
from audiocapbench.errors import BenchmarkError

_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How samples make corpora, one a category, and how these add up.

    Attributes:
        total: What the sum is called.
        weights: What each corpus counts for; they add up to 1, and a corpus that is not named
            counts for nothing.
        metric_options: By corpus, options that it gives to the metrics that have them.
        clip_detail: The detail that names a sample's clip, which is resampled as one; None where
            the audio itself does.
        facet_details: Other ways to look at the samples: the name of each, and the details whose
            values make a sample's place in it.
        null_references: First references that say that there is nothing to describe, in small
            letters and without the full stop.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    total: str
    weights: Mapping[str, float]
    metric_options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    clip_detail: str | None = None
    facet_details: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    null_references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        where = f"aggregation {self.total!r}"
        if not self.total.strip():
            raise BenchmarkError("an aggregation needs a total: what the sum is called")
        for corpus, weight in self.weights.items():
            if not (math.isfinite(weight) and weight > 0):
                raise BenchmarkError(f"{where}: the weight of {corpus!r} is {weight}, not above 0")
        whole = math.fsum(self.weights.values())
        if abs(whole - 1) > _ROUNDING:
            raise BenchmarkError(f"{where}: the weights add up to {whole:g}; they must add up to 1")

    def options(self, corpus: str) -> Mapping[str, str]:
        """The options that a corpus gives to the metrics that have them."""
        return self.metric_options.get(corpus, {})

    def clip(self, sample: Sample) -> str:
        """What is resampled as one: the clip of a sample."""
        if self.clip_detail is not None:
            return self._detail(sample, self.clip_detail)
        return sample.clip.sha256

    def facets(self, sample: Sample) -> dict[str, str]:
        """The sample's place in each facet."""
        return {
            facet: " ".join(self._detail(sample, name) for name in names)
            for facet, names in self.facet_details.items()
        }

    def null(self, sample: Sample) -> bool:
        """Whether a sample's references say that there is nothing to describe."""
        return sample.references[0].strip().rstrip(".").lower() in self.null_references

    def _detail(self, sample: Sample, name: str) -> str:
        if name not in sample.details:
            raise BenchmarkError(f"{sample.id}: has no detail {name!r}, which {self.total} needs")
        return str(sample.details[name])
