"""The store's part about embeddings: of clips and texts, by model, setting and content.

A vector is kept as its bytes in single precision, lowest byte first.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, select

from audiocapbench.errors import StoreError
from audiocapbench.store import schema
from audiocapbench.store.connect import reading, writing
from audiocapbench.store.writes import insert_new

Vector = NDArray[np.float32]

_BYTES = np.dtype("<f4")
_AT_ONCE = 500


class Embedding(NamedTuple):
    """One vector to keep: how its content was prepared, the content's SHA-256 in hex, itself."""

    setting: str
    content: str
    vector: Vector


class EmbeddingStore:
    """What a store can do with embeddings."""

    _engine: Engine

    def add_embeddings(self, model: str, embeddings: Iterable[Embedding]) -> None:
        """Commit embeddings of a model (name and fingerprint); one that is there already stays.

        Raises:
            StoreError: A vector is empty, not flat, or holds what is not a finite number.
        """
        now = schema.now()
        values = [_of_embedding(one) | {"model": model, "made_at": now} for one in embeddings]
        if values:
            with writing(self._engine) as connection:
                insert_new(connection, schema.embeddings, values)

    def embeddings(
        self, model: str, setting: str, contents: Sequence[str], dimensions: int
    ) -> dict[str, Vector]:
        """The embeddings that are there, by content.

        Raises:
            StoreError: One has other dimensions than the model gives.
        """
        table, found = schema.embeddings, {}
        query = select(table.c.content, table.c.dimensions, table.c.vector).where(
            table.c.model == model, table.c.setting == setting
        )
        with reading(self._engine) as connection:
            for start in range(0, len(contents), _AT_ONCE):
                some = table.c.content.in_(contents[start : start + _AT_ONCE])
                for row in connection.execute(query.where(some)):
                    if row.dimensions != dimensions or len(row.vector) != 4 * dimensions:
                        raise StoreError(
                            f"an embedding of {model} in the store has {row.dimensions} dimensions "
                            f"in {len(row.vector)} bytes, the model gives {dimensions}: give a "
                            "changed model another fingerprint, or choose another --store"
                        )
                    vector = np.frombuffer(row.vector, dtype=_BYTES).astype(np.float32)
                    found[row.content] = vector
        return found


def _of_embedding(one: Embedding) -> dict[str, Any]:
    vector = np.asarray(one.vector)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise StoreError(f"the embedding of {one.content[:12]} is not a list of finite numbers")
    return {
        "setting": one.setting,
        "content": one.content,
        "dimensions": len(vector),
        "vector": vector.astype(_BYTES).tobytes(),
    }
