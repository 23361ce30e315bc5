"""What the page's overview shows: tables and figures, ready for the template."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from audiocapbench.benchmarks.published_results import PublishedRow
from audiocapbench.data.outcome import Status
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.exports import dollars
from audiocapbench.report.leaderboard.board import RunEntry
from audiocapbench.report.leaderboard.notes import board_notes
from audiocapbench.report.leaderboard.ranking import Placement, Ranking, rank_runs
from audiocapbench.report.page.drawing import (
    colour_of,
    draw_bars,
    draw_histogram,
    draw_key,
    draw_scatter,
)
from audiocapbench.report.page.figure_data import Bar, Figures, Histogram, figure_data, provider_of
from audiocapbench.report.page.metric_judge import correlations
from audiocapbench.report.page.report_data import ReportData, ReportRun
from audiocapbench.scores.estimate import spanned
from audiocapbench.scores.groups import ALL
from audiocapbench.scores.scorer import Scorer
from audiocapbench.stats import FEWEST_FOR_INTERVAL, METHODS, ROUNDS, SEED
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Store

NO_SCORE = "–"


class ScoreCell(NamedTuple):
    """A number of a table, and its interval where there is one."""

    value: str
    interval: str
    best: bool = False


class ModelRow(NamedTuple):
    """A model's line; places, ties and failures as zero only where the board ranks."""

    places: str
    tied: str
    zero: str
    model: str
    coverage: str
    cells: list[ScoreCell]


class PageBoard(NamedTuple):
    """A leaderboard: one judge's dimensions, or the metrics."""

    title: str
    ranked: bool
    by_zero: bool
    coverage: str
    columns: list[str]
    rows: list[ModelRow]
    note: str


def overview(store: Store, data: ReportData) -> dict[str, Any]:
    """Everything that the template needs besides the explorer's data."""
    figures = figure_data(data)
    ranking, notes = headline_ranks(data)
    boards = _boards(data, ranking)
    checks = store.judge_checks([one.run.id for one in data.runs], data.judges)
    return {
        "report": data,
        "headline": data.headline.label,
        "boards": boards,
        "ranked": any(one.ranked for one in boards),
        "notes": [*notes, *_marks(data), *data.notes],
        "failures": [
            (escape_controls(one.label), _failures(one, data.headline)) for one in data.runs
        ],
        "correlations": correlations(data),
        "drawings": _drawings(figures),
        "certain": all(bar.span.certain for bar in figures.overall if bar.span is not None),
        "uncertain": not all(panel.certain for panel in figures.panels),
        "shown": _shown,
        "figures": figures,
        "legend": [
            (name, draw_key(colour_of(name, figures.providers))) for name in figures.providers
        ],
        "signatures": sorted(map(str, set().union(*map(data.signatures, data.scorers)))),
        "settings": [_settings(one) for one in data.runs],
        "warnings": [
            *(one.warning for one in checks if one.warning),
            *_judge_failures(data),
            *_unlike(data),
        ],
        "missing_clips": max(one.table.missing_clips for one in data.runs),
        "methods": METHODS,
        "rounds": ROUNDS,
        "seed": SEED,
        "fewest": FEWEST_FOR_INTERVAL,
        "escape_controls": escape_controls,
    }


def headline_ranks(data: ReportData) -> tuple[Ranking, list[str]]:
    """How the runs rank by the headline, and what a reader must know of it, in sentences.

    None has a rank where no test can compare them: a single run, and runs on different samples or
    scored in different ways.
    """
    scorer = data.headline
    unranked = Ranking(tuple(Placement(one.table.point(scorer)) for one in data.runs))
    if len(data.runs) < 2:
        return unranked, []
    if not data.one_selection:
        return unranked, ["The runs were not asked about the same samples: none is ranked."]
    if len(data.signatures(scorer)) > 1:
        return unranked, [f"{scorer.label} was not made in the same way for all: none is ranked."]
    (found,) = rank_runs(scorer, [ALL], [one.table for one in data.runs])
    entries = [
        RunEntry(run.label, run.table, scorer, place, {})
        for run, place in zip(data.runs, found.runs, strict=True)
    ]
    return found, list(board_notes(found, entries, data.aggregation, Correction.HOLM))


