"""Published results among the runs of a leaderboard: marked, without interval, in no test."""

from collections.abc import Sequence
from dataclasses import replace

from audiocapbench.benchmarks.published_results import PublishedResults, published_results
from audiocapbench.judges.summary import OVERALL
from audiocapbench.report.leaderboard.board import Board, PublishedEntry, Wanted
from audiocapbench.report.leaderboard.scores import Scorer

_DEFAULT = "audiocapbench"


def with_published(boards: Sequence[Board], wanted: Wanted, notes: list[str]) -> list[Board]:
    """Boards with the published rows of their benchmark; a board of its own where none has any."""
    found, shown = [], False
    for board in boards:
        results = published_results(board.benchmark)
        if results is None:
            notes.append(f"There are no published results of {board.benchmark} in this package.")
            found.append(board)
        else:
            found.append(_among(board, results))
            shown = True
    results = published_results(wanted.benchmark or _DEFAULT)
    if not shown and results is not None:
        found.append(_published_alone(results, wanted.scorer))
    return found


def _among(board: Board, results: PublishedResults) -> Board:
    entries = _published_entries(results, board.scorer)
    notes = list(board.notes)
    if not entries:
        label = board.scorer.label if board.scorer else ""
        notes.append(f"The published results have no {label}.")
    else:
        notes.append(_published_note(results))
        if board.samples != results.total:
            notes.append(
                f"The published rows are about {results.total:,} samples, the runs about "
                f"{board.samples:,}: their scores are not comparable."
            )
        if board.scorer is not None and board.scorer.dimension is not None:
            notes.append(
                f"The published judge is {results.judge}; the runs were judged by "
                f"{board.scorer.name}. Compare them only if that is the same."
            )
    return replace(board, published=entries, source=results.source, notes=tuple(notes))


def _published_alone(results: PublishedResults, scorer: Scorer | None) -> Board:
    # Another judge's name above the published judge's scores would be untrue.
    metric = scorer is not None and scorer.dimension is None
    chosen = scorer if scorer is not None and metric else Scorer(results.judge, OVERALL)
    return Board(
        results.benchmark,
        "",
        results.total,
        0,
        chosen,
        "",
        dict(results.counts),
        (),
        (),
        {},
        (),
        0,
        _published_entries(results, chosen),
        results.source,
        (_published_note(results),),
    )


def _published_entries(
    results: PublishedResults, scorer: Scorer | None
) -> tuple[PublishedEntry, ...]:
    found = []
    for row in results.rows:
        if scorer is not None and scorer.dimension is None:
            score = row.metrics.get(scorer.name)
            more: tuple[dict[str, float], dict[str, float]] = ({}, {})
        else:
            judged = dict(row.judged)
            score = judged.pop(OVERALL)
            more = (dict(row.by_category), judged)
        if score is not None:
            found.append(PublishedEntry(row.model, row.rank, score, *more))
    return tuple(sorted(found, key=lambda one: -one.score))


def _published_note(results: PublishedResults) -> str:
    return (
        f"Rows marked 'published' were not run here and are part of no test. Source: "
        f"{results.source}."
    )
