"""What a model is: a name, an audio contract, and an answer to a question about a clip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from audiocapbench.data.outcome import Reply
from audiocapbench.data.sample import Sample

Container = Literal["none", "file", "wav", "pcm16"]
PastLimit = Literal["reject", "truncate"]


@dataclass(frozen=True, slots=True)
class AudioContract:
    """The audio that a model takes, and what happens past its limits.

    Attributes:
        container: ``wav`` or raw ``pcm16``, ``file`` (its bytes as they are), or ``none``.
        rate: Sampling rate in hertz; None keeps the clip's.
        mono: Whether channels are mixed down.
        longest_s: Longest clip in seconds.
        largest_bytes: Largest payload in bytes.
        past_limit: What to do with a clip that is longer.
    """

    container: Container
    rate: int | None = None
    mono: bool = True
    longest_s: float | None = None
    largest_bytes: int | None = None
    past_limit: PastLimit = "reject"

    def __str__(self) -> str:
        if self.container in ("none", "file"):
            return {"none": "no audio", "file": "the file as it is"}[self.container]
        parts = [self.container, f"{self.rate} Hz" if self.rate else "any rate"]
        parts += ["mono"] if self.mono else []
        if self.longest_s is not None:
            parts.append(f"longest {self.longest_s:g} s, then {self.past_limit}")
        if self.largest_bytes is not None:
            parts.append(f"at most {self.largest_bytes / 1e6:g} MB")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class SentAudio:
    """Audio as a contract asks for it: what is sent, byte for byte."""

    content: bytes
    container: Container
    rate: int
    channels: int
    duration_s: float
    sha256: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked. References are not part of it."""

    sample_id: str
    instruction: str
    audio: SentAudio | None


class Model(Protocol):
    """Answers an instruction about a clip with text.

    Attributes:
        name: ``provider/model``, as the user wrote it.
        contract: The audio that it takes.
        parameters: Everything beside the question that changes the answer.
        cacheable: Whether the same question may be answered from the store.
        concurrency: Most questions to ask at once unless the user says otherwise.
    """

    @property
    def name(self) -> str: ...
    @property
    def contract(self) -> AudioContract: ...
    @property
    def parameters(self) -> Mapping[str, str | int | float | bool]: ...
    @property
    def cacheable(self) -> bool: ...
    @property
    def concurrency(self) -> int: ...

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Called once, before the first question, with all samples of the benchmark."""

    async def answer(self, question: Question) -> Reply:
        """Answer one question.

        Raises:
            ModelError: The model could not answer; the sample becomes ``failed``.
        """
