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
    """Judges, the leaderboard, and what makes up totals, with the headline by category.

    Notes below the last say what failed, and how the numbers were made.
    """
    found = []
    grouped = len({name for one in summaries for name in one.table.categories}) > 1
    for judge in dict.fromkeys(name for one in summaries for name in one.judges):
        judged, overall = [one for one in summaries if judge in one.judges], Scorer(judge, OVERALL)
        names = dict.fromkeys(name for one in judged for name in one.judges[judge].overall)
        found.append(_side_by_side(judged, [Scorer(judge, name) for name in names], overall))
        scored = [one for one in judged if one.judges[judge].overall]
        if grouped and scored:
            found.append(_by_category(scored, overall))
    ranked_by = headline if headline in metrics else next(iter(metrics), headline)
    if metrics:
        headline_scorer = Scorer(ranked_by)
        found.append(_side_by_side(summaries, [*map(Scorer, metrics)], headline_scorer))
        if grouped:
            found.append(_by_category(summaries, headline_scorer))
        for one in summaries:
            if one.table.aggregation is not None:
                title = f"{one.run.model}: the groups of {one.table.aggregation.total}"
                found += group_tables(one.table, metrics, [ranked_by], title)
    signatures = [judge.signature for one in summaries for judge in one.judges.values()]
    signatures += [one.table.point(Scorer(name)).signature for name in metrics for one in summaries]
    notes = [*_panels(summaries), *_failures(summaries, ranked_by), *signature_notes(signatures)]
    return [*found[:-1], *(replace(one, notes=[*one.notes, *notes]) for one in found[-1:])]


def estimate_table(
    title: str, table: ScoreTable, scorers: Sequence[Scorer], notes: Sequence[str] = ()
) -> Table:
    """Each scorer with its interval, what failures may mean, and its categories."""
    groups = [name for name in table.categories if len(table.categories) > 1]
    columns = [
        Column("scorer"),
        Column("score", form="{value:.{digits}f}"),
        Column("interval", "95 %", "{low:.{digits}f}–{high:.{digits}f}", folds=True),
        Column("scored", form="{n:,}/{samples:,}"),
        Column("as_zero", form="{as_zero:.{digits}f}", importance=5),
    ]
    rows: list[Row] = []
    for scorer in scorers:
        one = table.estimate(scorer)
        low, high = one.interval or (None, None)
        row: Row = {"scorer": scorer.label, "digits": scorer.digits, "value": one.value}
        row |= {"low": low, "high": high, "n": one.n, "samples": one.coverage.total}
        row |= {"as_zero": one.as_zero}
        row |= {f"in {name}": table.estimate(scorer, category(name)) for name in groups}
        rows.append(row)
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
    counts, title = "answered" if judge is None else "judged", "Leaderboard"
    rows: list[Row] = []
    for one in _ranked(summaries, ranked_by):
        coverage = one.table.coverage
        count = f"{coverage.answered}/{coverage.total}"
        if judge is not None:
            title = f"Judge {judge}, 0 to 10"
            count = f"{one.judges[judge].judged}/{one.judges[judge].total}"
        known = [scorer for scorer in scorers if judge is None or one.judges[judge].overall]
        row: Row = {"model": one.run.model, counts: count} | {one.column: None for one in scorers}
        rows.append(row | {scorer.column: one.table.estimate(scorer) for scorer in known})
    words = interval_words(row[one.column] for row in rows for one in scorers if row[one.column])
    form = f".{ranked_by.digits}f"
    return Table(
        f"{title}{words}", rows, _columns("model", counts, [one.column for one in scorers], form)
    )


def _columns(key: str, counts: str, names: Iterable[str], form: str = ".3f") -> list[Column]:
    """What a row is about, how many samples, and estimates."""
    return [Column(key), Column(counts, align="right"), *(Column(one, one, form) for one in names)]


def _by_category(summaries: Sequence[RunSummary], scorer: Scorer) -> Table:
    """One score by category."""
    counts: dict[str, int] = {}
    for one in summaries:
        for name in one.table.categories:
            counts[name] = len(one.table.group(scorer, category(name)).samples)
    rows: list[Row] = []
    for one in _ranked(summaries, scorer):
        points: Row = {f"in {name}": None for name in counts}
        for name in one.table.categories:
            points[f"in {name}"] = one.table.point(scorer, category(name)).value
        rows.append({"model": one.run.model} | points)
    form = f".{scorer.digits}f"
    columns = [Column(f"in {name}", f"{name} ({count})", form) for name, count in counts.items()]
    title = f"{scorer.label} by category (number of clips)"
    return Table(title, rows, [Column("model"), *columns])


def group_tables(
    scores: ScoreTable, metrics: Sequence[str], in_facets: Sequence[str], title: str
) -> list[Table]:
    """What makes up a total: its groups, with what is lacking, and other views of them."""
    facets = [_facet_table(scores, facet, in_facets) for facet in scores.facets]
    return [_group_table(scores, metrics, title), *facets]


