"""Trials of scorers as tables for the terminal."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from audiocapbench.meta.measures import NAMES
from audiocapbench.meta.trial import GroupMeasures, ScorerTrial
from audiocapbench.report.escape_controls import escape_controls

TITLES = {
    "f1": "F1",
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "balanced_accuracy": "balanced",
}


def measures_in_order(headline: str) -> list[str]:
    """All measures, the published one first."""
    return [headline, *(name for name in NAMES if name != headline)]


def best_first(trials: Sequence[ScorerTrial]) -> list[ScorerTrial]:
    """Trials by the published measure."""
    return sorted(trials, key=lambda one: -(one.whole.values[one.headline] or 0.0))


def trial_table(trials: Sequence[ScorerTrial]) -> Table:
    """Measures of every scorer with 95 % intervals, and how often it chose what."""
    headline = trials[0].headline
    table = Table(
        title=Text("Agreement with people in percent, with 95 % intervals over clips"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("scorer", no_wrap=True)
    for name in measures_in_order(headline):
        table.add_column(TITLES[name], justify="right", no_wrap=True)
    for name in ("first", "second", "tie", "unknown"):
        table.add_column(name, justify="right", no_wrap=True)
    for trial in best_first(trials):
        cells = [cell(trial.whole, name) for name in measures_in_order(headline)]
        shares = [f"{100 * count / trial.n:.1f}" for count in trial.answers.values()]
        table.add_row(Text(escape_controls(trial.scorer)), *cells, *shares)
    return table


def group_table(trials: Sequence[ScorerTrial], title: str, groups: str) -> Table:
    """One measure by group, without intervals: accuracy, which means the same in every group."""
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("scorer", no_wrap=True)
    names = list(getattr(trials[0], groups))
    for name in names:
        count = getattr(trials[0], groups)[name].n
        table.add_column(
            Text(f"{escape_controls(name)} ({count:,})"), justify="right", no_wrap=True
        )
    for trial in best_first(trials):
        figures = getattr(trial, groups)
        row = [shown(figures[name].values["accuracy"]) for name in names]
        table.add_row(Text(escape_controls(trial.scorer)), *row)
    return table


def cell(figures: GroupMeasures, name: str) -> str:
    """A measure with its interval."""
    interval = figures.intervals[name]
    ends = f" ({interval.low:.1f}–{interval.high:.1f})" if interval else ""
    return f"{shown(figures.values[name])}{ends}"


def shown(value: float | None) -> str:
    """A measure with two digits, as the papers print it."""
    return "–" if value is None else f"{value:.2f}"
