"""Weights that ship with the package: read whole, named by what is in them, or refused."""

import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError


@contextmanager
def shipped_weights(package: str, file: str, what: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The fingerprint of a metric's file of weights, NumPy's or JSON, and what it holds.

    Raises:
        MetricError: It cannot be read, or lacks what is looked for in it.
    """
    place = resources.files(f"audiocapbench.metrics.{package}") / "weights" / file
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
