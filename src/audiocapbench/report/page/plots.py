"""The paper's four figures with matplotlib: safe for colour-blind readers and clear in grey."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from audiocapbench.errors import ReportError
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.page.figure_data import Bar, Figures, Histogram, Point, Span
from audiocapbench.report.page.label_places import place_labels
from audiocapbench.stats import FEWEST_FOR_INTERVAL

FORMATS = ("png", "svg", "pdf")

# Okabe and Ito's colours, which differ in lightness too; hatches and marks tell them apart in grey.
COLOURS = ("#0072b2", "#009e73", "#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#8c7ae6", "#7f7f7f")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo", "+++", "---")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")

_WIDTH = 7.0  # Inches, a page of two columns.
_COLUMNS = 4  # More categories than this go on in further rows.
_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "hatch.linewidth": 0.6,
    "savefig.dpi": 300,
    "svg.hashsalt": "audiocapbench",
    "pdf.fonttype": 42,
    # Names of models may hold dollars, which are not formulas.
    "text.parse_math": False,
}


def formats(text: str) -> tuple[str, ...]:
    """Read ``--format``.

    Raises:
        ReportError: A format is unknown, or none is named.
    """
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in FORMATS:
            raise ReportError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    if not names:
        raise ReportError(f"no format is named; there are {', '.join(FORMATS)}")
    return names


def write_figures(data: Figures, folder: Path, wanted: Sequence[str]) -> list[Path]:
    """Draw the four figures; the last only where there is something to draw.

    Raises:
        ReportError: matplotlib is not installed, or a file cannot be written.
    """
    try:
        from matplotlib import rc_context
    except ImportError:
        raise ReportError("figures need matplotlib: pip install 'audiocapbench[plots]'") from None
    drawings: dict[str, Callable[[Figures], Any]] = {
        "figure1_lengths": _draw_lengths,
        "figure2_overall": _draw_overall,
        "figure3_categories": _draw_categories,
    }
    if data.points:
        drawings["figure4_tradeoff"] = _draw_tradeoff
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with rc_context(_STYLE):
            for name, draw in drawings.items():
                figure = draw(data)
                for kind in wanted:
                    path = folder / f"{name}.{kind}"
                    # No date inside: the same runs give the same file.
                    dated = {"svg": "Date", "pdf": "CreationDate"}
                    metadata = {dated[kind]: None} if kind in dated else None
                    figure.savefig(path, format=kind, metadata=metadata)
                    paths.append(path)
    except OSError as error:
        raise ReportError(f"{folder}: cannot be written ({error.strerror})") from None
    return paths


def _new(rows: int, columns: int, width: float, height: float, **shared: Any) -> Any:
    """A figure that no window manager keeps."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.subplots(rows, columns, squeeze=False, **shared)
    return figure


def _draw_lengths(data: Figures) -> Any:
    rows, columns = _grid(len(data.durations))
    figure = _new(2 * rows, columns, max(_WIDTH, 2.0 * columns), 3.6 * rows)
    grid = [figure.axes[at : at + columns] for at in range(0, 2 * rows * columns, columns)]
    for index, (seconds, characters) in enumerate(zip(data.durations, data.lengths, strict=True)):
        row, column = divmod(index, columns)
        above, below = grid[2 * row][column], grid[2 * row + 1][column]
        _draw_histogram(above, seconds, index)
        _draw_histogram(below, characters, index)
        above.set_title(f"{_name(seconds.category)} ({seconds.total})", pad=16)
        above.set_xlabel("duration (s)")
        below.set_xlabel("reference (characters)")
        if column == 0:
            above.set_ylabel("clips")
            below.set_ylabel("references")
    for axes in (*grid[-2], *grid[-1]):
        axes.set_visible(axes.has_data())
    return figure


