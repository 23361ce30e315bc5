"""The pages of ``view``: what the store has kept is shown at once, the rest computed beside."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock, Thread
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ValidationError

from audiocapbench.annotate.merge import written_caption
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data.outcome import SCORED, total_cost
from audiocapbench.errors import AudioCapBenchError, AudioError, StoreError
from audiocapbench.files import storable
from audiocapbench.grouping import grouped
from audiocapbench.report.leaderboard.board import Ranking
from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.document import BoardDocument, ServedBoard
from audiocapbench.report.page.html import NOT_ASKED, SERVED_SCRIPTS, STYLES
from audiocapbench.report.page.rendering import joined, render
from audiocapbench.report.page.report_data import BoardData, gather, kept_data, stored_tables
from audiocapbench.scores.table import TableReader, keep_estimates
from audiocapbench.store import RunLine, Store
from audiocapbench.web.board_list import BoardList, ListQuery, Number, QueryError, ScorerLabel
from audiocapbench.web.server import answered, bare_app, fixed

MOST_AT_ONCE = 60_000
"""Answers of a board that are read into memory together, for correlations and the like."""

_PAUSE_S, _LATER_S = 5.0, 3.0

Revision = tuple[tuple[int, int], ...]
TICK_S = 1.0
_WINDOW_S, _LINGER_S = 20.0, 5.0
_NEWEST, _LONGEST = 5, 300

Snapshot = dict[str, Any]
_MOST_ROWS = 500
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><path stroke="#1f55d0" '
    'stroke-width="2.4" stroke-linecap="round" d="M2 11h2M6 6v10M10 2v18M14 7v8M18 9v4"/></svg>'
)


@dataclass
class BoardState:
    runs: tuple[int, ...]
    samples: BoardList
    kept: BoardData | None = None
    kept_revision: Revision = ()
    full: BoardDocument | None = None
    revision: Revision = ()
    error: str = ""
    busy: bool = False
    rest_until: float = 0.0


class Boards:
    """All boards of a store; ``version`` grows whenever a document has become better."""

    def __init__(self, store: Store, run_ids: Sequence[int] = (), by: str | None = None) -> None:
        self._store, self._chosen, self._by = store, tuple(run_ids), by
        self._boards: dict[tuple[int, ...], BoardState] = {}
        self._listed: tuple[dict[int, int], list[RunLine]] = ({}, [])
        self._lock, self.version = Lock(), 0

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
        with self._lock:
            if board.busy or time.monotonic() < board.rest_until:
                return
            board.busy = True
        Thread(target=self._compute, args=(board, revision), daemon=True).start()

    def _compute(self, board: BoardState, revision: Revision) -> None:
        began = time.monotonic()
        try:
            if len(board.samples.heads) * len(board.runs) <= MOST_AT_ONCE:
                data = gather(stored_tables(self._store, board.runs), self._by)
                board.full = board_document(self._store, data, data.benchmark)
                keep_estimates(self._store, (one.table for one in data.runs))
            elif board.kept is not None:
                # What the matrix and a search wait for. Then whoever opens a large board sees it
                # first, and is not slowed down by what follows.
                board.samples.columns(board.runs, board.kept.headline)
                _ = board.samples.texts
                time.sleep(_LATER_S)
                board.full = ranked_document(self._store, board.runs, self._by)
            board.error, board.revision = "", revision
        except AudioCapBenchError as error:
            board.error, board.revision = str(error), revision
        finally:
            self.version += 1
            board.rest_until = time.monotonic() + max(_PAUSE_S, 3 * (time.monotonic() - began))
            board.busy = False


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
    data = gather(stored_tables(store, runs, headline.name), headline.label)
    kept = kept_data(store, lines, samples, by) or kept
    by_number = {one.run.id: one for one in kept.runs}
    ordered = tuple(by_number[one.run.id] for one in data.runs)
    document = board_document(store, replace(kept, runs=ordered), kept.benchmark)
    document.notes, view = list(data.board.notes), document.views[""]
    for scorer in kept.scorers:  # by the headline alone: each other score takes as long
        board = data.board if scorer == headline else None
        view.add(*(board.overall, board.notes, board.verdict) if board else (Ranking(),))
    return document


class LiveFeed:
    """Looks at the store at most once a second, for whoever asks."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock, self._looked = store, Lock(), -TICK_S
        self._told: Snapshot = {"tasks": [], "newest": [], "revision": 0}
        self._revisions: dict[int, int] = {}
        self._moved: dict[int, float] = {}

    def look(self) -> Snapshot:
        """What goes on; as it was, where the store cannot be read for a moment."""
        with self._lock:
            if time.monotonic() - self._looked >= 0.9 * TICK_S:
                try:
                    self._told = self._snapshot()
                except StoreError as error:
                    self._told = self._told | {"away": str(error)}
                self._looked = time.monotonic()
            return self._told

    def _snapshot(self) -> Snapshot:
        now, store = time.monotonic(), self._store
        revisions = store.catalog.revisions()
        if self._revisions:
            self._moved |= {run: now for run, _ in revisions.items() - self._revisions.items()}
        self._revisions = revisions
        tasks = {(one.run, one.judge): one for one in store.claims.tasks()}
        moving = {run for run, moment in self._moved.items() if now - moment < _LINGER_S}
        active = ({run for run, _ in tasks} | moving) & revisions.keys()
        told: Snapshot = {"tasks": [], "newest": [], "revision": sum(revisions.values())}
        if not active:
            return told
        lines = {one.id: one for one in store.runs(only=active)}
        since = datetime.now(UTC) - timedelta(seconds=_WINDOW_S)
        counts = store.catalog.counted(lines, since.isoformat(timespec="milliseconds"))
        rows = grouped(((one.run, one.judge), one) for one in counts)
        # How far each run got with its model, and with each judge that is at work or was.
        recent = (key for key, own in rows.items() if any(one.recent for one in own))
        keys = [key for key in sorted({*tasks, *recent}) if key[0] in lines]
        told["tasks"] = [_task(lines[one[0]], one[1], rows[one], tasks.get(one)) for one in keys]
        for row in store.catalog.newest(lines, _NEWEST):
            line, text = lines[row.run], row.text
            if _stage(line).startswith(("merge", "repair")):
                text = written_caption(text) or text
            newest = {"model": line.model, "sample": row.sample, "status": row.status}
            newest |= {"text": (text or row.error or "")[:_LONGEST], "at": row.answered_at[11:19]}
            told["newest"].append(newest)
        return told


