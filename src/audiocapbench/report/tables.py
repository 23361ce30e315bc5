"""Tables of scores: runs side by side, one metric by category, judges, groups and files."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from audiocapbench.benchmarks.corpora import without_null
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.scores.compute import ALL, GroupKey, category
from audiocapbench.scores.estimate import Estimate, Scorer, interval_words, missing_words
from audiocapbench.scores.summary import RunSummary
from audiocapbench.scores.table import ScoreTable
from audiocapbench.table import Column, Row, Table, shown, signature_notes

_JUDGE_DIGITS = 2


def run_tables(
    summaries: Sequence[RunSummary], metrics: Sequence[str], headline: str
) -> list[Table]:
    """Judges, the leaderboard and what makes up totals; notes below the last say what failed."""
    tables = []
    grouped = len({name for one in summaries for name in one.table.categories}) > 1
    for judge in dict.fromkeys(name for one in summaries for name in one.judges):
        judged, overall = [one for one in summaries if judge in one.judges], Scorer(judge, OVERALL)
        names = dict.fromkeys(name for one in judged for name in one.judges[judge].overall)
        tables.append(_side_by_side(judged, [Scorer(judge, name) for name in names], overall))
        scored = [one for one in judged if one.judges[judge].overall]
        if grouped and scored:
            tables.append(_by_category(scored, overall))
    ranked_by = headline if headline in metrics else next(iter(metrics), headline)
    if metrics:
        tables.append(_side_by_side(summaries, [*map(Scorer, metrics)], Scorer(ranked_by)))
        if grouped:
            tables.append(_by_category(summaries, Scorer(ranked_by)))
        for one in summaries:
            if one.table.aggregation is not None:
                title = f"{one.run.model}: the groups of {one.table.aggregation.total}"
                tables += group_tables(one.table, metrics, [ranked_by], title)
    notes = []
    for one in summaries:
        # How far the judges of a run agree, where there are several.
        if one.panel is not None:
            alpha = one.panel["alpha"][OVERALL]
            agreed = "" if alpha is None else f", Krippendorff's alpha {alpha:.2f}"
            mean = shown(one.panel["figures"][OVERALL]["score"], f".{_JUDGE_DIGITS}f")
            notes.append(f"{one.run.model}: the panel's mean is {mean}{agreed}")
    for one in summaries:
        notes += _failures(one, ranked_by)
    signatures = [judge.signature for one in summaries for judge in one.judges.values()]
    signatures += [one.table.point(Scorer(name)).signature for name in metrics for one in summaries]
    notes += signature_notes(signatures)
    return [*tables[:-1], *(replace(one, notes=[*one.notes, *notes]) for one in tables[-1:])]


def estimate_table(
    title: str, table: ScoreTable, scorers: Sequence[Scorer], notes: Sequence[str] = ()
) -> Table:
    """Each scorer with its interval, what failures may mean, and its categories."""
    groups = [name for name in table.categories if len(table.categories) > 1]
    columns = [
        Column("scorer"),
        Column("score", form="{score:.{digits}f}"),
        Column("interval", "95 %", "{low:.{digits}f}–{high:.{digits}f}", folds=True),
        Column("scored", form="{n:,}/{samples:,}"),
        Column("as_zero", form="{as_zero:.{digits}f}", importance=5),
    ]
    rows: list[Row] = []
    for scorer in scorers:
        one = table.estimate(scorer)
        row = {"scorer": scorer.label, "digits": scorer.digits, **one.flat(), "n": one.n}
        parts = {f"in {name}": table.estimate(scorer, category(name)) for name in groups}
        rows.append({**row, "samples": one.coverage.total, **parts})
    if all(row["n"] == row["samples"] for row in rows):
        columns.pop()
    columns += [Column(f"in {name}", name) for name in groups]
    words = interval_words(table.estimate(one) for one in scorers)
    return Table(f"{title}{words}", rows, columns, notes)


def _side_by_side(
    summaries: Sequence[RunSummary], scorers: Sequence[Scorer], ranked_by: Scorer
) -> Table:
    """Metrics of every run, or a judge's dimensions, with 95 % intervals, best first."""
    judge = ranked_by.judge
    counts, title = ("answered", "Leaderboard") if judge is None else ("judged", f"Judge {judge}")
    title += "" if judge is None else ", 0 to 10"
    rows: list[Row] = []
    for one in _ranked(summaries, ranked_by):
        row: Row = {"model": one.run.model} | dict.fromkeys((counts, *(s.column for s in scorers)))
        coverage = one.table.coverage
        row[counts] = f"{coverage.answered}/{coverage.total}"
        if judge is not None:
            row[counts] = f"{one.judges[judge].judged}/{one.judges[judge].total}"
        if judge is None or one.judges[judge].overall:
            row |= {scorer.column: one.table.estimate(scorer) for scorer in scorers}
        rows.append(row)
    words = interval_words(row[one.column] for row in rows for one in scorers if row[one.column])
    columns = _columns("model", counts, (one.column for one in scorers), ranked_by.digits)
    return Table(f"{title}{words}", rows, columns)


def _columns(key: str, counts: str, names: Iterable[str], digits: int = 3) -> list[Column]:
    """What a row is about, how many samples, and estimates."""
    estimates = (Column(one, one, f".{digits}f") for one in names)
    return [Column(key), Column(counts, align="right"), *estimates]


