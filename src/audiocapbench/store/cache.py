"""What need not be asked or computed again: replies of models, embeddings, findings of experts.

A finding belongs to the clip's bytes and to the expert as it was set up, so no clip is analysed
twice in whatever folder it lies; beside it stands how far each clip of a project got.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, delete, select

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import StoreError
from audiocapbench.files import digest
from audiocapbench.store import records as stored
from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository
from audiocapbench.store.records import matching, record_of, row_of

Vector = NDArray[np.float32]

STAGES = ("hear", "merge", "check", "split", "audit")
"""The stages of annotation, in their order."""

_SETTINGS = "settings"
_BYTES = np.dtype("<f4")  # a vector is kept as its bytes in single precision, lowest byte first
_AT_ONCE = 500


def cache_key(
    model: str, parameters: stored.Parameters, instruction: str, audio_sha256: str | None
) -> str:
    """Key of a question: model, parameters, prompt, and the audio bytes as sent."""
    content = [model, dict(sorted(parameters.items())), instruction, audio_sha256]
    return digest(json.dumps(content))


class CacheRepository(StoreRepository):
    def replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Those replies, by key, that were once given to the same questions, at no cost now."""
        query = select(schema.responses).where(schema.responses.c.key.in_(keys))
        return {
            row.key: record_of(Reply, row, cost_usd=None if row.cost_usd is None else 0.0)
            for row in self._fetch(query)
        }

    def texts(self, model: str) -> dict[str, str]:
        """All replies of a model that would be given again, by the key of their question."""
        own = schema.responses.c
        rows = self._fetch(select(own.key, own.text).where(own.model == model))
        return {row.key: row.text for row in rows}

    def sent_clips(self, model: str, contract: str) -> dict[str, str]:
        """SHA-256 of what a model was sent of clips, by that of the clip."""
        runs, made, known = schema.runs.c, schema.outcomes.c, schema.samples.c
        same = and_(known.dataset == runs.dataset, known.id == made.sample)
        query = (
            select(known.clip_sha256, made.audio_sha256)
            .join_from(schema.runs, schema.outcomes, made.run == runs.id)
            .join(schema.samples, same)
            .where(runs.model == model, runs.contract == contract, made.audio_sha256.is_not(None))
            .distinct()
        )
        return {row.clip_sha256: row.audio_sha256 for row in self._fetch(query)}

    def add_embeddings(self, model: str, embeddings: Iterable[tuple[str, str, Vector]]) -> None:
        """Commit new ones: how content was prepared, its SHA-256 in hex, and its vector."""
        rows: list[dict[str, Any]] = []
        for setting, content, numbers in embeddings:
            vector = np.asarray(numbers)
            if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
                what = "is not a list of finite numbers"
                raise StoreError(f"the embedding of {content[:12]} {what}")
            row = {"model": model, "setting": setting, "content": content}
            kept = {"dimensions": len(vector), "vector": vector.astype(_BYTES).tobytes()}
            rows.append(row | kept | {"made_at": schema.now()})
        if rows:
            with self._writing() as connection:
                stored.insert_all(connection, schema.embeddings, rows, new=True)

    def embedded(self, model: str, setting: str, dimensions: int) -> set[str]:
        """All contents that have an embedding; StoreError if one of them has other dimensions."""
        own = schema.embeddings.c
        query = select(own.content).where(own.model == model, own.setting == setting)
        with self._reading() as connection:
            contents = set(connection.scalars(query))
        self.embeddings(model, setting, list(contents)[:1], dimensions)
        return contents

    def embeddings(
        self, model: str, setting: str, contents: Sequence[str], dimensions: int
    ) -> dict[str, Vector]:
        """The embeddings that are there, by content; StoreError for other dimensions."""
        own, vectors = schema.embeddings.c, {}
        query = select(own.content, own.dimensions, own.vector)
        query = query.where(own.model == model, own.setting == setting)
        with self._reading() as connection:
            for start in range(0, len(contents), _AT_ONCE):
                some = own.content.in_(contents[start : start + _AT_ONCE])
                for row in connection.execute(query.where(some)):
                    if row.dimensions != dimensions or len(row.vector) != 4 * dimensions:
                        raise StoreError(
                            f"an embedding of {model} in the store has {row.dimensions} dimensions "
                            f"in {len(row.vector)} bytes, the model gives {dimensions}: give a "
                            "changed model another fingerprint, or choose another `store`"
                        )
                    vectors[row.content] = np.frombuffer(row.vector, _BYTES).astype(np.float32)
        return vectors


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
    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Commit findings; those of the same clip, expert and signature are replaced."""
        table, now = schema.findings, schema.now()
        last = {(one.clip, one.expert, one.signature): one for one in findings}
        rows = [row_of(table, finding, made_at=now) for finding in last.values()]
        with self._writing() as connection:
            stored.replace_rows(connection, table, ("clip", "expert", "signature"), rows)

    def findings(
        self, signatures: Mapping[str, str], clips: Sequence[str]
    ) -> dict[str, dict[str, Finding]]:
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
            stored.insert_all(connection, table, rows)

    def records(self, project: str, stage: str) -> dict[str, StageRecord]:
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
            stored.replace_rows(connection, table, ("project", "stage", "clip"), [row])

    def settings(self, project: str) -> dict[str, dict[str, Any]]:
        records = self.records(project, _SETTINGS)
        return {stage: dict(record.document) for stage, record in records.items()}
