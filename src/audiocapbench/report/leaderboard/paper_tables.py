"""The three tables of AudioCapBench's paper, from one's own runs and the published ones.

Table 1 has the judge's dimensions and the metrics, table 2 the overall score by category, table 3
what the data are made of. The best of a column is marked, and the second best, as in the paper.
"""

from collections.abc import Collection, Sequence
from statistics import mean

from audiocapbench.benchmarks.published_results import published_results
from audiocapbench.data import Sample
from audiocapbench.errors import ReportError
from audiocapbench.report.leaderboard.board import (
    LETTERS,
    Board,
    Leaderboard,
    PublishedEntry,
    RunEntry,
)
from audiocapbench.report.leaderboard.tables import in_order, shown_name
from audiocapbench.scores.groups import category
from audiocapbench.scores.scorer import Scorer
from audiocapbench.table import Column, Row, Table, signature_notes

_METRICS = ("meteor", "bleu_4", "rouge_l")
_Entry = RunEntry | PublishedEntry


def paper_tables(leaderboard: Leaderboard, number: int, columns: Sequence[str] = ()) -> list[Table]:
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


def _results(board: Board, wanted: Sequence[str]) -> Table:
    form, own = f".{board.scorer.digits}f", bool(board.entries)
    every: list[_Entry] = [*board.entries, *board.published]
    dimensions = dict.fromkeys(name for one in every for name in one.dimensions)
    # The paper's metrics where anybody has them, then the runs' others; not what ranks.
    own_metrics = [one.name for run in board.entries for one in run.table.scorers if not one.judge]
    has = {*own_metrics, *(name for one in board.published for name in one.metrics)}
    known = dict.fromkeys([*_METRICS, *own_metrics])
    metrics = [one for one in known if one in has and one != board.scorer.column]
    columns = [
        *(Column("rank"), Column("model", align="left"), Column("run")),
        *(Column(name, name, ".2f", importance=5, marks=True) for name in dimensions),
        Column(board.scorer.column, board.scorer.column, form, marks=True),
        *(Column(name, form=form, importance=3) for name in ("low", "high", "worst", "best")),
        *(Column(name, name, ".3f", importance=4, marks=True) for name in metrics),
        Column("scored", importance=2),
    ]
    unasked = {"run", *metrics} - set(_METRICS)
    if not own:
        unasked |= {"low", "high", "scored"}
    if all(board.bounds(one) is None for one in board.entries):
        unasked |= {"worst", "best"}
    rows = []
    for one in in_order(board):
        row = _row(board, one) | {name: one.dimensions.get(name) for name in dimensions}
        if isinstance(one, PublishedEntry):
            row |= {name: one.metrics.get(name) for name in metrics}
        else:
            row |= {name: one.table.point(Scorer(name)).value for name in metrics}
        rows.append(row)
    return _table(board, 1, columns, rows, wanted or _but(columns, unasked))


def _by_category(board: Board, wanted: Sequence[str]) -> Table:
    form, overall = f".{board.scorer.digits}f", board.scorer.column
    columns = [
        *(Column("rank"), Column("model", align="left"), Column("run")),
        *(Column(name, name, form, marks=True) for name in board.categories),
        Column(overall, overall, form, marks=True),
        Column("scored"),
    ]
    unasked = {"rank", "run", overall, *([] if board.entries else ["scored"])}
    rows = []
    for one in in_order(board):
        parts: Row = dict.fromkeys(board.categories)
        if isinstance(one, PublishedEntry):
            parts |= one.by_category
        else:
            for name in parts:
                parts[name] = one.table.point(board.scorer, category(name)).value
        rows.append(_row(board, one) | parts)
    return _table(board, 2, columns, rows, wanted or _but(columns, unasked))


def _row(board: Board, one: _Entry) -> Row:
    """Who it is, and how it ranks; runs have no places among published rows, as no test says it."""
    row: Row = {"model": shown_name(one, board), "run": None}
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


def _composition(board: Board, wanted: Sequence[str]) -> Table:
    """What the data are made of, source by source; without runs, as published."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in board.entries[0].table.samples if board.entries else ():
        source = str(sample.details.get("source") or "–")
        groups.setdefault((sample.category, source), []).append(sample)
    rows: list[Row] = [
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
    chars = [Column(name, name, ".0f") for name in ("caption_chars", "answer_chars")]
    columns = [*map(Column, ("category", "source", "samples")), *chars]
    names = wanted or _but(columns, () if board.entries else ("answer_chars",))
    return _table(board, 3, columns, rows, names)


def _answer_length(board: Board, samples: Sequence[Sample]) -> float | None:
    ids = {sample.id for sample in samples}
    lengths = [
        len(outcome.reply.text)
        for entry in board.entries
        for key, outcome in entry.table.outcomes.items()
        if key in ids and outcome.reply.text
    ]
    return mean(lengths) if lengths else None


def _but(columns: Sequence[Column], unasked: Collection[str]) -> list[str]:
    """The columns that are shown unless others are asked for."""
    return [one.name for one in columns if one.name not in unasked]


def _table(
    board: Board,
    number: int,
    columns: Sequence[Column],
    rows: Sequence[Row],
    names: Sequence[str],
) -> Table:
    known = {one.name: one for one in columns}
    for name in names:
        if name not in known:
            raise ReportError(f"there is no column {name!r}; there are {', '.join(known)}")
    title = f"{board.benchmark}, table {number}"
    notes = ["caption_chars: mean length of first captions; answer_chars: of all models' answers."]
    if number != 3:
        by = f"judged by {board.scorer.judge}" if board.scorer.judge else f"by {board.scorer.name}"
        title += f", {by}, {board.samples:,} samples"
        notes = [one for one in board.notes if not one.startswith(LETTERS)]
        # Of what ranks, and of the metrics that are shown.
        signatures = {str(board.signature)} | {
            str(entry.table.signature(one))
            for entry in board.entries
            for one in entry.table.scorers
            if not one.judge and one.name in names
        }
        notes += signature_notes(sorted(signatures))
    chosen = [{"table": title, **{name: row[name] for name in names}} for row in rows]
    return Table(title, chosen, [known[name] for name in names], notes)
