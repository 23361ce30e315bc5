"""The paper's four figures as files, in colours that differ in grey; and a board as one picture."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from audiocapbench.data.problems import os_errors
from audiocapbench.errors import ReportError, check_known
from audiocapbench.files import write_file
from audiocapbench.grouping import grouped
from audiocapbench.metrics.result import FloatArray
from audiocapbench.plugins import require_packages
from audiocapbench.report.page import drawing
from audiocapbench.report.page.document import BoardDocument, Cell
from audiocapbench.report.page.drawing import COLOURS, SHAPES, Bar, Drawing, Point
from audiocapbench.report.page.rendering import cut, letters_that_fit, render
from audiocapbench.report.page.report_data import ReportData, clip_of
from audiocapbench.table.escape_controls import escape_controls

FORMATS = ("png", "svg", "pdf")

_WIDTH = 672.0  # Pixels at 96 to the inch: a page of two columns.
_SCALE = 3.125  # Dots for each pixel of a PNG: 300 to the inch.
_COLUMNS = 4  # More categories than this go on in further rows.
_CARD_ROWS, _CARD_LINES, _NAMES_OF_CARD = 8, 3, (34, 24, 16, 10)
_GAP, _TITLE, _LEGEND, _LETTER = 24.0, 20.0, 26.0, 6.2


def formats(wanted: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip().lower() for part in wanted.split(",") if part.strip()))
    for name in names or [""]:
        check_known("format", name, FORMATS, ReportError)
    return names


def write_figures(
    board: BoardDocument, data: ReportData, folder: Path, wanted: Sequence[str]
) -> list[Path]:
    converters = {kind: _converter(kind) for kind in wanted}
    with os_errors(folder, "written"):
        folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, sheet in figure_sheets(board, data):
        for kind, convert in converters.items():
            paths.append(folder / f"{name}.{kind}")
            write_file(paths[-1], convert(sheet))
    return paths


def figure_writer(path: Path, scale: float = _SCALE) -> Callable[[str], int]:
    """What writes a sheet into a file, in the format of its suffix; wrong formats fail at once."""
    [kind] = formats(path.suffix.removeprefix(".") or "svg")
    convert = _converter(kind, scale)
    return lambda sheet: write_file(path, convert(sheet))


def _converter(kind: str, scale: float = _SCALE) -> Callable[[str], bytes]:
    if kind == "svg":
        return str.encode
    require_packages(ReportError, kind, "plots", "vl_convert")
    import vl_convert

    if kind == "png":
        return lambda sheet: bytes(vl_convert.svg_to_png(sheet, scale=scale))
    # The names of a PDF's resources are sorted, so that equal runs give equal files.
    return lambda sheet: re.sub(
        rb"(?m)(?:^ +/[a-z]+\d+ \d+ 0 R\n)+",
        lambda match: b"".join(sorted(match[0].splitlines(keepends=True))),
        vl_convert.svg_to_pdf(sheet),
    )


def lengths_of(data: ReportData) -> dict[str, tuple[FloatArray, FloatArray]]:
    """By category the seconds of each clip that is there, and the letters of first captions."""
    found = {}
    for name, samples in grouped((one.category, one) for one in data.samples).items():
        there = [one for one in samples if not one.clip.is_absent]
        aggregation = data.runs[0].table.aggregation
        seconds = {clip_of(one, aggregation): one.clip.duration_s for one in there}
        letters = [len(one.references[0]) for one in samples]
        found[name] = np.array([*seconds.values()], float), np.array(letters, float)
    return found


def figure_sheets(board: BoardDocument, data: ReportData) -> Iterator[tuple[str, str]]:
    lengths = lengths_of(data)
    columns = max(1, min(len(lengths), _COLUMNS))
    bins = [drawing.bins_of(own[side] for own in lengths.values()) for side in (0, 1)]
    cells = []
    for name, (seconds, letters) in lengths.items():
        heard = (f"{name} ({len(seconds)})", drawing.draw_histogram(seconds, bins[0], "s"))
        read = ("", drawing.draw_histogram(letters, bins[1], "chars"))
        cells.append([heard, read] if len(seconds) else [read])
    yield "figure1_lengths", draw_sheet(cells, columns)
    measure = board.scorers[board.headline]
    overall = overall_bars(board)
    panels = [
        (f"{name} ({view.samples})", _bars(board, view.estimates[board.headline]))
        for name, view in board.views.items()
        if name
    ]
    every = [bar for _, bars in panels for bar in bars]
    known = [bar.cell for bar in (*overall, *every) if bar.cell is not None]
    top = max((cell.ends[1] for cell in known), default=0.0)
    about = f"{measure.label} (0–{measure.max_value:g}), with 95 % intervals "
    about += f"(none for fewer than {board.fewest} samples)"

    def drawn(bars: Sequence[Bar]) -> Drawing:
        shown = f"{{:.{measure.digits}f}}".format
        return drawing.draw_bars(bars, shown, top, board.providers)

    yield "figure2_overall", draw_sheet([[("", drawn(overall))]], 1, board.providers, about)
    columns = min(max(1, len(panels)), _fitting([bar.label for bar in every]))
    sheets = [[(title, drawn(bars))] for title, bars in panels]
    yield "figure3_categories", draw_sheet(sheets, columns, board.providers, about)
    points = tradeoff_points(board)
    if points:
        scatter = drawing.draw_scatter(points, board.providers, _WIDTH - 2 * _GAP)
        words = f"scores of {board.judge_of_both} from 0 to 10, with 95 % intervals"
        yield "figure4_tradeoff", draw_sheet([[("", scatter)]], 1, board.providers, words)


def _bars(board: BoardDocument, cells: Sequence[Cell | None]) -> list[Bar]:
    models = zip(board.models, cells, strict=True)
    return [Bar(one.label, one.provider, cell) for one, cell in models]


def overall_bars(board: BoardDocument) -> list[Bar]:
    """The models by the headline, best first; failures of runs count as zero in the order."""
    bars = _bars(board, board.estimates[board.headline])
    if all(one.run is not None for one in board.models):
        return bars

    def score(bar: Bar) -> float:
        cell = bar.cell
        return 0.0 if cell is None else cell.value if cell.zero is None else cell.zero

    return sorted(bars, key=score, reverse=True)


def tradeoff_points(board: BoardDocument) -> list[Point]:
    judge = board.judge_of_both
    if judge is None:
        return []
    own = {one.column: place for place, one in enumerate(board.scorers) if one.judge == judge}
    columns = [board.estimates[own[name]] for name in ("accuracy", "hallucination")]
    return [
        Point(one.label, one.provider, accuracy, hallucination)
        for one, accuracy, hallucination in zip(board.models, *columns, strict=True)
        if accuracy is not None and hallucination is not None
    ]


def draw_sheet(
    cells: Sequence[Sequence[tuple[str, Drawing]]],
    columns: int,
    legend: Sequence[str] = (),
    label: str = "",
) -> str:
    width = (_WIDTH - _GAP * (columns + 1)) / columns
    top, across = _GAP / 2, _fitting(legend)
    keys, titles, placed = [], [], []
    for number, name in enumerate(legend):
        x = _GAP + (_WIDTH - 2 * _GAP) / across * (number % across)
        colour = number % COLOURS
        keys.append(
            (name, x, top + _LEGEND * (number // across), colour, SHAPES[colour % len(SHAPES)])
        )
    top += _LEGEND * -(-len(legend) // across)
    for start in range(0, len(cells), columns):
        bottom = top
        for column, cell in enumerate(cells[start : start + columns]):
            left, y = _GAP + column * (width + _GAP), top
            for title, chart in cell:
                if title:
                    titles.append((title, left, y + 12))
                    y += _TITLE
                placed.append((chart, left, y))
                y += chart.height + _GAP / 2
            bottom = max(bottom, y)
        top = bottom
    height = top + _TITLE * bool(label)
    drawn: Any = {"keys": keys, "titles": titles, "placed": placed, "chart_width": width}
    return render("figure.svg", width=_WIDTH, height=height, label=label, **drawn)


def draw_card(board: BoardDocument, signature: str) -> str:
    """A picture for others: what is known, the first models with their intervals, and how."""
    scorer = board.scorers[board.headline]
    known = [(bar.label, bar.cell) for bar in overall_bars(board) if bar.cell is not None]
    ranked = zip(board.models, board.ranking.places, strict=False)  # published ones have no place
    places = {one.label: place.open for one, place in ranked}
    verdict = board.verdict or f"{scorer.label} on {board.samples:,} samples"
    for most in _NAMES_OF_CARD:  # names give way, so that what is said of them stays
        said = verdict
        for name in sorted(places, key=len, reverse=True):
            said = said.replace(name, cut(name, most))
        lines = wrap(escape_controls(said), letters_that_fit(said, 62))
        if len(lines) <= _CARD_LINES:
            break
    lines = [*lines[:2], *filter(None, [cut(" ".join(lines[2:]), 62)])]
    rows = []
    for name, cell in known[: _CARD_ROWS - (len(known) > _CARD_ROWS)]:
        ends = sorted((cell.value, *cell.ends))
        places_of_ends = [600 + 320 * max(0.0, min(1.0, one / scorer.max_value)) for one in ends]
        rows.append((name, places.get(name, ""), cell, places_of_ends))
    shown: Any = {"lines": lines, "rows": rows, "left": len(known) - len(rows)}
    return render("card.svg", board=board, scorer=scorer, signature=signature, **shown)


def _fitting(names: Sequence[str]) -> int:
    widest = _LETTER * max((len(cut(name)) for name in names), default=0) + _GAP
    return max(1, min(_COLUMNS, int((_WIDTH - _GAP) / widest)))
