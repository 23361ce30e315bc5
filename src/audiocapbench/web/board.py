"""The boards of a store: which runs stand together, and their document, at once and in full.

What the store has kept is shown at once; ranks and intervals that it has not are computed beside
it, and kept.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock, Timer
from typing import Any

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.report.page.board import Document, board_document
from audiocapbench.report.page.explorer.content import NOT_ASKED
from audiocapbench.report.page.report_data import gather, stored_summaries
from audiocapbench.scores.run_table import keep_estimates
from audiocapbench.scores.scorer import Scorer
from audiocapbench.store import RunLine, Store
from audiocapbench.web.board_list import BoardList, QueryError
from audiocapbench.web.board_quick import quick_document
from audiocapbench.web.large_board import ranked_elsewhere

MOST_AT_ONCE = 60_000
"""Answers of a board that are read into memory together, for correlations and the like."""

_PAUSE_S = 5.0
_LATER_S = 3.0

Revision = tuple[tuple[int, int], ...]


@dataclass
class BoardState:
    """Runs of one benchmark, and what is known of them."""

    runs: tuple[int, ...]
    samples: BoardList
    quick: Document | None = None
    quick_revision: Revision = ()
    full: Document | None = None
    revision: Revision = ()
    error: str = ""
    busy: bool = False
    rest_until: float = 0.0
    lock: Lock = field(default_factory=Lock)


class Boards:
    """All boards of a store; ``version`` grows whenever a document has become better."""

    def __init__(self, store: Store, run_ids: Sequence[int] = (), by: str | None = None) -> None:
        self._store, self._chosen, self._by = store, tuple(run_ids), by
        self._boards: dict[tuple[int, ...], BoardState] = {}
        self._lock = Lock()
        self._listed: tuple[dict[int, int], list[RunLine]] = ({}, [])
        self.version = 0

    def document(self, benchmark: str = "") -> Document:
        """What a page shows of a benchmark, by default of the one that was run last."""
        lines = self._lines()
        others = list(dict.fromkeys(one.benchmark for one in lines if not one.is_trial))
        if benchmark and benchmark not in others:
            why = f"there is no benchmark {benchmark[:80]} in the store"
            return {"board": None, "benchmarks": others, "error": why, "version": self.version}
        board, own = self._board(lines, benchmark)
        revision = self._revision(board.runs)
        if own and board.quick_revision != revision:
            board.quick = quick_document(self._store, own, board.samples.heads, self._by)
            board.quick_revision = revision
        quick = board.quick
        if board.revision != revision and quick is not None:
            self._begin(board, revision)
        best = board.full if board.full is not None else quick
        statuses = sorted({status for one in own for status in one.statuses})
        if any(one.asked < len(board.samples.heads) for one in own):
            statuses.append(NOT_ASKED)
        return {
            "board": best,
            "trial_runs": _trials(lines),
            "partial": board.full is None or board.revision != revision,
            "error": board.error,
            "benchmarks": others,
            "categories": board.samples.categories,
            "present": statuses,
            "version": self.version,
        }

    def samples(self, benchmark: str = "") -> BoardList:
        """The samples of a benchmark's board."""
        return self._board(self._lines(), benchmark)[0].samples

    def _lines(self) -> list[RunLine]:
        """All runs, read again only when something has changed."""
        revisions = self._store.browse.revisions()
        if revisions != self._listed[0]:
            self._listed = (revisions, self._store.runs())
        return self._listed[1]

    def _board(self, lines: Sequence[RunLine], benchmark: str) -> tuple[BoardState, list[RunLine]]:
        own = self._together(lines, benchmark)
        key = tuple(one.id for one in own)
        with self._lock:
            if key not in self._boards:
                self._boards[key] = BoardState(key, BoardList(self._store, key))
            return self._boards[key], own

    def _together(self, lines: Sequence[RunLine], benchmark: str) -> list[RunLine]:
        """The runs of a board: those that were named, or of each model the newest on one data."""
        runs = [one for one in lines if not one.is_trial]
        if self._chosen:
            return [one for one in runs if one.id in self._chosen]
        own = [one for one in runs if one.benchmark == benchmark] if benchmark else runs[-1:]
        if not own:
            if benchmark:
                raise QueryError("there is no such benchmark in the store")
            return []
        data = {row.id: row.dataset for row in self._store.browse.run_heads(one.id for one in runs)}
        same = [one for one in runs if one.benchmark == own[-1].benchmark]
        same = [one for one in same if data[one.id] == data[own[-1].id]]
        newest = {one.model: one for one in same}
        scored = {one.id for one in newest.values() if self._store.browse.scored_by([one.id])}
        return [one for one in newest.values() if one.id in scored] or list(newest.values())

    def _revision(self, runs: Sequence[int]) -> Revision:
        found = self._store.browse.revisions()
        return tuple((run, found.get(run, 0)) for run in runs)

    def _begin(self, board: BoardState, revision: Revision) -> None:
        """Compute beside the answer, and not again and again while a run goes on."""
        with board.lock:
            if board.busy or time.monotonic() < board.rest_until:
                return
            board.busy = True
        # Whoever opens a large board sees it first, and is not slowed down by what follows.
        is_large = len(board.samples.heads) * len(board.runs) > MOST_AT_ONCE
        work = Timer(_LATER_S if is_large else 0.0, self._compute, (board, revision))
        work.daemon = True
        work.start()

    def _compute(self, board: BoardState, revision: Revision) -> None:
        began = time.monotonic()
        try:
            answers = len(board.samples.heads) * len(board.runs)
            make = self._whole if answers <= MOST_AT_ONCE else self._large
            board.full, board.error = make(board), ""
            board.revision = revision
        except AudioCapBenchError as error:
            board.error, board.revision = str(error), revision
        finally:
            self.version += 1
            board.rest_until = time.monotonic() + max(_PAUSE_S, 3 * (time.monotonic() - began))
            board.busy = False

    def _whole(self, board: BoardState) -> Document:
        data = gather(stored_summaries(self._store, board.runs), self._by)
        document = board_document(self._store, data, data.benchmark)
        keep_estimates(self._store, (one.table for one in data.runs))
        return document

    def _large(self, board: BoardState) -> Document | None:
        quick = board.quick
        if quick is None:
            return None
        headline = quick["scorers"][quick["headline"]]
        judge, label = headline["judge"], headline["label"]
        # What sorts by the headline; from here on at once.
        board.samples.columns(
            board.runs, Scorer(judge, headline["column"]) if judge else Scorer(label)
        )
        return ranked_elsewhere(self._store.url, board.runs, self._by)


def _trials(lines: Sequence[RunLine]) -> list[dict[str, Any]]:
    """Runs that serve trials and checks."""
    return [
        {
            "model": one.model,
            "benchmark": one.benchmark,
            "asked": one.asked,
            "total": one.sample_count,
            "statuses": dict(one.statuses),
            "cost": one.cost_usd,
            "begun": one.created_at[:16].replace("T", " "),
        }
        for one in lines
        if one.is_trial
    ]
