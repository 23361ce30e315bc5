"""Runs beside each other on the samples that are settled in both; above 0 the second is better."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from audiocapbench.data import Sample
from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.models.model import REPEAT
from audiocapbench.report.compare.result import ALL, ComparisonResult, Difference
from audiocapbench.scores.compute import ALL as EVERYTHING
from audiocapbench.scores.compute import Group, group_samples
from audiocapbench.scores.compute import category as in_category
from audiocapbench.scores.estimate import Missing, Scorer, counted
from audiocapbench.scores.paired import (
    PairedScores,
    common_samples,
    common_scorers,
    moved_samples,
    p_values,
    together,
)
from audiocapbench.scores.table import RunTable, TableReader, labels
from audiocapbench.stats import bootstrap, power
from audiocapbench.stats.bootstrap import Resampling
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.store import Store


def compare_runs(
    store: Store,
    first: int,
    second: int,
    *more: int,
    metrics: Sequence[str] = (),
    judges: Sequence[str] = (),
    clips: int = 10,
    correction: Correction = Correction.HOLM,
    repeated: bool = False,
) -> ComparisonResult:
    """Compare runs of one benchmark with the first, by metrics and judges or by all that both have.

    ``clips`` is how many of the samples that moved most to show. If ``repeated``, a run stands for
    all repeats of it (``run --repeats``). The headline, which the verdict is about, is corrected
    over the runs alone, so that nothing else in a store changes it; then the other scores of all
    samples, and those of categories.
    """
    reader = TableReader(store)
    read = reader.read_repeats if repeated else reader.read
    tables = [read(store.run(number)) for number in (first, second, *more)]
    base, *others = tables
    numbers = [one.run.id for one in tables]
    if twice := [one for one in numbers if numbers.count(one) > 1]:
        raise ReportError(f"run {twice[0]} is compared with itself; name different runs")
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
    again = {(line.model, line.dataset) for line in store.runs() if REPEAT in line.parameters}
    runs = [one.run for one in tables if (one.run.model, one.run.dataset) in again]
    if runs and not repeated:
        whose = f"The repeats of run {', '.join(str(one.id) for one in runs)} are left out"
        refused.append(f"{whose}; a leaderboard takes the mean of all, as --repeats does here.")
    _test(_families(rows), correction)
    own, *more_of = [replace(one, correction=correction, compared=len(found)) for one in found]
    return replace(own, notes=(*own.notes, *refused), more=tuple(more_of))


def compare_pairs(
    pairs: Sequence[tuple[RunTable, RunTable]],
) -> list[ComparisonResult | ReportError]:
    """Each pair as ``compare_runs`` has it without categories, all tested in a few passes."""
    found, families = list[ComparisonResult | ReportError](), list[list[PairedDifference]]()
    for pair in pairs:
        try:
            own, rows = _compared(*pair, by_category=False)
        except ReportError as error:
            found.append(error)
            continue
        found.append(own)
        families += _families([rows])
    _test(families, Correction.HOLM)
    return found


def _families(compared: "Sequence[list[PairedDifference]]") -> "list[list[PairedDifference]]":
    """Rows that are corrected together: headlines, other scores, and those of categories."""
    others = [row for rows in compared for row in rows[1:]]
    whole = [row for row in others if row[0].category == ALL]
    parts = [row for row in others if row[0].category != ALL]
    return [[rows[0] for rows in compared], whole, parts]


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
    signed = [scorer for scorer in shown if scorer.dimension in (None, OVERALL)]
    signatures = {scorer.label: one.signature(scorer) for scorer in signed}
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


def _test(families: Sequence[Sequence[PairedDifference]], correction: Correction) -> None:
    """P-values, corrected over the rows of a family that have clips enough; intervals in agreement
    with them; and what these rows could show."""
    tested = [(row, pair) for rows in families for row, pair in rows if pair is not None]
    pairs = [pair for _, pair in tested]
    values = p_values(pairs)
    for some in together(pairs):
        own, alone = np.array([values[place] for place in some.places]), some.alone
        clusters, sides = some.one.clusters, (some.added, some.pairs)
        how = Resampling(clusters=clusters, bounds=some.bounds)
        intervals = bootstrap.difference_intervals(
            *sides, some.one.aggregate, some.runs, alone, p=own, **how
        )
        spreads = bootstrap.paired_spreads(*sides, alone, clusters).tolist()
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
