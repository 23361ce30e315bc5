"""A leaderboard as records for programs: rows of CSV and Parquet, and one JSON object."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.leaderboard.board import Board, Leaderboard, RunEntry
from audiocapbench.report.leaderboard.ranking import PairTest, Placement, Ranking
from audiocapbench.scores.groups import ALL
from audiocapbench.scores.groups import category as in_category
from audiocapbench.stats import METHODS, ROUNDS, SEED
from audiocapbench.stats.power import ALPHA
from audiocapbench.table import Row

PUBLISHED = "published, not run here"
_COLUMNS = (
    "board benchmark dataset scorer judge signature category model run begun source paper "
    "ranked_by rank rank_best rank_worst tied score low high scored samples as_zero worst best "
    "cost_usd judge_cost_usd latency_s"
).split()
_TEST = ("difference", "p", "p_adjusted", "p_common", "against_order")


def records(leaderboard: Leaderboard) -> list[Row]:
    """A row for each model and each of its categories, with all dimensions and metrics; unrounded.

    ``source`` says whether a row is of a run or was published.
    """
    found = [
        {"board": number, **row}
        for number, board in enumerate(leaderboard.boards, 1)
        for row in _rows(board)
    ]
    names = dict.fromkeys([*_COLUMNS, *(name for row in found for name in row)])
    return [dict.fromkeys(names) | row for row in found]


def pair_records(leaderboard: Leaderboard) -> list[Row]:
    """A row for each test between two runs.

    ``difference`` is that of ``model`` less ``other_model`` on the samples that both have.
    """
    rows: list[Row] = []
    for number, board in enumerate(leaderboard.boards, 1):
        for name, ranking in [("all", board.overall), *board.parts.items()]:
            for pair in ranking.pairs:
                first, second = (board.entries[place].run for place in (pair.first, pair.second))
                test = _test(board, pair)
                rows.append(
                    {"board": number, **_head(board), "category": name}
                    | {"model": first.model, "run": first.id, "ranked_by": _ranked_by(ranking)}
                    | {"scored": pair.n, "other_model": second.model, "other_run": second.id}
                    | {name: test[name] for name in _TEST}
                )
    return rows


def document(leaderboard: Leaderboard) -> dict[str, Any]:
    """The leaderboard as a JSON object."""
    corrections = {str(board.correction) for board in leaderboard.boards}
    return {
        "boards": [_board_document(board) for board in leaderboard.boards],
        "notes": list(leaderboard.notes),
        "made_by": {
            "interval": METHODS,
            "rounds": ROUNDS,
            "seed": SEED,
            "test": "paired permutation",
            "correction": ", ".join(sorted(corrections)),
            "alpha": ALPHA,
        },
    }


def _rows(board: Board) -> Iterator[Row]:
    """What a board has to say, of each row only the columns that it has."""
    head = _head(board)
    for number, entry in enumerate(board.entries):
        table, run = entry.table, entry.run
        who = {"model": run.model, "run": run.id, "begun": run.created_at, "source": "run"}
        for name, ranking in [("all", board.overall), *board.parts.items()]:
            place, key = ranking.runs[number], in_category(name)
            costs: Row = {}
            if ranking is board.overall:
                key = ALL
                costs = {"cost_usd": table.cost_usd, "judge_cost_usd": entry.judge_cost_usd}
                costs |= {"latency_s": table.latency_s}
            metrics = {
                one.name: table.point(one, key).value for one in table.scorers if not one.judge
            }
            rank_best, rank_worst = place.ranks or (None, None)
            yield {
                **entry.dimensions_of(key),
                **metrics,
                **head,
                "category": name,
                **who,
                "ranked_by": _ranked_by(ranking),
                "rank": place.rank,
                "rank_best": rank_best,
                "rank_worst": rank_worst,
                "tied": place.tied,
                "scored": place.estimate.n,
                "samples": place.estimate.coverage.total,
                **place.estimate.flat(),
                **costs,
            }
    for one in board.published:
        scorer = board.scorer.name if board.scorer.judge is None else f"{one.judge}: {OVERALL}"
        own = head | {"dataset": "", "signature": "", "scorer": scorer, "judge": one.judge}
        own |= {"model": one.model, "source": PUBLISHED, "paper": one.source}
        yield {**one.dimensions, **one.metrics, **own, "category": "all", "score": one.score}
        for name, score in one.by_category.items():
            yield {**own, "category": name, "score": score}


def _head(board: Board) -> Row:
    return {
        "benchmark": board.benchmark,
        "dataset": board.dataset,
        "scorer": board.scorer.label,
        "judge": board.scorer.judge or "",
        "signature": str(board.signature),
    }


def _ranked_by(ranking: Ranking) -> str:
    return "as_zero" if ranking.by_zero else "score"


def _board_document(board: Board) -> dict[str, Any]:
    return {
        "benchmark": board.benchmark,
        "dataset": board.dataset,
        "samples": board.samples,
        "missing_clips": board.missing_clips,
        "scorer": board.scorer.label,
        "ranked_by": _ranked_by(board.overall),
        "correction": str(board.correction),
        "signature": str(board.signature),
        "categories": board.categories,
        "common": board.overall.common,
        "runs": [_run_document(entry) for entry in board.entries],
        "pairs": [_test(board, one) for one in board.overall.pairs],
        "pairs_by_category": {
            name: [_test(board, one) for one in ranking.pairs]
            for name, ranking in board.parts.items()
        },
        "published": [asdict(one) for one in board.published],
        "notes": list(board.notes),
    }


def _run_document(entry: RunEntry) -> dict[str, Any]:
    table = entry.table
    return {
        "run": entry.run.id,
        "model": entry.run.model,
        "parameters": dict(entry.run.parameters),
        "created_at": entry.run.created_at,
        **_place_document(entry.overall),
        "dimensions": entry.dimensions,
        "statuses": dict(table.statuses),
        "unasked": len(table.samples) - len(table.outcomes),
        "unscored": dict(entry.overall.estimate.missing),
        "cost_usd": table.cost_usd,
        "cost_estimated": table.cost_estimated,
        "judge_cost_usd": entry.judge_cost_usd,
        "latency_s": table.latency_s,
        "by_category": {name: _place_document(place) for name, place in entry.by_category.items()},
    }


def _place_document(place: Placement) -> dict[str, Any]:
    estimate, total = place.estimate, place.estimate.coverage.total
    return {
        **estimate.scores(),
        "rank": place.rank,
        "rank_ci": list(place.ranks) if place.ranks else None,
        "tied": place.tied.split(),
        "scored": estimate.n,
        "n": total,
        "coverage": estimate.n / total if total else 0.0,
        "lacks": list(estimate.lacks or ()),
    }


def _test(board: Board, pair: PairTest) -> Row:
    return {
        "runs": [board.entries[place].run.id for place in (pair.first, pair.second)],
        "n": pair.n,
        "difference": pair.difference,
        "p": pair.p_value,
        "p_adjusted": pair.adjusted,
        "p_common": pair.p_common,
        "tested": pair.p_value is not None,
        "against_order": pair.against,
    }
