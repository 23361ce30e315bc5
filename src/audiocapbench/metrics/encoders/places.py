"""Where texts of an annotation lie: vectors of captions, by what tells clips of a domain apart.

Each view, a question with its answer, and an answer alone has a linear map of its own, learned of
real annotations by tools/caption_centres.py: texts of one clip are near each other there.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.metrics.shipped import shipped_weights

ASKED, ANSWER = "asked", "answer"
PLACES = ("long", "short", "speech", "music", "sound", "environment", ASKED, ANSWER)

Parts = tuple[Vectors, Vectors]
"""Parts of an annotation, a row each, and beside each the rest of it."""


@cache
def learned() -> dict[str, Any]:
    """Of real captions: centres, maps, logs of how many have a word, and weights of what is odd."""
    with shipped_weights("encoders", "caption_centres.npz", "The centres of captions") as (_, held):
        return dict(held)


@lru_cache(100_000)
def vector(text: str) -> Vectors:
    """A text's own vector, wherever it stands."""
    (found,) = load("caption2vec").encode([text])
    return np.asarray(found)


def placed(texts: Iterable[str], place: str) -> Vectors:
    """The middle of texts of one place, each by its map."""
    return unit(sum(_placed(one, place) for one in texts))


@lru_cache(100_000)
def _placed(text: str, place: str) -> Vectors:
    known, at = learned(), PLACES.index(place)
    return unit(vector(text) @ known["maps"][at] + known["shifts"][at])


def unit(vectors: Any) -> Vectors:
    """Vectors at length 1; one of zeros stays as it is."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9))


def coherence_signs(own: Parts, others: Sequence[Parts]) -> Vectors:
    """How alike each part and the rest are, and others' rests and parts; NaN of what is absent."""
    (part, rest), (parts, rests) = own, map(np.stack, zip(*others, strict=True))
    alike, whole, single = (np.vecdot(*one) for one in ((part, rest), (part, rests), (parts, rest)))
    alike = np.where(part.any(axis=-1) & rest.any(axis=-1), alike, np.nan)
    spread = whole.mean(axis=0), whole.std(axis=0), single.mean(axis=0), single.std(axis=0)
    return np.stack([alike, *spread, np.ones_like(alike)], axis=-1)
