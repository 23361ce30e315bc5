"""Tables of a benchmark whose samples make groups: groups down the side, metrics across."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.benchmarks.corpora import without_null
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.figures import Figure
from audiocapbench.report.groups.figures import Figures, GroupFigures
from audiocapbench.report.tables import shown, shown_interval


def group_table(
    figures: GroupFigures, aggregation: Aggregation, metrics: Sequence[str], title: str
) -> Table:
    """Every metric by group with its interval, and the total below.

    A group with null references says how many; where most are null, the line below it is the same
    group without them.
    """
    table = _table(title, ["group", "answered", "null", *metrics])
    for group, of_group in figures.by_group.items():
        nulls = figures.nulls.get(group)
        count = str(nulls.null) if nulls else ""
        table.add_row(
            escape_controls(group), _answered(of_group, metrics), count, *_cells(of_group, metrics)
        )
        if nulls and nulls.null > nulls.total / 2:
            names = [without_null(name) for name in metrics]
            left = f"{nulls.total - nulls.null} left"
            table.add_row("  without null", left, "", *_cells(nulls.without, names))
    table.add_section()
    table.add_row(aggregation.total, "", "", *_cells(figures.overall, metrics))
    return table


def facet_table(facet: str, places: dict[str, Figures], metrics: Sequence[str]) -> Table:
    """Metrics by the places of one facet; two-part places make a grid of the first metric."""
    if all(" " in place for place in places):
        rows = list(dict.fromkeys(place.partition(" ")[0] for place in places))
        columns = list(dict.fromkeys(place.partition(" ")[2] for place in places))
        table = _table(f"{metrics[0]} by {facet}", [facet, *columns])
        for row in rows:
            cells = [places.get(f"{row} {column}", {}).get(metrics[0]) for column in columns]
            table.add_row(escape_controls(row), *(shown(cell) if cell else "–" for cell in cells))
        return table
    table = _table(f"by {facet}", [facet, "answered", *metrics])
    for place, figures in places.items():
        table.add_row(
            escape_controls(place), _answered(figures, metrics), *_cells(figures, metrics)
        )
    return table


def lacking(figures: GroupFigures, aggregation: Aggregation, metrics: Sequence[str]) -> list[str]:
    """Why there is no total, in a sentence for all metrics that lack the same groups."""
    lacks: dict[tuple[str, ...], list[str]] = {}
    for metric in metrics:
        missing = figures.overall[metric].lacks
        if missing:
            lacks.setdefault(missing, []).append(metric)
    return [
        f"No {aggregation.total} of {', '.join(names)}: there is no score of {', '.join(missing)}."
        for missing, names in lacks.items()
    ]


def _table(title: str, names: Sequence[str]) -> Table:
    table = Table(
        title=Text(escape_controls(title)),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for place, name in enumerate(names):
        table.add_column(
            Text(escape_controls(name)), justify="left" if place == 0 else "right", no_wrap=True
        )
    return table


def _answered(figures: Figures, metrics: Sequence[str]) -> str:
    coverage = figures[metrics[0]].coverage
    return f"{coverage.answered}/{coverage.total}"


def _cells(figures: Figures, names: Sequence[str]) -> list[Text]:
    return [_cell(figures.get(name)) for name in names]


def _cell(figure: Figure | None) -> Text:
    if figure is None:
        return Text("–")
    cell = Text(shown(figure))
    return cell.append(f"\n{shown_interval(figure)}", style="dim") if figure.interval else cell
