"""What the page's overview shows: tables and figures, ready for the template."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from audiocapbench.data.outcome import Status
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.leaderboard.standing import Standing
from audiocapbench.report.page.drawing import (
    colour_of,
    draw_bars,
    draw_histogram,
    draw_key,
    draw_scatter,
)
from audiocapbench.report.page.figure_data import Bar, Figures, figure_data, provider_of
from audiocapbench.report.page.gathered import Gathered, GatheredRun
from audiocapbench.report.page.measures import Measure
from audiocapbench.report.page.metric_judge import correlations
from audiocapbench.report.page.ties import Ties, headline_ties, same_samples
from audiocapbench.stats import FEWEST_FOR_INTERVAL, ROUNDS, SEED
from audiocapbench.store import Store

NO_SCORE = "–"


class Cell(NamedTuple):
    """A number of a table, and its interval where there is one."""

    value: str
    interval: str
    best: bool = False


class Row(NamedTuple):
    """A model's line of a leaderboard; places and ties only where the board ranks.

    Attributes:
        zero: The headline with failures as zero, where that decides the ranks.
    """

    places: str
    tied: str
    zero: str
    model: str
    coverage: str
    cells: list[Cell]


class Board(NamedTuple):
    """A leaderboard: one judge's dimensions, or the metrics."""

    title: str
    ranked: bool
    by_zero: bool
    coverage: str
    columns: list[str]
    rows: list[Row]
    note: str


class Failures(NamedTuple):
    """A model's failures and what they do to the headline under the three policies."""

    model: str
    asked: str
    statuses: str
    answered_only: str
    as_zero: str
    bounds: str
    cost: str
    judging: str
    latency: str


def overview(store: Store, gathered: Gathered) -> dict[str, Any]:
    """Everything that the template needs besides the explorer's data."""
    figures = figure_data(gathered)
    ties = headline_ties(store, gathered)
    boards = _boards(gathered, ties)
    return {
        "gathered": gathered,
        "headline": gathered.headline.label,
        "boards": boards,
        "ranked": any(one.ranked for one in boards),
        "notes": [*ties.notes, *_marks(gathered), *gathered.notes],
        "failures": [_failures(one, gathered.headline) for one in gathered.runs],
        "correlations": correlations(gathered),
        "drawings": _drawings(figures),
        "certain": all(bar.span.certain for bar in figures.overall if bar.span is not None),
        "uncertain": not all(panel.certain for panel in figures.panels),
        "shown": _shown,
        "figures": figures,
        "legend": [
            (name, draw_key(colour_of(name, figures.providers))) for name in figures.providers
        ],
        "signatures": _signatures(gathered),
        "settings": [_settings(one) for one in gathered.runs],
        "warnings": [*_warnings(store, gathered), *_unlike(gathered)],
        "missing_clips": max(one.summary.missing_clips for one in gathered.runs),
        "rounds": ROUNDS,
        "seed": SEED,
        "fewest": FEWEST_FOR_INTERVAL,
        "escape_controls": escape_controls,
    }


def _boards(gathered: Gathered, ties: Ties) -> list[Board]:
    """One for each judge and one for the metrics; what the models are ranked by comes first."""
    groups = [[one for one in gathered.measures if one.judge == judge] for judge in gathered.judges]
    groups.append([one for one in gathered.measures if one.judge is None])
    groups.sort(key=lambda group: gathered.headline not in group)
    return [_board(gathered, group, ties) for group in groups if group]


def _title(measure: Measure) -> str:
    return "Metrics" if measure.judge is None else f"Judge {measure.judge}"