def _boards(data: ReportData, ranking: Ranking) -> list[PageBoard]:
    """One for each judge and one for the metrics; what the models are ranked by comes first."""
    groups = [[one for one in data.scorers if one.judge == judge] for judge in data.judges]
    groups.append([one for one in data.scorers if one.judge is None])
    groups.sort(key=lambda group: data.headline not in group)
    return [_board(data, group, ranking) for group in groups if group]


def _board(data: ReportData, scorers: Sequence[Scorer], ranking: Ranking) -> PageBoard:
    best = {one: _best(data, one) for one in scorers}
    ranked = data.headline in scorers and any(one.rank is not None for one in ranking.runs)
    judge, rows = scorers[0].judge, []
    pairs = zip(data.runs, ranking.runs, strict=True)
    for run, place in sorted(pairs, key=lambda one: one[1].rank or len(data.runs) + 1):
        cells = [_cell(run, one, best[one]) for one in scorers]
        row = ModelRow("", "", "", escape_controls(run.label), _coverage(run, scorers[0]), cells)
        if ranked:
            zero = data.headline.shown(place.estimate.as_zero)
            row = row._replace(places=_places(place), tied=place.tied, zero=zero)
        rows.append(row)
    printed = [_printed(one, scorers) for one in data.published if _is_beside(data, scorers)]
    return PageBoard(
        "Metrics" if judge is None else f"Judge {judge}",
        ranked,
        ranked and ranking.by_zero,
        "answered" if judge is None else "judged",
        [one.column for one in scorers],
        [*rows, *printed],
        _note(data, scorers, rows),
    )


def _is_beside(data: ReportData, scorers: Sequence[Scorer]) -> bool:
    """Whether published models have these scores: those of the judge that ranks, or metrics."""
    return data.headline in scorers or scorers[0].judge is None


def _printed(row: PublishedRow, scorers: Sequence[Scorer]) -> ModelRow:
    """A published model's line, below the runs: it is part of no test."""
    known = row.metrics if scorers[0].judge is None else row.judged
    cells = [ScoreCell(one.shown(known.get(one.column)), "") for one in scorers]
    return ModelRow(f"printed {row.rank}", "", "", f"{row.model} (published)", NO_SCORE, cells)


def _note(data: ReportData, scorers: Sequence[Scorer], rows: Sequence[ModelRow]) -> str:
    if scorers[0].judge is None:
        note = "“answered” counts samples with a caption; an empty answer scores 0."
    elif any(one.dimension == "hallucination" for one in scorers):
        note = "From 0 to 10. A high hallucination score means that little was invented."
    else:
        note = "From 0 to 10."
    if any(not cell.interval for row in rows for cell in row.cells if cell.value != NO_SCORE):
        note += f" Fewer than {FEWEST_FOR_INTERVAL} samples give no interval"
        is_sum = data.aggregation is not None
        note += f"; of a sum, fewer than {FEWEST_FOR_INTERVAL} in any category." if is_sum else "."
    return note


def _places(place: Placement) -> str:
    """The place by score, and those that it may hold unless they are that one alone."""
    if place.rank is None:
        return NO_SCORE
    alone = place.open_ranks in ("", str(place.rank))
    return str(place.rank) if alone else f"{place.rank} ({place.open_ranks})"


def _best(data: ReportData, scorer: Scorer) -> float | None:
    """The highest score, where all are of the same samples and made in the same way."""
    comparable = data.one_selection and len(data.signatures(scorer)) < 2
    if not comparable or not data.same_samples(scorer):
        return None
    values = [one.table.point(scorer).value for one in data.runs]
    scores = [value for value in values if value is not None]
    return max(scores) if len(scores) > 1 else None


def _marks(data: ReportData) -> list[str]:
    """Why the best score of some columns is not in bold."""
    if len(data.runs) < 2 or not data.one_selection:
        return []
    unlike = [one.label for one in data.scorers if not data.same_samples(one)]
    if not unlike:
        return []
    of = "" if len(unlike) == len(data.scorers) else f" of {', '.join(unlike)}"
    return [f"No score{of} is in bold as the best: models have scores of different samples."]


