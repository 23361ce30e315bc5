"""A stage of annotation as a run of the store: others see how far it got, and may share it."""

import time
from collections.abc import Sequence
from contextlib import suppress

import anyio

from audiocapbench.benchmarks import Benchmark
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine.claims import Lease
from audiocapbench.engine.runner import dataset_of
from audiocapbench.errors import StoreError
from audiocapbench.store import RunSpec, Store
from audiocapbench.store.claims import TaskKey
from audiocapbench.store.records import Parameters
from audiocapbench.store.unsaved import AnswerRecord

_PAUSE_S = 0.5


class StageRun:
    """What became of each clip, committed as it comes.

    Commands that share a stage claim its clips, and each does what no other does. One that is not
    shared begins anew with every command.
    """

    def __init__(
        self,
        store: Store,
        clips: Benchmark,
        by: str,
        parameters: Parameters | None = None,
        *,
        shared: bool = False,
    ) -> None:
        self._store, self._lease = store, Lease(store)
        self._seconds = {one.id: one.clip.duration_s for one in clips.samples}
        ids, data = tuple(self._seconds), clips.fingerprint
        spec = RunSpec(clips.name, data, by, parameters or {}, "none", ids, clips.kind)
        earlier = None if shared else store.find_run(spec)
        if earlier is not None:
            with suppress(StoreError):  # another command is at work on it
                store.catalog.delete([earlier.id])
        self.run = store.begin_run(spec, dataset_of(clips))
        self._seen = store.claims.states(self.run.id)
        # Of what was told of before, only what was claimed anew is told again.
        self._told = {one.sample for one in self._seen}
        self._waiting: list[AnswerRecord] = []
        self._written_at = time.monotonic()
        if ids and not shared:  # that it is being dealt with; no clip is told of under this key
            self._lease.claim(self.run.id, [TaskKey("", ids[0], 1)], self._seen)

    def claim(self, clips: Sequence[str]) -> tuple[list[str], list[str]]:
        """Those of the clips that are now ours, and those that others have dealt with."""
        keys = [TaskKey("", one) for one in clips]
        taken, done, _ = self._lease.claim(self.run.id, keys, self._seen)
        self._told -= {one.sample for one in taken}
        return [one.sample for one in taken], [one.sample for one in done]

    def tell(
        self, clip: str, text: str, error: str | None = None, status: Status = Status.FAILED
    ) -> None:
        """Say once what became of a clip; of what went wrong, the error and its status."""
        if clip not in self._told:
            self._told.add(clip)
            reply = Reply(text, status if error else Status.OK, error)
            outcome = Outcome(clip, reply, None, self._seconds[clip], 0.0)
            self._waiting.append(AnswerRecord(outcome))
            if time.monotonic() - self._written_at > _PAUSE_S:
                self.write()

    def write(self) -> None:
        """Commit what was told, and release it."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._store.add_records(self.run.id, waiting, self._lease.worker.id)
        self._written_at = time.monotonic()

    def __enter__(self) -> "StageRun":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.write()
        finally:
            anyio.run(self._lease.close)
