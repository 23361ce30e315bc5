"""What a recipe hands back: the sound, when each event starts, and the facts known about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from demo_clips.dsp import Signal


class Mark(NamedTuple):
    """The moment at which an event is first heard."""

    at: float
    event: str


@dataclass(frozen=True)
class Take:
    """One synthesised clip before it is levelled and encoded."""

    sound: Signal
    marks: tuple[Mark, ...]
    facts: Mapping[str, object] = field(default_factory=dict)
