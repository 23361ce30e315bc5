"""What a judge says about one answer: scores and the reasoning, nothing about who was asked."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """The scores of one answer, each from 0 to 10, and why."""

    scores: Mapping[str, float]
    reasoning: str

    @property
    def overall(self) -> float:
        """The unrounded mean of the dimensions."""
        return sum(self.scores.values()) / len(self.scores)
