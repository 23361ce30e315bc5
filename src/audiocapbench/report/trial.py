"""Scorers on trial, for people to read: tables for the terminal, and a page.

The page is one self-contained file that asks for nothing over a network and runs no script.
"""

from collections.abc import Sequence
from pathlib import Path

from audiocapbench.meta.measures import NAMES, ORDERS, Measures
from audiocapbench.meta.pairs.pair import Agreement, PairSet
from audiocapbench.meta.trial import ScorerTrial
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.exports import Page, number
from audiocapbench.report.page.document import Cell
from audiocapbench.report.page.drawing import Bar, draw_bars
from audiocapbench.report.page_file import render, source_hash, template_text, write_page
from audiocapbench.report.tables import page_of
from audiocapbench.version import VERSION

_KINDS = ("metric", "judge", "clap", "model", "control")
_TITLES = {
    "f1": "F1",
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "balanced_accuracy": "balanced",
}


def _measures(headline: str) -> list[str]:
    """All measures, the published one first."""
    return [headline, *(name for name in NAMES if name != headline)]


def _best_first(trials: Sequence[ScorerTrial]) -> list[ScorerTrial]:
    return sorted(trials, key=lambda one: -one.score)


def trial_table(trials: Sequence[ScorerTrial]) -> Page:
    """Measures of every scorer with 95 % intervals, and how often it chose what."""
    headline = trials[0].headline
    measures = _measures(headline)
    titles = [_TITLES[name] for name in measures]
    voted, reading = any(one.voted for one in trials), any(_reading(one) for one in trials)
    if voted:
        titles.insert(1, f"{_TITLES[headline]}, voted")
    rows = []
    for trial in _best_first(trials):
        cells = [_cell(trial.whole, name) for name in measures]
        if voted:
            cells.insert(1, _cell(trial.voted or trial.whole, headline))
        shares = [f"{100 * count / trial.n:.1f}" for count in trial.answers.values()]
        rows.append(
            [trial.scorer, *cells, *shares, *((_reading(trial) or "––") if reading else ())]
        )
    answers = ["first", "second", "tie", "unknown", *(("certain", "read") if reading else ())]
    ends = any(one.interval for one in trials[0].whole.values())
    intervals = ", with 95 % intervals over clips" if ends else " (too few clips for intervals)"
    return page_of(
        f"Agreement with people in percent{intervals}",
        ["scorer", *titles, *answers],
        rows,
    )


def _reading(trial: ScorerTrial) -> list[str]:
    """How many of a model's answers the parser was certain of, and the reader read, in percent."""
    detail = trial.diagnostics.data or {}
    if "read_decided" not in detail:
        return []
    counts = (detail["certain"], detail["read_decided"])
    return [f"{100 * one / max(1, detail['asked']):.1f}" for one in counts]


def order_table(trials: Sequence[ScorerTrial]) -> Page:
    """The published measure, and accuracy, in each order, their mean, and where both agree."""
    measures = list(dict.fromkeys([trials[0].headline, "accuracy"]))
    rows = [
        [one.scorer, _TITLES[name], *(_shown(one.orders[order][name]) for order in ORDERS)]
        for one in _best_first(trials)
        if one.orders is not None
        for name in measures
    ]
    return page_of("Both orders; the published one is as given", ["scorer", "", *ORDERS], rows)


def group_table(
    trials: Sequence[ScorerTrial], title: str, groups: str, measure: str = "accuracy"
) -> Page:
    """One measure by group, without intervals: accuracy, which means the same in every group."""
    sizes = {name: one[measure].n for name, one in getattr(trials[0], groups).items()}
    names = (f"{name} ({count:,})" for name, count in sizes.items())
    rows = []
    for trial in _best_first(trials):
        cells = [_shown(getattr(trial, groups)[name][measure].value) for name in sizes]
        rows.append([trial.scorer, *cells])
    return page_of(title, ["scorer", *names], rows)


def _cell(measures: Measures, name: str) -> str:
    interval = measures[name].interval
    ends = f" ({interval.low:.1f}–{interval.high:.1f})" if interval else ""
    return f"{_shown(measures[name].value)}{ends}"


def _shown(value: float | None) -> str:
    """A measure with two digits, as the papers print it."""
    return number(value, 2)


def write_trials(
    path: Path, trials: Sequence[ScorerTrial], pairs: PairSet, agreement: Agreement
) -> None:
    """Write trials of scorers on one set of pairs as a page."""
    style = template_text("trial.css")
    page = render(
        "trial.html",
        version=VERSION,
        style=style,
        policy=f"default-src 'none'; style-src '{source_hash(style)}'; base-uri 'none'; "
        "form-action 'none'",
        title=f"Scorers on trial: {pairs.name}",
        pairs=pairs,
        clips=len({pair.clip for pair in trials[0].pairs}),
        trials=_best_first(trials),
        measures=_measures(trials[0].headline),
        orders=ORDERS,
        by_group=list(dict.fromkeys(["accuracy", trials[0].headline])),
        titles=_TITLES,
        groups=_shown_groups(trials[0]),
        agreement=agreement,
        constant=trials[0].constant,
        shown=_shown,
        chart=_chart(trials),
        escape_controls=escape_controls,
    )
    write_page(path, page)


def _shown_groups(trial: ScorerTrial) -> list[tuple[str, str, list[str]]]:
    """Groupings that say more than the whole, or than one another: word, field and groups."""
    found = ["type"] if len(trial.by_type) > 1 else []
    if set(trial.by_subtype) != set(trial.by_type):
        found.append("subtype")
    if len(trial.by_dataset) > 1:
        found.append("dataset")
    return [(word, f"by_{word}", list(getattr(trial, f"by_{word}"))) for word in found]


def _chart(trials: Sequence[ScorerTrial]) -> str:
    """The published measure of each scorer, best first, on a scale of 0 to 100."""
    headline = trials[0].headline
    kinds = list(dict.fromkeys([*_KINDS, *(one.scorer.partition(":")[0] for one in trials)]))
    bars = []
    for one in _best_first(trials):
        value, interval = one.whole[headline].value, one.whole[headline].interval
        cell = None if value is None else Cell(value=value, interval=interval)
        bars.append(Bar(one.scorer, one.scorer.partition(":")[0], cell))
    constant, answer = trials[0].constant
    name = (
        f"{_TITLES[headline]} of each scorer with its 95 percent interval, and the line of the "
        "best constant answer; the same numbers are in the table below"
    )
    line = (constant, f"always {answer}: {constant:.2f}")
    return draw_bars(bars, _shown, 100.0, kinds, name, line).html()
