"""Settings that a user may give to any remote model."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the command line says; None leaves the provider's or the paper's value.

    Attributes:
        temperature: Sampling temperature.
        max_tokens: Most tokens of an answer.
        timeout_s: Seconds to wait for one answer.
        system: What a chat model is told before every question.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 120.0
    system: str | None = None
