"""A model on a board as a row: all that is known of it, on everything or on a category."""

from collections.abc import Mapping, Sequence

from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.leaderboard.board import Board, Entry, PublishedEntry, Ranking
from audiocapbench.scores.compute import ALL
from audiocapbench.scores.compute import category as in_category
from audiocapbench.scores.departures import in_short
from audiocapbench.table import Column, Row

PUBLISHED = "published, not run here"
EVERYTHING = "all"
DEPARTURES = Column("departures", "departs", align="left", importance=9, wraps=True)


def record(board: Board, one: Entry, name: str = EVERYTHING) -> Row:
    """What is known of a model on everything, or on a category: only the columns that it has."""
    head = board_facts(board) | {"category": name}
    if isinstance(one, PublishedEntry):
        scorer = board.scorer.name if board.scorer.judge is None else f"{one.judge}: {OVERALL}"
        head |= {"dataset": "", "signature": "", "scorer": scorer, "judge": one.judge}
        head |= {"model": one.model, "source": PUBLISHED, "paper": one.source, "departures": ""}
        if name != EVERYTHING:
            return {**head, "score": one.by_category[name]}
        return {**one.dimensions, **one.metrics, **head, "score": one.score}
    table, run, place, key = one.table, one.run, one.overall, ALL
    if name != EVERYTHING:
        place, key = one.by_category[name], in_category(name)
    (rank_best, rank_worst), estimate = place.ranks or (None, None), one.estimate(key)
    row: Row = {
        **one.dimensions_of(key),
        **{own.name: table.point(own, key).value for own in table.scorers if not own.judge},
        **head,
        "model": run.model,
        "run": run.id,
        "begun": run.created_at,
        "source": "run",
        "ranked_by": (board.overall if name == EVERYTHING else board.parts[name]).ranked_by,
        "rank": place.rank,
        "rank_best": rank_best,
        "rank_worst": rank_worst,
        "tied": place.tied,
        "scored": estimate.n,
        "samples": estimate.coverage.total,
        **estimate.flat(),
    }
    if one.label in board.departures:
        row[DEPARTURES.name] = in_short(board.departures[one.label])
    if name == EVERYTHING:
        row |= {"cost_usd": table.cost_usd, "judge_cost_usd": one.judge_cost_usd}
        row |= {"latency_s": table.latency_s}
        scales = {"people": board.people.get(run.id), "over_blind": one.over_blind}
        for scale, own in scales.items():
            low, high = (own and own.interval) or (None, None)
            row |= {scale: own.value, f"{scale}_low": low, f"{scale}_high": high} if own else {}
    return row


def board_facts(board: Board) -> Row:
    return {
        "benchmark": board.benchmark,
        "dataset": board.dataset,
        "scorer": board.scorer.label,
        "judge": board.scorer.judge or "",
        "signature": str(board.signature),
    }


def winners_of(
    board: Board, rows: Sequence[Entry], rankings: Mapping[str, Ranking]
) -> dict[str, int | None]:
    """Rows of those that tests show to be the best; published rows are part of no test."""
    places = {} if board.published else {name: one.winner for name, one in rankings.items()}
    found = {name: board.entries[at] for name, at in places.items() if at is not None}
    return {name: rows.index(one) for name, one in found.items()}
