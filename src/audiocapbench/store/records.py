"""What goes into the store and comes out of it, as plain frozen records."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from audiocapbench.data import Sample
from audiocapbench.signature import Signature

Parameters = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What makes two runs the same run: benchmark, data, model, settings and selection."""

    benchmark: str
    dataset: str
    model: str
    parameters: Parameters
    contract: str
    sample_ids: tuple[str, ...]

    @property
    def identity(self) -> str:
        """Equal for equal runs, so that the same command goes on where it stopped."""
        content = [
            self.benchmark,
            self.dataset,
            self.model,
            dict(sorted(self.parameters.items())),
            self.contract,
            sorted(self.sample_ids),
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the store knows it."""

    id: int
    benchmark: str
    dataset: str
    model: str
    parameters: Parameters
    contract: str
    sample_ids: tuple[str, ...]
    created_at: str
    made_by: str


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a listing, with how far it got."""

    id: int
    created_at: str
    benchmark: str
    model: str
    sample_count: int
    statuses: Mapping[str, int]
    cost_usd: float | None

    @property
    def asked(self) -> int:
        """How many samples have an outcome of any status."""
        return sum(self.statuses.values())


@dataclass(frozen=True, slots=True)
class Dataset:
    """The samples that a run was about, as they were when it began.

    ``traits`` says how their answers are scored, ranked and judged; empty where a store of schema 1
    kept none.
    """

    fingerprint: str
    benchmark: str
    root: str
    samples: tuple[Sample, ...]
    missing: tuple[Mapping[str, str], ...]
    traits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredScore:
    """One metric's score of one sample."""

    sample_id: str
    metric: str
    signature: Signature
    value: float
    statistics: tuple[float, ...]
