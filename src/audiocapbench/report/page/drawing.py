"""Charts as SVG; places across are percentages, so that text keeps its size."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from audiocapbench.files import read_lists
from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.page.document import Cell
from audiocapbench.report.page.rendering import render_chart
from audiocapbench.table.escape_controls import escape_controls

BINS, COLOURS = 20, 8
_PLOT = 82.0  # Per cent; the rest is for the number behind the longest bar.
_ROW, _AXIS = 38, 22
_PANEL, _TITLE = 104, 22
_SCATTER, _LEFT, _RIGHT, _TOP, _BOTTOM = 420, 7.0, 97.0, 26, 380
_CURVES, _MAP = 160, 480
_LINE = 18
_SIDES = ((12, -10), (-12, -10), (12, 10), (-12, 10))
SHAPES: list[str] = read_lists("audiocapbench.report", "templates/shapes.json")
"""With so many colours in step there are 72 marks before one comes again."""


class Bar(NamedTuple):
    label: str
    provider: str
    cell: Cell | None


class Point(NamedTuple):
    label: str
    provider: str
    accuracy: Cell
    hallucination: Cell


class Drawing(NamedTuple):
    """A chart: its parts, and its height in pixels."""

    parts: str
    height: float

    def html(self, name: str) -> str:
        """As wide as what it stands in; the name says what it shows to those who do not see it."""
        size = f'class="figure" width="100%" height="{self.height}" role="img"'
        return f'<svg {size} aria-label="{escape(escape_controls(name))}">{self.parts}</svg>'


class _Scale(NamedTuple):
    low: float
    high: float
    start: float
    end: float
    step: float

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    @property
    def ticks(self) -> list[float]:
        count = round((self.high - self.low) / self.step)
        return [self.low + self.step * index for index in range(count + 1)]


def nice_step(span: float, most: int = 6) -> float:
    """A round distance between ticks, so that at most so many fit into a span."""
    if span <= 0:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(span / most))
    return float(next(unit * factor for factor in (1, 2, 5, 10) if span / (unit * factor) <= most))


def draw_bars(
    bars: Sequence[Bar],
    shown: Callable[[float], str],
    top: float,
    colours: Sequence[str],
    line: tuple[float, str] | None = None,
) -> Drawing:
    step = nice_step(top)
    scale = _Scale(0.0, step * max(1, -(-top // step)), 0.0, _PLOT, step)
    own = [colours.index(bar.provider) % COLOURS for bar in bars]
    parts = render_chart("bars", bars, scale, _ROW, shown, own, line)
    return Drawing(parts, _ROW * len(bars) + _AXIS + (18 if line else 0))


def bins_of(groups: Iterable[FloatArray]) -> FloatArray:
    """The edges of bars, the same for all groups; a few very long clips must not press all others
    into one bar."""
    every = np.concatenate([*groups])
    top = float(np.quantile(every, 0.995)) if len(every) else 1.0
    return np.linspace(0.0, max(top, 1e-6) * 1.001, BINS + 1)


def draw_histogram(values: FloatArray, bins: FloatArray, unit: str) -> Drawing:
    edges, average = bins.tolist(), float(values.mean()) if len(values) else 0.0
    counts = np.histogram(np.minimum(values, edges[-1]), bins=bins)[0].tolist()
    scale = _Scale(0.0, edges[-1], 0.0, 100.0, nice_step(edges[-1], 5))
    # Each category has its own height: what is compared is the shape, not the number of clips.
    most, base = max(*counts, 1), _TITLE + _PANEL
    heights = [round(count / most * (_PANEL - 8), 1) for count in counts]
    bars = list(zip(edges, edges[1:], counts, heights, strict=False))
    ticks = [index * scale.step for index in range(int(scale.high / scale.step) + 1)]
    about = (bars, scale, ticks, _TITLE, base, average, unit)
    return Drawing(render_chart("histogram", *about), base + _AXIS)


def place_numbers(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The middle of each point's number, seen from it: where the fewest points and numbers are."""
    taken = list(points)

    def crowd(at: tuple[float, float]) -> int:
        return sum(abs(at[0] - x) < 12 and abs(at[1] - y) < 12 for x, y in taken)

    for x, y in points:
        taken.append(min(((x + dx, y + dy) for dx, dy in _SIDES), key=crowd))
    numbers = zip(points, taken[len(points) :], strict=True)
    return [(at - x, height - y) for (x, y), (at, height) in numbers]


def draw_scatter(points: Sequence[Point], providers: Sequence[str], wide: float) -> Drawing:
    """Models between accuracy (across) and hallucination (up) by number; names stand below."""
    across = _around([one.accuracy for one in points], _LEFT, _RIGHT)
    up = _around([one.hallucination for one in points], _BOTTOM, _TOP)
    places = [(across.at(one.accuracy.value), up.at(one.hallucination.value)) for one in points]
    numbers = place_numbers([(x / 100 * wide, y) for x, y in places])
    colours = [providers.index(one.provider) % COLOURS for one in points]
    marks = [(one, SHAPES[one % len(SHAPES)]) for one in colours]
    below = [_SCATTER + _LINE * (row + 1) for row in range(len(points))]
    parts = render_chart("scatter", points, numbers, across, up, marks, below)
    return Drawing(parts, _SCATTER + _LINE * (len(points) + 3) // 2)


def draw_shifts(rows: Sequence[tuple[str, Cell]], every: Sequence[Cell]) -> Drawing:
    """How far each thing moves from 0, with its interval, on the scale of ``every`` shift."""
    scale = _around([Cell(value=0.0), *every], 2.0, _RIGHT)
    return Drawing(render_chart("shifts", rows, scale, _ROW), _ROW * len(rows) + _AXIS)


def draw_curves(groups: Mapping[str, FloatArray]) -> Drawing:
    every = np.concatenate(list(groups.values()))
    low, high = float(every.min()), float(every.max())
    across = _around([Cell(value=low, interval=(low, high))], 0, 100)
    shares = np.linspace(0, 1, 101)
    lines = [np.quantile(values, shares).tolist() for values in groups.values()]
    return Drawing(render_chart("curves", lines, across, _CURVES), _CURVES + _AXIS)


def draw_map(groups: Mapping[str, FloatArray]) -> Drawing:
    """Points of groups by place, in their colours; places have no unit, so there is no scale."""
    every = np.concatenate(list(groups.values()))
    low, size = every.min(axis=0), np.maximum(np.ptp(every, axis=0), 1e-9)
    sides = np.array([[2.0, 8.0], [96.0, _MAP - 16.0]])
    drawn = [
        (group, number % COLOURS, (sides[0] + sides[1] * (places - low) / size).tolist())
        for number, (group, places) in enumerate(groups.items())
    ]
    return Drawing(render_chart("map", drawn), _MAP)


def _around(cells: Sequence[Cell], start: float, end: float) -> _Scale:
    lows, highs = zip(*(one.ends for one in cells), strict=True)
    low, high = min(lows), max(highs)
    step = nice_step(max(high - low, 0.5))
    first = step * (low // step)
    return _Scale(first, max(step * -(-high // step), first + step), start, end, step)
