"""Results that a benchmark's paper prints, with their source; none of them was made here."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A model's printed results: its place, and the scores of the judge and of metrics.

    Attributes:
        judged: The judge's mean scores from 0 to 10 by dimension, and ``overall``.
        by_category: The judge's overall score by category.
    """

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
    folder = resources.files("audiocapbench.benchmarks").joinpath("published")
    document = json.loads(folder.joinpath(f"{benchmark}.json").read_text("utf-8"))
    rows = tuple(PublishedRow(**row) for row in document.pop("rows"))
    lists = {name: tuple(document[name]) for name in ("composition", "misfits")}
    return PublishedResults(**document | lists, rows=rows)
