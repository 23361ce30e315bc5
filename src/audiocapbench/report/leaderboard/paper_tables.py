"""The three tables of AudioCapBench's paper, from one's own runs and the published ones.

Table 1 has the judge's dimensions and the metrics, table 2 the overall score by category, table 3
what the data are made of. The best of a column is marked, and the second best, as in the paper.
"""

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import NamedTuple

from audiocapbench.benchmarks.published_results import published_results
from audiocapbench.data import Sample
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Heading, Mark, Page, Record, Value
from audiocapbench.report.leaderboard.board import (
    LETTERS,
    Board,
    Leaderboard,
    PublishedEntry,
    RunEntry,
)
from audiocapbench.report.leaderboard.pages import in_order, shown_name
from audiocapbench.scores.groups import category
from audiocapbench.scores.scorer import Scorer

_METRICS = ("meteor", "bleu_4", "rouge_l")
_Entry = RunEntry | PublishedEntry
_Row = dict[str, Value]


class _TableColumn(NamedTuple):
    """A column.

    Attributes:
        digits: Places of its numbers; None for text and counts.
        in_paper: Whether it is shown unless others are asked for.
        is_score: Whether its best and second best are marked.
    """

    name: str
    digits: int | None = None
    in_paper: bool = True
    is_score: bool = False


class PaperTable(NamedTuple):
    """A table for people, and its rows unrounded for programs."""

    page: Page
    records: list[Record]


def paper_tables(
    leaderboard: Leaderboard, number: int, columns: Sequence[str] = ()
) -> list[PaperTable]:
    """One of the paper's tables for each board that it can be made of.

    Args:
        columns: Which columns, in which order; the paper's by default.

    Raises:
        ReportError: There is no such table or column.
    """
    if number not in (1, 2, 3):
        raise ReportError(f"there is no table {number}; the paper has tables 1, 2 and 3")
    make = _composition if number == 3 else _results if number == 1 else _by_category
    return [make(board, columns) for board in leaderboard.boards]


def _results(board: Board, wanted: Sequence[str]) -> PaperTable:
    digits, own = board.scorer.digits, bool(board.entries)
    every: list[_Entry] = [*board.entries, *board.published]
    dimensions = dict.fromkeys(name for one in every for name in one.dimensions)
    bounded = own and any(board.bounds(one) is not None for one in board.entries)
    metrics = _metrics(board)
    columns = [
        *(_TableColumn("rank"), _TableColumn("model"), _TableColumn("run", in_paper=False)),
        *(_TableColumn(name, 2, is_score=True) for name in dimensions),
        _TableColumn(board.scorer.column, digits, is_score=True),
        *(_TableColumn(name, digits, in_paper=own) for name in ("low", "high")),
        *(_TableColumn(name, digits, in_paper=bounded) for name in ("worst", "best")),
        *(_TableColumn(name, 3, name in _METRICS, True) for name in metrics),
        _TableColumn("scored", in_paper=own),
    ]
    rows = []
    for one in in_order(board):
        row = _row(board, one) | {name: one.dimensions.get(name) for name in dimensions}
        if isinstance(one, PublishedEntry):
            row |= {name: one.metrics.get(name) for name in metrics}
        else:
            row |= {name: one.table.point(Scorer(name)).value for name in metrics}
        rows.append(row)
    return _of_board(board, "table 1", columns, rows, wanted)


def _by_category(board: Board, wanted: Sequence[str]) -> PaperTable:
    digits = board.scorer.digits
    columns = [
        _TableColumn("rank", in_paper=False),
        *(_TableColumn("model"), _TableColumn("run", in_paper=False)),
        *(_TableColumn(name, digits, is_score=True) for name in board.categories),
        _TableColumn(board.scorer.column, digits, in_paper=False, is_score=True),
        _TableColumn("scored", in_paper=bool(board.entries)),
    ]
    rows = []
    for one in in_order(board):
        parts: _Row = dict.fromkeys(board.categories)
        if isinstance(one, PublishedEntry):
            parts |= one.by_category
        else:
            for name in parts:
                parts[name] = one.table.point(board.scorer, category(name)).value
        rows.append(_row(board, one) | parts)
    return _of_board(board, "table 2", columns, rows, wanted)


def _row(board: Board, one: _Entry) -> _Row:
    """Who it is, and how it ranks; runs have no places among published rows, as no test says it."""
    row: _Row = {"model": shown_name(one, board), "run": None}
    if isinstance(one, PublishedEntry):
        row |= dict.fromkeys(("low", "high", "worst", "best"))
        row |= {"rank": one.printed_rank, board.scorer.column: one.score}
        return row | {"scored": board.samples + board.missing_clips}
    estimate = one.overall.estimate
    low, high = estimate.interval or (None, None)
    worst, best = board.bounds(one) or (None, None)
    row |= {"rank": None if board.published else one.overall.rank, "run": one.run.id}
    row |= {"low": low, "high": high, "worst": worst, "best": best, "scored": estimate.n}
    return row | {board.scorer.column: estimate.value}


