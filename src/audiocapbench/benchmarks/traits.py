"""Traits: what a benchmark is besides its samples. Stored with the dataset, looked up nowhere."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, ClassVar, TypedDict

from pydantic import TypeAdapter, ValidationError

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.data.problems import problems_of
from audiocapbench.errors import AudioCapBenchError, BenchmarkError
from audiocapbench.metrics.names import parse_name
from audiocapbench.models.controls import ControlRules
from audiocapbench.store import Dataset

METRICS = ("meteor", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l")
_COLUMNS = ("meteor", "bleu_4", "rouge_l")
_ROOM = 3
_SAFE = {
    "sound": "A sound is heard in the background.",
    "music": "An instrumental piece of music with a steady beat and a pleasant mood.",
    "speech": "A person is speaking in a clear voice.",
    "mixed": "A person is speaking with a sound in the background.",
    "silence": "There is almost no sound in the recording.",
}


class TraitFields(TypedDict, total=False):
    """The fields of ``Traits`` by name, for those who give some of them."""

    aggregation: Aggregation | None
    metrics: tuple[str, ...]
    columns: tuple[str, ...]
    headline: str
    judge: str
    controls: ControlRules
    strata: tuple[str, ...]
    unfit_judges: Mapping[str, str]


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
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    aggregation: Aggregation | None = None
    metrics: tuple[str, ...] = METRICS
    columns: tuple[str, ...] = ()
    headline: str = ""
    judge: str = "audiocapbench"
    controls: ControlRules = field(default_factory=lambda: ControlRules(_SAFE))
    strata: tuple[str, ...] = ()
    unfit_judges: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in (("headline", str), ("judge", str), ("controls", ControlRules)):
            if not isinstance(getattr(self, name), kind):
                raise BenchmarkError(f"{name}: give a {kind.__name__}, not {getattr(self, name)!r}")
        if not isinstance(self.aggregation, Aggregation | None):
            raise BenchmarkError(f"aggregation: give an Aggregation, not {self.aggregation!r}")
        metrics = _names("metrics", self.metrics)
        if not metrics:
            raise BenchmarkError("a benchmark needs at least one metric")
        own = _COLUMNS if metrics == METRICS else metrics[:_ROOM]
        object.__setattr__(self, "metrics", metrics)
        object.__setattr__(self, "columns", _names("columns", self.columns) or own)
        object.__setattr__(self, "headline", self.headline or metrics[0])
        known = {*metrics, *(parse_name(name).name for name in metrics)}
        for name in (*self.columns, self.headline):
            if name not in known:
                raise BenchmarkError(
                    f"{name!r} is not among the benchmark's metrics: {', '.join(metrics)}"
                )

    def to_dict(self) -> dict[str, Any]:
        """The traits as a JSON object, as it is stored with the dataset."""
        # With lists for tuples: what is stored must equal what it is held against later.
        found: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return found

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], where: str = "traits") -> "Traits":
        """The traits that ``to_dict`` made a JSON object of.

        Raises:
            BenchmarkError: It is something else; the message says where and what is wrong with it.
        """
        try:
            return _adapter().validate_json(json.dumps(value), strict=True)
        except (TypeError, ValueError, RecursionError) as error:
            raise BenchmarkError(f"{where}: {_first_problem(error)}") from None
        except AudioCapBenchError as error:
            raise BenchmarkError(f"{where}: {error}") from None


def stored_traits(dataset: Dataset) -> Traits:
    """The traits that a benchmark had when its samples were stored, or the default ones."""
    where = f"stored traits of {dataset.benchmark}"
    return Traits.from_dict(dataset.traits, where) if dataset.traits else Traits()


def _names(what: str, given: tuple[str, ...]) -> tuple[str, ...]:
    listed = isinstance(given, tuple | list) and all(isinstance(name, str) for name in given)
    if not listed:
        raise BenchmarkError(f"{what}: give a tuple of names, not {given!r}")
    if len(set(given)) < len(given):
        raise BenchmarkError(f"{what}: a name stands twice in {', '.join(given)}")
    return tuple(given)


@cache
def _adapter() -> TypeAdapter[Traits]:
    return TypeAdapter(Traits)


def _first_problem(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"not a JSON object that can be kept ({error})"
    return str(problems_of(error)[0])
