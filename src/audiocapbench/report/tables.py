"""Tables for the terminal: runs side by side, one metric by category, judges, groups and files."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from audiocapbench.benchmarks.corpora import without_null
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.exports import number
from audiocapbench.scores.estimate import Estimate
from audiocapbench.scores.file_scores import FileScores
from audiocapbench.scores.groups import GroupKey, category
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.summary import JudgeSummary, RunSummary
from audiocapbench.scores.table import ScoreTable

_JUDGE_DIGITS = 2


def leaderboard(summaries: Sequence[RunSummary], metrics: Sequence[str], headline: str) -> Table:
    """Metrics of every run with their 95 % intervals, best first by the headline."""
    table = table_of("Leaderboard, with 95 % intervals", ["model", "answered", *metrics])
    for one in _ranked(summaries, headline):
        coverage = one.table.coverage
        answered = f"{coverage.answered}/{coverage.total}"
        estimates = one.table.of_metrics(metrics).values()
        table.add_row(text_of(one.run.model), answered, *map(_cell, estimates))
    return table


def by_category(summaries: Sequence[RunSummary], metric: str) -> Table:
    """One metric by category."""
    scorer = Scorer(metric)
    counts: dict[str, int] = {}
    for one in summaries:
        for name in one.table.categories:
            counts[name] = len(one.table.group(scorer, category(name)).samples)
    names = [f"{name} ({count})" for name, count in counts.items()]
    table = table_of(f"{metric} by category (number of clips)", ["model", *names])
    for one in _ranked(summaries, metric):
        cells = [
            one.table.point(scorer, category(name)).shown() if name in one.table.categories else "–"
            for name in counts
        ]
        table.add_row(text_of(one.run.model), *cells)
    return table


def judge_table(summaries: Sequence[RunSummary], judge: str) -> Table:
    """One judge's dimensions with their 95 % intervals, best overall first."""
    judged = [(one.run.model, one.judges[judge]) for one in summaries if judge in one.judges]
    names = list(dict.fromkeys(name for _, one in judged for name in one.overall))
    table = table_of(f"Judge {judge}, 0 to 10, with 95 % intervals", ["model", "judged", *names])

    def best_first(judge: JudgeSummary) -> tuple[bool, float]:
        return judge.overall["overall"].best_first if "overall" in judge.overall else (True, 0.0)

    for model, one in sorted(judged, key=lambda pair: best_first(pair[1])):
        cells = [_cell(one.overall.get(name), _JUDGE_DIGITS) for name in names]
        table.add_row(text_of(model), f"{one.judged}/{one.total}", *cells)
    return table


def score_table(scores: FileScores) -> Table:
    """Every metric on files, by group where there are groups; what is missing as zero beside it."""
    title = f"{len(scores.ids):,} samples, with 95 % intervals"
    zero = ["missing as zero"] if scores.missing else []
    table = table_of(title, ["metric", "all", *zero, *scores.table.categories])
    for metric in scores.metrics:
        scorer = Scorer(metric)
        whole = scores.table.estimate(scorer)
        groups = [scores.table.estimate(scorer, category(one)) for one in scores.table.categories]
        as_zero = [number(whole.as_zero, 3)] if zero else []
        table.add_row(text_of(metric), _cell(whole), *as_zero, *map(_cell, groups))
    return table


def group_table(scores: ScoreTable, metrics: Sequence[str], title: str) -> Table:
    """Every metric by group with its interval, and the total below.

    A group with null references says how many; where most are null, the line below it is the same
    group without them.
    """
    table = table_of(title, ["group", "answered", "null", *metrics])
    null_references = scores.null_references(metrics)
    for name in scores.categories:
        nulls = null_references.get(name)
        _add_group(table, scores, category(name), [str(nulls.null) if nulls else ""], metrics)
        if nulls and nulls.null > nulls.total / 2:
            cells = [_cell(nulls.without.get(without_null(one))) for one in metrics]
            table.add_row("  without null", f"{nulls.total - nulls.null} left", "", *cells)
    table.add_section()
    total = scores.aggregation.total if scores.aggregation is not None else ""
    table.add_row(
        Text(escape_controls(total)), "", "", *map(_cell, scores.of_metrics(metrics).values())
    )
    return table


