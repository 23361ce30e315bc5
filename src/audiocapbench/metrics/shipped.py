"""Files that ship with the package: lists of words, and weights named by a fingerprint."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from audiocapbench.errors import MetricError
from audiocapbench.files import patterns, read_lists, shipped_place, with_pieces, word_set

__all__ = ["patterns", "read_lists", "shipped_weights", "with_pieces", "word_set"]


@contextmanager
def shipped_weights(package: str, file: str, what: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Fingerprint and content of a NumPy or JSON file; MetricError where it lacks what is read."""
    import hashlib
    import io

    import numpy as np

    place = shipped_place(f"audiocapbench.metrics.{package}.weights", file)
    try:
        content = place.read_bytes()
        name = hashlib.sha256(content).hexdigest()[:8]
        if file.endswith(".json"):
            yield name, json.loads(content)
        else:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                yield name, arrays
    except (OSError, KeyError, ValueError, IndexError) as error:
        raise MetricError(f"{what} cannot be read ({error}): reinstall audiocapbench.") from error
