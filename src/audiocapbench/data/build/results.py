"""How a build goes and how it ends, part by part, whichever benchmark it is of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from audiocapbench.data.manifest import MissingClip


class BuildStep(NamedTuple):
    """How far a part has come; None stands for what is not known yet."""

    part: str
    clips: int
    clips_total: int
    received: int
    bytes_total: int | None


OnProgress = Callable[[BuildStep], None]


@dataclass(frozen=True, slots=True)
class PartResult:
    """How a part ended: of the clips wanted, some were kept, others found and most of them fetched.

    Attributes:
        commit: The commit of the repository; None where it was not asked.
        bytes_total: What had to be downloaded for the clips that were found, at most.
        problem: Why the part could not be had at all.
    """

    part: str
    repository: str
    commit: str | None
    wanted: int
    kept: int
    found: int = 0
    fetched: int = 0
    bytes_total: int = 0
    missing: tuple[MissingClip, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class BuildResult:
    """How a build ended: part by part, in the order of the benchmark."""

    name: str
    parts: tuple[PartResult, ...]

    @property
    def wanted(self) -> int:
        """How many clips were asked for."""
        return sum(part.wanted for part in self.parts)

    @property
    def present(self) -> int:
        """How many of them are in the folder now."""
        return sum(part.kept + part.fetched for part in self.parts)


Builder = Callable[..., BuildResult]
"""Builds one folder; takes ``dry_run`` and ``progress``."""
