"""The three tables of AudioCapBench's paper, from one's own runs and the published ones.

Table 1 has the judge's dimensions and the metrics, table 2 the overall score by category, table 3
what the data are made of. The best of a column is marked, and the second best, as in the paper.
"""

from collections.abc import Callable, Iterator, Sequence
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
    value: Callable[[_Entry], Value]
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
    scorer, own = board.scorer, bool(board.entries)
    every: list[_Entry] = [*board.entries, *board.published]
    dimensions = dict.fromkeys(name for one in every for name in one.dimensions)
    bounded = own and any(board.bounds(one) is not None for one in board.entries)
    columns = [
        _TableColumn("rank", _rank(board)),
        _TableColumn("model", lambda one: shown_name(one, board)),
        _TableColumn("run", _run, in_paper=False),
        *(_TableColumn(name, _dimension(name), 2, is_score=True) for name in dimensions),
        _TableColumn(scorer.column, _score, scorer.digits, is_score=True),
        _TableColumn("low", _end(0), scorer.digits, in_paper=own),
        _TableColumn("high", _end(1), scorer.digits, in_paper=own),
        _TableColumn("worst", _bound(board, 0), scorer.digits, in_paper=bounded),
        _TableColumn("best", _bound(board, 1), scorer.digits, in_paper=bounded),
        *(_TableColumn(name, _metric(name), 3, name in _METRICS, True) for name in _metrics(board)),
        _TableColumn("scored", _scored(board), in_paper=own),
    ]
    return _of_board(board, "table 1", columns, wanted)


def _by_category(board: Board, wanted: Sequence[str]) -> PaperTable:
    digits = board.scorer.digits
    columns = [
        _TableColumn("rank", _rank(board), in_paper=False),
        _TableColumn("model", lambda one: shown_name(one, board)),
        _TableColumn("run", _run, in_paper=False),
        *(
            _TableColumn(one, _part(board.scorer, one), digits, True, True)
            for one in board.categories
        ),
        _TableColumn(board.scorer.column, _score, digits, in_paper=False, is_score=True),
        _TableColumn("scored", _scored(board), in_paper=bool(board.entries)),
    ]
    return _of_board(board, "table 2", columns, wanted)


def _of_board(
    board: Board, number: str, columns: Sequence[_TableColumn], wanted: Sequence[str]
) -> PaperTable:
    rows = [{one.name: one.value(entry) for one in columns} for entry in in_order(board)]
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
    columns = [_TableColumn(name, lambda _: None) for name in ("category", "source", "samples")]
    columns += [
        _TableColumn("caption_chars", lambda _: None, 0),
        _TableColumn("answer_chars", lambda _: None, 0, in_paper=bool(board.entries)),
    ]
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


def _run(one: _Entry) -> Value:
    return None if isinstance(one, PublishedEntry) else one.run.id


def _rank(board: Board) -> Callable[[_Entry], Value]:
    """Printed places of published rows; runs among them have none, as no test says it."""

    def rank(one: _Entry) -> Value:
        if isinstance(one, PublishedEntry):
            return one.printed_rank
        return None if board.published else one.overall.rank

    return rank


def _score(one: _Entry) -> Value:
    return one.score if isinstance(one, PublishedEntry) else one.overall.estimate.value


def _dimension(name: str) -> Callable[[_Entry], Value]:
    return lambda one: one.dimensions.get(name)


def _part(scorer: Scorer, name: str) -> Callable[[_Entry], Value]:
    def part(one: _Entry) -> Value:
        if isinstance(one, PublishedEntry):
            return one.by_category.get(name)
        return one.table.point(scorer, category(name)).value

    return part


def _metric(name: str) -> Callable[[_Entry], Value]:
    def metric(one: _Entry) -> Value:
        if isinstance(one, PublishedEntry):
            return one.metrics.get(name)
        return one.table.point(Scorer(name)).value

    return metric


def _end(place: int) -> Callable[[_Entry], Value]:
    def end(one: _Entry) -> Value:
        interval = None if isinstance(one, PublishedEntry) else one.overall.estimate.interval
        return interval[place] if interval else None

    return end


def _bound(board: Board, place: int) -> Callable[[_Entry], Value]:
    def bound(one: _Entry) -> Value:
        bounds = None if isinstance(one, PublishedEntry) else board.bounds(one)
        return bounds[place] if bounds else None

    return bound


def _scored(board: Board) -> Callable[[_Entry], Value]:
    total = board.samples + board.missing_clips
    return lambda one: total if isinstance(one, PublishedEntry) else one.overall.estimate.n


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