def facet_table(scores: ScoreTable, facet: str, metrics: Sequence[str]) -> Table:
    """Metrics by the places of one facet; two-part places make a grid of the first metric."""
    keys = scores.facets[facet]
    if not all(" " in key.place for key in keys):
        table = table_of(f"by {facet}", [facet, "answered", *metrics])
        for key in keys:
            _add_group(table, scores, key, [], metrics)
        return table
    rows = dict.fromkeys(key.place.partition(" ")[0] for key in keys)
    columns = dict.fromkeys(key.place.partition(" ")[2] for key in keys)
    table = table_of(f"{metrics[0]} by {facet}", [facet, *columns])
    for row in rows:
        places = [GroupKey(facet, f"{row} {column}") for column in columns]
        cells = [
            scores.point(Scorer(metrics[0]), key).shown() if key in keys else "–" for key in places
        ]
        table.add_row(text_of(row), *cells)
    return table


def lacking(scores: ScoreTable, metrics: Sequence[str]) -> list[str]:
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


def failure_lines(summaries: Sequence[RunSummary], metric: str) -> list[str]:
    """What failures do to a number, a line for every run and judge that lacks scores of samples."""
    lines = []
    for one in summaries:
        model, coverage = one.run.model, one.table.coverage
        if coverage.failed and metric in one.metrics:
            missing = f"{coverage.failed} of {coverage.total} clips have no answer"
            estimate = one.table.point(Scorer(metric))
            if estimate.lacks:
                lines.append(f"{model}: {missing}.")
            else:
                lines.append(_failures(model, missing, metric, estimate, 3))
        for name, judge in one.judges.items():
            if judge.judged < judge.total and "overall" in judge.overall:
                missing = f"{judge.total - judge.judged} of {judge.total} have no verdict of {name}"
                estimate = judge.overall["overall"]
                lines.append(_failures(model, missing, "overall", estimate, _JUDGE_DIGITS))
            if judge.failure is not None:
                lines.append(f"{model}: {judge.failure}")
    return lines


def _failures(model: str, missing: str, name: str, estimate: Estimate, digits: int) -> str:
    if estimate.value is None or estimate.as_zero is None or estimate.bounds is None:
        return f"{model}: {missing}; there is nothing to score."
    left_out, zero, low, high = (
        f"{value:.{digits}f}" for value in (estimate.value, estimate.as_zero, *estimate.bounds)
    )
    scores = f"{left_out} without them, {zero} as zero, {low}–{high} at worst and best"
    return f"{model}: {missing}. {name}: {scores}."


def _ranked(summaries: Iterable[RunSummary], metric: str) -> list[RunSummary]:
    """Best first by one metric; runs without a score come last."""
    return sorted(summaries, key=lambda one: one.table.point(Scorer(metric)).best_first)


def _add_group(
    table: Table, scores: ScoreTable, key: GroupKey, more: list[str], metrics: Sequence[str]
) -> None:
    estimates = list(scores.of_metrics(metrics, key).values())
    coverage = estimates[0].coverage
    answered = f"{coverage.answered}/{coverage.total}"
    table.add_row(text_of(key.place), answered, *more, *map(_cell, estimates))


def table_of(title: str, names: Sequence[str]) -> Table:
    """A table without rows; its first column holds names, the others numbers."""
    table = Table(title=text_of(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(names):
        table.add_column(text_of(name), justify="right" if place else "left", no_wrap=True)
    return table


def text_of(text: str) -> Text:
    """Text that a terminal shows as it is."""
    return Text(escape_controls(text))


def _cell(estimate: Estimate | None, digits: int = 3) -> Text:
    if estimate is None:
        return Text("–")
    cell = Text(estimate.shown(digits), no_wrap=True)
    interval = estimate.shown_interval(digits)
    return cell.append(f"\n{interval}", style="dim") if interval else cell
