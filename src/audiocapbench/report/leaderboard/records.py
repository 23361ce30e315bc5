"""A leaderboard as records for programs: rows of CSV and Parquet, and one JSON object."""

from collections.abc import Iterator, Sequence
from typing import Any

from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.exports import Record, Value
from audiocapbench.report.leaderboard.board import Board, Leaderboard, PublishedEntry, RunEntry
from audiocapbench.report.leaderboard.ranking import PairTest, Placement
from audiocapbench.stats import METHOD, ROUNDS, SEED
from audiocapbench.stats.power import ALPHA

PUBLISHED = "published, not run here"


def records(leaderboard: Leaderboard) -> list[Record]:
    """A row for each model, for each of its categories and for each test; unrounded.

    ``source`` says which: ``run``, ``test``, or that a row was published. A test's ``difference``
    is that of ``model`` less ``other_model`` on the samples that both have.
    """
    rows: list[Record] = []
    for number, board in enumerate(leaderboard.boards, 1):
        for entry in board.entries:
            rows.append(_record(number, board, entry, "all", entry.overall))
            rows += [
                _record(number, board, entry, name, place)
                for name, place in entry.by_category.items()
            ]
        rows += _pair_records(number, board, "all", board.pairs)
        for name, pairs in board.pairs_by_category.items():
            rows += _pair_records(number, board, name, pairs)
        for one in board.published:
            rows.append(_published_record(number, board, one, "all", one.score))
            rows += [
                _published_record(number, board, one, name, score)
                for name, score in one.by_category.items()
            ]
    return rows


def document(leaderboard: Leaderboard) -> dict[str, Any]:
    """The leaderboard as a JSON object."""
    corrections = {str(board.correction) for board in leaderboard.boards}
    return {
        "boards": [_board_document(board) for board in leaderboard.boards],
        "notes": list(leaderboard.notes),
        "made_by": {
            "interval": METHOD,
            "rounds": ROUNDS,
            "seed": SEED,
            "test": "paired permutation",
            "correction": ", ".join(sorted(corrections)),
            "alpha": ALPHA,
        },
    }


def _record(
    number: int, board: Board, entry: RunEntry, category: str, place: Placement
) -> dict[str, Value]:
    whole, estimate = category == "all", place.estimate
    return {
        **_head(number, board, category),
        "dataset": board.dataset,
        "signature": str(board.signature),
        "model": entry.run.model,
        "run": entry.run.id,
        "begun": entry.run.created_at,
        "source": "run",
        "ranked_by": "as_zero" if _is_by_zero(board, category) else "score",
        "rank": place.rank,
        "rank_best": place.ranks.best if place.ranks else None,
        "rank_worst": place.ranks.worst if place.ranks else None,
        "tied": place.tied,
        "score": estimate.value,
        "low": estimate.interval.low if estimate.interval else None,
        "high": estimate.interval.high if estimate.interval else None,
        "scored": estimate.n,
        "samples": estimate.coverage.total,
        "as_zero": estimate.as_zero,
        "worst": estimate.bounds.low if estimate.bounds else None,
        "best": estimate.bounds.high if estimate.bounds else None,
        "cost_usd": entry.table.cost_usd if whole else None,
        "judge_cost_usd": entry.judge_cost_usd if whole else None,
        "latency_s": entry.table.latency_s if whole else None,
    }


def _is_by_zero(board: Board, category: str) -> bool:
    return board.by_zero if category == "all" else category in board.zero_categories


def _pair_records(
    number: int, board: Board, category: str, pairs: Sequence[PairTest]
) -> Iterator[Record]:
    for pair in pairs:
        first, second = board.entries[pair.first].run, board.entries[pair.second].run
        yield {
            **_head(number, board, category),
            "dataset": board.dataset,
            "signature": str(board.signature),
            "model": first.model,
            "run": first.id,
            "source": "test",
            "ranked_by": "as_zero" if _is_by_zero(board, category) else "score",
            "scored": pair.n,
            "other_model": second.model,
            "other_run": second.id,
            "difference": pair.difference,
            "p": pair.p_value,
            "p_adjusted": pair.adjusted,
            "p_common": pair.p_common,
            "against_order": pair.is_against,
        }


