"""The three tables of AudioCapBench's paper: all scores, by category, and what the data are."""

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
from audiocapbench.report.leaderboard.tables import in_order, record, shown_name
from audiocapbench.scores.compute import category
from audiocapbench.table import Column, Row, Table, signature_notes

_METRICS = ("meteor", "bleu_4", "rouge_l")
_WHO = (Column("rank"), Column("model", align="left"), Column("run"))


def paper_tables(leaderboard: Leaderboard, number: int, columns: Sequence[str] = ()) -> list[Table]:
    """One of the paper's tables for each board, with its columns, or those that are named."""
    if number not in (1, 2, 3):
        raise ReportError(f"there is no table {number}; the paper has tables 1, 2 and 3")
    make = _composition if number == 3 else _results if number == 1 else _by_category
    return [make(board, columns) for board in leaderboard.boards]


def _results(board: Board, wanted: Sequence[str]) -> Table:
    form, entries = f".{board.scorer.digits}f", in_order(board)
    dimensions = dict.fromkeys(name for one in entries for name in one.dimensions)
    # The paper's metrics where anybody has them, then the runs' others; not what ranks.
    own_metrics = [one.name for run in board.entries for one in run.table.scorers if not one.judge]
    has = {*own_metrics, *(name for one in board.published for name in one.metrics)}
    known = dict.fromkeys([*_METRICS, *own_metrics])
    metrics = [one for one in known if one in has and one != board.scorer.column]
    columns = [
        *_WHO,
        *(Column(name, name, ".2f", importance=5, marks=True) for name in dimensions),
        Column(board.scorer.column, board.scorer.column, form, marks=True),
        *(Column(name, form=form, importance=3) for name in ("low", "high", "worst", "best")),
        *(Column(name, name, ".3f", importance=4, marks=True) for name in metrics),
        Column("scored", importance=2),
    ]
    left_out = {"run", *metrics} - set(_METRICS)
    if not board.entries:
        left_out |= {"low", "high", "scored"}
    if all(board.bounds(one) is None for one in board.entries):
        left_out |= {"worst", "best"}
    rows = [_row(board, one) for one in entries]
    return _table(board, 1, columns, rows, wanted, left_out)


def _by_category(board: Board, wanted: Sequence[str]) -> Table:
    form, overall = f".{board.scorer.digits}f", board.scorer.column
    columns = [
        *_WHO,
        *(Column(name, name, form, marks=True) for name in board.categories),
        Column(overall, overall, form, marks=True),
        Column("scored"),
    ]
    rows = []
    for one in in_order(board):
        parts: Row = dict.fromkeys(board.categories)
        if isinstance(one, PublishedEntry):
            parts |= one.by_category
        else:
            for name in parts:
                parts[name] = one.table.point(board.scorer, category(name)).value
        rows.append(_row(board, one) | parts)
    left_out = {"rank", "run", overall} | (set() if board.entries else {"scored"})
    return _table(board, 2, columns, rows, wanted, left_out)


def _row(board: Board, one: RunEntry | PublishedEntry) -> Row:
    """Who it is, and how it ranks; runs have no places among published rows, as no test says it."""
    row = record(board, one) | {"model": shown_name(one, board)}
    row[board.scorer.column] = row["score"]
    if isinstance(one, PublishedEntry):
        return row | {"rank": one.printed_rank, "scored": board.samples + board.missing_clips}
    worst, best = board.bounds(one) or (None, None)
    rank = None if board.published else one.overall.rank
    return row | {"rank": rank, "worst": worst, "best": best}


def _composition(board: Board, wanted: Sequence[str]) -> Table:
    """What the data are made of, source by source; without runs, as published."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in board.entries[0].table.samples if board.entries else ():
        source = str(sample.details.get("source") or "–")
        groups.setdefault((sample.category, source), []).append(sample)
    rows: list[Row] = []
    for (kind, source), samples in groups.items():
        tables = [entry.table for entry in board.entries]
        replies = (
            one.outcomes[sample.id].reply
            for one in tables
            for sample in samples
            if sample.id in one.outcomes
        )
        lengths = [len(reply.text) for reply in replies if reply.text]
        captions = mean(len(sample.references[0]) for sample in samples)
        rows.append({"category": kind, "source": source, "samples": len(samples)})
        rows[-1] |= {"caption_chars": captions, "answer_chars": mean(lengths) if lengths else None}
    results = None if board.entries else published_results(board.benchmark)
    rows += [{**row, "answer_chars": None} for row in (results.composition if results else ())]
    total = {"category": "total", "source": "", "samples": board.samples}
    rows.append(total | dict.fromkeys(("caption_chars", "answer_chars")))
    chars = [Column(name, name, ".0f") for name in ("caption_chars", "answer_chars")]
    columns = [*map(Column, ("category", "source", "samples")), *chars]
    return _table(board, 3, columns, rows, wanted, () if board.entries else ("answer_chars",))


def _table(
    board: Board,
    number: int,
    columns: Sequence[Column],
    rows: Sequence[Row],
    wanted: Sequence[str],
    left_out: Collection[str],
) -> Table:
    """The columns that are wanted, or all but some."""
    known = {one.name: one for one in columns}
    names = wanted or [name for name in known if name not in left_out]
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
    chosen = [{"table": title, **{name: row.get(name) for name in names}} for row in rows]
    return Table(title, chosen, [known[name] for name in names], notes)
