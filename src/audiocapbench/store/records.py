"""What goes into the store and comes out of it, as plain frozen records."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from audiocapbench.data import Sample
from audiocapbench.signature import Signature

Parameters = Mapping[str, str | int | float | bool]

RunKind = Literal["asked", "imported", "trial", "check"]
"""Answers of a model, or imported; made for a scorer on trial, or for the check of a judge."""

TRIALS: tuple[RunKind, ...] = ("trial", "check")
"""Kinds of runs that are no model's result."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What makes two runs the same run: benchmark, data, model, settings and selection.

    What the run is for (``kind``), and what an imported result file says of the whole
    (``source``), are kept with it, but make no other run of it.
    """

    benchmark: str
    dataset: str
    model: str
    parameters: Parameters
    contract: str
    sample_ids: tuple[str, ...] = field(repr=False)
    kind: RunKind = "asked"
    source: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def identity(self) -> str:
        """Equal for equal runs, so that the same command goes on where it stopped."""
        settings = [self.model, dict(sorted(self.parameters.items())), self.contract]
        content = [self.benchmark, self.dataset, *settings, sorted(self.sample_ids)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(RunSpec):
    """A run as the store knows it."""

    id: int
    created_at: str
    made_by: str
    name: str | None = None

    @property
    def is_trial(self) -> bool:
        """Whether it serves a trial or a check, and is no model's result."""
        return self.kind in TRIALS


class ChangedSamples(NamedTuple):
    """The newest run of a folder, and whose clips and texts changed since, or came or went."""

    run: int
    clips: tuple[str, ...]
    texts: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a listing, with how far it got."""

    id: int
    created_at: str
    made_by: str
    benchmark: str
    dataset: str
    model: str
    parameters: Parameters
    contract: str
    sample_count: int
    statuses: Mapping[str, int]
    cost_usd: float | None
    kind: RunKind
    name: str | None
    tags: tuple[str, ...]

    @property
    def is_trial(self) -> bool:
        """Whether it serves a trial or a check, and is no model's result."""
        return self.kind in TRIALS

    @property
    def asked(self) -> int:
        """How many samples have an outcome of any status."""
        return sum(self.statuses.values())


@dataclass(frozen=True, slots=True)
class Dataset:
    """The samples that a run was about, as they were when it began.

    ``traits`` says how their answers are scored, ranked and judged.
    """

    fingerprint: str
    benchmark: str
    root: str
    samples: tuple[Sample, ...] = field(repr=False)
    missing: tuple[Mapping[str, str], ...] = field(repr=False)
    traits: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class StoredScore:
    """One metric's score of one sample."""

    sample_id: str
    metric: str
    signature: Signature
    value: float
    statistics: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StoredEstimate:
    """One scorer on one group of a run's samples, as it was computed once.

    There is the score with its interval, with every failure as zero, and with what failures could
    make of it; then samples by what became of them, and what a total cannot be formed for.
    """

    scorer: str
    group: str
    value: float | None
    low: float | None
    high: float | None
    as_zero: float | None
    worst: float | None
    best: float | None
    counts: Mapping[str, int]
    lacks: tuple[str, ...] | None
    signature: Signature


@dataclass(frozen=True, slots=True)
class ScorerLine:
    """One metric or judge of a run in a listing; ``made_by`` is of its newest score."""

    scorer: str
    is_judge: bool
    count: int
    cost_usd: float | None
    signatures: tuple[Signature, ...]
    made_by: str