def _published_record(
    number: int, board: Board, one: PublishedEntry, category: str, score: float
) -> dict[str, Value]:
    scorer = board.scorer.name if board.scorer.dimension is None else f"{one.judge}: {OVERALL}"
    return {
        **_head(number, board, category),
        "scorer": scorer,
        "judge": one.judge,
        "model": one.model,
        "source": PUBLISHED,
        "paper": one.source,
        "score": score,
    }


_NAMES = (
    "board benchmark dataset scorer judge signature category model run begun source paper "
    "ranked_by rank rank_best rank_worst tied score low high scored samples as_zero worst best "
    "cost_usd judge_cost_usd latency_s other_model other_run difference p p_adjusted "
    "p_common against_order"
).split()


def _head(number: int, board: Board, category: str) -> dict[str, Value]:
    """What every row has, and an empty place for all that only some have."""
    scorer = board.scorer
    return {
        **dict.fromkeys(_NAMES),
        "board": number,
        "benchmark": board.benchmark,
        "dataset": "",
        "scorer": scorer.label,
        "judge": scorer.name if scorer.dimension is not None else "",
        "signature": "",
        "category": category,
    }


def _board_document(board: Board) -> dict[str, Any]:
    return {
        "benchmark": board.benchmark,
        "dataset": board.dataset,
        "samples": board.samples,
        "missing_clips": board.missing_clips,
        "scorer": board.scorer.label,
        "ranked_by": "as_zero" if board.by_zero else "score",
        "correction": str(board.correction),
        "signature": str(board.signature),
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
                "judge": one.judge,
                "source": one.source,
                "printed_rank": one.rank,
                "score": one.score,
                "dimensions": one.dimensions,
                "by_category": one.by_category,
            }
            for one in board.published
        ],
        "notes": list(board.notes),
    }


def _entry_document(entry: RunEntry) -> dict[str, Any]:
    return {
        "run": entry.run.id,
        "model": entry.run.model,
        "parameters": dict(entry.run.parameters),
        "created_at": entry.run.created_at,
        **_place_document(entry.overall),
        "dimensions": entry.dimensions,
        "statuses": dict(entry.table.statuses),
        "unasked": len(entry.table.samples) - len(entry.table.outcomes),
        "unscored": entry.table.unscored(entry.scorer),
        "cost_usd": entry.table.cost_usd,
        "judge_cost_usd": entry.judge_cost_usd,
        "latency_s": entry.table.latency_s,
        "by_category": {name: _place_document(place) for name, place in entry.by_category.items()},
    }


def _place_document(place: Placement) -> dict[str, Any]:
    estimate, total = place.estimate, place.estimate.coverage.total
    numbers = estimate.scores()
    return {
        "score": numbers["score"],
        "ci": numbers["ci"],
        "rank": place.rank,
        "rank_ci": list(place.ranks) if place.ranks else None,
        "tied": place.tied.split(),
        "scored": estimate.n,
        "n": total,
        "coverage": estimate.n / total if total else 0.0,
        "as_zero": numbers["as_zero"],
        "bounds": numbers["bounds"],
        "lacks": list(estimate.lacks or ()),
    }


def _pairs(board: Board, pairs: Sequence[PairTest]) -> list[dict[str, Any]]:
    return [
        {
            "runs": [board.entries[one.first].run.id, board.entries[one.second].run.id],
            "n": one.n,
            "difference": one.difference,
            "p": one.p_value,
            "p_adjusted": one.adjusted,
            "p_common": one.p_common,
            "tested": one.p_value is not None,
            "against_order": one.is_against,
        }
        for one in pairs
    ]
