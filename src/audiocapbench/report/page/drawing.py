"""Charts as SVG; places across are percentages, so that text keeps its size."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.page.document import Cell
from audiocapbench.table.escape_controls import escape_controls

BINS, COLOURS = 20, 8
_PLOT = 82.0  # Per cent; the rest is for the number behind the longest bar.
_ROW, _AXIS = 38, 22
_PANEL, _TITLE = 104, 22
_SCATTER, _LEFT, _RIGHT, _TOP, _BOTTOM = 420, 7.0, 97.0, 26, 380
_CURVES, _MAP = 160, 480
_LONGEST = 48
_LINE = 18
_SIDES = ((12, -10), (-12, -10), (12, 10), (-12, 10))
SHAPES = (
    "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0Z",
    "M-4.5 -4.5H4.5V4.5H-4.5Z",
    "M0 -6L5.5 4.5H-5.5Z",
    "M0 -6.5L6 0L0 6.5L-6 0Z",
    "M0 6L5.5 -4.5H-5.5Z",
    "M-5.5 -2H-2V-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5Z",
    "M-6 -2.2H6V2.2H-6Z",
    "M-5.5 -5.5L0 -2.6L5.5 -5.5L2.6 0L5.5 5.5L0 2.6L-5.5 5.5L-2.6 0Z",
    "M-2.2 -6H2.2V6H-2.2Z",
)
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

    def placed(self, x: float, y: float, width: float) -> str:
        size = f'width="{width:g}" height="{self.height:g}"'
        return f'<svg x="{x:g}" y="{y:g}" {size} overflow="visible">{self.parts}</svg>'


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
    bottom = _ROW * len(bars)
    parts = _grid(scale, 0, bottom)
    for index, bar in enumerate(bars):
        parts += _bar(bar, scale, _ROW * index, shown, colours.index(bar.provider) % COLOURS)
    if line is not None:
        x = scale.at(line[0])
        parts.append(_line("constant", x, x, 0, bottom + 20))
        parts.append(text(line[1], f"{x}%", bottom + 34, "none", "middle"))
    return Drawing("".join(parts), bottom + _AXIS + (18 if line else 0))


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
    most, base, parts = max(*counts, 1), _TITLE + _PANEL, list[str]()
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        height = round(count / most * (_PANEL - 8), 1)
        x, width = scale.at(low), round(scale.at(high) - scale.at(low) - 0.6, 2)
        size = f'x="{x}%" y="{base - height}" width="{width}%" height="{height}"'
        title = f"<title>{low:.0f} to {high:.0f} {unit}: {count}</title>"
        parts.append(f'<rect class="c0" {size}>{title}</rect>')
    parts.append(_line("axis", 0, 100, base, base))
    for tick in (index * scale.step for index in range(int(scale.high / scale.step) + 1)):
        x = scale.at(tick)
        anchor = "start" if tick == 0 else "end" if x > 92 else "middle"
        parts.append(text(f"{tick:g}", f"{x}%", base + 15, "tick", anchor))
    mean = min(scale.at(min(average, scale.high)), 100.0)
    parts.append(_line("mean", mean, mean, _TITLE, base))
    anchor = "start" if mean < 35 else "end" if mean > 65 else "middle"
    words = f"mean {average:.{1 if average < 100 else 0}f} {unit}"
    parts.append(text(words, f"{mean}%", _TITLE - 7, "value", anchor))
    return Drawing("".join(parts), base + _AXIS)


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
    parts = _grid(across, _TOP, _BOTTOM)
    for tick in up.ticks:
        y = up.at(tick)
        parts.append(_line("grid", _LEFT, _RIGHT, y, y))
        parts.append(text(f"{tick:g}", f"{_LEFT - 1}%", y + 4, "tick", "end"))
    parts.append(text("hallucination score ↑ (10 = nothing invented)", "0", 14, "tick", "start"))
    parts.append(text("accuracy →", f"{_RIGHT}%", _BOTTOM + 33, "tick", "end"))
    places = [(across.at(one.accuracy.value), up.at(one.hallucination.value)) for one in points]
    numbers = place_numbers([(x / 100 * wide, y) for x, y in places])
    for at, (one, (x, y), (dx, dy)) in enumerate(zip(points, places, numbers, strict=True)):
        shape = providers.index(one.provider) % COLOURS
        left, right = map(across.at, one.accuracy.ends)
        low, high = map(up.at, one.hallucination.ends)
        parts.append(_line(f"spread s{shape}", left, right, y, y))
        parts.append(_line(f"spread s{shape}", x, x, high, low))
        mark = f'<path d="{SHAPES[shape % len(SHAPES)]}" class="mark c{shape}"/>'
        title = f"<title>{escape(escape_controls(one.label))}</title>"
        number = text(f"{at + 1}", f"{dx:g}", dy + 4, "name", "middle")
        parts.append(f'<svg x="{x}%" y="{y}" overflow="visible">{title}{mark}{number}</svg>')
        beside, below = f"{50 * (at % 2)}%", _SCATTER + _LINE * (at // 2 + 1)
        parts.append(text(f"{at + 1}  {cut(one.label)}", beside, below, "name", "start"))
    return Drawing("".join(parts), _SCATTER + _LINE * (len(points) + 3) // 2)


def draw_shifts(rows: Sequence[tuple[str, Cell]], every: Sequence[Cell]) -> Drawing:
    """How far each thing moves from 0, with its interval, on the scale of ``every`` shift."""
    scale = _around([Cell(value=0.0), *every], 2.0, _RIGHT)
    bottom, zero = _ROW * len(rows), scale.at(0.0)
    parts = _grid(scale, 0, bottom)
    parts.append(_line("axis", zero, zero, 0, bottom))
    for index, (label, cell) in enumerate(rows):
        y, score = _ROW * index, scale.at(cell.value)
        parts.append(text(f"{cut(label)}: {cell.value:+.2f}", "0", y + 13, "name", "start"))
        if cell.interval is not None:
            low, high = map(scale.at, cell.interval)
            parts.append(_line("interval", low, high, y + 25, y + 25))
        parts.append(f'<circle class="c0 mark" cx="{score}%" cy="{y + 25}" r="4"/>')
    return Drawing("".join(parts), bottom + _AXIS)


def draw_curves(groups: Mapping[str, FloatArray]) -> Drawing:
    every = np.concatenate(list(groups.values()))
    low, high = float(every.min()), float(every.max())
    across = _around([Cell(value=low, interval=(low, high))], 0, 100)
    shares = np.linspace(0, 1, 101)
    parts = [_line("axis", 0, 100, _CURVES, _CURVES), *_grid(across, 0, _CURVES)]
    for number, values in enumerate(groups.values()):
        places = [across.at(float(value)) for value in np.quantile(values, shares)]
        points = " ".join(f"{x},{100 - 100 * y:.0f}" for x, y in zip(places, shares, strict=True))
        line = f'<polyline class="curve s{number}" points="{points}"/>'
        box = f'height="{_CURVES}" viewBox="0 0 100 100" preserveAspectRatio="none"'
        parts.append(f'<svg width="100%" {box}>{line}</svg>')
    return Drawing("".join(parts), _CURVES + _AXIS)


def draw_map(groups: Mapping[str, FloatArray]) -> Drawing:
    """Points of groups by place, in their colours; places have no unit, so there is no scale."""
    every = np.concatenate(list(groups.values()))
    low, size = every.min(axis=0), np.maximum(np.ptp(every, axis=0), 1e-9)
    parts = []
    for number, (group, places) in enumerate(groups.items()):
        title = f"<title>{escape(escape_controls(group))}</title>"
        points = "".join(
            f'<circle cx="{2 + 96 * x:.2f}%" cy="{8 + (_MAP - 16) * y:.1f}" r="2.2"/>'
            for x, y in (places - low) / size
        )
        parts.append(f'<g class="point c{number % COLOURS}">{title}{points}</g>')
    return Drawing("".join(parts), _MAP)


def _grid(scale: _Scale, top: float, bottom: float) -> list[str]:
    parts = []
    for tick in scale.ticks:
        x = scale.at(tick)
        anchor = "start" if x < 1 else "end" if x > 99 else "middle"
        parts.append(_line("grid", x, x, top, bottom))
        # Adding up steps leaves dust where there should be a 0.
        parts.append(text(f"{round(tick, 6) + 0.0:g}", f"{x}%", bottom + 15, "tick", anchor))
    return parts


def _bar(bar: Bar, scale: _Scale, y: int, shown: Callable[[float], str], colour: int) -> list[str]:
    parts, cell = [text(cut(bar.label), "0", y + 13, "name", "start")], bar.cell
    if cell is None:
        return [*parts, text("no score", "0", y + 30, "tick", "start")]
    score, low, high = map(scale.at, (cell.value, *cell.ends))
    middle, value = y + 25, shown(cell.value)
    about = "as printed, without an interval" if cell.printed else "too few samples for an interval"
    if cell.interval is not None:
        about = f"95 % interval {shown(cell.interval[0])}–{shown(cell.interval[1])}"
    title = f"<title>{escape(escape_controls(bar.label))}: {value}, {about}</title>"
    size = f'x="0" y="{y + 19}" width="{score}%" height="12"'
    parts += [f'<rect class="c{colour}" {size}>{title}</rect>', f'<rect class="h{colour}" {size}/>']
    ends = [(low, high, 0), (low, low, 4), (high, high, 4)] if cell.interval is not None else []
    for left, right, half in ends:
        parts.append(_line("interval", left, right, middle - half, middle + half))
    number = text(value, "6", 4, "value", "start")
    place = f'x="{max(score, high)}%" y="{middle}"'
    return [*parts, f'<svg {place} overflow="visible">{number}</svg>']


def _line(kind: str, left: float, right: float, high: float, low: float) -> str:
    return f'<line class="{kind}" x1="{left}%" x2="{right}%" y1="{high}" y2="{low}"/>'


def _around(cells: Sequence[Cell], start: float, end: float) -> _Scale:
    lows, highs = zip(*(one.ends for one in cells), strict=True)
    low, high = min(lows), max(highs)
    step = nice_step(max(high - low, 0.5))
    first = step * (low // step)
    return _Scale(first, max(step * -(-high // step), first + step), start, end, step)


def letters(words: str, most: int) -> int:
    """How many letters fit where so many Latin ones do."""
    return most if max(words, default="") < "\u2e80" else most // 2


def cut(words: str, most: int = _LONGEST) -> str:
    """Words of no more letters, without their middle: ends of names tell models apart."""
    words, most = escape_controls(words), letters(words, most)
    if len(words) <= most:
        return words
    return f"{words[: most // 2]}…{words[-(most - most // 2 - 1) :]}"


def text(words: str, x: str, y: float, kind: str, anchor: str) -> str:
    """Words at a place, whatever they hold."""
    words = escape_controls(words).replace("\n", " ")
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'
