"""What need not be asked or computed again: replies of models, embeddings of clips and texts."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, select

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import StoreError
from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository
from audiocapbench.store.records import Parameters, insert_new, record_of

Vector = NDArray[np.float32]

_BYTES = np.dtype("<f4")  # a vector is kept as its bytes in single precision, lowest byte first
_AT_ONCE = 500


def cache_key(
    model: str, parameters: Parameters, instruction: str, audio_sha256: str | None
) -> str:
    """Key of a question: model, parameters, prompt, and the audio bytes as sent."""
    content = [model, dict(sorted(parameters.items())), instruction, audio_sha256]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


class CacheRepository(StoreRepository):
    def replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Those replies, by key, that were once given to the same questions, at no cost now."""
        query = select(schema.responses).where(schema.responses.c.key.in_(keys))
        with self._reading() as connection:
            return {
                row.key: record_of(Reply, row, cost_usd=None if row.cost_usd is None else 0.0)
                for row in connection.execute(query)
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
        """Commit embeddings of a model (name and fingerprint); one that is there already stays.

        Each is how its content was prepared, the content's SHA-256 in hex, and the vector.
        """
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
                insert_new(connection, schema.embeddings, rows)

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
