"""What a comparison of two runs is made of: differences, the samples shared, and what moved."""

from dataclasses import dataclass
from typing import NamedTuple

from audiocapbench.data import Sample
from audiocapbench.scores.scorer import Scorer
from audiocapbench.signature import Signature
from audiocapbench.stats import Interval
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Run

ALL = "all"


@dataclass(frozen=True, slots=True)
class Difference:
    """One scorer on all common samples, or on those of a category.

    Attributes:
        n: Samples that both runs have a score for.
        difference: Second less first.
        interval: 95 %, of paired samples; it and the p-value are None for too few samples.
        p_value: Two-sided, by paired permutation.
        adjusted: Corrected over all scorers, or over all scorers and categories; None where so
            few samples could show nothing.
        effect: The difference in standard deviations of the samples' differences.
        detectable: The smallest true difference that these samples show in four of five cases.
        needed: Samples, or clips, that it would take to see the difference that was found.
        by_clip: Whether clips are drawn and swapped, because some have several samples.
        lost: Samples that only the first run has a score for, and ``gained`` only the second.
    """

    scorer: Scorer
    category: str
    n: int
    first: float | None
    second: float | None
    difference: float | None
    interval: Interval | None = None
    p_value: float | None = None
    adjusted: float | None = None
    effect: float | None = None
    detectable: float | None = None
    needed: int | None = None
    by_clip: bool = False
    lost: int = 0
    gained: int = 0


class AnswerScore(NamedTuple):
    """What a run said of a sample, and how it scored."""

    score: float
    status: str
    text: str


class SampleChange(NamedTuple):
    """A sample whose score is not the same in both runs."""

    sample: Sample
    first: AnswerScore
    second: AnswerScore

    @property
    def difference(self) -> float:
        """Second less first."""
        return self.second.score - self.first.score


class CommonSamples(NamedTuple):
    """Which samples two runs share.

    Attributes:
        samples: Those that both were asked, and that mean the same in both.
        changed: Samples of the same id whose clip, references or category were changed.
    """

    samples: tuple[Sample, ...]
    only_first: int
    only_second: int
    changed: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        headline: The scorer that says which samples moved.
        differences: All scorers on all samples, then by category.
        moved: The samples that moved most, furthest first.
        signatures: How each scorer's numbers were made.
    """

    first: Run
    second: Run
    common: CommonSamples
    headline: Scorer
    differences: tuple[Difference, ...]
    moved: tuple[SampleChange, ...]
    signatures: dict[str, Signature]
    correction: Correction
    notes: tuple[str, ...]
