"""The boards of a store: which runs stand together, and their document.

What the store has kept is shown at once; other ranks and intervals are computed beside it.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import get_context, parent_process
from threading import Lock, Thread, Timer
from typing import TYPE_CHECKING, Any

from audiocapbench.errors import AudioCapBenchError, ReportError
from audiocapbench.report.page.board import (
    board_document,
    drawn_notes,
    ranked_board,
    ranking_part,
)
from audiocapbench.report.page.document import BoardDocument, ServedBoard, TrialRun
from audiocapbench.report.page.html import NOT_ASKED
from audiocapbench.report.page.report_data import BoardData, gather, kept_data, stored_summaries
from audiocapbench.scores.table import TableReader, keep_estimates
from audiocapbench.store import RunLine, Store
from audiocapbench.web.board_list import BoardList, QueryError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

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
    kept: BoardData | None = None
    kept_revision: Revision = ()
    full: BoardDocument | None = None
    revision: Revision = ()
    error: str = ""
    busy: bool = False
    rest_until: float = 0.0
    lock: Lock = field(default_factory=Lock)

    @property
    def is_large(self) -> bool:
        """Whether there are more answers than are read into memory together."""
        return len(self.samples.heads) * len(self.runs) > MOST_AT_ONCE


class Boards:
    """All boards of a store; ``version`` grows whenever a document has become better."""

    def __init__(self, store: Store, run_ids: Sequence[int] = (), by: str | None = None) -> None:
        self._store, self._chosen, self._by = store, tuple(run_ids), by
        self._boards: dict[tuple[int, ...], BoardState] = {}
        self._lock = Lock()
        self._listed: tuple[dict[int, int], list[RunLine]] = ({}, [])
        self.version = 0

    def document(self, benchmark: str = "") -> ServedBoard:
        """What a page shows of a benchmark, by default of the one that was run last."""
        lines = self._lines()
        others = list(dict.fromkeys(one.benchmark for one in lines if not one.is_trial))
        if benchmark and benchmark not in others:
            why = f"there is no benchmark {benchmark[:80]} in the store"
            return ServedBoard(board=None, benchmarks=others, error=why, version=self.version)
        board, own = self._board(lines, benchmark)
        revisions = self._store.catalog.revisions()
        revision = tuple((run, revisions.get(run, 0)) for run in board.runs)
        if own and board.kept_revision != revision:
            board.kept = kept_data(self._store, own, board.samples.heads, self._by)
            board.kept_revision = revision
        # Read once, the revision first: both may be set at any moment, the document first.
        computed, shown, kept = board.revision, board.full, board.kept
        partial = shown is None or computed != revision
        if computed != revision and kept is not None:
            self._begin(board, revision)
        if shown is None and kept is not None:
            shown = board_document(self._store, kept, kept.benchmark)
        statuses = sorted({status for one in own for status in one.statuses})
        if any(one.asked < len(board.samples.heads) for one in own):
            statuses.append(NOT_ASKED)
        return ServedBoard(
            board=shown,
            trial_runs=[
                TrialRun(
                    model=one.model,
                    benchmark=one.benchmark,
                    asked=one.asked,
                    total=one.sample_count,
                    statuses=dict(one.statuses),
                    cost=one.cost_usd,
                    begun=one.created_at[:16].replace("T", " "),
                )
                for one in lines
                if one.is_trial
            ],
            partial=partial,
            error=board.error,
            benchmarks=others,
            categories=board.samples.categories,
            present=statuses,
            version=self.version,
        )

    def samples(self, benchmark: str = "") -> BoardList:
        return self._board(self._lines(), benchmark)[0].samples

    def _lines(self) -> list[RunLine]:
        """All runs, read again only when something has changed."""
        revisions = self._store.catalog.revisions()
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
        asked = (own[-1].benchmark, own[-1].dataset)
        newest = {one.model: one for one in runs if (one.benchmark, one.dataset) == asked}
        scored = self._store.catalog.scored_by(one.id for one in newest.values())
        return [one for one in newest.values() if one.id in scored] or list(newest.values())

    def _begin(self, board: BoardState, revision: Revision) -> None:
        """Compute beside the answer, and not again and again while a run goes on."""
        with board.lock:
            if board.busy or time.monotonic() < board.rest_until:
                return
            board.busy = True
        # Whoever opens a large board sees it first, and is not slowed down by what follows.
        work = Timer(_LATER_S if board.is_large else 0.0, self._compute, (board, revision))
        work.daemon = True
        work.start()

    def _compute(self, board: BoardState, revision: Revision) -> None:
        began = time.monotonic()
        try:
            if not board.is_large:
                data = gather(stored_summaries(self._store, board.runs), self._by)
                board.full = board_document(self._store, data, data.benchmark)
                keep_estimates(self._store, (one.table for one in data.runs))
            elif board.kept is not None:
                # What sorts by the headline; from here on at once.
                board.samples.columns(board.runs, board.kept.headline)
                board.full = _ranked_apart(self._store.url, board.runs, self._by)
            board.error, board.revision = "", revision
        except AudioCapBenchError as error:
            board.error, board.revision = str(error), revision
        finally:
            self.version += 1
            board.rest_until = time.monotonic() + max(_PAUSE_S, 3 * (time.monotonic() - began))
            board.busy = False


def _ranked_apart(url: str, runs: Sequence[int], by: str | None) -> BoardDocument | None:
    """What ``ranked_document`` makes, by another process: nobody who clicks is held up."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_ranked, args=(sender, url, runs, by), daemon=True)
    process.start()
    sender.close()
    try:
        reply = json.loads(receiver.recv_bytes())
    except EOFError:
        raise ReportError("ranks could not be computed") from None
    finally:
        process.join()
    if "error" in reply:
        raise ReportError(reply["error"])
    return reply["board"] and BoardDocument.model_validate(reply["board"])


def _send_ranked(sender: "Connection", url: str, runs: Sequence[int], by: str | None) -> None:
    """Answer the server, and end with it."""

    def end_with_parent() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
    os.nice(5)
    reply: dict[str, Any]
    try:
        with Store.open(url, create=False) as store:
            board = ranked_document(store, runs, by)
        reply = {"board": board and board.to_dict()}
    except AudioCapBenchError as error:
        reply = {"error": str(error)}
    sender.send_bytes(json.dumps(reply).encode())


def ranked_document(store: Store, runs: Sequence[int], by: str | None) -> BoardDocument | None:
    """The board of more answers than are held at once: of estimates kept run by run, and ranked."""
    lines, samples = store.runs(only=runs), store.catalog.sample_heads(runs)
    kept = kept_data(store, lines, samples, by)
    if kept is None:
        return None
    for run in kept.runs:
        if not all(run.estimate(one) for one in kept.scorers):
            table = TableReader(store).read(store.run(run.run.id))
            for scorer in table.scores:
                table.estimate(scorer)
                for key in table.groups if scorer == kept.headline else ():
                    table.estimate(scorer, key)
            keep_estimates(store, [table])
    headline = kept.headline
    data = gather(stored_summaries(store, runs, headline.name), headline.label)
    board = ranked_board(data, headline)
    kept = kept_data(store, lines, samples, by) or kept
    by_number = {one.run.id: one for one in kept.runs}
    ordered = tuple(by_number[entry.run.id] for entry in board.entries)
    document = board_document(store, replace(kept, runs=ordered), kept.benchmark)
    document.ranking = ranking_part(board.overall)
    document.notes = drawn_notes(board)
    return document
