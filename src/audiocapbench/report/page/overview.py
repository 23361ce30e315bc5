"""What the page's overview shows: tables and figures, ready for the template."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from audiocapbench.data.outcome import Status
from audiocapbench.report.leaderboard.standing import Standing
from audiocapbench.report.page.drawing import (
    colour_of,
    draw_bars,
    draw_histogram,
    draw_key,
    draw_scatter,
)
from audiocapbench.report.page.figure_data import Figures, figure_data, provider_of
from audiocapbench.report.page.gathered import Gathered, GatheredRun
from audiocapbench.report.page.measures import Measure
from audiocapbench.report.page.metric_judge import correlations
from audiocapbench.report.page.ties import headline_standings
from audiocapbench.report.plain import plain
from audiocapbench.stats import FEWEST_FOR_INTERVAL, ROUNDS, SEED
from audiocapbench.store import Store


class Cell(NamedTuple):
    """A number of a table, and its interval where there is one."""

    value: str
    interval: str
    best: bool = False


class Row(NamedTuple):
    """A model's line of a leaderboard; places and ties only where the board ranks."""

    places: str
    tied: str
    model: str
    coverage: str
    cells: list[Cell]


class Board(NamedTuple):
    """A leaderboard: one judge's dimensions, or the metrics."""

    title: str
    ranked: bool
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
    return {
        "gathered": gathered,
        "headline": gathered.headline.label,
        "boards": _boards(gathered, headline_standings(store, gathered)),
        "failures": [_failures(one, gathered.headline) for one in gathered.runs],
        "correlations": correlations(gathered),
        "drawings": _drawings(figures),
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
        "plain": plain,
    }


def _boards(gathered: Gathered, standings: Sequence[Standing] | None) -> list[Board]:
    boards = []
    for judge in gathered.judges:
        measures = [one for one in gathered.measures if one.judge == judge]
        note = (
            "From 0 to 10. A high hallucination score means that little was invented."
            if any(one.name == "hallucination" for one in measures)
            else "From 0 to 10."
        )
        boards.append(_board(gathered, "judged", measures, note, standings))
    metrics = [one for one in gathered.measures if one.judge is None]
    if metrics:
        note = "“answered” counts clips with a caption; an empty answer scores 0."
        boards.append(_board(gathered, "answered", metrics, note, standings))
    # What the models are ranked by comes first.
    return sorted(boards, key=lambda one: not one.ranked)


def _title(measure: Measure) -> str:
    return "Metrics" if measure.judge is None else f"Judge {measure.judge}"


def _board(
    gathered: Gathered,
    covered: str,
    measures: Sequence[Measure],
    note: str,
    standings: Sequence[Standing] | None,
) -> Board:
    best = {one: _best(gathered, one) for one in measures}
    ranked = gathered.headline in measures
    rows = []
    for place, run in enumerate(gathered.runs):
        standing = standings[place] if standings is not None else None
        places, tied = str(place + 1), ""
        if standing is not None:
            places, tied = _places(standing), standing.tied
        cells = [_cell(run, one, best[one]) for one in measures]
        rows.append(Row(places, tied, plain(run.label), _coverage(run, measures[0]), cells))
    if ranked and standings is not None:
        note += (
            " “rank” is the place by score, with the places that it holds in 95 % of resamples. "
            "Models that share a letter are not told apart by paired tests (Holm, 5 %)."
        )
    return Board(_title(measures[0]), ranked, covered, [one.name for one in measures], rows, note)


def _places(standing: Standing) -> str:
    if standing.rank is None:
        return "–"
    if standing.ranks is None or standing.ranks.best == standing.ranks.worst:
        return str(standing.rank)
    return f"{standing.rank} ({standing.ranks.best}–{standing.ranks.worst})"


def _best(gathered: Gathered, measure: Measure) -> float | None:
    figures = [measure.of(one.summary) for one in gathered.runs]
    scores = [one.score for one in figures if one is not None and one.score is not None]
    return max(scores) if len(scores) > 1 else None


def _cell(run: GatheredRun, measure: Measure, best: float | None) -> Cell:
    figure = measure.of(run.summary)
    if figure is None or figure.score is None:
        return Cell("–", "")
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
        plain(run.label),
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
    return {
        "durations": [
            draw_histogram(one, "s", f"Durations of {one.category} clips in seconds")
            for one in figures.durations
        ],
        "lengths": [
            draw_histogram(one, "chars", f"Reference lengths of {one.category} in characters")
            for one in figures.lengths
        ],
        "overall": draw_bars(figures.overall, measure, figures.top, figures.providers, name),
        "panels": [
            (
                panel,
                draw_bars(
                    panel.bars,
                    measure,
                    figures.top,
                    figures.providers,
                    f"{measure.label} on {panel.category}",
                ),
            )
            for panel in figures.panels
        ],
        "scatter": draw_scatter(
            figures.points,
            figures.providers,
            "Accuracy against hallucination of each model; the list below has the numbers",
        )
        if figures.points
        else "",
    }


def _signatures(gathered: Gathered) -> list[str]:
    found: dict[str, None] = {}
    for run in gathered.runs:
        for judged in run.summary.judges.values():
            found[judged.overall.signature] = None
        for figure in run.summary.overall.values():
            if figure.signature:
                found[figure.signature] = None
    return sorted(found)


def _settings(run: GatheredRun) -> dict[str, str]:
    stored = run.summary.run
    return {
        "run": str(stored.id),
        "model": plain(run.label),
        "provider": plain(provider_of(stored.model)),
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
    """Scores that stand side by side but were made on different clips or in different ways."""
    said = []
    if len({frozenset(one.summary.run.sample_ids) for one in gathered.runs}) > 1:
        said.append("the runs were not asked about the same clips; compare them with care")
    for measure in gathered.measures:
        figures = [one.summary.overall.get(measure.name) for one in gathered.runs]
        made = {one.signature for one in figures if one is not None and one.signature}
        if measure.judge is None and len(made) > 1:
            said.append(f"{measure.name} was computed in {len(made)} ways; see the signatures")
    for judge in gathered.judges:
        ways = {
            one.summary.judges[judge].overall.signature
            for one in gathered.runs
            if judge in one.summary.judges
        }
        if len(ways) > 1:
            said.append(f"{judge} judged in {len(ways)} ways; see the signatures")
    return said
