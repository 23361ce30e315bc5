"""A leaderboard as tables for people."""

from collections.abc import Iterator, Sequence

from audiocapbench.report.exports import Align, Heading, Page
from audiocapbench.report.leaderboard.board import Board, Leaderboard, PublishedEntry, RunEntry
from audiocapbench.report.leaderboard.ranking import Placement
from audiocapbench.scores.estimate import spanned

_LEFT: Align = "left"


def pages(leaderboard: Leaderboard) -> list[Page]:
    """A table for each board, and one by category where that was asked for."""
    found = []
    for board in leaderboard.boards:
        found.append(_overall(board))
        if _wants_categories(board):
            found.append(_by_category(board))
    return found


def _wants_categories(board: Board) -> bool:
    rows: list[RunEntry | PublishedEntry] = [*board.entries, *board.published]
    return any(one.by_category for one in rows)


def _overall(board: Board) -> Page:
    digits = board.scorer.digits
    own = [one.dimensions for one in board.entries] + [one.dimensions for one in board.published]
    dimensions = list(dict.fromkeys(name for given in own for name in given))
    estimates = [one.overall.estimate for one in board.entries]
    failed = any(one.n < one.coverage.total for one in estimates)
    judged = any(one.judge_cost_usd is not None for one in board.entries)
    headings = [
        Heading("#"),
        Heading("model", _LEFT),
        Heading("score"),
        Heading("95 %", folds=True),
        Heading("ranks"),
        Heading("tied", _LEFT),
        *(Heading(name, spare=True) for name in dimensions),
        Heading("scored"),
        *([Heading("as zero"), Heading("worst–best", folds=True)] if failed else []),
        Heading("cost", spare=True),
        *([Heading("judge's cost", spare=True)] if judged else []),
        Heading("s/answer", spare=True),
    ]
    if not board.entries:
        headings = [one for one in headings if one.text in ("#", "model", "score", *dimensions)]
    rows = []
    for one in _in_order(board):
        if not board.entries and isinstance(one, PublishedEntry):
            cells = _printed_cells(one, dimensions, digits)
        elif isinstance(one, PublishedEntry):
            cells = _published_cells(one, dimensions, digits)
        else:
            cells = _cells(one, dimensions, digits, failed=failed, judged=judged)
        rows.append((*cells, *[""] * (len(headings) - len(cells))))
    notes = list(board.notes)
    if board.signature:
        notes.append(f"Signature: {board.signature}")
    return Page(_title(board), tuple(headings), tuple(rows), tuple(notes))


def _in_order(board: Board) -> list[RunEntry | PublishedEntry]:
    """Runs in their order, each published row above the first run that it beats."""
    found: list[RunEntry | PublishedEntry] = []
    waiting = list(board.published)
    for entry in board.entries:
        estimate = entry.overall.estimate
        score = estimate.as_zero if board.by_zero else estimate.value
        while waiting and entry.overall.rank is not None and waiting[0].score > (score or 0.0):
            found.append(waiting.pop(0))
        if entry.overall.rank is None:
            found, waiting = [*found, *waiting], []
        found.append(entry)
    return [*found, *waiting]


def _title(board: Board) -> str:
    label = board.scorer.label
    if not board.entries:
        judge = board.scorer.dimension is not None
        label = f"as published, {f'judged by {board.scorer.name}' if judge else label}"
    missing = f", {board.missing_clips:,} clips missing" if board.missing_clips else ""
    return f"{board.benchmark}: {label}, {board.samples:,} samples{missing}"


def _cells(
    entry: RunEntry, dimensions: Sequence[str], digits: int, *, failed: bool, judged: bool
) -> list[str]:
    place, estimate = entry.overall, entry.overall.estimate
    cells = [
        "–" if place.rank is None else str(place.rank),
        entry.label,
        estimate.shown(digits),
        estimate.shown_interval(digits),
        _ranks(place),
        place.tied,
        *(_number(entry.dimensions.get(name), digits) for name in dimensions),
        f"{estimate.n:,}/{estimate.coverage.total:,}",
    ]
    if failed:
        cells += [_number(estimate.as_zero, digits), spanned(estimate.bounds, digits)]
    cells.append(_dollars(entry.table.cost_usd))
    if judged:
        cells.append(_dollars(entry.judge_cost_usd))
    latency = entry.table.latency_s
    return [*cells, "–" if latency is None else f"{latency:.2f}"]


def _printed_cells(one: PublishedEntry, dimensions: Sequence[str], digits: int) -> list[str]:
    """Of a table that has published rows alone."""
    scores = [one.score, *(one.dimensions.get(name) for name in dimensions)]
    return [str(one.rank), one.model, *(_number(score, digits) for score in scores)]


def _published_cells(one: PublishedEntry, dimensions: Sequence[str], digits: int) -> list[str]:
    return [
        "",
        f"{one.model} (published)",
        _number(one.score, digits),
        "",
        f"printed {one.rank}",
        "",
        *(_number(one.dimensions.get(name), digits) for name in dimensions),
    ]


def _by_category(board: Board) -> Page:
    digits = board.scorer.digits
    headings = [Heading("model", _LEFT)]
    for name, count in board.categories.items():
        headings += [
            Heading(f"{name} ({count:,})"),
            Heading("95 %", folds=True),
            *([Heading("tied", _LEFT, folds=True)] if board.entries else []),
        ]
    rows = []
    for one in _in_order(board):
        cells = [one.label if isinstance(one, RunEntry) else one.model]
        if isinstance(one, PublishedEntry) and board.entries:
            cells = [f"{one.model} (published)"]
        for name in board.categories:
            if isinstance(one, PublishedEntry):
                score = _number(one.by_category.get(name), digits)
                cells += [score, *([""] * (2 if board.entries else 1))]
            else:
                place, estimate = one.by_category[name], one.by_category[name].estimate
                cells += [estimate.shown(digits), estimate.shown_interval(digits), place.tied]
        rows.append(tuple(cells))
    notes = list(_category_notes(board))
    return Page(f"{_title(board)}, by category", tuple(headings), tuple(rows), tuple(notes))


def _category_notes(board: Board) -> Iterator[str]:
    pairs = [one for given in board.pairs_by_category.values() for one in given]
    tested = sum(one.p_value is not None for one in pairs)
    if tested:
        yield (
            "Models that share a letter within a category cannot be told apart there: "
            f"{tested} paired permutation tests, corrected by {board.correction.words} together."
        )
    if board.zero_categories:
        yield (
            "Samples without a score count as 0 in the tests, because not all models have scores "
            f"of the same samples, in {', '.join(board.zero_categories)}."
        )
    if board.too_few:
        yield f"Too few samples to tell any two models apart in {', '.join(board.too_few)}."


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _ranks(place: Placement) -> str:
    if place.ranks is None:
        return ""
    best, worst = place.ranks
    return str(best) if best == worst else f"{best}–{worst}"


def _dollars(value: float | None) -> str:
    return "–" if value is None else f"${value:.2f}"
