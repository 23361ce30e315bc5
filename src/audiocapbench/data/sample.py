"""Clips and samples: the words that every other room speaks in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Clip:
    """One audio file, known by the SHA-256 of its bytes."""

    path: Path
    file_name: str
    sha256: str
    duration_s: float
    rate: int
    channels: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A clip, what is asked about it, and its references.

    Attributes:
        id: Unique within the benchmark.
        clip: The audio.
        instruction: The words that the model is given.
        references: What people said about it; at least one.
        category: The group that scores are also shown for.
        position: Place in the full benchmark, fixed when the dataset was built.
        details: What the dataset adds: transcript, source, domain, …
    """

    id: str
    clip: Clip
    instruction: str
    references: tuple[str, ...]
    category: str
    position: int
    details: Mapping[str, Any] = field(default_factory=dict)
