"""The store's part about annotation: what experts found in clips, and how far each clip got.

A finding belongs to the clip's bytes and to the expert as it was set up, so no clip is analysed
twice in whatever folder it lies. What a stage says of a clip replaces what it said before, and
what later stages made of that goes with it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, delete, select

from audiocapbench.store import schema
from audiocapbench.store.connect import reading, writing
from audiocapbench.store.rows import columns_of, fields_of
from audiocapbench.store.writes import insert_all, replace_rows

STAGES = ("hear", "merge", "check", "split", "audit")
"""In their order."""

_SETTINGS = "settings"
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """What one expert said of one clip.

    Attributes:
        clip: SHA-256 of the clip's bytes.
        signature: The expert with its version and options.
        status: ``ok``, ``failed``, or ``not_run`` where it could not be set up.
        document: What it said, as JSON; empty unless the status is ok.
    """

    clip: str
    expert: str
    signature: str
    status: str
    document: Mapping[str, Any]
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StageRecord:
    """How a stage ended for one clip of a project: a status, a document, and why not, if not."""

    clip: str
    stage: str
    status: str
    document: Mapping[str, Any]
    error: str | None = None


class AnnotationStore:
    """What a store can do with annotations."""

    _engine: Engine

    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Commit findings; those of the same clip, expert and signature are replaced."""
        keys, now = ("clip", "expert", "signature"), schema.now()
        given = {(one.clip, one.expert, one.signature): one for one in findings}
        values = [_values(one) | {"made_at": now} for one in given.values()]
        with writing(self._engine) as connection:
            replace_rows(connection, schema.findings, keys, values)

    def findings(
        self, signatures: Mapping[str, str], clips: Sequence[str]
    ) -> dict[str, dict[str, Finding]]:
        """What experts of these signatures found, by clip and expert."""
        table = schema.findings
        found: dict[str, dict[str, Finding]] = defaultdict(dict)
        wanted = table.c.signature.in_(list(signatures.values()))
        with reading(self._engine) as connection:
            for start in range(0, len(clips), _AT_ONCE):
                some = table.c.clip.in_(clips[start : start + _AT_ONCE])
                for row in connection.execute(select(table).where(wanted, some)):
                    if signatures.get(row.expert) == row.signature:
                        found[row.clip][row.expert] = Finding(**fields_of(row, Finding))
        return found

    def put_stage(self, project: str, stage: str, records: Sequence[StageRecord]) -> None:
        """Replace all that a stage says of a project's clips.

        What later stages made of a clip goes with it where it is gone, or something else is said.
        """
        table, now = schema.annotations, schema.now()
        later = [stage, *STAGES[STAGES.index(stage) + 1 :]]
        own = (table.c.project == project, table.c.stage.in_(later))
        with writing(self._engine) as connection:
            query = select(table).where(table.c.project == project, table.c.stage == stage)
            known = {row.clip: _record(row) for row in connection.execute(query)}
            changed = [one for one in records if known.get(one.clip) != one]
            for clip in {*known, *(one.clip for one in changed)} - {
                one.clip for one in records if known.get(one.clip) == one
            }:
                connection.execute(delete(table).where(*own, table.c.clip == clip))
            head = {"project": project, "made_at": now}
            insert_all(connection, table, [_values(one) | head for one in changed])

    def put_settings(self, project: str, stage: str, document: Mapping[str, Any]) -> None:
        """Keep what a stage was told, for later stages and for whoever asks how it was made."""
        told = _values(StageRecord(stage, _SETTINGS, "ok", document))
        values = told | {"project": project, "made_at": schema.now()}
        with writing(self._engine) as connection:
            replace_rows(connection, schema.annotations, ("project", "stage", "clip"), [values])

    def stage_settings(self, project: str) -> dict[str, dict[str, Any]]:
        """What each stage was told, by its name."""
        found = self.stage_records(project, _SETTINGS)
        return {name: dict(one.document) for name, one in found.items()}

    def stage_records(self, project: str, stage: str) -> dict[str, StageRecord]:
        """What a stage said, by clip."""
        table = schema.annotations
        query = select(table).where(table.c.project == project, table.c.stage == stage)
        with reading(self._engine) as connection:
            return {row.clip: _record(row) for row in connection.execute(query)}


def _values(one: Finding | StageRecord) -> dict[str, Any]:
    return columns_of(one) | {"document": dict(one.document)}


def _record(row: Any) -> StageRecord:
    return StageRecord(**fields_of(row, StageRecord))