def _by_category(summaries: Sequence[RunSummary], scorer: Scorer) -> Table:
    """One score by category."""
    counts = {
        name: len(one.table.group(scorer, category(name)).samples)
        for one in summaries
        for name in one.table.categories
    }
    rows: list[Row] = []
    for one in _ranked(summaries, scorer):
        rows.append({"model": one.run.model} | {f"in {name}": None for name in counts})
        for name in one.table.categories:
            rows[-1][f"in {name}"] = one.table.point(scorer, category(name)).value
    form = f".{scorer.digits}f"
    columns = [Column(f"in {name}", f"{name} ({count})", form) for name, count in counts.items()]
    title = f"{scorer.label} by category (number of clips)"
    return Table(title, rows, [Column("model"), *columns])


def group_tables(
    scores: ScoreTable, metrics: Sequence[str], in_facets: Sequence[str], title: str
) -> list[Table]:
    """What makes up a total: its groups, with what is lacking, and other views of them.

    A group with null references says how many; where most are null, the line below it is the same
    group without them. Two-part places of a facet make a grid of the first metric.
    """
    rows: list[Row] = []
    null_references = scores.null_references(metrics)
    for name in scores.categories:
        nulls = null_references.get(name)
        rows.append(
            _group(scores, category(name), metrics) | ({"null": nulls.null} if nulls else {})
        )
        if nulls and nulls.null > nulls.total / 2:
            without: Row = {one: nulls.without.get(without_null(one)) for one in metrics}
            left = f"{nulls.total - nulls.null} left"
            rows.append({"group": "  without null", "answered": left} | without)
    total = scores.aggregation.total if scores.aggregation is not None else ""
    rows.append(_group(scores, ALL, metrics) | {"group": total})
    words = interval_words(row[name] for row in rows for name in metrics if row[name])
    whole = scores.of_metrics(metrics)
    if next(iter(whole.values())).coverage.failed:
        zeros = {name: one.as_zero for name, one in whole.items()}
        rows.append({"group": "  missing as zero"} | zeros)
    # Why there is no total, in a sentence for all metrics that lack the same groups.
    lacks: dict[tuple[str, ...], list[str]] = {}
    for metric, one in whole.items():
        if one.lacks:
            lacks.setdefault(one.lacks, []).append(metric)
    notes = [
        f"No {total} of {', '.join(names)}: there is no score of {', '.join(missing)}."
        for missing, names in lacks.items()
    ]
    columns = _columns("group", "answered", metrics)
    columns.insert(2, Column("null"))
    tables = [Table(f"{title}{words}", rows, columns, notes)]
    for facet, keys in scores.facets.items():
        if not all(" " in key.place for key in keys):
            columns = _columns("group", "answered", in_facets)
            columns[0] = Column("group", facet)
            rows = [_group(scores, key, in_facets) for key in keys]
            tables.append(Table(f"by {facet}", rows, columns))
            continue
        places = {key: key.place.partition(" ") for key in keys}
        across = dict.fromkeys(f"in {column}" for _, _, column in places.values())
        grid: dict[str, Row] = {}
        for key, (row, _, column) in places.items():
            value = scores.point(Scorer(in_facets[0]), key).value
            grid.setdefault(row, {"group": row} | across)[f"in {column}"] = value
        columns = [Column("group", facet), *(Column(one, one[3:], ".3f") for one in across)]
        tables.append(Table(f"{in_facets[0]} by {facet}", list(grid.values()), columns))
    return tables


def _group(scores: ScoreTable, key: GroupKey, metrics: Sequence[str]) -> Row:
    estimates = scores.of_metrics(metrics, key)
    coverage = next(iter(estimates.values())).coverage
    answered = f"{coverage.answered}/{coverage.total}"
    return {"group": key.place, "answered": answered} | estimates


def _failures(one: RunSummary, metric: str) -> list[str]:
    """What failures do to a number, a line for the run and each judge that lacks scores."""
    lines, coverage = [], one.table.coverage
    if coverage.failed and metric in one.metrics:
        estimate = one.table.point(Scorer(metric))
        why = missing_words(one.table.unanswered)
        missing = f"{coverage.failed} of {coverage.total} clips have no answer ({why})"
        lines.append(f"{missing}{'.' if estimate.lacks else _bounds(metric, estimate, 3)}")
    for name, judge in one.judges.items():
        if judge.judged < judge.total and OVERALL in judge.overall:
            estimate = judge.overall[OVERALL]
            missing = f"{judge.total - judge.judged} of {judge.total} have no verdict of {name}"
            missing += f" ({missing_words(estimate.missing)})"
            lines.append(missing + _bounds(OVERALL, estimate, _JUDGE_DIGITS))
        if judge.failure is not None:
            lines.append(judge.failure)
    return [f"{one.run.model}: {line}" for line in lines]


def _bounds(name: str, estimate: Estimate, digits: int) -> str:
    if estimate.value is None or estimate.as_zero is None or estimate.bounds is None:
        return "; there is nothing to score."
    left_out, zero, low, high = (
        f"{value:.{digits}f}" for value in (estimate.value, estimate.as_zero, *estimate.bounds)
    )
    return f". {name}: {left_out} without them, {zero} as zero, {low}–{high} at worst and best."


def _ranked(summaries: Iterable[RunSummary], scorer: Scorer) -> list[RunSummary]:
    """Best first by one score; runs without it come last."""
    return sorted(summaries, key=lambda one: scorer.sort_key(one.table.point(scorer)))
