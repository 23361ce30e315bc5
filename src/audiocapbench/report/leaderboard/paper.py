"""Tables 1, 2 and 3 of the paper, of a board's runs and of what is printed."""

from collections.abc import Sequence
from statistics import mean

from audiocapbench.benchmarks.benchmark_file import published_results
from audiocapbench.errors import ReportError, check_known
from audiocapbench.grouping import grouped
from audiocapbench.report.leaderboard.board import LETTERS, Board, Entry, PublishedEntry, rank_runs
from audiocapbench.report.leaderboard.rows import DEPARTURES, record, winners_of
from audiocapbench.scores.compute import ALL
from audiocapbench.scores.compute import category as in_category
from audiocapbench.scores.departures import DEPARTS
from audiocapbench.table import Column, Row, Table, signature_notes

_METRICS = ("meteor", "bleu_4", "rouge_l")
_WHO = (Column("rank"), Column("model", align="left"), Column("run"))
_Parts = tuple[list[Column], list[Row], set[str], dict[str, int | None]]
"""Of a table of the paper: all columns, rows, columns that have to be named, and winners."""


def _results(board: Board) -> _Parts:
    form, entries = f".{board.scorer.digits}f", board.rows
    dimensions = dict.fromkeys(name for one in entries for name in one.dimensions)
    # The paper's metrics where anybody has them, then the runs' others; not what ranks.
    own_metrics = [one.name for run in board.entries for one in run.table.scorers if not one.judge]
    has = {*own_metrics, *(name for one in board.published for name in one.metrics)}
    known = dict.fromkeys([*_METRICS, *own_metrics])
    metrics = [one for one in known if one in has and one != board.scorer.column]
    columns = [
        *_WHO,
        *(Column(name, name, ".2f", importance=5) for name in dimensions),
        Column(board.scorer.column, board.scorer.column, form),
        *(Column(name, form=form, importance=3) for name in ("low", "high", "worst", "best")),
        *(Column(name, name, ".3f", importance=4) for name in metrics),
        Column("scored", importance=2),
        DEPARTURES,
    ]
    tables, won = [one.table for one in board.entries], {board.scorer.column: board.overall}
    own = {one.column: one for run in tables for one in run.scores}
    for name in {*dimensions, *metrics} & own.keys() if len(tables) > 1 else ():
        alike = {one.signature(own[name]) for one in tables}
        won |= {name: rank_runs(own[name], [ALL], tables)[0]} if len(alike) == 1 else {}
    rows = [_row(board, one) for one in entries]
    return columns, rows, {"run", *metrics} - set(_METRICS), winners_of(board, entries, won)


def _categories(board: Board) -> _Parts:
    form, overall = f".{board.scorer.digits}f", board.scorer.column
    columns = [
        *_WHO,
        *(Column(name, name, form) for name in board.categories),
        Column(overall, overall, form),
        Column("scored", importance=9),
        DEPARTURES,
    ]
    rows = []
    for one in board.rows:
        rows.append(_row(board, one))
        for name in board.categories:
            if isinstance(one, PublishedEntry):
                rows[-1][name] = one.by_category.get(name)
            else:
                rows[-1][name] = one.table.point(board.scorer, in_category(name)).value
    return columns, rows, {"rank", "run", overall}, winners_of(board, board.rows, board.parts)


def _row(board: Board, one: Entry) -> Row:
    """Who it is, and how it ranks; runs have no places among published rows, as no test says it."""
    row = record(board, one) | {"model": board.name_of(one)}
    row[board.scorer.column] = row["score"]
    if isinstance(one, PublishedEntry):
        scored = board.samples + board.missing_clips if board.entries else None
        return row | {"rank": one.printed_rank, "scored": scored}
    worst, best = board.bounds(one) or (None, None)
    rank = None if board.published else one.overall.rank
    return row | {"rank": rank, "worst": worst, "best": best}


def _composition(board: Board) -> _Parts:
    every = board.entries[0].table.samples if board.entries else ()
    groups = grouped(((one.category, str(one.details.get("source") or "–")), one) for one in every)
    rows: list[Row] = []
    for (kind, source), samples in groups.items():
        answers = [one.table.outcomes.get(sample.id) for one in board.entries for sample in samples]
        lengths = [len(one.reply.text) for one in answers if one and one.reply.text]
        captions = mean(len(sample.references[0]) for sample in samples)
        rows.append({"category": kind, "source": source, "samples": len(samples)})
        rows[-1] |= {"caption_chars": captions, "answer_chars": mean(lengths) if lengths else None}
    results = None if board.entries else published_results(board.benchmark)
    rows += [{**row, "answer_chars": None} for row in (results.composition if results else ())]
    total = {"category": "total", "source": "", "samples": board.samples}
    rows.append(total | dict.fromkeys(("caption_chars", "answer_chars")))
    chars = [Column(name, name, ".0f", importance=9) for name in ("caption_chars", "answer_chars")]
    return [*map(Column, ("category", "source", "samples")), *chars], rows, set(), {}


def paper_table(board: Board, number: int, wanted: Sequence[str]) -> Table:
    make = (_results, _categories, _composition)[number - 1]
    columns, rows, left_out, winners = make(board)
    known = {one.name: one for one in columns}
    usual = (one for one in columns if one.name not in left_out)
    names = wanted or [one.name for one in usual if Table("", rows).shows(one)]
    for name in names:
        check_known("column", name, known, ReportError)
    title = f"{board.benchmark}, table {number}"
    notes = ["caption_chars: mean length of first captions; answer_chars: of all models' answers."]
    notes += [one for one in board.notes if one.startswith(DEPARTS)]
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
    return Table(title, chosen, [known[name] for name in names], notes, winners=winners)
