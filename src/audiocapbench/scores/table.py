"""The score table: an estimate for each scorer and group, computed when it is first asked for.

Whatever shows a score reads it here, so that a number is the same wherever it stands.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.benchmarks.corpora import UnscoredCorpus, leaves_null_out, without_null
from audiocapbench.data import Sample
from audiocapbench.scores.compute import missing_in, point_estimate, with_interval
from audiocapbench.scores.estimate import Estimate, Replies
from audiocapbench.scores.groups import (
    ALL,
    CATEGORY,
    Group,
    GroupKey,
    SampleScores,
    category,
    facet_groups,
    group_samples,
)
from audiocapbench.scores.scorer import Scorer
from audiocapbench.table import Row

Estimates = dict[str, Estimate]
"""By metric, or by a judge's dimension."""

KeptEstimates = Mapping[tuple[str, str], Estimate]
"""What is known already, by the scorer's label and the group as text."""


class NullReferences(NamedTuple):
    """A category in which some references say that there is nothing to describe.

    ``without`` are metrics on the other samples, where most are null; ranks and weights their own.
    """

    total: int
    null: int
    without: Estimates


class ScoreTable:
    """Scores of one set of answers.

    Attributes:
        samples: Everything that was asked.
        aggregation: How the samples make corpora; None where they are one.
        replies: What each sample that was asked lacks, if anything.
        computed: Estimates that were not known before.
        texts: The answers by sample, where they are of files.
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        aggregation: Aggregation | None,
        scores: Mapping[Scorer, SampleScores],
        replies: Replies,
        kept: KeptEstimates | None = None,
    ) -> None:
        self.samples = samples
        self.aggregation = aggregation
        self.scores = scores
        self.replies = replies
        self.computed: dict[tuple[Scorer, GroupKey], Estimate] = {}
        self.texts: Mapping[str, str] = {}
        self._kept = kept or {}
        self._points: dict[tuple[Scorer, GroupKey], Estimate] = {}

    @cached_property
    def groups(self) -> dict[GroupKey, Group]:
        """Everything, and each category."""
        return group_samples(self.samples, self.aggregation)

    @cached_property
    def facet_groups(self) -> dict[GroupKey, Group]:
        """Other views of the samples, such as each domain."""
        return facet_groups(self.samples, self.aggregation)

    @property
    def categories(self) -> list[str]:
        """The categories, those first that count towards a total."""
        return [key.place for key in self.groups if key.facet == CATEGORY]

    @property
    def facets(self) -> dict[str, list[GroupKey]]:
        """The facets, such as a domain, and the groups of each."""
        found: dict[str, list[GroupKey]] = {}
        for key in self.facet_groups:
            found.setdefault(key.facet, []).append(key)
        return found

    def sample_scores(self, scorer: Scorer) -> SampleScores:
        """What one scorer says of each sample; nothing where it has seen none."""
        return self.scores.get(scorer, SampleScores())

    def group(self, scorer: Scorer, key: GroupKey = ALL) -> Group:
        """The samples of a group that a scorer is about."""
        group = self.groups[key] if key in self.groups else self.facet_groups[key]
        return group.asked_by(scorer, self.aggregation)

    def point(self, scorer: Scorer, key: GroupKey = ALL) -> Estimate:
        """An estimate that may lack its interval, for those who want none."""
        place = (scorer, key)
        if place not in self._points:
            found = self._kept.get((scorer.label, str(key)))
            scores = self.sample_scores(scorer)
            if found is None:
                found = point_estimate(scorer, self.group(scorer, key), scores, self.replies)
            elif found.n + sum(found.missing.values()) < found.coverage.total:
                # Older stores keep estimates without the reasons.
                reasons = missing_in(self.group(scorer, key), scores, self.replies)
                found = replace(found, missing=reasons)
            self._points[place] = found
        return self._points[place]

    def estimate(self, scorer: Scorer, key: GroupKey = ALL) -> Estimate:
        """The estimate of one scorer on one group."""
        place = (scorer, key)
        if (scorer.label, str(key)) in self._kept:
            return self.point(scorer, key)
        if place not in self.computed:
            group, scores = self.group(scorer, key), self.sample_scores(scorer)
            self.computed[place] = with_interval(self.point(*place), scorer, group, scores)
        return self.computed[place]

    def of_metrics(self, metrics: Iterable[str], key: GroupKey = ALL) -> Estimates:
        """Estimates of metrics on one group, by their names."""
        return {name: self.estimate(Scorer(name), key) for name in metrics}

    def null_references(self, metrics: Sequence[str]) -> dict[str, NullReferences]:
        """The categories with null references."""
        if self.aggregation is None:
            return {}
        found = {}
        names = [without_null(name) for name in metrics if not leaves_null_out(name)]
        for name in self.categories:
            key = category(name)
            samples = self.groups[key].samples
            null = sum(map(self.aggregation.null, samples))
            told = [
                one
                for one in names
                if any(sample.id in self.sample_scores(Scorer(one)).values for sample in samples)
            ]
            if null:
                found[name] = NullReferences(len(samples), null, self.of_metrics(told, key))
        return found

    def to_dict(
        self, metrics: Sequence[str], unscored: Sequence[UnscoredCorpus] = ()
    ) -> dict[str, Any]:
        """Metrics as a JSON object; where corpora make a total, with other views of them."""
        document = {
            "metrics": documents(self.of_metrics(metrics)),
            "by_group": {
                name: documents(self.of_metrics(metrics, category(name)))
                for name in self.categories
            },
        }
        if self.aggregation is None:
            return document
        facets = {
            f"by_{facet}": {key.place: documents(self.of_metrics(metrics, key)) for key in keys}
            for facet, keys in self.facets.items()
        }
        nulls = {
            name: {"n": one.total, "null": one.null, "without": documents(one.without)}
            for name, one in self.null_references(metrics).items()
        }
        told = [one._asdict() for one in unscored]
        return {**document, **facets, "null_references": nulls, "unscored": told}


def documents(estimates: Estimates) -> dict[str, Any]:
    """Estimates as JSON objects."""
    return {name: one.to_dict() for name, one in estimates.items()}


def estimate_records(table: ScoreTable, scorers: Iterable[Scorer]) -> list[Row]:
    """A row for each scorer and group."""
    # A list, because a category may be called as the whole is.
    keys = [("all", ALL), *((name, category(name)) for name in table.categories)]
    return [
        {
            "scorer": scorer.label,
            "group": group,
            **one.flat(),
            "n": one.n,
            "samples": one.coverage.total,
            "signature": str(one.signature),
        }
        for scorer in scorers
        for group, key in keys
        for one in [table.estimate(scorer, key)]
    ]
