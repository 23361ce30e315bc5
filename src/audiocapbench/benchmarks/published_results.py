"""Results that a benchmark's paper prints, with their source; none of them was made here."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A model's printed results; the judge's scores are from 0 to 10."""

    rank: int
    model: str
    judged: Mapping[str, float]
    metrics: Mapping[str, float]
    by_category: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PublishedResults:
    """The tables of a paper.

    Attributes:
        source: Title of the paper, and which tables.
        counts: Samples by category.
        composition: What the data are made of: category, source, samples, and the mean length of a
            caption in characters.
        misfits: Statements of the paper that its tables do not bear out: what was checked, which
            row does not fit, what is said of it, and what its numbers give.
        rows: The models, in printed order.
    """

    benchmark: str
    source: str
    code: str
    judge: str
    counts: Mapping[str, int]
    composition: tuple[Mapping[str, str | int], ...]
    misfits: tuple[Mapping[str, str], ...]
    rows: tuple[PublishedRow, ...]

    @property
    def total(self) -> int:
        """Samples of the benchmark."""
        return sum(self.counts.values())


@cache
def published_results(benchmark: str | None) -> PublishedResults | None:
    """The printed results of a benchmark, if the package has any."""
    if benchmark != "audiocapbench":
        return None
    file = resources.files("audiocapbench.benchmarks").joinpath("published", f"{benchmark}.json")
    return TypeAdapter(PublishedResults).validate_json(file.read_bytes())
