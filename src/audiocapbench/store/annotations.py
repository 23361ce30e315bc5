"""Annotation: what experts found in clips, and how far each clip got.

A finding belongs to the clip's bytes and to the expert as it was set up, so no clip is analysed
twice in whatever folder it lies.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select

from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository
from audiocapbench.store.records import insert_all, matching, record_of, replace_rows, row_of

STAGES = ("hear", "merge", "check", "split", "audit")
"""In their order."""

_SETTINGS = "settings"
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """What one expert, by its signature, said of one clip, by its SHA-256; why not, if not."""

    clip: str
    expert: str
    signature: str
    status: str
    document: Mapping[str, Any]
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StageRecord:
    clip: str
    stage: str
    status: str
    document: Mapping[str, Any]
    error: str | None = None


class AnnotationRepository(StoreRepository):
    """Findings of experts, and stages of projects."""

    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Commit findings; those of the same clip, expert and signature are replaced."""
        table, now = schema.findings, schema.now()
        last = {(one.clip, one.expert, one.signature): one for one in findings}
        rows = [row_of(table, finding, made_at=now) for finding in last.values()]
        with self._writing() as connection:
            replace_rows(connection, table, ("clip", "expert", "signature"), rows)

    def findings(
        self, signatures: Mapping[str, str], clips: Sequence[str]
    ) -> dict[str, dict[str, Finding]]:
        """What experts of these signatures found, by clip and expert."""
        table = schema.findings
        findings: dict[str, dict[str, Finding]] = defaultdict(dict)
        with self._reading() as connection:
            for start in range(0, len(clips), _AT_ONCE):
                some = {"signature": signatures.values(), "clip": clips[start : start + _AT_ONCE]}
                for row in connection.execute(select(table).where(*matching(table, **some))):
                    if signatures.get(row.expert) == row.signature:
                        findings[row.clip][row.expert] = record_of(Finding, row)
        return findings

    def put_stage(self, project: str, stage: str, records: Sequence[StageRecord]) -> None:
        """Replace all that a stage says of clips; what later stages made of what changed goes."""
        table, now, later = schema.annotations, schema.now(), STAGES[STAGES.index(stage) :]
        with self._writing() as connection:
            known = self._records(connection, project, stage)
            changed = [record for record in records if known.get(record.clip) != record]
            gone = known.keys() - {record.clip for record in records}
            for clip in gone | {record.clip for record in changed}:
                old = matching(table, project=project, stage=later, clip=clip)
                connection.execute(delete(table).where(*old))
            rows = [row_of(table, record, project=project, made_at=now) for record in changed]
            insert_all(connection, table, rows)

    def records(self, project: str, stage: str) -> dict[str, StageRecord]:
        """What a stage said, by clip."""
        with self._reading() as connection:
            return self._records(connection, project, stage)

    def _records(self, connection: Any, project: str, stage: str) -> dict[str, StageRecord]:
        table = schema.annotations
        query = select(table).where(*matching(table, project=project, stage=stage))
        return {row.clip: record_of(StageRecord, row) for row in connection.execute(query)}

    def put_settings(self, project: str, stage: str, document: Mapping[str, Any]) -> None:
        """Keep what a stage was told, for later stages and for whoever asks how it was made."""
        record, table = StageRecord(stage, _SETTINGS, "ok", document), schema.annotations
        row = row_of(table, record, project=project, made_at=schema.now())
        with self._writing() as connection:
            replace_rows(connection, table, ("project", "stage", "clip"), [row])

    def settings(self, project: str) -> dict[str, dict[str, Any]]:
        """What each stage was told, by its name."""
        records = self.records(project, _SETTINGS)
        return {stage: dict(record.document) for stage, record in records.items()}
