"""A leaderboard as tables for people."""

from collections.abc import Iterable, Iterator

from audiocapbench.report.leaderboard.board import Board, Leaderboard, PublishedEntry, RunEntry
from audiocapbench.scores.estimate import counted
from audiocapbench.table import Column, Row, Table, dollars, signature_notes


def board_tables(leaderboard: Leaderboard) -> list[Table]:
    """A table for each board, and one by category where that was asked for."""
    found = []
    for board in leaderboard.boards:
        found.append(_overall(board))
        if any(one.by_category for one in in_order(board)):
            found.append(_by_category(board))
    return found


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
        score = -board.scorer.sort_key(entry.overall.estimate)[1]
        while waiting and entry.overall.rank is not None and waiting[0].score > score:
            found.append(waiting.pop(0))
        if entry.overall.rank is None:
            found, waiting = [*found, *waiting], []
        found.append(entry)
    return [*found, *waiting]


def _overall(board: Board) -> Table:
    form = f".{board.scorer.digits}f"
    entries = in_order(board)
    dimensions = dict.fromkeys(name for one in entries for name in one.dimensions)
    columns = [
        Column("rank", "#"),
        Column("model"),
        Column("run"),
        Column("score", form=form),
        Column("ranks", align="right"),
        Column("tied", align="left", importance=6),
        *(Column(f"dimension {name}", name, form, importance=4) for name in dimensions),
        Column("scored", align="right"),
        Column("as_zero", form=form, importance=5),
        Column("bounds", "worst–best", f"{{worst:{form}}}–{{best:{form}}}", folds=True),
        Column("cost", align="right", importance=3),
        Column("judge_cost_usd", "judge's cost", "$", importance=2),
        Column("latency_s", "s/answer", ".2f", importance=1),
    ]
    estimates = [one.overall.estimate for one in board.entries]
    failures = any(one.n < one.coverage.total for one in estimates)
    left_out = set() if failures else {"as_zero"}
    if not failures and not (board.published and board.missing_clips):
        left_out.add("bounds")
    if all(one.judge_cost_usd is None for one in board.entries):
        left_out.add("judge_cost_usd")
    kept = [one for one in columns if one.name not in left_out]
    if not board.entries:
        kept = [*columns[:2], columns[3], *columns[6 : 6 + len(dimensions)]]
    notes = [*board.notes, *signature_notes([board.signature])]
    rows = [_row(board, one, dimensions) for one in entries]
    return Table(_title(board), rows, kept, notes)


def _row(board: Board, one: RunEntry | PublishedEntry, dimensions: Iterable[str]) -> Row:
    row: Row = {"model": shown_name(one, board)}
    row |= {f"dimension {name}": one.dimensions.get(name) for name in dimensions}
    if isinstance(one, PublishedEntry):
        rank = {} if board.entries else {"rank": one.printed_rank}
        return row | rank | {"score": one.score, "ranks": f"printed {one.printed_rank}"}
    estimate = one.overall.estimate
    worst, best = board.bounds(one) or (None, None)
    return row | {
        "rank": one.overall.rank,
        "run": one.run.id,
        "score": estimate,
        "ranks": one.overall.open_ranks,
        "tied": one.overall.tied,
        "scored": f"{estimate.n:,}/{estimate.coverage.total:,}",
        "as_zero": estimate.as_zero,
        "worst": worst,
        "best": best,
        "cost": "~" * (one.table.cost_estimated > 0) + dollars(one.table.cost_usd),
        "judge_cost_usd": one.judge_cost_usd,
        "latency_s": one.table.latency_s,
    }


def _title(board: Board) -> str:
    label = board.scorer.label
    if not board.entries:
        judge = board.scorer.dimension is not None
        label = f"as published, {f'judged by {board.scorer.name}' if judge else label}"
    missing = f", {board.missing_clips:,} clips missing" if board.missing_clips else ""
    return f"{board.benchmark}: {label}, {counted(board.samples, 'sample')}{missing}"


def _by_category(board: Board) -> Table:
    form = f".{board.scorer.digits}f"
    columns = [Column("model")]
    for name, count in board.categories.items():
        columns.append(Column(f"in {name}", f"{name} ({count:,})", form))
        if board.entries:
            columns.append(Column(f"tied in {name}", "tied", align="left", folds=True))
    rows = []
    for one in in_order(board):
        row: Row = {"model": shown_name(one, board)}
        for name in board.categories:
            if isinstance(one, PublishedEntry):
                row[f"in {name}"] = one.by_category.get(name)
            else:
                place = one.by_category[name]
                row |= {f"in {name}": place.estimate, f"tied in {name}": place.tied}
        rows.append(row)
    return Table(f"{_title(board)}, by category", rows, columns, list(_category_notes(board)))


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