def _board(gathered: Gathered, measures: Sequence[Measure], ties: Ties) -> Board:
    best = {one: _best(gathered, one) for one in measures}
    standings = ties.runs or ()
    ranked = gathered.headline in measures and any(one.rank is not None for one in standings)
    rows = []
    for place in ties.order(len(gathered.runs)):
        run = gathered.runs[place]
        cells = [_cell(run, one, best[one]) for one in measures]
        row = Row("", "", "", escape_controls(run.label), _coverage(run, measures[0]), cells)
        if ranked:
            standing = standings[place]
            zero = gathered.headline.shown(standing.as_zero)
            row = row._replace(places=_places(standing), tied=standing.tied, zero=zero)
        rows.append(row)
    return Board(
        _title(measures[0]),
        ranked,
        ranked and ties.by_zero,
        "answered" if measures[0].judge is None else "judged",
        [one.name for one in measures],
        rows,
        _note(gathered, measures, rows),
    )


def _note(gathered: Gathered, measures: Sequence[Measure], rows: Sequence[Row]) -> str:
    if measures[0].judge is None:
        note = "“answered” counts samples with a caption; an empty answer scores 0."
    elif any(one.name == "hallucination" for one in measures):
        note = "From 0 to 10. A high hallucination score means that little was invented."
    else:
        note = "From 0 to 10."
    if any(not cell.interval for row in rows for cell in row.cells if cell.value != NO_SCORE):
        note += f" Fewer than {FEWEST_FOR_INTERVAL} samples give no interval"
        is_sum = gathered.runs[0].summary.traits.aggregation is not None
        note += f"; of a sum, fewer than {FEWEST_FOR_INTERVAL} in any category." if is_sum else "."
    return note


def _places(standing: Standing) -> str:
    """The place by score, and those that it may hold unless they are that one alone."""
    if standing.rank is None:
        return NO_SCORE
    ranks = standing.ranks
    if ranks is None or (ranks.best == ranks.worst == standing.rank):
        return str(standing.rank)
    if ranks.best == ranks.worst:
        return f"{standing.rank} ({ranks.best})"
    return f"{standing.rank} ({ranks.best}–{ranks.worst})"


def _best(gathered: Gathered, measure: Measure) -> float | None:
    """The max_value score, where all are of the same samples and made in the same way."""
    comparable = gathered.one_selection and len(_made(gathered, measure)) < 2
    if not comparable or not same_samples(gathered, measure):
        return None
    figures = [measure.of(one.summary) for one in gathered.runs]
    scores = [one.score for one in figures if one is not None and one.score is not None]
    return max(scores) if len(scores) > 1 else None


def _marks(gathered: Gathered) -> list[str]:
    """Why the best score of some columns is not in bold."""
    if len(gathered.runs) < 2 or not gathered.one_selection:
        return []
    unlike = [one.label for one in gathered.measures if not same_samples(gathered, one)]
    if not unlike:
        return []
    if len(unlike) == len(gathered.measures):
        return ["No score is in bold as the best: models have scores of different samples."]
    return [
        f"No score of {', '.join(unlike)} is in bold as the best: models have scores of different "
        "samples."
    ]


def _cell(run: GatheredRun, measure: Measure, best: float | None) -> Cell:
    figure = measure.of(run.summary)
    if figure is None or figure.score is None:
        return Cell(NO_SCORE, "")
    interval = ""
    if figure.interval is not None:
        interval = f"{measure.shown(figure.interval.low)}–{measure.shown(figure.interval.high)}"
    return Cell(measure.shown(figure.score), interval, figure.score == best)


def _coverage(run: GatheredRun, measure: Measure) -> str:
    if measure.judge is None:
        return f"{run.summary.coverage.answered}/{run.summary.coverage.total}"
    judged = run.summary.judges.get(measure.judge)
    return "–" if judged is None else f"{judged.overall.judged}/{judged.overall.total}"


