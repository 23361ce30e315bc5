"""What all stages share: what each reads of those before it, and keeps of every clip as a run."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from audiocapbench.annotate.contract import Annotation
from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine import Preview
from audiocapbench.engine.ask_context import AskContext
from audiocapbench.engine.runner import dataset_of
from audiocapbench.engine.store_access import Lease
from audiocapbench.errors import AnnotationError, StoreError
from audiocapbench.store import RunSpec, Store
from audiocapbench.store.annotations import AnnotationRepository, Finding, StageRecord
from audiocapbench.store.claims import TaskKey
from audiocapbench.store.records import Parameters
from audiocapbench.store.unsaved import AnswerRecord

_PAUSE_S = 0.5
_DONE = {"hear": "heard", "merge": "merged", "check": "checked"}


class StageResult(NamedTuple):
    """What a stage came to, as JSON, and whether every clip got through."""

    document: dict[str, Any]
    whole: bool = True


class StageContext:
    """A folder that is annotated, the store that keeps what is made, and how models are asked."""

    def __init__(
        self,
        root: Path,
        asked_of: Store | AskContext,
        agree: Callable[[Preview], None] = lambda _: None,
    ) -> None:
        """Take a folder with a store, or with how models are asked; ``agree`` is told the costs."""
        self.root, self.project, self.agree = root, str(root.resolve()), agree
        self._asked_of = asked_of
        self.asking = asked_of if isinstance(asked_of, AskContext) else AskContext()
        self.progress = self.asking.progress

    @property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
        return self._asked_of if isinstance(self._asked_of, Store) else self._asked_of.store

    @property
    def kept(self) -> AnnotationRepository:
        """What is kept of annotations."""
        return self.store.annotations

    def passed(self, stage: str) -> dict[str, StageRecord]:
        """Clips that got through a stage, by name; AnnotationError where it was not run yet."""
        if stage not in self.settings:
            how = f"run 'audiocapbench annotate {stage}' on it first"
            raise AnnotationError(f"{self.project}: has not been {_DONE[stage]}; {how}")
        records = self.kept.records(self.project, stage)
        return {clip: one for clip, one in sorted(records.items()) if one.status == "ok"}

    def merged(self) -> dict[str, Annotation]:
        """Annotations by clip."""
        records = self.passed("merge").items()
        return {
            clip: Annotation.model_validate(one.document["annotation"]) for clip, one in records
        }

    @property
    def settings(self) -> Mapping[str, Mapping[str, Any]]:
        """How stages were run, by stage."""
        return self.kept.settings(self.project)

    def findings(self, heard: Mapping[str, StageRecord]) -> dict[str, dict[str, Finding]]:
        """What experts said of clips, by the clips' names, as the first stage recorded it."""
        found: dict[str, dict[str, Finding]] = {clip: {} for clip in heard}
        wanted: dict[tuple[str, str], dict[str, str]] = {}
        for clip, one in heard.items():
            for expert, finding in one.document["experts"].items():
                hashes = wanted.setdefault((expert, finding["signature"]), {})
                hashes[one.document["sha256"]] = clip
        for (expert, signature), hashes in wanted.items():
            for digest, said in self.kept.findings({expert: signature}, list(hashes)).items():
                found[hashes[digest]][expert] = said[expert]
        return found

    def keep(self, stage: str, records: Sequence[StageRecord], settings: Mapping[str, Any]) -> None:
        """Keep what a stage says of clips, and how it was run."""
        self.kept.put_stage(self.project, stage, records)
        self.kept.put_settings(self.project, stage, settings)

    def questions(self, name: str, texts: Mapping[str, str]) -> Benchmark:
        """What is asked or looked at, clip by clip, without its sound."""
        return self.benchmark(
            name, ((clip, Clip.absent(clip), text, "merge") for clip, text in texts.items())
        )

    def benchmark(self, name: str, asked: Iterable[tuple[str, Clip, str, str]]) -> Benchmark:
        """Keys, clips, the words of questions, and groups that the progress is shown by."""
        samples = [
            Sample(key, clip, words, ("-",), group, place)
            for place, (key, clip, words, group) in enumerate(asked)
        ]
        return Benchmark(f"{TRIAL}annotate/{name}", self.root, samples, kind="trial")


def left_out(records: Mapping[str, StageRecord]) -> dict[str, dict[str, list[str]]]:
    """Clips that a stage did not let through, by status and reason."""
    found: dict[str, dict[str, list[str]]] = {}
    for clip, one in records.items():
        if one.status != "ok":
            reasons = found.setdefault(one.status, {})
            reasons.setdefault(one.error or "no reason given", []).append(clip)
    return found


class StageRun:
    """What became of each clip, committed as it comes.

    Commands that share a stage claim its clips; one that is not shared begins anew each time.
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
