"""Two runs side by side on the samples that both answered; above 0 the second is better."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.data import Sample
from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.compare.result import ALL, ComparisonResult, Difference
from audiocapbench.scores import compute
from audiocapbench.scores.compute import ALL as EVERYTHING
from audiocapbench.scores.compute import Group, SampleScores, group_samples
from audiocapbench.scores.compute import category as in_category
from audiocapbench.scores.estimate import Scorer, without_plugin
from audiocapbench.scores.summary import unknown_judge, why_unscored
from audiocapbench.scores.table import RunTable, TableReader
from audiocapbench.stats import power
from audiocapbench.stats.bootstrap import (
    Aggregate,
    Clusters,
    difference_interval,
    paired_spread,
    permutation_tests,
)
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.store import Store
from audiocapbench.table import Row


def compare_runs(
    store: Store,
    first: int,
    second: int,
    *,
    metrics: Sequence[str] = (),
    judges: Sequence[str] = (),
    clips: int = 10,
    correction: Correction = Correction.HOLM,
) -> ComparisonResult:
    """Compare two runs of one benchmark by metrics and judges, or by everything that both have.

    ``clips`` is how many of the samples that moved most to show.
    """
    if first == second:
        raise ReportError(f"run {first} is compared with itself; name two runs")
    reader = TableReader(store)
    runs = [store.run(number) for number in (first, second)]
    if runs[0].benchmark != runs[1].benchmark:
        raise ReportError(
            f"run {first} is of {runs[0].benchmark} and run {second} of {runs[1].benchmark}: "
            "they answered different questions and cannot be compared"
        )
    one, other = (reader.read(run) for run in runs)
    samples, left_out = _common(one, other)
    if not samples:
        raise ReportError(f"runs {first} and {second} have no sample in common")
    notes: list[str] = []
    scorers = _scorers(one, other, metrics, judges, notes)
    if not scorers:
        raise ReportError(
            f"runs {first} and {second} have no score in common. {' '.join(notes)}".rstrip()
        )
    scored = [(one.sample_scores(scorer), other.sample_scores(scorer)) for scorer in scorers]
    differences = _differences(scorers, scored, samples, one.aggregation, correction)
    shown = list(dict.fromkeys(difference.scorer for difference in differences))
    moved = _moved(one, other, scored[scorers.index(shown[0])], samples)
    signatures = {
        scorer.label: one.signature(scorer)
        for scorer in shown
        if scorer.dimension in (None, OVERALL)
    }
    return ComparisonResult(
        one.run,
        other.run,
        len(samples),
        left_out,
        shown[0],
        tuple(differences),
        tuple(moved[:clips]),
        signatures,
        correction,
        tuple(notes),
    )


def _common(one: RunTable, other: RunTable) -> tuple[list[Sample], dict[str, int]]:
    def meaning(sample: Sample) -> tuple[object, ...]:
        return (sample.clip.sha256, sample.references, sample.category)

    left = {sample.id: sample for sample in one.samples}
    right = {sample.id: sample for sample in other.samples}
    both = [sample for key, sample in left.items() if key in right]
    same = [sample for sample in both if meaning(sample) == meaning(right[sample.id])]
    asked = sum(sample.instruction != right[sample.id].instruction for sample in same)
    if asked:
        raise ReportError(
            f"runs {one.run.id} and {other.run.id} were asked about {asked:,} of their "
            f"{len(same):,} common samples in different words, and cannot be compared"
        )
    only = {"only_a": len(left) - len(both), "only_b": len(right) - len(both)}
    return same, only | {"changed": len(both) - len(same)}


def _scorers(
    one: RunTable, other: RunTable, metrics: Sequence[str], judges: Sequence[str], notes: list[str]
) -> list[Scorer]:
    """Scorers that both runs have, made in the same way; a judge is followed by its dimensions."""
    for name in judges:
        if (why := unknown_judge([one, other], name)) is not None:
            raise ReportError(f"neither run has a score of {name}{why}")
    wanted = [*(Scorer(name, OVERALL) for name in judges), *(Scorer(name) for name in metrics)]
    notes += map(without_plugin, sorted({*one.unknown_metrics, *other.unknown_metrics}))
    headline, scorers = one.traits.headline, []

    def place(scorer: Scorer) -> int:
        """Judges, then the metric that the benchmark ranks by, then the others."""
        if scorer.dimension is not None:
            return 0
        return 1 if headline in (scorer.name, parse_name(scorer.name).name) else 2

    for scorer in wanted or sorted(dict.fromkeys([*one.scorers, *other.scorers]), key=place):
        left, right = one.signature(scorer), other.signature(scorer)
        if left and left == right:
            scorers.append(scorer)
            own = one.dimensions(scorer.name) if scorer.dimension else []
            scorers += [dimension for dimension in own if dimension in other.scores]
        elif left and right:
            notes.append(
                f"{scorer.name} was made in two ways and is left out: {left} and {right}. "
                "Score both runs again."
            )
        else:
            notes.append(why_unscored(other if left else one, scorer))
    return scorers


class _Sides(NamedTuple):
    """What a test takes: statistics of shape (samples, 2, k), and the samples that both have."""

    table: FloatArray
    present: NDArray[np.bool_]
    aggregate: Aggregate
    clusters: Clusters


def _differences(
    scorers: Sequence[Scorer],
    scored: Sequence[tuple[SampleScores, SampleScores]],
    samples: Sequence[Sample],
    aggregation: Aggregation | None,
    correction: Correction,
) -> list[Difference]:
    """Scorers without a number on all samples are left out, unless none has one."""
    groups = group_samples(samples, aggregation)
    asked = [groups[EVERYTHING].asked_by(scorer, aggregation) for scorer in scorers]
    both = list(zip(scorers, scored, strict=True))
    whole = [_difference(*one, ALL, group) for one, group in zip(both, asked, strict=True)]
    kept = [place for place, (one, _) in enumerate(whole) if one.n] or range(len(whole))
    categories = dict.fromkeys(sample.category for sample in samples)
    parts = [
        _difference(*both[place], name, groups[in_category(name)])
        for name in (categories if len(categories) > 1 else ())
        for place in kept
    ]
    clips = {name: len(set(groups[in_category(name)].clips)) for name in categories}
    every = {ALL: len(set(asked[kept[0]].clips))}
    own = _tested([whole[place] for place in kept], every, correction)
    return own + _tested(parts, clips, correction)


def _difference(
    scorer: Scorer, scored: tuple[SampleScores, SampleScores], category: str, group: Group
) -> tuple[Difference, _Sides | None]:
    statistics, each = group.arrays(scored)
    here = each[:, 0] & each[:, 1]
    lost, gained = (int((side & ~here).sum()) for side in each.T)
    if group.lacks(here) or not here.any():
        return Difference(scorer, category, 0, None, None, None), None
    table = group.spread(statistics * here[:, np.newaxis, np.newaxis])
    a, b = (group.score(scorer, table[:, side], here) for side in (0, 1))
    one, other = table[here, 0], table[here, 1]
    found = Difference(scorer, category, len(one), a, b, b - a, lost=lost, gained=gained)
    if not group.enough(here):
        return found, None
    aggregate = drawn = group.aggregate_of(scorer)
    if group.aggregation is not None:
        # A draw may hold no sample of a small corpus, which then has the mean of all.
        means = np.stack([other.mean(axis=0), one.mean(axis=0)])
        drawn = group.aggregate_of(scorer, compute.corpus_means(means, len(group.weights)))
    clusters = list(compress(group.clips, here.tolist()))
    units, bounds = len(set(clusters)), (0.0, scorer.max_value)
    spread = paired_spread(other, one, drawn, clusters) or 0.0
    found.ci = difference_interval(other, one, drawn, clusters=clusters, bounds=bounds)
    found.detectable = power.minimum_detectable_difference(spread, units)
    found.needed_unit = "clips" if units < len(one) else "samples"
    if spread > 0:
        found.effect = (b - a) / spread
        found.samples_needed = power.samples_needed(b - a, spread) if b != a else None
    return found, _Sides(table, here, aggregate, group.clusters)


def _tested(
    pairs: Sequence[tuple[Difference, _Sides | None]],
    clips: Mapping[str, int],
    correction: Correction,
) -> list[Difference]:
    """Differences, tested in one pass where scorers add up alike; too few clips do not count."""
    rows = [row for row, _ in pairs]
    alike: dict[tuple[object, ...], list[tuple[Difference, _Sides]]] = {}
    for row, sides in pairs:
        if sides is not None and row.detectable is not None:
            key = (row.category, sides.aggregate, sides.table.shape)
            alike.setdefault(key, []).append((row, sides))
    for same in alike.values():
        first = same[0][1]
        tables = np.stack([sides.table for _, sides in same], axis=2)
        here = np.stack([sides.present for _, sides in same], axis=1)
        found = permutation_tests(
            *(tables[:, 1], tables[:, 0], first.aggregate), present=here, clusters=first.clusters
        )
        for (row, _), value in zip(same, found.tolist(), strict=True):
            row.p = value
    tests = Counter(one.category for one in rows)
    fewest = {name: power.fewest_to_test(tests=number) for name, number in tests.items()}
    tested = [
        one for one in rows if one.p is not None and clips[one.category] >= fewest[one.category]
    ]
    adjusted = corrected(np.array([one.p for one in tested], float), correction)
    for row, value in zip(tested, adjusted.tolist(), strict=True):
        row.p_adjusted = value
    return rows


def _moved(
    one: RunTable,
    other: RunTable,
    scored: tuple[SampleScores, SampleScores],
    samples: Sequence[Sample],
) -> list[Row]:
    rows: list[Row] = []
    for sample in sorted(samples, key=lambda one: one.position):
        scores = [side.values.get(sample.id) for side in scored]
        if scores[0] is None or scores[1] is None or scores[0] == scores[1]:
            continue
        row: Row = {
            "id": sample.id,
            "category": sample.category,
            "file_name": sample.clip.file_name,
            "references": list(sample.references),
            "difference": scores[1] - scores[0],
        }
        for side, run, score in zip("ab", (one, other), scores, strict=True):
            reply = run.outcomes[sample.id].reply
            row[side] = {"score": score, "status": str(reply.status), "text": reply.text}
        rows.append(row)
    return sorted(rows, key=lambda row: -abs(row["difference"]))