def _failures(run: GatheredRun, headline: Measure) -> Failures:
    summary = run.summary
    figure = headline.of(summary)
    score = None if figure is None else figure.score
    zero = None if figure is None else figure.as_zero
    bounds = "–"
    if figure is not None and figure.bounds is not None:
        bounds = f"{headline.shown(figure.bounds.low)}–{headline.shown(figure.bounds.high)}"
    order = [str(status) for status in Status]
    statuses = sorted(summary.statuses.items(), key=lambda one: order.index(one[0]))
    judging = [
        one.overall.cost_usd for one in summary.judges.values() if one.overall.cost_usd is not None
    ]
    return Failures(
        escape_controls(run.label),
        f"{sum(summary.statuses.values())}/{summary.coverage.total}",
        ", ".join(f"{count} {name}" for name, count in statuses),
        headline.shown(score),
        headline.shown(zero),
        bounds,
        _dollars(run.cost_usd),
        _dollars(sum(judging) if judging else None),
        "–" if run.latency_s is None else f"{run.latency_s:.2f} s",
    )


def _dollars(cost: float | None) -> str:
    return "–" if cost is None else f"${cost:,.2f}"


def _drawings(figures: Figures) -> dict[str, Any]:
    measure = figures.measure
    name = f"{measure.label} of each model with its 95 percent interval; the table has the numbers"

    def bars(given: Sequence[Bar], name: str) -> str:
        return draw_bars(given, measure.shown, figures.top, figures.providers, name).html()

    return {
        "durations": [
            draw_histogram(one, "s", f"Durations of {one.category} clips in seconds").html()
            for one in figures.durations
        ],
        "lengths": [
            draw_histogram(
                one, "chars", f"Reference lengths of {one.category} in characters"
            ).html()
            for one in figures.lengths
        ],
        "overall": bars(figures.overall, name),
        "panels": [
            (panel, bars(panel.bars, f"{measure.label} on {panel.category}"))
            for panel in figures.panels
        ],
        "scatter": draw_scatter(
            figures.points,
            figures.providers,
            "Accuracy against hallucination of each model; the list below has the numbers",
        ).html()
        if figures.points
        else "",
    }


def _shown(correlation: float | None) -> str:
    # Adding zero makes one of minus zero.
    return "–" if correlation is None else f"{round(correlation, 2) + 0.0:.2f}"


def _signatures(gathered: Gathered) -> list[str]:
    return sorted(set().union(*(_made(gathered, one) for one in gathered.measures)))


def _settings(run: GatheredRun) -> dict[str, str]:
    stored = run.summary.run
    return {
        "run": str(stored.id),
        "model": escape_controls(run.label),
        "provider": escape_controls(provider_of(stored.model)),
        "begun": stored.created_at[:16].replace("T", " "),
        "parameters": ", ".join(f"{key} {value}" for key, value in stored.parameters.items()),
        "audio": stored.contract,
        "made": stored.made_by,
    }


def _warnings(store: Store, gathered: Gathered) -> list[str]:
    """What checks of the judges found wanting."""
    checks = [store.judge_check(name) for name in gathered.judges]
    return [check["warning"] for check in checks if check and check.get("warning")]


def _unlike(gathered: Gathered) -> list[str]:
    """Scores that stand side by side but are of different samples or made in different ways."""
    said = []
    if not gathered.one_selection:
        said.append("the runs were not asked about the same samples; compare them with care")
    for measure in gathered.measures:
        ways = len(_made(gathered, measure))
        if measure.judge is None and ways > 1:
            said.append(f"{measure.name} was computed in {ways} ways; see the signatures")
    for judge in gathered.judges:
        ways = len(_made(gathered, next(one for one in gathered.measures if one.judge == judge)))
        if ways > 1:
            said.append(f"{judge} judged in {ways} ways; see the signatures")
    return said


def _made(gathered: Gathered, measure: Measure) -> set[str]:
    """The ways in which a measure's scores were made, as signatures."""
    found = set()
    for run in gathered.runs:
        if measure.judge is None:
            figure = run.summary.overall.get(measure.name)
            found.add(str(figure.signature) if figure is not None else "")
        elif measure.judge in run.summary.judges:
            found.add(str(run.summary.judges[measure.judge].overall.signature))
    return found - {""}
