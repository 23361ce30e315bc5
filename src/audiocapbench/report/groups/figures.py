"""Figures of a benchmark whose samples make corpora: the total, each corpus, and other views."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from audiocapbench.benchmarks.aggregation import Aggregation, TextSample
from audiocapbench.benchmarks.corpora import leaves_null_out, without_null
from audiocapbench.report.figures import Coverage, Figure, figure_of
from audiocapbench.report.groups.total import Scored, joined, total_figure
from audiocapbench.signature import Signature

Figures = dict[str, Figure]


@dataclass(slots=True)
class Marks:
    """One metric's statistics and signatures by sample id."""

    statistics: dict[str, Sequence[float]] = field(default_factory=dict)
    signatures: dict[str, Signature] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NullReferences:
    """A group in which some references say that there is nothing to describe.

    Attributes:
        total: Samples of the group.
        null: Those of them with null references.
        without: Metrics on the others alone, where most are null; ranks and weights their own.
    """

    total: int
    null: int
    without: Figures


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """All figures of one set of answers.

    Attributes:
        overall: The total of each metric.
        by_group: Figures of each corpus, those that count first.
        facets: By facet and place, such as ``domain`` and ``00A``: means over its samples, each
            scored within its own corpus.
        nulls: Groups with null references.
    """

    overall: Figures
    by_group: dict[str, Figures]
    facets: dict[str, dict[str, Figures]]
    nulls: dict[str, NullReferences]


def group_figures(
    aggregation: Aggregation,
    metrics: Sequence[str],
    samples: Sequence[TextSample],
    blank: Mapping[str, bool],
    marks: Mapping[str, Marks],
) -> GroupFigures:
    """Put figures together.

    Args:
        aggregation: How the samples make corpora.
        metrics: The metrics to show.
        samples: Everything that was asked.
        blank: For every sample with a text to score, whether it is blank.
        marks: What each metric made of the samples, with those that leave null references out.
    """
    groups = _groups(aggregation, samples)

    def figures(chosen: Sequence[TextSample], names: Sequence[str]) -> Figures:
        return {name: _figure(aggregation, name, chosen, blank, marks) for name in names}

    by_group = {group: figures(chosen, metrics) for group, chosen in groups.items()}
    overall = {}
    for name in metrics:
        of_groups = {group: by_group[group][name] for group in groups}
        scored = _scored(aggregation, name, samples, blank, marks)
        overall[name] = total_figure(name, aggregation, of_groups, scored)
    nulls = {}
    for group, chosen in groups.items():
        null = sum(map(aggregation.null, chosen))
        names = [without_null(name) for name in metrics if not leaves_null_out(name)]
        told = [name for name in names if name in marks and _any_of(marks[name], chosen)]
        if null:
            nulls[group] = NullReferences(len(chosen), null, figures(chosen, told))
    facets = {
        facet: {place: figures(chosen, metrics) for place, chosen in places.items()}
        for facet, places in _facets(aggregation, samples).items()
    }
    return GroupFigures(overall, by_group, facets, nulls)


def _groups(aggregation: Aggregation, samples: Sequence[TextSample]) -> dict[str, list[TextSample]]:
    groups: dict[str, list[TextSample]] = {}
    for sample in samples:
        groups.setdefault(sample.category, []).append(sample)
    order = [*(name for name in aggregation.weights if name in groups), *groups]
    return {name: groups[name] for name in order}


def _facets(
    aggregation: Aggregation, samples: Sequence[TextSample]
) -> dict[str, dict[str, list[TextSample]]]:
    facets: dict[str, dict[str, list[TextSample]]] = {}
    for sample in samples:
        for facet, place in aggregation.facets(sample).items():
            facets.setdefault(facet, {}).setdefault(place, []).append(sample)
    return facets


def _figure(
    aggregation: Aggregation,
    name: str,
    chosen: Sequence[TextSample],
    blank: Mapping[str, bool],
    marks: Mapping[str, Marks],
) -> Figure:
    own = marks.get(name, Marks())
    left_out = aggregation.null if leaves_null_out(name) else _never
    asked = [one.id for one in chosen if not left_out(one)]
    answered = [key for key in asked if key in blank]
    empty = sum(blank[key] for key in answered)
    scored = [key for key in answered if key in own.statistics]
    statistics = np.array([own.statistics[key] for key in scored], dtype=np.float64)
    signature = joined([own.signatures[key] for key in scored])
    coverage = Coverage(len(asked), len(answered) - empty, empty)
    clips = {one.id: aggregation.clip(one) for one in chosen}
    return figure_of(name, signature, statistics, coverage, [clips[key] for key in scored])


def _scored(
    aggregation: Aggregation,
    name: str,
    samples: Sequence[TextSample],
    blank: Mapping[str, bool],
    marks: Mapping[str, Marks],
) -> list[Scored]:
    statistics = marks.get(name, Marks()).statistics
    return [
        Scored(one.category, aggregation.clip(one), statistics[one.id])
        for one in samples
        if one.id in statistics and one.id in blank and one.category in aggregation.weights
    ]


def _any_of(marks: Marks, chosen: Sequence[TextSample]) -> bool:
    return any(one.id in marks.statistics for one in chosen)


def _never(_sample: TextSample) -> bool:
    return False