def _of_board(
    board: Board,
    number: str,
    columns: Sequence[_TableColumn],
    rows: Sequence[_Row],
    wanted: Sequence[str],
) -> PaperTable:
    by = f"judged by {board.scorer.judge}" if board.scorer.judge else f"by {board.scorer.name}"
    title = f"{board.benchmark}, {number}, {by}, {board.samples:,} samples"
    names = list(wanted) or [one.name for one in columns if one.in_paper]
    signatures = sorted({str(one) for one in _signatures(board, names) if one})
    said = [one for one in board.notes if not one.startswith(LETTERS)]
    notes = (*said, *(f"Signature: {one}" for one in signatures))
    return _table(title, columns, rows, notes, wanted)


def _composition(board: Board, wanted: Sequence[str]) -> PaperTable:
    """What the data are made of, source by source; without runs, as published."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in board.entries[0].table.samples if board.entries else ():
        source = str(sample.details.get("source") or "–")
        groups.setdefault((sample.category, source), []).append(sample)
    rows: list[_Row] = [
        {
            "category": kind,
            "source": source,
            "samples": len(samples),
            "caption_chars": mean(len(sample.references[0]) for sample in samples),
            "answer_chars": _answer_length(board, samples),
        }
        for (kind, source), samples in groups.items()
    ]
    results = None if board.entries else published_results(board.benchmark)
    printed = results.composition if results is not None else ()
    rows += [{**row, "answer_chars": None} for row in printed]
    rows.append(dict.fromkeys(("category", "source", "samples", "caption_chars", "answer_chars")))
    rows[-1] |= {"category": "total", "source": "", "samples": board.samples}
    columns = [_TableColumn(name) for name in ("category", "source", "samples")]
    columns.append(_TableColumn("caption_chars", 0))
    columns.append(_TableColumn("answer_chars", 0, in_paper=bool(board.entries)))
    note = "caption_chars: mean length of first captions; answer_chars: of all models' answers."
    return _table(f"{board.benchmark}, table 3", columns, rows, (note,), wanted)


def _answer_length(board: Board, samples: Sequence[Sample]) -> float | None:
    ids = {sample.id for sample in samples}
    lengths = [
        len(outcome.reply.text)
        for entry in board.entries
        for key, outcome in entry.table.outcomes.items()
        if key in ids and outcome.reply.text
    ]
    return mean(lengths) if lengths else None


def _table(
    title: str,
    columns: Sequence[_TableColumn],
    rows: Sequence[_Row],
    notes: tuple[str, ...],
    wanted: Sequence[str],
) -> PaperTable:
    known = {one.name: one for one in columns}
    names = list(wanted) or [one.name for one in columns if one.in_paper]
    for name in names:
        if name not in known:
            raise ReportError(f"there is no column {name!r}; there are {', '.join(known)}")
    marks: dict[tuple[int, int], Mark] = {}
    for place, name in enumerate(names):
        values = [row[name] for row in rows] if known[name].is_score and len(rows) > 1 else []
        # Equal as printed is equal: digits that nobody sees make no winner.
        shown = [_shown(value, known[name].digits) for value in values]
        best = sorted({float(one) for one in shown if one != "–"}, reverse=True)[:2]
        for line, text in enumerate(shown):
            if text != "–" and float(text) in best:
                marks[line, place] = "best" if float(text) == best[0] else "second"
    cells = tuple(tuple(_shown(row[name], known[name].digits) for name in names) for row in rows)
    left = {"model", "category", "source"}
    headings = tuple(Heading(name, "left" if name in left else "right") for name in names)
    records = [{"table": title, **{name: row[name] for name in names}} for row in rows]
    return PaperTable(Page(title, headings, cells, notes, marks=marks), list(records))


def _shown(value: Value, digits: int | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}" if digits is None else f"{value:.{digits}f}"
    return str(value)


def _metrics(board: Board) -> list[str]:
    """The paper's metrics where anybody has them, then the runs' others; not what ranks."""
    own = [one.name for entry in board.entries for one in entry.table.scorers if not one.judge]
    printed = [name for one in board.published for name in one.metrics]
    known = dict.fromkeys([*_METRICS, *own])
    return [one for one in known if one in {*own, *printed} and one != board.scorer.column]


def _signatures(board: Board, names: Sequence[str]) -> Iterator[object]:
    """Of what ranks, and of the metrics that are shown."""
    yield board.signature
    for entry in board.entries:
        own = (one for one in entry.table.scorers if not one.judge and one.name in names)
        yield from map(entry.table.signature, own)
