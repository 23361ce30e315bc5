"""The pages of ``view``: the report's own front end, fed by requests that only ever read."""

import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ValidationError

from audiocapbench.annotate.merge import written_caption
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data.outcome import SCORED, total_cost
from audiocapbench.errors import AudioError, StoreError
from audiocapbench.report.page.html import SERVED_SCRIPTS, STYLES, joined, render
from audiocapbench.scores.estimate import Scorer
from audiocapbench.store import RunLine, Store
from audiocapbench.web.board import Boards
from audiocapbench.web.board_list import ListQuery, Number, QueryError, ScorerLabel
from audiocapbench.web.server import answered, bare_app, fixed

TICK_S = 1.0
_WINDOW_S = 20.0
_LINGER_S = 5.0
_NEWEST = 5
_LONGEST = 300

Snapshot = dict[str, Any]


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
        rows: dict[tuple[int, str], list[Any]] = defaultdict(list)
        for one in store.catalog.counted(lines, since.isoformat(timespec="milliseconds")):
            rows[one.run, one.judge].append(one)
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
    """Which stage of ``annotate`` a run is, if any."""
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


async def events(feed: LiveFeed, version: Any, gone: Any) -> AsyncIterator[str]:
    """Server-sent events: whatever has changed since the last one, until the page is gone."""
    from anyio import sleep, to_thread

    last, quiet = "", 0
    while not await gone():
        told = await to_thread.run_sync(feed.look)
        text = json.dumps(told | {"version": version()}, allow_nan=False)
        if text != last:
            yield f"data: {text}\n\n"
            last, quiet = text, 0
        elif quiet >= 15:
            yield ": still here\n\n"
            quiet = 0
        quiet += 1
        await sleep(TICK_S)


_MOST_ROWS = 500
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><path stroke="#1f55d0" '
    'stroke-width="2.4" stroke-linecap="round" d="M2 11h2M6 6v10M10 2v18M14 7v8M18 9v4"/></svg>'
)


class _Request(BaseModel):
    """What a page asks with beside a query; what it leaves empty has the default."""

    benchmark: str = ""
    id: str = ""
    score: ScorerLabel = Scorer("")
    scorers: Annotated[list[ScorerLabel], BeforeValidator(lambda text: text.split("\n"))] = []
    first: Number = 0
    last: Number = 0
    a: Number = 0
    b: Number = 0


def make_app(boards: Boards, feed: LiveFeed) -> Any:
    """An application that shows a store; it is to be served behind ``guard.GuardedApp``."""

    async def stream(request: Any) -> Any:
        from starlette.responses import StreamingResponse

        told = events(feed, lambda: boards.version, request.is_disconnected)
        return StreamingResponse(told, media_type="text/event-stream")

    empty = {"policy": "", "style": "", "script": "", "data": "", "embedded": []}
    page = render("report.html", title="AudioCapBench", board=None, **empty)
    routes = {
        "/": fixed(page, "text/html"),
        "/page.js": fixed(joined(SERVED_SCRIPTS), "text/javascript"),
        "/page.css": fixed(joined(STYLES), "text/css"),
        "/favicon.ico": fixed(_ICON, "image/svg+xml"),
        "/api/live": stream,
    }
    for name in ("board", "list", "find", "clip", "duel", "audio"):
        routes[f"/api/{name}"] = answered(partial(_answer, boards, name), _refusal)
    return bare_app(routes, {})


def _answer(boards: Boards, name: str, request: Any, _body: bytes) -> Any:
    # No database has a text with this character in it, and some refuse to look for it.
    given = {key: one.replace("\0", "\ufffd") for key, one in request.query_params.items() if one}
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
    if name == "duel":
        return samples.duel(asked.a, asked.b, asked.score)
    from starlette.responses import Response

    try:
        content = samples.sound(asked.id)  # the request names a sample, never a file
    except AudioError:
        return {"missing": "the file cannot be read"}
    if content is None:
        return {"missing": "the file has changed since the run"}
    return Response(content, media_type="application/octet-stream")


def _refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return 422, {"error": f"{first['loc'][0]}: {first['msg']}"}
    wrong, away = isinstance(error, QueryError), isinstance(error, StoreError)
    return 422 if wrong else 503 if away else 500, {"error": str(error)}
