"""Annotation: what experts found in clips, and how far each clip got.

A finding belongs to the clip's bytes and to the expert as it was set up, so no clip is analysed
twice in whatever folder it lies. What a stage says of a clip replaces what it said before, and
what later stages made of that goes with it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, delete, select

from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository, reading, writing
from audiocapbench.store.rows import insert_all, record_of, replace_rows, row_of

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


class AnnotationRepository(StoreRepository):
    """Findings of experts, and stages of projects."""

    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Commit findings; those of the same clip, expert and signature are replaced."""
        table, keys, now = schema.findings, ("clip", "expert", "signature"), schema.now()
        last = {(one.clip, one.expert, one.signature): one for one in findings}
        rows = [row_of(table, one, made_at=now) for one in last.values()]
        with writing(self._engine) as connection:
            replace_rows(connection, table, keys, rows)

    def findings(
        self, signatures: Mapping[str, str], clips: Sequence[str]
    ) -> dict[str, dict[str, Finding]]:
        """What experts of these signatures found, by clip and expert."""
        table = schema.findings
        findings: dict[str, dict[str, Finding]] = defaultdict(dict)
        query = select(table).where(table.c.signature.in_(list(signatures.values())))
        with reading(self._engine) as connection:
            for start in range(0, len(clips), _AT_ONCE):
                some = table.c.clip.in_(clips[start : start + _AT_ONCE])
                for row in connection.execute(query.where(some)):
                    if signatures.get(row.expert) == row.signature:
                        findings[row.clip][row.expert] = record_of(Finding, row)
        return findings

    def put_stage(self, project: str, stage: str, records: Sequence[StageRecord]) -> None:
        """Replace all that a stage says of a project's clips.

        What later stages made of a clip goes with it where it is gone, or something else is said.
        """
        table, now = schema.annotations, schema.now()
        later = (table.c.project == project, table.c.stage.in_(STAGES[STAGES.index(stage) :]))
        with writing(self._engine) as connection:
            rows = connection.execute(_stage(project, stage))
            known = {row.clip: record_of(StageRecord, row) for row in rows}
            changed = [one for one in records if known.get(one.clip) != one]
            new = {one.clip for one in changed}
            for clip in new | (known.keys() - {one.clip for one in records}):
                connection.execute(delete(table).where(*later, table.c.clip == clip))
            insert_all(
                connection,
                table,
                [row_of(table, one, project=project, made_at=now) for one in changed],
            )

    def records(self, project: str, stage: str) -> dict[str, StageRecord]:
        """What a stage said, by clip."""
        with reading(self._engine) as connection:
            rows = connection.execute(_stage(project, stage))
            return {row.clip: record_of(StageRecord, row) for row in rows}

    def put_settings(self, project: str, stage: str, document: Mapping[str, Any]) -> None:
        """Keep what a stage was told, for later stages and for whoever asks how it was made."""
        record, table = StageRecord(stage, _SETTINGS, "ok", document), schema.annotations
        row = row_of(table, record, project=project, made_at=schema.now())
        with writing(self._engine) as connection:
            replace_rows(connection, table, ("project", "stage", "clip"), [row])

    def settings(self, project: str) -> dict[str, dict[str, Any]]:
        """What each stage was told, by its name."""
        records = self.records(project, _SETTINGS)
        return {stage: dict(one.document) for stage, one in records.items()}


def _stage(project: str, stage: str) -> Select[Any]:
    table = schema.annotations
    return select(table).where(table.c.project == project, table.c.stage == stage)
