"""Clips and samples: the words that every other room speaks in."""

import hashlib
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

    @classmethod
    def absent(cls, name: str) -> "Clip":
        """A clip that is known by its name alone, where only texts are at hand."""
        return cls(Path(name), name, hashlib.sha256(name.encode()).hexdigest(), 0.0, 0, 1)

    @property
    def is_absent(self) -> bool:
        """Whether there is no audio to hear."""
        return self.rate == 0


@dataclass(frozen=True, slots=True)
class Sample:
    """A clip, what is asked about it, and its references.

    Attributes:
        id: Unique within the benchmark.
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