def _cell(run: ReportRun, scorer: Scorer, best: float | None) -> ScoreCell:
    estimate = run.estimate(scorer)
    if estimate is None or estimate.value is None:
        return ScoreCell(NO_SCORE, "")
    interval = estimate.shown_interval(scorer.digits)
    return ScoreCell(scorer.shown(estimate.value), interval, estimate.value == best)


def _coverage(run: ReportRun, scorer: Scorer) -> str:
    if scorer.judge is None:
        return f"{run.table.coverage.answered}/{run.table.coverage.total}"
    if scorer.judge not in run.summary.judge_names:
        return NO_SCORE
    judged = len(run.table.verdicts(scorer.judge)) if run.has(scorer) else 0
    return f"{judged}/{run.table.coverage.total}"


def _failures(run: ReportRun, headline: Scorer) -> list[str]:
    """A model's failures and what they do to the headline under the three policies, in cells."""
    table, estimate = run.table, run.estimate(headline)
    order = [str(status) for status in Status]
    statuses = sorted(table.statuses.items(), key=lambda one: order.index(one[0]))
    judging = [one.cost_usd for one in run.summary.judges.values() if one.cost_usd is not None]
    value, zero, bounds = (
        (estimate.value, estimate.as_zero, estimate.bounds) if estimate else (None, None, None)
    )
    return [
        f"{table.statuses.total()}/{table.coverage.total}",
        ", ".join(f"{count} {name}" for name, count in statuses),
        headline.shown(value),
        headline.shown(zero),
        spanned(bounds, headline.digits) or NO_SCORE,
        dollars(table.cost_usd, estimated=table.cost_estimated > 0),
        dollars(sum(judging) if judging else None),
        "–" if table.latency_s is None else f"{table.latency_s:.2f} s",
    ]


def _judge_failures(data: ReportData) -> list[str]:
    return [
        f"{run.label}: {judge.failure}"
        for run in data.runs
        for judge in run.summary.judges.values()
        if judge.failure is not None
    ]


def _drawings(figures: Figures) -> dict[str, Any]:
    measure = figures.measure

    def bars(given: Sequence[Bar], name: str) -> str:
        return draw_bars(given, measure.shown, figures.top, figures.providers, name).html()

    def histograms(given: Sequence[Histogram], unit: str, name: str) -> list[str]:
        return [draw_histogram(one, unit, name.format(one.category)).html() for one in given]

    scatter = "Accuracy against hallucination of each model; the list below has the numbers"
    whole = f"{measure.label} of each model with its 95 percent interval; the table has the numbers"
    return {
        "durations": histograms(figures.durations, "s", "Durations of {} clips in seconds"),
        "lengths": histograms(
            figures.lengths, "chars", "Lengths of first captions of {} in characters"
        ),
        "overall": bars(figures.overall, whole),
        "panels": [
            (panel, bars(panel.bars, f"{measure.label} on {panel.category}"))
            for panel in figures.panels
        ],
        "scatter": draw_scatter(figures.points, figures.providers, scatter).html()
        if figures.points
        else "",
    }


def _shown(correlation: float | None) -> str:
    # Adding zero makes one of minus zero.
    return "–" if correlation is None else f"{round(correlation, 2) + 0.0:.2f}"


def _settings(run: ReportRun) -> dict[str, str]:
    stored = run.run
    return {
        "run": str(stored.id),
        "model": escape_controls(run.label),
        "provider": escape_controls(provider_of(stored.model)),
        "begun": stored.created_at[:16].replace("T", " "),
        "parameters": ", ".join(f"{key} {value}" for key, value in stored.parameters.items()),
        "audio": stored.contract,
        "made": stored.made_by,
    }


def _unlike(data: ReportData) -> list[str]:
    """Scores that stand side by side but are of different samples or made in different ways."""
    said = []
    if not data.one_selection:
        said.append("the runs were not asked about the same samples; compare them with care")
    for scorer in data.scorers:
        ways = len(data.signatures(scorer))
        if scorer.judge is None and ways > 1:
            said.append(f"{scorer.name} was computed in {ways} ways; see the signatures")
    for judge in data.judges:
        ways = len(data.signatures(next(one for one in data.scorers if one.judge == judge)))
        if ways > 1:
            said.append(f"{judge} judged in {ways} ways; see the signatures")
    return said
