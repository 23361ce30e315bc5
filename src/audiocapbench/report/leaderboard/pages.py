"""A leaderboard as tables for people and as records for programs."""

from collections.abc import Sequence
from typing import Any

from audiocapbench.report.exports import Align, Heading, Page, Record, Value
from audiocapbench.report.leaderboard.board import Board, Entry, Leaderboard, PublishedEntry
from audiocapbench.report.leaderboard.standing import Pair, Standing
from audiocapbench.stats import METHOD, ROUNDS, SEED, Interval
from audiocapbench.stats.power import ALPHA

PUBLISHED = "published, not run here"

_LEFT: Align = "left"


def pages(leaderboard: Leaderboard) -> list[Page]:
    """A table for each board, and one by category where that was asked for."""
    found = []
    for board in leaderboard.boards:
        found.append(_overall(board))
        if _wants_categories(board):
            found.append(_by_category(board))
    return found


def records(leaderboard: Leaderboard) -> list[Record]:
    """A row for each model on each board, and one for each of its categories; unrounded."""
    rows: list[Record] = []
    for number, board in enumerate(leaderboard.boards, 1):
        for entry in board.entries:
            rows.append(_record(number, board, entry, "all", entry.overall))
            rows += [
                _record(number, board, entry, name, standing)
                for name, standing in entry.by_category.items()
            ]
        for one in board.published:
            rows.append(_published_record(number, board, one, "all", one.score))
            rows += [
                _published_record(number, board, one, name, score)
                for name, score in one.by_category.items()
                if _wants_categories(board)
            ]
    return rows


def document(leaderboard: Leaderboard) -> dict[str, Any]:
    """The leaderboard as a JSON object."""
    return {
        "boards": [_board_document(board) for board in leaderboard.boards],
        "notes": list(leaderboard.notes),
        "made_by": {
            "interval": METHOD,
            "rounds": ROUNDS,
            "seed": SEED,
            "test": "paired permutation",
            "correction": "holm",
            "alpha": ALPHA,
        },
    }


def _wants_categories(board: Board) -> bool:
    return any(one.by_category for one in board.entries) or (
        not board.entries and any(one.by_category for one in board.published)
    )


def _overall(board: Board) -> Page:
    digits = board.scorer.digits if board.scorer else 2
    own = [one.dimensions for one in board.entries] + [one.dimensions for one in board.published]
    dimensions = list(dict.fromkeys(name for given in own for name in given))
    failed = any(one.overall.scored < one.overall.total for one in board.entries)
    judged = any(one.judge_cost_usd is not None for one in board.entries)
    headings = [
        Heading("#"),
        Heading("model", _LEFT),
        Heading("score"),
        Heading("95 %"),
        Heading("ranks"),
        Heading("tied", _LEFT),
        *(Heading(name) for name in dimensions),
        Heading("scored"),
        *([Heading("as zero"), Heading("at worst–best")] if failed else []),
        Heading("cost"),
        *([Heading("judge's cost")] if judged else []),
        Heading("s/answer"),
    ]
    rows = []
    for one in _in_order(board):
        if isinstance(one, PublishedEntry):
            cells = _published_cells(one, dimensions, digits)
        else:
            cells = _cells(one, dimensions, digits, failed=failed, judged=judged)
        rows.append((*cells, *[""] * (len(headings) - len(cells))))
    notes = list(board.notes)
    if board.signature:
        notes.append(f"Signature: {board.signature}")
    return Page(_title(board), tuple(headings), tuple(rows), tuple(notes))


def _in_order(board: Board) -> list[Entry | PublishedEntry]:
    """Runs in their order, each published row above the first run that it beats."""
    found: list[Entry | PublishedEntry] = []
    waiting = list(board.published)
    for entry in board.entries:
        score = entry.overall.score
        while waiting and entry.overall.rank is not None and waiting[0].score > (score or 0.0):
            found.append(waiting.pop(0))
        if entry.overall.rank is None:
            found, waiting = [*found, *waiting], []
        found.append(entry)
    return [*found, *waiting]


def _title(board: Board) -> str:
    label = board.scorer.label if board.scorer else ""
    missing = f", {board.missing_clips:,} clips missing" if board.missing_clips else ""
    return f"{board.benchmark}: {label}, {board.samples:,} samples{missing}"


def _cells(
    entry: Entry, dimensions: Sequence[str], digits: int, *, failed: bool, judged: bool
) -> list[str]:
    standing = entry.overall
    cells = [
        "–" if standing.rank is None else str(standing.rank),
        entry.label,
        _number(standing.score, digits),
        _span(standing.interval, digits),
        _ranks(standing),
        standing.tied,
        *(_number(entry.dimensions.get(name), digits) for name in dimensions),
        f"{standing.scored:,}/{standing.total:,}",
    ]
    if failed:
        cells += [_number(standing.as_zero, digits), _span(standing.bounds, digits)]
    cells.append(_dollars(entry.cost_usd))
    if judged:
        cells.append(_dollars(entry.judge_cost_usd))
    return [*cells, "–" if entry.latency_s is None else f"{entry.latency_s:.2f}"]


def _published_cells(one: PublishedEntry, dimensions: Sequence[str], digits: int) -> list[str]:
    return [
        "",
        f"{one.model} ({PUBLISHED})",
        _number(one.score, digits),
        "",
        f"printed {one.rank}",
        "",
        *(_number(one.dimensions.get(name), digits) for name in dimensions),
    ]


