"""What goes on in a store, looked at once a second however many pages listen."""

import json
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

from audiocapbench.annotate.merge import written_caption
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data.outcome import SCORED, total_cost
from audiocapbench.errors import StoreError
from audiocapbench.store import RunLine, Store
from audiocapbench.store.claims import TaskLine

TICK_S = 1.0
_WINDOW_S = 20.0
_LINGER_S = 5.0
_NEWEST = 5
_LONGEST = 300

Snapshot = dict[str, Any]


class LiveFeed:
    """Looks at the store at most once a second, for whoever asks."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._told: Snapshot = {"tasks": [], "newest": [], "revision": 0}
        self._looked = -TICK_S
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
        revisions = store.browse.revisions()
        if self._revisions:
            for run, revision in revisions.items():
                if self._revisions.get(run) != revision:
                    self._moved[run] = now
        self._revisions = revisions
        tasks = {(one.run, one.judge): one for one in store.claims.tasks()}
        moving = {run for run, moment in self._moved.items() if now - moment < _LINGER_S}
        active = ({run for run, _ in tasks} | moving) & revisions.keys()
        told: Snapshot = {"tasks": [], "newest": [], "revision": sum(revisions.values())}
        if not active:
            return told
        lines = {one.id: one for one in store.runs(only=active)}
        since = datetime.now(UTC) - timedelta(seconds=_WINDOW_S)
        rows: dict[tuple[int, str], list[Any]] = {}
        for one in store.browse.counted(lines, since.isoformat(timespec="milliseconds")):
            rows.setdefault((one.run, one.judge), []).append(one)
        # How far each run got with its model, and with each judge that is at work or was.
        recent = (key for key, own in rows.items() if any(one.recent for one in own))
        told["tasks"] = [
            _task(lines[run], judge, rows.get((run, judge), []), tasks.get((run, judge)))
            for run, judge in sorted({*tasks, *recent})
            if run in lines
        ]
        for row in store.browse.newest(lines, _NEWEST):
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


def _task(line: RunLine, judge: str, rows: Sequence[Any], held: TaskLine | None) -> dict[str, Any]:
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
