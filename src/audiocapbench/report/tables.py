"""Tables for the terminal: a leaderboard, and one metric by category."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from audiocapbench.judges import JudgeFigure
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.figures import Coverage, Figure
from audiocapbench.report.sheet import Sheet
from audiocapbench.report.summary import RunSummary


def ranked(summaries: Iterable[RunSummary], metric: str) -> list[RunSummary]:
    """Best first by one metric; runs without a score come last."""

    def rank(summary: RunSummary) -> tuple[bool, float]:
        score = summary.overall[metric].score
        return (score is None, -(score or 0.0))

    return sorted(summaries, key=rank)


def leaderboard(summaries: Sequence[RunSummary], metrics: Sequence[str], headline: str) -> Table:
    """Metrics of every run with their 95 % intervals, best first by the headline."""
    table = _table("Leaderboard, with 95 % intervals")
    table.add_column("answered", justify="right", no_wrap=True)
    for metric in metrics:
        table.add_column(Text(escape_controls(metric)), justify="right")
    for summary in ranked(summaries, headline):
        cells = [_cell(summary.overall[metric]) for metric in metrics]
        table.add_row(Text(escape_controls(summary.run.model)), answered(summary.coverage), *cells)
    return table


def by_category(summaries: Sequence[RunSummary], metric: str) -> Table:
    """One metric by category."""
    categories = list(dict.fromkeys(name for one in summaries for name in one.by_category))
    counts = {
        name: one.by_category[name][metric].coverage.total
        for one in summaries
        for name in one.by_category
    }
    table = _table(f"{metric} by category (number of clips)")
    for name in categories:
        table.add_column(Text(escape_controls(f"{name} ({counts[name]})")), justify="right")
    for summary in ranked(summaries, metric):
        cells = [
            shown(summary.by_category[name][metric]) if name in summary.by_category else "–"
            for name in categories
        ]
        table.add_row(Text(escape_controls(summary.run.model)), *cells)
    return table


def judge_table(summaries: Sequence[RunSummary], judge: str) -> Table:
    """One judge's dimensions with their 95 % intervals, best overall first."""
    judged = [one for one in summaries if judge in one.judges]
    names = list(
        dict.fromkeys(name for one in judged for name in one.judges[judge].overall.figures)
    )
    table = _table(f"Judge {judge}, 0 to 10, with 95 % intervals")
    table.add_column("judged", justify="right", no_wrap=True)
    for name in names:
        table.add_column(Text(escape_controls(name)), justify="right")
    for one in sorted(judged, key=lambda one: -_overall(one, judge)):
        whole = one.judges[judge].overall
        cells = [_judge_cell(whole.figures.get(name)) for name in names]
        table.add_row(Text(escape_controls(one.run.model)), f"{whole.judged}/{whole.total}", *cells)
    return table


def _overall(summary: RunSummary, judge: str) -> float:
    figure = summary.judges[judge].overall.figures.get("overall")
    return -1.0 if figure is None or figure.score is None else figure.score


def _judge_cell(figure: JudgeFigure | None) -> Text:
    cell = Text(judge_shown(figure), no_wrap=True)
    interval = judge_interval(figure)
    return cell.append(f"\n{interval}", style="dim") if interval else cell


def judge_shown(figure: JudgeFigure | None) -> str:
    """A judge's score for a table cell; a dash where nothing was judged."""
    return "–" if figure is None or figure.score is None else f"{figure.score:.2f}"


def judge_interval(figure: JudgeFigure | None) -> str:
    """A judge's interval for a table cell; nothing where there is none."""
    if figure is None or figure.interval is None:
        return ""
    return f"{figure.interval.low:.2f}–{figure.interval.high:.2f}"


def score_table(sheet: Sheet) -> Table:
    """Every metric of a score sheet, by group where there are groups."""
    table = Table(
        title=Text(escape_controls(f"{len(sheet.ids):,} samples, with 95 % intervals")),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for name in ("metric", "all", *sheet.by_group):
        table.add_column(
            Text(escape_controls(name)), justify="left" if name == "metric" else "right"
        )
    for metric, figure in sheet.overall.items():
        groups = [_cell(figures[metric]) for figures in sheet.by_group.values()]
        table.add_row(Text(escape_controls(metric)), _cell(figure), *groups)
    return table


def shown(figure: Figure) -> str:
    """A score for a table cell; a dash where nothing was scored."""
    return "–" if figure.score is None else f"{figure.score:.3f}"


def shown_interval(figure: Figure) -> str:
    """An interval for a table cell; nothing where there is none."""
    return f"{figure.interval.low:.3f}–{figure.interval.high:.3f}" if figure.interval else ""


def _table(title: str) -> Table:
    table = Table(
        title=Text(escape_controls(title)),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("model", no_wrap=True)
    return table


def _cell(figure: Figure) -> Text:
    cell = Text(shown(figure), no_wrap=True)
    return cell.append(f"\n{shown_interval(figure)}", style="dim") if figure.interval else cell


def answered(coverage: Coverage) -> str:
    """Coverage for a table cell."""
    return f"{coverage.answered}/{coverage.total}"
