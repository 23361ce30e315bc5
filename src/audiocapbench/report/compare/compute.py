"""Runs beside each other on the samples that are settled in both; above 0 the second is better."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from audiocapbench.data import Sample
from audiocapbench.errors import ReportError
from audiocapbench.grouping import grouped
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.metrics.result import FloatArray, first_column
from audiocapbench.models.model import REPEAT
from audiocapbench.report.compare.result import ALL, ComparisonResult, Difference, Test
from audiocapbench.scores import compute
from audiocapbench.scores.compute import ALL as EVERYTHING
from audiocapbench.scores.compute import Group, Mask, group_samples
from audiocapbench.scores.compute import category as in_category
from audiocapbench.scores.estimate import Missing, Scorer, counted, default_scorer, without_plugin
from audiocapbench.scores.summary import unknown_judge, why_unscored
from audiocapbench.scores.table import RunTable, ScoreTable, TableReader, labels
from audiocapbench.stats import bootstrap, power
from audiocapbench.stats.bootstrap import Resampling
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.stats.units import Aggregate, Clusters, is_enough, units_of
from audiocapbench.store import Store
from audiocapbench.table import Row

_MOST_NUMBERS = 4_000_000  # in memory at once, of pairs that are tested together


def compare_runs(
    store: Store,
    first: int,
    second: int,
    *more: int,
    metrics: Sequence[str] = (),
    judges: Sequence[str] = (),
    clips: int = 10,
    correction: Correction = Correction.HOLM,
    test: Test = "permutation",
    repeated: bool = False,
) -> ComparisonResult:
    """Compare runs of one benchmark with the first, by metrics and judges or by all that both have.

    ``clips`` is how many of the samples that moved most to show; the correction is over all rows.
    If ``repeated``, a run stands for all repeats of it (``run --repeats``).
    """
    reader = TableReader(store)
    read = reader.read_repeats if repeated else reader.read
    tables = [read(store.run(number)) for number in (first, second, *more)]
    numbers = [one.run.id for one in tables]
    if twice := [one for one in numbers if numbers.count(one) > 1]:
        raise ReportError(f"run {twice[0]} is compared with itself; name different runs")
    result = compare_tables(
        *tables, metrics=metrics, judges=judges, clips=clips, correction=correction, test=test
    )
    again = {(line.model, line.dataset) for line in store.runs() if REPEAT in line.parameters}
    runs = [one.run for one in tables if (one.run.model, one.run.dataset) in again]
    if repeated or not runs:
        return result
    whose = f"The repeats of run {', '.join(str(one.id) for one in runs)} are left out"
    note = f"{whose}; a leaderboard takes the mean of all, as --repeats does here."
    return replace(result, notes=(*result.notes, note))


def compare_tables(
    base: RunTable,
    *others: RunTable,
    metrics: Sequence[str] = (),
    judges: Sequence[str] = (),
    clips: int = 0,
    correction: Correction = Correction.HOLM,
    test: Test = "permutation",
) -> ComparisonResult:
    """The same of runs that were read.

    The headline, which the verdict is about, is corrected over the runs alone, so that nothing else
    in a store changes it; then the other scores of all samples, and those of categories.
    """
    found, refused, rows = list[ComparisonResult](), list[str](), list[list[PairedDifference]]()
    for other in others:
        try:
            own, differences = _compared(base, other, metrics, judges, clips)
        except ReportError as error:
            if len(others) == 1:
                raise
            refused.append(f"Run {other.run.id} is left out: {error}.")
            continue
        found.append(own)
        rows.append(differences)
    if not found:
        raise ReportError(" ".join(refused))
    found[0] = replace(found[0], notes=(*found[0].notes, *refused))
    _test(_families(rows), correction, test)
    made = [replace(one, correction=correction, test=test, compared=len(found)) for one in found]
    return replace(made[0], more=tuple(made[1:]))


def compare_pairs(
    pairs: Sequence[tuple[RunTable, RunTable]],
) -> list[ComparisonResult | ReportError]:
    """Each pair as ``compare_tables`` has it without categories, all tested in a few passes."""
    found, families = list[ComparisonResult | ReportError](), list[list[PairedDifference]]()
    for pair in pairs:
        try:
            own, rows = _compared(*pair, by_category=False)
        except ReportError as error:
            found.append(error)
            continue
        found.append(own)
        families += _families([rows])
    _test(families, Correction.HOLM, "permutation")
    return found


def _families(compared: "Sequence[list[PairedDifference]]") -> "list[list[PairedDifference]]":
    """Rows that are corrected together: headlines, other scores, and those of categories."""
    others = [row for rows in compared for row in rows[1:]]
    whole = [row for row in others if row[0].category == ALL]
    return [
        [rows[0] for rows in compared],
        whole,
        [row for row in others if row[0].category != ALL],
    ]


def _compared(
    one: RunTable,
    other: RunTable,
    metrics: Sequence[str] = (),
    judges: Sequence[str] = (),
    clips: int = 0,
    *,
    by_category: bool = True,
) -> "tuple[ComparisonResult, list[PairedDifference]]":
    runs = one.run, other.run
    samples, left_out = common_samples(one, other)
    between = f"runs {runs[0].id} and {runs[1].id}"
    notes: list[str] = []
    scorers = common_scorers(one, other, metrics, judges, notes)
    if not scorers:
        why = " ".join(dict.fromkeys(notes))
        raise ReportError(f"{between} have no score in common. {why}".rstrip())
    own = _differences(scorers, (one, other), samples, by_category)
    differences = [row for row, _ in own]
    shown = list(dict.fromkeys(difference.scorer for difference in differences))
    ids = {sample.id for sample in samples}
    for run in (one, other) if one.coverage.empty or other.coverage.empty else ():
        lacks = [run.replies.get(key) for key in ids]
        if empty := lacks.count(Missing.EMPTY):
            notes.append(f"Run {run.run.id}: {counted(empty, 'empty answer')}, scored as such.")
    moved = moved_samples(one, other, shown[0], samples) if clips else []
    signatures = {
        scorer.label: one.signature(scorer)
        for scorer in shown
        if scorer.dimension in (None, OVERALL)
    }
    result = ComparisonResult(
        *runs,
        labels([one, other]),
        len(samples),
        left_out,
        shown[0],
        tuple(differences),
        tuple(moved[:clips]),
        signatures,
        notes=tuple(notes),
        race=_raced(one, other),
    )
    return result, own


def _raced(one: RunTable, other: RunTable) -> str:
    """What is known of two runs where a race stopped one: what it says, if it was about both."""
    stopped = [table for table in (one, other) if table.raced]
    if not stopped or one.race == other.race:
        return stopped[0].race if stopped else ""
    runs = " and ".join(f"run {table.run.id}" for table in stopped)
    return f"Not tested, because a race stopped {runs}. {stopped[0].race}"


def common_samples(one: RunTable, other: RunTable) -> tuple[list[Sample], dict[str, int]]:
    """Samples that mean the same in both runs; and how many others there are, and why."""
    runs = one.run, other.run
    if runs[0].benchmark != runs[1].benchmark:
        raise ReportError(
            f"run {runs[0].id} is of {runs[0].benchmark} and run {runs[1].id} of "
            f"{runs[1].benchmark}: they answered different questions and cannot be compared"
        )

    def meaning(sample: Sample) -> tuple[object, ...]:
        return (sample.clip.sha256, sample.references, sample.category)

    left, right = ({sample.id: sample for sample in own.samples} for own in (one, other))
    both = [sample for key, sample in left.items() if key in right]
    unlike = [one for one in both if one is not right[one.id]]  # perhaps no more than read twice
    changed = {one.id for one in unlike if meaning(one) != meaning(right[one.id])}
    same = [one for one in both if one.id not in changed] if changed else both
    asked = sum(
        one.instruction != right[one.id].instruction for one in unlike if one.id not in changed
    )
    if asked:
        raise ReportError(
            f"runs {runs[0].id} and {runs[1].id} were asked about {asked:,} of their "
            f"{len(same):,} common samples in different words, and cannot be compared"
        )
    if not same:
        raise ReportError(f"runs {runs[0].id} and {runs[1].id} have no sample in common")
    only = {"only_a": len(left) - len(both), "only_b": len(right) - len(both)}
    return same, only | {"changed": len(changed)}


def common_scorers(
    one: RunTable, other: RunTable, metrics: Sequence[str], judges: Sequence[str], notes: list[str]
) -> list[Scorer]:
    """Scorers that both runs have, made in the same way; a judge is followed by its dimensions."""
    for name in judges:
        if (why := unknown_judge([one, other], name)) is not None:
            raise ReportError(f"neither run has a score of {name}{why}")
    wanted = [*(Scorer(name, OVERALL) for name in judges), *(Scorer(name) for name in metrics)]
    notes += map(without_plugin, sorted({*one.unknown_metrics, *other.unknown_metrics}))
    both = Counter(own for side in (one, other) for own in side.scorers if side.signature(own))
    first, scorers = default_scorer(both, 2, one.traits.headline), list[Scorer]()
    for scorer in wanted or sorted(both, key=lambda own: own != first):
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


class PairedScores:
    """Two runs on the samples of a group that are settled in both: scored, or failed.

    Where they do not have scores of the same ones, failures count as 0 (``as_zero``): nobody is
    better for leaving out. Whatever sets two runs beside each other asks here.
    """

    def __init__(
        self,
        scorer: Scorer,
        group: Group,
        one: ScoreTable,
        other: ScoreTable,
        *,
        as_zero: bool = False,
    ) -> None:
        """Failures can be made to count as 0 even where both fail on the same samples."""
        self.scorer, self.group = scorer, group
        tables = one, other
        self._scores = [own.sample_scores(scorer) for own in tables]
        scored = [group.column(own)[1] for own in self._scores]
        failed = [group.failed(own.sample_scores(scorer), own.replies) for own in tables]
        both: Mask = (scored[0] | failed[0]) & (scored[1] | failed[1])
        self.as_zero = as_zero or bool(((scored[0] != scored[1]) & both).any())
        self.here = both if self.as_zero else both & scored[0]
        self.failed = tuple(int((both & ~own).sum()) for own in scored)
        self.source = frozenset(map(id, self._scores)), self.as_zero
        self.n = int(self.here.sum())
        numbers = group.numbers[self.here]
        self.clips = int(np.count_nonzero(np.bincount(numbers)))
        self.clusters = numbers if self.clips < self.n else None
        self.scores: tuple[float, float] | None = None
        if self.n and not group.lacks(self.here):
            sides = self.table.transpose(1, 0, 2)
            means = np.stack([np.ascontiguousarray(side).mean(axis=0) for side in sides])
            first, second = self.aggregate(means).tolist()
            self.scores = first, second

    @property
    def testable(self) -> bool:
        enough = self.scores is not None and self.group.enough(self.here)
        return enough and is_enough(units_of(np.zeros((self.n, 1)), self.clusters))

    @property
    def alike(self) -> Hashable:
        """Pairs for which this is the same are of the same samples, and added up in one way."""
        samples = self.group.clips, self.here.tobytes(), id(self.group.aggregation)
        return *samples, self.scorer.aggregate, self.as_zero, self.table.shape, self.bounds

    @property
    def bounds(self) -> tuple[float, float]:
        return min(self.scorer.min_value, 0.0), self.scorer.max_value

    @property
    def aggregate(self) -> Aggregate:
        return self.made_by(1.0)

    def made_by(self, whole: FloatArray | float) -> Aggregate:
        make = self.group.aggregate_as_zeros if self.as_zero else self.group.aggregate_of
        return make(self.scorer, whole)

    @cached_property
    def table(self) -> FloatArray:
        """What is added up of those that are ``here``, of shape (samples, 2, …)."""
        return self.group.table(self._scores, as_zero=self.as_zero)[self.here]

    def resampled(self) -> tuple[FloatArray, FloatArray, Aggregate, Clusters]:
        """Both sides, the second first; how a draw is added up; and the clip of each sample."""
        first, second = self.table.transpose(1, 0, 2)
        whole: FloatArray | float = 1.0
        if self.group.aggregation is not None:
            # A draw may hold no sample of a small corpus, which then has the mean of all.
            means = np.stack([second.mean(axis=0), first.mean(axis=0)])
            whole = compute.corpus_means(means, len(self.group.weights))
        return second, first, self.made_by(whole), self.clusters


class _Together(NamedTuple):
    """Pairs that are added up alike, by their places, and one of them: their statistics are of
    shape (samples, pairs, 2, k), the second run's first."""

    places: list[int]
    sides: FloatArray
    one: PairedScores

    @property
    def added(self) -> FloatArray:
        """What scores are made of: of means nothing but the values."""
        return self.sides[..., :1] if self.one.aggregate is first_column else self.sides

    @property
    def drawn(self) -> Aggregate:
        """What makes scores of a draw, which may hold no sample of a small corpus: that has the
        mean of all."""
        if (group := self.one.group).aggregation is None:
            return self.one.aggregate
        means = compute.corpus_means(self.sides.mean(axis=0), len(group.weights))
        return self.one.made_by(means)


