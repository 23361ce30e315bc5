"""What is put on trial: anything that chooses between two captions, and how a name becomes it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from importlib import import_module
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from audiocapbench.engine import Preview
from audiocapbench.errors import TrialError
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.signature import Signature

FloatArray = NDArray[np.float64]
Measure = Callable[[Sequence["Choice"]], float]
"""The published measure of a list of choices."""


class Choice(Enum):
    """What a scorer says about a pair."""

    FIRST = 0
    SECOND = 1
    TIE = "tie"
    UNKNOWN = "unknown"

    @property
    def swapped(self) -> "Choice":
        """The same choice where the captions stand in the other order."""
        return _SWAPPED.get(self, self)


_SWAPPED = {Choice.FIRST: Choice.SECOND, Choice.SECOND: Choice.FIRST}


class Diagnostics(NamedTuple):
    """What a scorer says beyond its choices, in words and as plain data.

    ``failed`` is how many captions, clips or questions got no answer.
    """

    notes: tuple[str, ...] = ()
    data: Mapping[str, Any] | None = None
    failed: int = 0


class PairScorer(ABC):
    """Chooses one caption of each pair; a subclass gives ``choose``.

    Attributes:
        name: As the command line has it.
        needs_corpus: Whether it is also shown pairs without an answer, which belong to its corpus.
        sees_both: Whether it sees both captions at once, and can be asked in both orders.
        latest: What it says of its latest choosing.
    """

    name: str
    signature: Signature
    needs_corpus = False
    sees_both = False
    latest = Diagnostics()

    @abstractmethod
    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Choose for all pairs at once, with the captions in their own order."""

    def choose_swapped(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Its choices when the captions change places, for the pairs as they stand."""
        return [one.swapped for one in self.choose([pair.swapped() for pair in pairs])]

    def preview(self, _pairs: Sequence[CaptionPair]) -> list[Preview]:
        """What choosing of these pairs will ask and likely cost, as far as it is not known."""
        return []

    def diagnostics(
        self, _pairs: Sequence[CaptionPair], _headline: str, _measure: Measure
    ) -> Diagnostics:
        """For pairs that it has chosen of, with the name and the making of a measure."""
        return self.latest


class PointwiseScorer(PairScorer):
    """Scores each caption alone; the higher one wins, and equal ones are a tie.

    A subclass gives ``score``. Scores are compared in single precision: a difference further back
    is the noise of sums taken in another order, and no preference.
    """

    @abstractmethod
    def score(self, pairs: Sequence[CaptionPair]) -> tuple[FloatArray, FloatArray]:
        """Scores of the first captions and of the second; NaN where there is none."""

    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """The caption with the higher score; unknown where one has none."""
        return higher(*self.score(pairs)) if pairs else []


def higher(first: FloatArray, second: FloatArray) -> list[Choice]:
    """Compare scores; NaN stands for a caption that was not scored."""
    left, right = first.astype(np.float32), second.astype(np.float32)
    unknown = np.isnan(left) | np.isnan(right)
    places = np.select([unknown, left == right, left > right], [3, 2, 0], 1)
    return [_CHOICES[place] for place in places.tolist()]


_CHOICES = tuple(Choice)

KINDS: Mapping[str, tuple[str, str]] = {
    "metric": ("scorers.metric", "MetricScorer"),
    "judge": ("scorers.judge", "JudgeScorer"),
    "clap": ("scorers.clap", "create_clap_scorer"),
    "control": ("scorers.controls", "create_control"),
    "model": ("pairwise.scorer", "create_pairwise"),
    "choices": ("scorers.from_file", "ChoicesFile"),
    "scores": ("scorers.from_file", "ScoresFile"),
}
"""What may stand before the colon of a scorer's name; each is imported when it is asked for."""


def create_scorer(text: str, settings: TrialSettings | None = None) -> PairScorer:
    """Make the scorer that ``KIND:NAME`` stands for, such as ``metric:cider_d``.

    Raises:
        TrialError: There is no such kind, or no such control.
        AudioCapBenchError: There is no such metric, judge or model, or it cannot be used here.
    """
    kind, _, name = (part.strip() for part in text.partition(":"))
    if kind not in KINDS or not name:
        kinds = ", ".join(
            f"{one}:{'FILE' if made[0] == 'scorers.from_file' else 'NAME'}"
            for one, made in KINDS.items()
        )
        raise TrialError(f"{text!r} is not a scorer; write one of {kinds}")
    module, maker = KINDS[kind]
    create = getattr(import_module(f"audiocapbench.meta.{module}"), maker)
    create = cast("Callable[[str, TrialSettings], PairScorer]", create)
    return create(name, settings or TrialSettings())