def _grid(panels: int) -> tuple[int, int]:
    """Rows and columns for so many panels."""
    return -(-panels // _COLUMNS), min(panels, _COLUMNS)


def _draw_histogram(axes: Any, one: Histogram, index: int) -> None:
    width = one.edges[1] - one.edges[0]
    axes.bar(
        one.edges[:-1],
        one.counts,
        width,
        align="edge",
        color=COLOURS[index % len(COLOURS)],
        edgecolor="white",
        linewidth=0.4,
    )
    axes.set_xlim(0, one.edges[-1])
    axes.axvline(one.mean, color="black", linestyle="--", linewidth=1)
    axes.annotate(
        f"mean {one.mean:.1f}",
        (one.mean, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 2),
        textcoords="offset points",
        va="bottom",
        ha="center",
        fontsize=8,
    )


def _draw_overall(data: Figures) -> Any:
    figure = _new(1, 1, _WIDTH, 0.9 + 0.28 * len(data.overall))
    axes = figure.axes[0]
    _draw_bars(axes, data.overall, data)
    axes.set_xlabel(_score_label(data, data.overall))
    _legend(figure, data)
    return figure


def _draw_categories(data: Figures) -> Any:
    rows, columns = _grid(len(data.panels))
    width = max(_WIDTH, 1.6 + 1.7 * columns)
    height = 0.5 + rows * (0.5 + 0.24 * len(data.overall))
    figure = _new(rows, columns, width, height, sharey=True, sharex=True)
    for axes, panel in zip(figure.axes, data.panels, strict=False):
        _draw_bars(axes, panel.bars, data, small=True)
        axes.set_title(f"{_name(panel.category)} ({panel.samples})")
    for axes in figure.axes[len(data.panels) :]:
        axes.set_visible(False)
    # The last panel of a column shows the ticks, also where the row below is not full.
    for axes in figure.axes[max(0, len(data.panels) - columns) : len(data.panels)]:
        axes.tick_params(axis="x", labelbottom=True)
    bars = [bar for panel in data.panels for bar in panel.bars]
    figure.supxlabel(_score_label(data, bars), fontsize=9)
    _legend(figure, data)
    return figure


def _draw_bars(axes: Any, bars: Sequence[Bar], data: Figures, *, small: bool = False) -> None:
    places = range(len(bars))
    for place, bar in zip(places, bars, strict=True):
        if bar.span is None:
            axes.text(0, place, " no score", va="center", fontsize=8, style="italic")
            continue
        number = data.providers.index(bar.provider)
        score, _, high, certain = bar.span
        axes.barh(
            place,
            score,
            height=0.72,
            color=COLOURS[number % len(COLOURS)],
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor="white",
            linewidth=0,
        )
        if certain:
            axes.errorbar(score, place, xerr=_ends(bar.span), color="black", capsize=2, linewidth=1)
        axes.annotate(
            data.measure.shown(score),
            (max(score, high), place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7 if small else 8,
        )
    axes.set_yticks(list(places), [_name(bar.label) for bar in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xlim(0, (data.top or 1.0) * (1.3 if small else 1.12))
    axes.tick_params(axis="y", length=0)


def _draw_tradeoff(data: Figures) -> Any:
    figure = _new(1, 1, _WIDTH, 4.6)
    axes = figure.axes[0]
    for point in data.points:
        number = data.providers.index(point.provider)
        axes.errorbar(
            point.accuracy.score,
            point.hallucination.score,
            xerr=_ends(point.accuracy),
            yerr=_ends(point.hallucination),
            fmt=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            markeredgecolor="black",
            markeredgewidth=0.5,
            markersize=6,
            elinewidth=0.8,
            capsize=0,
        )
    axes.set_xlabel(f"accuracy (0–10, {_name(data.judge or '')})")
    axes.set_ylabel("hallucination score (0–10, 10 = nothing invented)")
    axes.grid(linewidth=0.4, color="#cccccc")
    axes.set_axisbelow(True)
    axes.margins(0.08)
    _legend(figure, data, marks=True)
    _draw_names(figure, axes, data.points)
    return figure


def _draw_names(figure: Any, axes: Any, points: Sequence[Point]) -> None:
    """Names where they cover least; measured on the canvas after everything else stands."""
    from matplotlib.patheffects import withStroke

    figure.canvas.draw()
    area = axes.get_window_extent()
    scale = figure.dpi / 72
    ends = [(one.accuracy.score, one.hallucination.score) for one in points]
    spots = axes.transData.transform(ends)
    centres = [(float(x), float(area.y1 - y)) for x, y in spots]
    widths = [4.2 * scale * len(_name(one.label)) for one in points]
    bounds = (float(area.x0), 0.0, float(area.x1), float(area.height))
    halo = [withStroke(linewidth=2, foreground="white")]
    for one, place in zip(points, place_labels(centres, widths, 9 * scale, bounds), strict=True):
        lead = {"arrowstyle": "-", "linewidth": 0.4, "relpos": (0 if place.right else 1, 0.5)}
        axes.annotate(
            _name(one.label),
            (one.accuracy.score, one.hallucination.score),
            xytext=(place.dx / scale, -place.dy / scale),
            textcoords="offset points",
            ha="left" if place.right else "right",
            va="baseline",
            fontsize=7.5,
            path_effects=halo,
            arrowprops=lead if place.far else None,
        )


def _ends(span: Span) -> list[list[float]]:
    return [[max(span.score - span.low, 0.0)], [max(span.high - span.score, 0.0)]]


def _legend(figure: Any, data: Figures, *, marks: bool = False) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for number, name in enumerate(data.providers):
        colour = COLOURS[number % len(COLOURS)]
        if marks:
            mark: dict[str, Any] = {"marker": MARKS[number % len(MARKS)], "linestyle": ""}
            handles.append(Line2D([], [], color=colour, label=_name(name), **mark))
        else:
            look: dict[str, Any] = {"hatch": HATCHES[number % len(HATCHES)], "edgecolor": "white"}
            handles.append(Patch(facecolor=colour, label=_name(name), **look))
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)


def _score_label(data: Figures, bars: Sequence[Bar]) -> str:
    measure = data.measure
    words = f"{_name(measure.label)} (0–{measure.max_value:g}), with 95 % intervals"
    if all(bar.span.certain for bar in bars if bar.span is not None):
        return words
    return f"{words} (none for fewer than {FEWEST_FOR_INTERVAL} samples)"


def _name(text: str, longest: int = 48) -> str:
    """A name that fits beside a bar, whatever it holds."""
    shown = escape_controls(text).replace("\n", " ")
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