def _group_table(scores: ScoreTable, metrics: Sequence[str], title: str) -> Table:
    """Every metric by group with its interval, and the total below.

    A group with null references says how many; where most are null, the line below it is the same
    group without them.
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
    whole = scores.of_metrics(metrics)
    words = interval_words(row[name] for row in rows for name in metrics if row[name])
    if next(iter(whole.values())).coverage.failed:
        zeros = {name: one.as_zero for name, one in whole.items()}
        rows.append({"group": "  missing as zero"} | zeros)
    columns = _columns("group", "answered", metrics)
    columns.insert(2, Column("null"))
    return Table(f"{title}{words}", rows, columns, _lacking(scores, metrics))


def _facet_table(scores: ScoreTable, facet: str, metrics: Sequence[str]) -> Table:
    """Metrics by the places of one facet; two-part places make a grid of the first metric."""
    keys = scores.facets[facet]
    if not all(" " in key.place for key in keys):
        rows = [_group(scores, key, metrics) for key in keys]
        columns = _columns("group", "answered", metrics)
        return Table(f"by {facet}", rows, [replace(columns[0], heading=facet), *columns[1:]])
    grid: dict[str, Row] = {}
    for key in keys:
        row, _, column = key.place.partition(" ")
        value = scores.point(Scorer(metrics[0]), key).value
        grid.setdefault(row, {"group": row})[f"in {column}"] = value
    names = dict.fromkeys(key.place.partition(" ")[2] for key in keys)
    for one in grid.values():
        one |= {f"in {name}": one.get(f"in {name}") for name in names}
    across = [Column(f"in {name}", name, ".3f") for name in names]
    columns = [Column("group", facet), *across]
    return Table(f"{metrics[0]} by {facet}", list(grid.values()), columns)


def _group(scores: ScoreTable, key: GroupKey, metrics: Sequence[str]) -> Row:
    estimates = scores.of_metrics(metrics, key)
    coverage = next(iter(estimates.values())).coverage
    answered = f"{coverage.answered}/{coverage.total}"
    return {"group": key.place, "answered": answered} | estimates


def _lacking(scores: ScoreTable, metrics: Sequence[str]) -> list[str]:
    """Why there is no total, in a sentence for all metrics that lack the same groups."""
    lacks: dict[tuple[str, ...], list[str]] = {}
    for metric in metrics:
        missing = scores.point(Scorer(metric)).lacks
        if missing:
            lacks.setdefault(missing, []).append(metric)
    total = scores.aggregation.total if scores.aggregation is not None else ""
    return [
        f"No {total} of {', '.join(names)}: there is no score of {', '.join(missing)}."
        for missing, names in lacks.items()
    ]


def _panels(summaries: Sequence[RunSummary]) -> list[str]:
    """How far the judges of each run agree, where there are several."""
    lines = []
    for one in summaries:
        if one.panel is not None:
            alpha = one.panel["alpha"][OVERALL]
            agreed = "" if alpha is None else f", Krippendorff's alpha {alpha:.2f}"
            mean = shown(one.panel["figures"][OVERALL]["score"], f".{_JUDGE_DIGITS}f")
            lines.append(f"{one.run.model}: the panel's mean is {mean}{agreed}")
    return lines


def _failures(summaries: Sequence[RunSummary], metric: str) -> list[str]:
    """What failures do to a number, a line for every run and judge that lacks scores of samples."""
    lines = []
    for one in summaries:
        model, coverage = one.run.model, one.table.coverage
        if coverage.failed and metric in one.metrics:
            estimate = one.table.point(Scorer(metric))
            why = missing_words(one.table.unanswered)
            missing = f"{coverage.failed} of {coverage.total} clips have no answer ({why})"
            if estimate.lacks:
                lines.append(f"{model}: {missing}.")
            else:
                lines.append(_failure(model, missing, metric, estimate, 3))
        for name, judge in one.judges.items():
            if judge.judged < judge.total and OVERALL in judge.overall:
                estimate = judge.overall[OVERALL]
                missing = f"{judge.total - judge.judged} of {judge.total} have no verdict of {name}"
                missing += f" ({missing_words(estimate.missing)})"
                lines.append(_failure(model, missing, OVERALL, estimate, _JUDGE_DIGITS))
            if judge.failure is not None:
                lines.append(f"{model}: {judge.failure}")
    return lines


def _failure(model: str, missing: str, name: str, estimate: Estimate, digits: int) -> str:
    if estimate.value is None or estimate.as_zero is None or estimate.bounds is None:
        return f"{model}: {missing}; there is nothing to score."
    left_out, zero, low, high = (
        f"{value:.{digits}f}" for value in (estimate.value, estimate.as_zero, *estimate.bounds)
    )
    scores = f"{left_out} without them, {zero} as zero, {low}–{high} at worst and best"
    return f"{model}: {missing}. {name}: {scores}."


def _ranked(summaries: Iterable[RunSummary], scorer: Scorer) -> list[RunSummary]:
    """Best first by one score; runs without it come last."""
    return sorted(summaries, key=lambda one: scorer.sort_key(one.table.point(scorer)))