def _by_category(board: Board) -> Page:
    digits = board.scorer.digits if board.scorer else 2
    headings = [Heading("model", _LEFT)]
    for name, count in board.categories.items():
        headings += [Heading(f"{name} ({count:,})"), Heading("95 %"), Heading("tied", _LEFT)]
    rows = []
    for one in _in_order(board):
        cells = [f"{one.model} ({PUBLISHED})" if isinstance(one, PublishedEntry) else one.label]
        for name in board.categories:
            if isinstance(one, PublishedEntry):
                cells += [_number(one.by_category.get(name), digits), "", ""]
            else:
                standing = one.by_category[name]
                interval = _span(standing.interval, digits)
                cells += [_number(standing.score, digits), interval, standing.tied]
        rows.append(tuple(cells))
    number = sum(len(pairs) for pairs in board.pairs_by_category.values())
    notes = []
    if number:
        notes.append(
            "Models that share a letter within a category cannot be told apart there: "
            f"{number} paired permutation tests, corrected by Holm together."
        )
    if board.too_few:
        notes.append(f"Too few samples to tell any two models apart in {', '.join(board.too_few)}.")
    return Page(f"{_title(board)}, by category", tuple(headings), tuple(rows), tuple(notes))


def _record(
    number: int, board: Board, entry: Entry, category: str, standing: Standing
) -> dict[str, Value]:
    whole = category == "all"
    return {
        **_head(number, board, category),
        "model": entry.run.model,
        "run": entry.run.id,
        "begun": entry.run.created_at,
        "source": "run",
        "rank": standing.rank,
        "rank_best": standing.ranks.best if standing.ranks else None,
        "rank_worst": standing.ranks.worst if standing.ranks else None,
        "tied": standing.tied,
        "score": standing.score,
        "low": standing.interval.low if standing.interval else None,
        "high": standing.interval.high if standing.interval else None,
        "scored": standing.scored,
        "samples": standing.total,
        "as_zero": standing.as_zero,
        "worst": standing.bounds.low if standing.bounds else None,
        "best": standing.bounds.high if standing.bounds else None,
        "cost_usd": entry.cost_usd if whole else None,
        "judge_cost_usd": entry.judge_cost_usd if whole else None,
        "latency_s": entry.latency_s if whole else None,
    }


def _published_record(
    number: int, board: Board, one: PublishedEntry, category: str, score: float
) -> dict[str, Value]:
    empty = dict.fromkeys(
        "rank_best rank_worst tied score low high scored samples as_zero worst best cost_usd "
        "judge_cost_usd latency_s".split()
    )
    said: dict[str, Value] = {
        "model": one.model,
        "run": None,
        "begun": None,
        "source": PUBLISHED,
        "rank": None,
    }
    return {**_head(number, board, category), **said, **empty, "score": score}


def _head(number: int, board: Board, category: str) -> dict[str, Value]:
    return {
        "board": number,
        "benchmark": board.benchmark,
        "dataset": board.dataset,
        "scorer": board.scorer.label if board.scorer else "",
        "signature": board.signature,
        "category": category,
    }


def _board_document(board: Board) -> dict[str, Any]:
    return {
        "benchmark": board.benchmark,
        "dataset": board.dataset,
        "samples": board.samples,
        "missing_clips": board.missing_clips,
        "scorer": board.scorer.label if board.scorer else None,
        "signature": board.signature,
        "categories": board.categories,
        "common": board.common,
        "runs": [_entry_document(entry) for entry in board.entries],
        "pairs": _pairs(board, board.pairs),
        "pairs_by_category": {
            name: _pairs(board, pairs) for name, pairs in board.pairs_by_category.items()
        },
        "published": [
            {
                "model": one.model,
                "source": PUBLISHED,
                "printed_rank": one.rank,
                "score": one.score,
                "dimensions": one.dimensions,
                "by_category": one.by_category,
            }
            for one in board.published
        ],
        "published_source": board.source or None,
        "notes": list(board.notes),
    }


def _entry_document(entry: Entry) -> dict[str, Any]:
    return {
        "run": entry.run.id,
        "model": entry.run.model,
        "parameters": dict(entry.run.parameters),
        "created_at": entry.run.created_at,
        **_standing_document(entry.overall),
        "dimensions": entry.dimensions,
        "statuses": entry.statuses,
        "unasked": entry.unasked,
        "cost_usd": entry.cost_usd,
        "judge_cost_usd": entry.judge_cost_usd,
        "latency_s": entry.latency_s,
        "by_category": {
            name: _standing_document(standing) for name, standing in entry.by_category.items()
        },
    }


def _standing_document(standing: Standing) -> dict[str, Any]:
    return {
        "score": standing.score,
        "ci": list(standing.interval) if standing.interval else None,
        "rank": standing.rank,
        "rank_ci": list(standing.ranks) if standing.ranks else None,
        "tied": standing.tied.split(),
        "scored": standing.scored,
        "n": standing.total,
        "coverage": standing.scored / standing.total if standing.total else 0.0,
        "as_zero": standing.as_zero,
        "bounds": list(standing.bounds) if standing.bounds else None,
    }


def _pairs(board: Board, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    return [
        {
            "runs": [board.entries[one.first].run.id, board.entries[one.second].run.id],
            "n": one.n,
            "p": one.p_value,
            "p_holm": one.adjusted,
        }
        for one in pairs
    ]


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _span(interval: Interval | None, digits: int) -> str:
    return f"{interval.low:.{digits}f}–{interval.high:.{digits}f}" if interval else ""


def _ranks(standing: Standing) -> str:
    if standing.ranks is None:
        return ""
    best, worst = standing.ranks
    return str(best) if best == worst else f"{best}–{worst}"


def _dollars(value: float | None) -> str:
    return "–" if value is None else f"${value:.2f}"