def _together(pairs: Sequence[PairedScores]) -> Iterator[_Together]:
    """As many pairs at once as memory holds."""
    alike = grouped((one.alike, at) for at, one in enumerate(pairs))
    for places in alike.values():
        one = pairs[places[0]]
        at_once = max(1, _MOST_NUMBERS // max(one.table[:, 0].size, 1))
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            tables = np.stack([pairs[place].table for place in some], axis=1)
            yield _Together(some, tables[:, :, ::-1], one)


def p_values(
    pairs: Sequence[PairedScores], rounds: int = bootstrap.SWAPS, test: Test = "permutation"
) -> list[float]:
    """Two-sided p of each, no smaller than its interval allows; pairs that are added up alike are
    tested in one pass, and none again that a board or a comparison has tested."""
    keys = [(one.source, rounds, test) for one in pairs]
    new = [one for one, key in zip(pairs, keys, strict=True) if key not in one.group.tested]
    for some in _together(new):
        left, right = some.added[:, :, 0], some.added[:, :, 1]
        made, own = some.one.aggregate, some.one.clusters
        if test == "permutation":
            values = bootstrap.permutation_tests(left, right, made, rounds=rounds, clusters=own)
        else:
            drawn = (bootstrap.bootstrap_test(*new[place].resampled()) for place in some.places)
            values = np.array(list(drawn))
        if (sure := values < power.ALPHA).any():
            sides, bounds = (left[:, sure], right[:, sure]), some.one.bounds
            values[sure] = bootstrap.guarded(
                values[sure], *sides, made, bounds=bounds, clusters=own
            )
        for place, value in zip(some.places, values.tolist(), strict=True):
            new[place].group.tested[new[place].source, rounds, test] = value
    return [one.group.tested[key] for one, key in zip(pairs, keys, strict=True)]


PairedDifference = tuple[Difference, PairedScores | None]
"""A row, and what it is tested by; None where nothing may be."""


def _differences(
    scorers: Sequence[Scorer],
    tables: tuple[RunTable, RunTable],
    samples: Sequence[Sample],
    split: bool,
) -> list[PairedDifference]:
    """Scorers without a number on all samples are left out, unless none has one."""
    aggregation, is_raced = tables[0].aggregation, any(one.raced for one in tables)
    whole_run = len(samples) == len(tables[0].samples)
    groups = tables[0].groups if whole_run else group_samples(samples, aggregation)

    def difference(scorer: Scorer, category: str, group: Group) -> PairedDifference:
        pair = PairedScores(scorer, group, *tables)
        a, b = pair.scores or (None, None)
        by = None if a is None or b is None else b - a
        found = Difference(scorer, category, pair.n if pair.scores else 0, a, b, by)
        found.failed_a, found.failed_b, found.as_zero = *pair.failed, pair.as_zero
        if not pair.testable or is_raced or by is None:
            return found, None
        found.clips, found.unit = pair.clips, "clips" if pair.clips < pair.n else "samples"
        return found, pair

    whole = [
        difference(scorer, ALL, groups[EVERYTHING].asked_by(scorer, aggregation))
        for scorer in scorers
    ]
    kept = [one for one in whole if one[0].n] or whole
    categories = dict.fromkeys(sample.category for sample in samples if split)
    return kept + [
        difference(row.scorer, name, groups[in_category(name)])
        for name in (categories if len(categories) > 1 else ())
        for row, _ in kept
    ]


def _test(
    families: Sequence[Sequence[PairedDifference]], correction: Correction, test: Test
) -> None:
    """P-values, corrected over the rows of a family that have clips enough; intervals in agreement
    with them; and what these rows could show."""
    tested = [(row, pair) for rows in families for row, pair in rows if pair is not None]
    pairs = [pair for _, pair in tested]
    values = p_values(pairs, test=test)
    for some in _together(pairs):
        own, made = np.array([values[place] for place in some.places]), some.drawn
        clusters, sides = some.one.clusters, (some.added[:, :, 0], some.added[:, :, 1])
        how = Resampling(clusters=clusters, bounds=some.one.bounds)
        intervals = bootstrap.difference_intervals(some.added, made, some.sides, p=own, **how)
        spreads = bootstrap.paired_spread(*sides, made, clusters).tolist()
        for place, interval, sd in zip(some.places, intervals, spreads, strict=True):
            row = tested[place][0]
            row.p, row.ci, row.sd = values[place], interval, sd
            row.effect = (row.difference or 0.0) / sd if sd else None
    for rows in families:
        number = Counter(row.category for row, _ in rows)
        fewest = {name: power.fewest_to_test(tests=count) for name, count in number.items()}
        counted = [
            row for row, pair in rows if pair is not None and pair.clips >= fewest[row.category]
        ]
        adjusted = corrected(np.array([row.p for row in counted], float), correction)
        for row, value in zip(counted, adjusted.tolist(), strict=True):
            row.p_adjusted = value
            level, top = power.ALPHA / len(counted), max(row.a or 0.0, row.b or 0.0)
            least = power.visible(row.sd or 0.0, row.clips, level, top)
            row.detectable = least if least and least < row.scorer.max_value else None


def moved_samples(
    one: RunTable, other: RunTable, scorer: Scorer, samples: Sequence[Sample]
) -> list[Row]:
    """Samples that both have settled and that score otherwise, most first; a failure scores 0."""
    group = Group(tuple(samples), ())
    scored = [table.sample_scores(scorer) for table in (one, other)]
    failed = [group.failed(own, run.replies) for own, run in zip(scored, (one, other), strict=True)]
    rows: list[tuple[float, int, Row]] = []
    for place, sample in enumerate(samples):
        scores = [
            0.0 if lost[place] else own.values.get(sample.id)
            for own, lost in zip(scored, failed, strict=True)
        ]
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
        rows.append((-abs(row["difference"]), sample.position, row))
    return [row for *_, row in sorted(rows, key=lambda one: one[:2])]
