"""Tables for the terminal: runs side by side, one metric by category, judges, groups and files."""

from collections.abc import Iterable, Sequence

from audiocapbench.benchmarks.corpora import without_null
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.exports import Heading, Lines, Page, number
from audiocapbench.scores.estimate import Estimate, counted, interval_words, missing_words
from audiocapbench.scores.file_scores import FileScores
from audiocapbench.scores.groups import ALL, GroupKey, category
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.summary import JudgeSummary, RunSummary
from audiocapbench.scores.table import ScoreTable

_JUDGE_DIGITS = 2


def leaderboard(summaries: Sequence[RunSummary], metrics: Sequence[str], headline: str) -> Page:
    """Metrics of every run with their 95 % intervals, best first by the headline."""
    rows, shown = [], list[Estimate]()
    for one in _ranked(summaries, Scorer(headline)):
        coverage = one.table.coverage
        answered = f"{coverage.answered}/{coverage.total}"
        estimates = one.table.of_metrics(metrics).values()
        shown += estimates
        rows.append([one.run.model, answered, *map(_cell, estimates)])
    title = f"Leaderboard{interval_words(shown)}"
    return page_of(title, ["model", "answered", *metrics], rows)


def by_category(summaries: Sequence[RunSummary], scorer: Scorer) -> Page:
    """One score by category."""
    counts: dict[str, int] = {}
    for one in summaries:
        for name in one.table.categories:
            counts[name] = len(one.table.group(scorer, category(name)).samples)
    names = [f"{name} ({count})" for name, count in counts.items()]
    rows = []
    for one in _ranked(summaries, scorer):
        points = {
            name: one.table.point(scorer, category(name)).value for name in one.table.categories
        }
        rows.append([one.run.model, *(scorer.shown(points.get(name)) for name in counts)])
    return page_of(f"{scorer.label} by category (number of clips)", ["model", *names], rows)


def judge_table(summaries: Sequence[RunSummary], judge: str) -> Page:
    """One judge's dimensions with their 95 % intervals, best overall first."""
    judged = [(one.run.model, one.judges[judge]) for one in summaries if judge in one.judges]
    names = list(dict.fromkeys(name for _, one in judged for name in one.overall))

    def best_first(judge: JudgeSummary) -> tuple[bool, float, float]:
        whole = judge.overall.get(OVERALL)
        return (True, 0, 0) if whole is None else Scorer(judge.judge, OVERALL).standing(whole)

    rows = []
    for model, one in sorted(judged, key=lambda pair: best_first(pair[1])):
        cells = [_cell(one.overall.get(name), _JUDGE_DIGITS) for name in names]
        rows.append([model, f"{one.judged}/{one.total}", *cells])
    words = interval_words(made for _, one in judged for made in one.overall.values())
    title = f"Judge {judge}, 0 to 10{words}"
    return page_of(title, ["model", "judged", *names], rows)


def score_table(scores: FileScores) -> Page:
    """Every metric on files, by group where there are groups; what is missing as zero beside it."""
    keys = [ALL, *map(category, scores.table.categories)]
    known = [scores.table.estimate(Scorer(name), key) for name in scores.metrics for key in keys]
    title = f"{counted(len(scores.ids), 'sample')}{interval_words(known)}"
    zero = ["missing as zero"] if scores.missing else []
    rows = []
    for metric in scores.metrics:
        scorer = Scorer(metric)
        whole = scores.table.estimate(scorer)
        groups = [scores.table.estimate(scorer, category(one)) for one in scores.table.categories]
        as_zero = [number(whole.as_zero, 3)] if zero else []
        rows.append([metric, _cell(whole), *as_zero, *map(_cell, groups)])
    return page_of(title, ["metric", "all", *zero, *scores.table.categories], rows)


def group_table(scores: ScoreTable, metrics: Sequence[str], title: str) -> Page:
    """Every metric by group with its interval, and the total below.

    A group with null references says how many; where most are null, the line below it is the same
    group without them.
    """
    rows, null_references = [], scores.null_references(metrics)
    for name in scores.categories:
        nulls = null_references.get(name)
        count = str(nulls.null) if nulls else ""
        rows.append(_group(scores, category(name), [count], metrics))
        if nulls and nulls.null > nulls.total / 2:
            cells = [_cell(nulls.without.get(without_null(one))) for one in metrics]
            rows.append(["  without null", f"{nulls.total - nulls.null} left", "", *cells])
    keys = [ALL, *map(category, scores.categories)]
    words = interval_words(one for key in keys for one in scores.of_metrics(metrics, key).values())
    total = scores.aggregation.total if scores.aggregation is not None else ""
    whole = list(scores.of_metrics(metrics).values())
    rows.append([total, _answered(whole[0]), "", *map(_cell, whole)])
    if whole[0].coverage.failed:
        rows.append(["  missing as zero", "", "", *(number(one.as_zero, 3) for one in whole)])
    return page_of(f"{title}{words}", ["group", "answered", "null", *metrics], rows)


def facet_table(scores: ScoreTable, facet: str, metrics: Sequence[str]) -> Page:
    """Metrics by the places of one facet; two-part places make a grid of the first metric."""
    keys = scores.facets[facet]
    if not all(" " in key.place for key in keys):
        rows = [_group(scores, key, [], metrics) for key in keys]
        return page_of(f"by {facet}", [facet, "answered", *metrics], rows)
    columns, rows = dict.fromkeys(key.place.partition(" ")[2] for key in keys), []
    for row in dict.fromkeys(key.place.partition(" ")[0] for key in keys):
        places = [GroupKey(facet, f"{row} {column}") for column in columns]
        cells = [
            scores.point(Scorer(metrics[0]), key).shown() if key in keys else "–" for key in places
        ]
        rows.append([row, *cells])
    return page_of(f"{metrics[0]} by {facet}", [facet, *columns], rows)


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
            estimate = one.table.point(Scorer(metric))
            why = missing_words(one.table.unanswered)
            missing = f"{coverage.failed} of {coverage.total} clips have no answer ({why})"
            if estimate.lacks:
                lines.append(f"{model}: {missing}.")
            else:
                lines.append(_failures(model, missing, metric, estimate, 3))
        for name, judge in one.judges.items():
            if judge.judged < judge.total and "overall" in judge.overall:
                estimate = judge.overall["overall"]
                missing = f"{judge.total - judge.judged} of {judge.total} have no verdict of {name}"
                missing += f" ({missing_words(estimate.missing)})"
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


def _ranked(summaries: Iterable[RunSummary], scorer: Scorer) -> list[RunSummary]:
    """Best first by one score; runs without it come last."""
    return sorted(summaries, key=lambda one: scorer.standing(one.table.point(scorer)))


def _group(scores: ScoreTable, key: GroupKey, more: list[str], metrics: Sequence[str]) -> list[str]:
    estimates = list(scores.of_metrics(metrics, key).values())
    return [key.place, _answered(estimates[0]), *more, *map(_cell, estimates)]


def _answered(estimate: Estimate) -> str:
    return f"{estimate.coverage.answered}/{estimate.coverage.total}"


def page_of(title: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> Page:
    """A table whose first column holds names, and the others numbers."""
    first, *others = names
    headings = (Heading(first, "left"), *map(Heading, others))
    return Page(title, headings, tuple(map(tuple, rows)))


def _cell(estimate: Estimate | None, digits: int = 3) -> str:
    if estimate is None:
        return "–"
    return Lines("\n".join(filter(None, [estimate.shown(digits), estimate.shown_interval(digits)])))
