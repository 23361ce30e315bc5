"""Published results beside the runs of a leaderboard: marked, without interval, in no test.

They stand among the runs only where both are scores of one kind; elsewhere in a table of their own.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from audiocapbench.benchmarks.captioning import AUDIOCAPBENCH
from audiocapbench.benchmarks.mecat.traits import TRAITS, base_name
from audiocapbench.benchmarks.published_results import PublishedResults, published_results
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.leaderboard.board import Board, LeaderboardQuery, PublishedEntry
from audiocapbench.scores.scorer import Scorer

_DATED = r"(?:.*/)?{}(?:-\d{{4}}-\d\d-\d\d)?(?:[@\[].*)?"


def with_published(
    boards: Sequence[Board], query: LeaderboardQuery, notes: list[str]
) -> list[Board]:
    """Boards with the published rows that belong to them, and other rows on a board of their own.

    Where a board ranks by something that the paper has no score of, that is said.
    """
    found, mixed = [], False
    for board in boards:
        results = published_results(board.benchmark)
        # Published scores stand among a board's where they are of the same kind, and about every
        # sample of the benchmark, but for clips that were not there.
        alike = results is not None and _is_published(board.scorer, results)
        every = board.samples + board.missing_clips
        if results is not None and alike and every == results.total:
            found.append(_among(board, results, by_category=query.by_category))
            mixed = True
            continue
        found.append(board)
        if results is None:
            notes.append(
                f"'audiocapbench mecat standings' shows the published models of {board.benchmark}."
                if base_name(board.benchmark) in TRAITS
                else f"There are no published results of {board.benchmark} in this package."
            )
        elif alike and board.scorer.dimension is None:
            notes.append(
                f"The published rows are about {results.total:,} samples, the runs about "
                f"{board.samples:,}: their scores are not comparable and stand apart."
            )
        elif board.scorer.dimension is None:
            notes.append(f"The published results have no {board.scorer.name}.")
    results = published_results(query.benchmark or AUDIOCAPBENCH)
    # Beside totals of corpora alone, scores of a single corpus would say nothing.
    single = [one for one in boards if not (one.entries and one.entries[0].table.aggregation)]
    if results is not None and not mixed and (single or not boards):
        wanted = [one.scorer for one in boards if one.benchmark == results.benchmark]
        wanted = wanted if query.scorer is None else [query.scorer]
        printed = [one for one in wanted if one.judge is None and _is_published(one, results)]
        if printed or query.scorer is None or query.scorer.judge is not None:
            # Another judge's name above the published judge's scores would be untrue.
            scorer = next(iter(printed), Scorer(results.judge, OVERALL))
            found.append(_alone(results, scorer, by_category=query.by_category))
    if (mixed or len(found) > len(boards)) and results is not None and results.misfits:
        page = f"docs/benchmarks/{results.benchmark}.md"
        notes.append(f"Some statements of the paper do not fit its tables; {page} lists them.")
    return found


def has_published(query: LeaderboardQuery) -> bool:
    """Whether the paper has a score of what is to be ranked by."""
    results = published_results(query.benchmark or AUDIOCAPBENCH)
    if results is None:
        return False
    return query.scorer is None or _is_published(query.scorer, results)


def published_beside(
    benchmark: str, headline: Scorer, samples: int
) -> tuple[tuple[PublishedEntry, ...], list[str]]:
    """The paper's models where a page may show them beside runs, and what to know of them."""
    results = published_results(benchmark)
    if results is None:
        return (), [f"There are no published results of {benchmark} in this package."]
    if not _is_published(headline, results):
        return (), [f"The published models are not shown: they have no score of {headline.label}."]
    judged = f"were judged by {results.judge}, " if headline.judge is not None else ""
    notes = [f"Models marked 'published' {judged}were not run here. Source: {results.source}."]
    if samples != results.total:
        notes.append(
            f"The published scores are about {results.total:,} samples, the runs about "
            f"{samples:,}: compare them with care."
        )
    return _entries(results, headline, by_category=True), notes


def _is_published(scorer: Scorer, results: PublishedResults) -> bool:
    """Whether a score is of a kind that the paper prints: its judge's, or one of its metrics.

    The judge is the paper's whoever provides it and whatever day's version it is.
    """
    if scorer.judge is None:
        return any(scorer.name in row.metrics for row in results.rows)
    named = _DATED.format(re.escape(results.judge))
    return scorer.is_overall and bool(re.fullmatch(named, scorer.name, re.IGNORECASE))


def _among(board: Board, results: PublishedResults, *, by_category: bool) -> Board:
    entries = _entries(results, board.scorer, by_category=by_category)
    judge = f"were judged by {results.judge}, " if board.scorer.dimension is not None else ""
    notes = [
        *board.notes,
        f"Rows marked 'published' {judge}were not run here, and are part of no test. Source: "
        f"{results.source}.",
    ]
    if board.missing_clips:
        notes.append(
            f"The published rows are about {results.total:,} samples; {board.missing_clips:,} of "
            "them were not there for the runs: 'worst–best' is what they could make of a score."
        )
    return replace(board, published=entries, notes=tuple(notes))


def _alone(results: PublishedResults, scorer: Scorer, *, by_category: bool) -> Board:
    return Board(
        results.benchmark,
        scorer,
        results.total,
        dict(results.counts),
        published=_entries(results, scorer, by_category=by_category),
        notes=(f"Not run here, and part of no test. Source: {results.source}.",),
    )


def _entries(
    results: PublishedResults, scorer: Scorer, *, by_category: bool
) -> tuple[PublishedEntry, ...]:
    found = []
    for row in results.rows:
        judged = scorer.judge is not None
        score = row.judged[OVERALL] if judged else row.metrics.get(scorer.name)
        if score is not None:
            found.append(
                PublishedEntry(
                    row.model,
                    results.judge if judged else "",
                    results.source,
                    row.rank,
                    score,
                    {name: one for name, one in row.judged.items() if judged and name != OVERALL},
                    dict(row.by_category) if judged and by_category else {},
                    dict(row.metrics),
                )
            )
    return tuple(sorted(found, key=lambda one: -one.score))