def _stage(line: RunLine) -> str:
    return line.benchmark.partition(f"{TRIAL}annotate/")[2].partition("/")[0]


def _task(line: RunLine, judge: str, rows: Sequence[Any], held: Any) -> dict[str, Any]:
    done = sum(one.number for one in rows)
    rate = sum(one.recent for one in rows) / _WINDOW_S
    total = line.sample_count if not judge else max(done, line.statuses.get("ok", 0))
    return {
        "run": line.id,
        "model": line.model,
        "benchmark": line.benchmark,
        "trial": line.is_trial,
        "stage": _stage(line),
        "judge": judge,
        "done": done,
        "total": total,
        "failed": sum(one.number for one in rows if one.status not in SCORED),
        "cost": total_cost(one.cost for one in rows),
        "rate": rate,
        "left_s": (total - done) / rate if rate and total > done else None,
        "workers": held.owners if held else 0,
    }


class _Request(BaseModel):
    """What a page asks with beside a query; what it leaves empty has the default."""

    benchmark: str = ""
    id: str = ""
    scorers: Annotated[list[ScorerLabel], BeforeValidator(lambda text: text.split("\n"))] = []
    first: Number = 0
    last: Number = 0
    a: Number = 0
    b: Number = 0


def make_app(boards: Boards, feed: LiveFeed) -> Any:
    """An application that shows a store; it is to be served behind ``server.GuardedApp``."""
    empty = {"policy": "", "style": "", "script": "", "data": "", "embedded": []}
    page = render("report.html", title="AudioCapBench", board=None, **empty)
    routes = {
        "/": fixed(page, "text/html"),
        "/page.js": fixed(joined(SERVED_SCRIPTS), "text/javascript"),
        "/page.css": fixed(joined(STYLES), "text/css"),
        "/favicon.ico": fixed(_ICON, "image/svg+xml"),
    }
    for name in ("live", "board", "list", "find", "clip", "compared", "audio"):
        routes[f"/api/{name}"] = answered(partial(_answer, boards, feed, name), _refusal)
    return bare_app(routes, {})


def _answer(boards: Boards, feed: LiveFeed, name: str, request: Any, _body: bytes) -> Any:
    if name == "live":
        return feed.look() | {"version": boards.version}
    # No database has a text with NUL in it, and some refuse to look for it.
    given = {key: storable(one) for key, one in request.query_params.items() if one}
    asked = _Request.model_validate(given)
    if name == "board":
        return boards.document(asked.benchmark).to_dict()
    samples = boards.samples(asked.benchmark)
    if name == "list":
        if not 0 <= asked.last - asked.first <= _MOST_ROWS:
            raise QueryError(f"first and last are places of at most {_MOST_ROWS} rows")
        return samples.page(ListQuery.model_validate(given), asked.first, asked.last)
    if name == "find":
        return {"place": samples.find(ListQuery.model_validate(given), asked.id)}
    if name == "clip":
        return samples.clip(asked.id, asked.scorers)
    if name == "compared":
        return samples.compared(asked.a, asked.b)
    from starlette.responses import Response

    try:
        content = samples.sound(asked.id)  # the request names a sample, never a file
    except AudioError as error:
        return {"missing": f"the file {error.reason}"}
    return Response(content, media_type="application/octet-stream")


def _refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return 422, {"error": f"{first['loc'][0]}: {first['msg']}"}
    wrong, away = isinstance(error, QueryError), isinstance(error, StoreError)
    return 422 if wrong else 503 if away else 500, {"error": str(error)}
