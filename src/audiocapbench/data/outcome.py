"""Clips, samples, replies and outcomes: the words that every other room speaks in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from audiocapbench import audio
from audiocapbench.errors import AudioError
from audiocapbench.files import digest


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
        return cls(Path(name), name, digest(name), 0.0, 0, 1)

    @property
    def is_absent(self) -> bool:
        return self.rate == 0

    def read(self, most: int = audio.MOST_BYTES) -> bytes:
        """Its bytes; AudioError where they cannot be read, or are not those that it is known by."""
        content = audio.read_bytes(self.path, most)
        self.check(content)
        return content

    def check(self, content: bytes | None = None) -> None:
        """The same of bytes that are at hand, or of a file that need not be held in memory."""
        if audio.sha256(self.path if content is None else content) != self.sha256:
            raise AudioError("has changed since the run began", subject=f"{self.path}:")


@dataclass(frozen=True, slots=True)
class Sample:
    """A clip, what is asked about it, and its references.

    Scores are also shown for its ``category``; ``position`` is its place in the full benchmark, and
    ``details`` are what the dataset adds: transcript, source, domain, …
    """

    id: str
    clip: Clip
    instruction: str
    references: tuple[str, ...]
    category: str
    position: int
    details: Mapping[str, Any] = field(default_factory=dict)


class Status(StrEnum):
    """How a question ended; never expressed as a number."""

    OK = "ok"
    EMPTY = "empty"
    REFUSED = "refused"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    UNPARSED = "unparsed"
    FAILED = "failed"
    SKIPPED = "skipped"


SCORED = frozenset({Status.OK, Status.EMPTY})
"""Statuses whose text is scored; an empty answer scores what an empty text scores."""

JUDGED = (Status.OK, Status.TRUNCATED)
"""Statuses of judgements that have scores; of a reply that was cut off, what came before."""

ASKED_AGAIN = frozenset({Status.FAILED, Status.SKIPPED})
"""Statuses that a resumed run asks again; the others are answers."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from a model.

    Attributes:
        error: Why there is no answer; of an answer, what its audio was where not the mean of all
            channels was heard.
        withheld: Index of the reference that the answer was taken from, which is then left out
            when the answer is scored; only controls set it.
        input_tokens, output_tokens: Of all attempts that were billed; None where one is not known.
        audio_tokens: Those of the input tokens that were audio.
        cost_usd: Dollars that all attempts cost, where the price is known.
        raw: The provider's reply as JSON text, without audio, kept to look into later.
        usage_note: Why what it says of its tokens is not believed; is not stored.
    """

    text: str
    status: Status = Status.OK
    error: str | None = None
    withheld: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    audio_tokens: int | None = None
    cost_usd: float | None = None
    raw: str | None = None
    usage_note: str | None = None

    @property
    def cost_is_estimated(self) -> bool:
        """Whether its cost, or that of an attempt before it, is none that a provider reported."""
        return bool(self.cost_usd) and None in (self.input_tokens, self.output_tokens)

    def held_to(self, references: tuple[str, ...]) -> tuple[str, ...]:
        """The references, without the one that a control answered with and its copies."""
        if self.withheld is None:
            return references
        return tuple(text for text in references if text != references[self.withheld])


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reply, the sample that it belongs to, and how it was had.

    ``audio_s`` are seconds of audio as sent, ``latency_s`` is the time of the last attempt or 0
    where that is unknown, and ``attempts`` is 0 for a reply from the cache.
    """

    sample_id: str
    reply: Reply
    audio_sha256: str | None
    audio_s: float
    latency_s: float
    attempts: int = 1
    cached: bool = False


def total_cost(costs: Iterable[float | None]) -> float | None:
    """Costs together, as far as they are known; None where none is."""
    known = [one for one in costs if one is not None]
    return sum(known) if known else None
