"""Settings that a user may give to a model; a model takes those that it declares."""

from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the user says; None leaves the provider's or the paper's value.

    ``max_tokens`` are those of an answer, ``timeout`` is in seconds, and ``system`` is what a chat
    model is told before every question.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    system: str | None = None

    @property
    def given(self) -> Mapping[str, Any]:
        """The settings that the user gave, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def timeout_s(self) -> float:
        """Seconds to wait for one answer, whether or not the user said."""
        return TIMEOUT_S if self.timeout is None else self.timeout

    def filled(self, defaults: "ModelSettings", taken: Container[str]) -> "ModelSettings":
        """These, and the defaults for what is taken and not given."""
        more = {name: value for name, value in defaults.given.items() if name in taken}
        return ModelSettings(**{**more, **self.given})


SETTINGS = tuple(field.name for field in fields(ModelSettings))
"""Every setting that a provider can declare."""
