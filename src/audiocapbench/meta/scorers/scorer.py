"""What is put on trial: anything that chooses between two captions."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.signature import Signature

FloatArray = NDArray[np.float64]


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


@runtime_checkable
class PairScorer(Protocol):
    """Chooses one caption of each pair.

    A scorer that was also asked in the other order gives those choices by
    ``choose_swapped(pairs)``, for the pairs as they stand: FIRST means that it prefers
    ``pair.first``, which it saw second.

    Attributes:
        name: As the command line names it, such as ``metric:cider_d``.
        signature: How its choices are made.
    """

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> Signature: ...

    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Choose for all pairs at once; they are the corpus, where a scorer needs one."""


@runtime_checkable
class BothOrdersScorer(Protocol):
    """A scorer that was asked about each pair in both orders."""

    def choose_swapped(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Its choices when the captions change places, for the pairs as they stand."""


@runtime_checkable
class GivenOrderScorer(Protocol):
    """A scorer whose choices combine both orders, and that keeps what each of them said."""

    def choose_as_given(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Its choices with the captions in their own order, whatever the other order says."""


class PointwiseScorer:
    """Scores each caption alone; the higher one wins, and equal ones are a tie.

    A subclass gives ``score``. Scores are compared in single precision: a difference further back
    is the noise of sums taken in another order, and no preference.
    """

    name: str
    signature: Signature

    def score(self, pairs: Sequence[CaptionPair]) -> tuple[FloatArray, FloatArray]:
        """Scores of the first captions and of the second; NaN where there is none."""
        raise TypeError(f"{type(self).__name__} gives no scores")

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
