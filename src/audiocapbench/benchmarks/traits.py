"""Traits: what a benchmark is besides its samples. Stored with the dataset, looked up nowhere."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError

from audiocapbench.data import Sample
from audiocapbench.data.problems import problems_of
from audiocapbench.errors import AudioCapBenchError, BenchmarkError
from audiocapbench.files import read_lists
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.registry import PRESETS
from audiocapbench.models.controls import ControlRules
from audiocapbench.store import Dataset

METRICS = tuple(PRESETS["paper"])
_COLUMNS = ("meteor", "bleu_4", "rouge_l")
_adapter: "Callable[[Any], TypeAdapter[Traits]]" = cache(TypeAdapter)
_ROOM = 3
MOST_TOKENS = 1_000_000
_SAFE = "audiocapbench.benchmarks", "prompts/safe.json"
_ROUNDING = 1e-6
_OPTIONS = re.compile(r"\[(?:[^\[\]]*\]|[^\[\]/]*)$")  # perhaps not closed


def base_name(benchmark: str) -> str:
    """A benchmark's name without its options in brackets."""
    return _OPTIONS.sub("", benchmark)


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How samples make corpora, one a category, and how these add up to one number.

    It is data alone, so that it is stored with the dataset and scores an old run as it did then.

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

    def clip(self, sample: Sample) -> str:
        """What is resampled as one: the clip of a sample."""
        if self.clip_detail is not None:
            return self._detail(sample, self.clip_detail)
        return sample.clip.sha256

    def facets(self, sample: Sample) -> dict[str, str]:
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


@dataclass(frozen=True, slots=True)
class Traits:
    """How a benchmark's answers are scored, ranked and judged.

    Attributes:
        aggregation: How its samples make corpora and add up; None where they are one corpus.
        metrics: What it is scored with unless the user says otherwise.
        columns: Those of them that a table in a terminal has room for; the first three by default.
        headline: The metric that models are ranked by; the first one by default.
        judge: The name of the contract (prompt and parser) that models judge its answers by.
        controls: What its control models say.
        strata: Details, such as a domain, that a part of the samples is drawn from in turn.
        unfit_judges: Judges that were seen not to hold here, and what was measured.
        max_tokens: The longest answer, thoughts aside, where nobody says otherwise.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    aggregation: Aggregation | None = None
    metrics: tuple[str, ...] = METRICS
    columns: tuple[str, ...] = ()
    headline: str = ""
    judge: str = "audiocapbench"
    controls: ControlRules = field(default_factory=lambda: ControlRules(read_lists(*_SAFE)))
    strata: tuple[str, ...] = ()
    unfit_judges: Mapping[str, str] = field(default_factory=dict)
    max_tokens: int = 1_024

    def __post_init__(self) -> None:
        kinds = {"headline": str, "judge": str, "controls": ControlRules, "max_tokens": int}
        for name, kind in kinds.items():
            if not isinstance(getattr(self, name), kind):
                raise BenchmarkError(f"{name}: give a {kind.__name__}, not {getattr(self, name)!r}")
        if not isinstance(self.aggregation, Aggregation | None):
            raise BenchmarkError(f"aggregation: give an Aggregation, not {self.aggregation!r}")
        for name in ("metrics", "columns"):
            names = getattr(self, name)
            listed = isinstance(names, tuple | list)
            if not listed or not all(isinstance(one, str) for one in names):
                raise BenchmarkError(f"{name}: give a tuple of names, not {names!r}")
            if len(set(names)) < len(names):
                raise BenchmarkError(f"{name}: a name stands twice in {', '.join(names)}")
            object.__setattr__(self, name, tuple(names))
        if not self.metrics:
            raise BenchmarkError("a benchmark needs at least one metric")
        if not 1 <= self.max_tokens <= MOST_TOKENS:
            raise BenchmarkError(f"max_tokens: is {self.max_tokens}, not 1 to {MOST_TOKENS:,}")
        first = _COLUMNS if self.metrics == METRICS else self.metrics[:_ROOM]
        object.__setattr__(self, "columns", self.columns or first)
        object.__setattr__(self, "headline", self.headline or self.metrics[0])
        known = {*self.metrics, *(parse_name(name).name for name in self.metrics)}
        for name in (*self.columns, self.headline):
            if name not in known:
                raise BenchmarkError(
                    f"{name!r} is not among the benchmark's metrics: {', '.join(self.metrics)}"
                )

    def to_dict(self) -> dict[str, Any]:
        # With lists for tuples: what is stored must equal what it is held against later.
        stored: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return stored

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], where: str = "traits") -> "Traits":
        """The traits that ``to_dict`` made a JSON object of; the error says what else it is."""
        try:
            return _adapter(Traits).validate_json(json.dumps(value), strict=True)
        except (AudioCapBenchError, TypeError, ValueError, RecursionError) as error:
            why = problems_of(error)[0] if isinstance(error, ValidationError) else error
            raise BenchmarkError(f"{where}: {why}") from None


def stored_traits(dataset: Dataset) -> Traits:
    """The traits that a benchmark had when its samples were stored, or the default ones."""
    where = f"stored traits of {dataset.benchmark}"
    return Traits.from_dict(dataset.traits, where) if dataset.traits else Traits()
