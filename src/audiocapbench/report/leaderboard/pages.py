"""A leaderboard as tables for people."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from audiocapbench.report.exports import Align, Heading, Page, dollars, number
from audiocapbench.report.leaderboard.board import Board, Leaderboard, PublishedEntry, RunEntry
from audiocapbench.scores.estimate import counted, spanned
from audiocapbench.scores.run_table import RunTable

_LEFT: Align = "left"


class _Column(NamedTuple):
    """A column, and what a run and a published row have in it."""

    heading: Heading
    run: Callable[[RunEntry], str]
    published: Callable[[PublishedEntry], str] | None = None


def pages(leaderboard: Leaderboard) -> list[Page]:
    """A table for each board, and one by category where that was asked for."""
    found = []
    for board in leaderboard.boards:
        found.append(_overall(board))
        if any(one.by_category for one in in_order(board)):
            found.append(_by_category(board))
    return found


def _overall(board: Board) -> Page:
    columns = list(_columns(board))
    if not board.entries:
        columns = [one for one in columns if one.published and one.heading.text != "ranks"]
    rows = [
        tuple(
            column.run(one)
            if isinstance(one, RunEntry)
            else (column.published(one) if column.published else "")
            for column in columns
        )
        for one in in_order(board)
    ]
    notes = [*board.notes, *([f"Signature: {board.signature}"] if board.signature else [])]
    return Page(_title(board), tuple(one.heading for one in columns), tuple(rows), tuple(notes))


def _columns(board: Board) -> Iterator[_Column]:
    digits, shown = board.scorer.digits, board.scorer.shown
    estimates = [one.overall.estimate for one in board.entries]
    yield _Column(
        Heading("#"),
        lambda one: number(one.overall.rank, 0),
        lambda one: "" if board.entries else str(one.printed_rank),
    )
    yield _Column(
        Heading("model", _LEFT),
        lambda one: shown_name(one, board),
        lambda one: shown_name(one, board),
    )
    if board.entries:
        yield _Column(Heading("run"), lambda one: str(one.run.id))
    yield _Column(
        Heading("score"),
        lambda one: shown(one.overall.estimate.value),
        lambda one: shown(one.score),
    )
    yield _Column(
        Heading("95 %", folds=True), lambda one: one.overall.estimate.shown_interval(digits)
    )
    yield _Column(
        Heading("ranks"),
        lambda one: one.overall.open_ranks,
        lambda one: f"printed {one.printed_rank}",
    )
    yield _Column(Heading("tied", _LEFT, spare=1), lambda one: one.overall.tied)
    own = [one.dimensions for one in board.entries] + [one.dimensions for one in board.published]
    for name in dict.fromkeys(name for given in own for name in given):

        def dimension(one: RunEntry | PublishedEntry, name: str = name) -> str:
            return shown(one.dimensions.get(name))

        yield _Column(Heading(name, spare=3), dimension, dimension)
    yield _Column(
        Heading("scored"),
        lambda one: f"{one.overall.estimate.n:,}/{one.overall.estimate.coverage.total:,}",
    )
    failures = any(one.n < one.coverage.total for one in estimates)
    if failures:
        yield _Column(Heading("as zero", spare=2), lambda one: shown(one.overall.estimate.as_zero))
    if failures or (board.published and board.missing_clips):
        yield _Column(
            Heading("worst–best", folds=True), lambda one: spanned(board.bounds(one), digits)
        )
    yield _Column(Heading("cost", spare=4), lambda one: _cost(one.table))
    if any(one.judge_cost_usd is not None for one in board.entries):
        yield _Column(Heading("judge's cost", spare=5), lambda one: dollars(one.judge_cost_usd))
    yield _Column(Heading("s/answer", spare=6), lambda one: number(one.table.latency_s, 2))


def _cost(table: RunTable) -> str:
    return dollars(table.cost_usd, estimated=table.cost_estimated > 0)


def shown_name(one: RunEntry | PublishedEntry, board: Board) -> str:
    """A model's name; a published one is marked where it stands among runs."""
    if isinstance(one, RunEntry):
        return one.label
    return f"{one.model} (published)" if board.entries else one.model


def in_order(board: Board) -> list[RunEntry | PublishedEntry]:
    """Runs in their order, each published row above the first run that it beats."""
    found: list[RunEntry | PublishedEntry] = []
    waiting = list(board.published)
    for entry in board.entries:
        score = -board.scorer.standing(entry.overall.estimate)[1]
        while waiting and entry.overall.rank is not None and waiting[0].score > score:
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
    return f"{board.benchmark}: {label}, {counted(board.samples, 'sample')}{missing}"


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
    for one in in_order(board):
        cells = [shown_name(one, board)]
        for name in board.categories:
            if isinstance(one, PublishedEntry):
                blanks = [""] * (2 if board.entries else 1)
                cells += [board.scorer.shown(one.by_category.get(name)), *blanks]
            else:
                place, estimate = one.by_category[name], one.by_category[name].estimate
                cells += [estimate.shown(digits), estimate.shown_interval(digits), place.tied]
        rows.append(tuple(cells))
    notes = list(_category_notes(board))
    return Page(f"{_title(board)}, by category", tuple(headings), tuple(rows), tuple(notes))


def _category_notes(board: Board) -> Iterator[str]:
    pairs = [pair for one in board.parts.values() for pair in one.pairs]
    tested = sum(one.p_value is not None for one in pairs)
    if tested:
        yield (
            "Models that share a letter within a category cannot be told apart there: "
            f"{tested} paired permutation tests, corrected by {board.correction.words} over the "
            "pairs of all categories."
        )
    by_zero = [name for name, one in board.parts.items() if one.by_zero]
    if by_zero:
        yield (
            "Samples without a score count as 0 in the tests, because not all models have scores "
            f"of the same samples, in {', '.join(by_zero)}."
        )
    if board.too_few:
        yield f"Too few samples to tell any two models apart in {', '.join(board.too_few)}."
