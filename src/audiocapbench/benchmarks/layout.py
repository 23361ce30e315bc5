"""Layouts: how a benchmark's samples make corpora, and how corpora add up to one number.

A benchmark without a layout is one corpus, and its number is that corpus's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Grouped(Protocol):
    """What a layout reads of a sample; it needs no audio."""

    @property
    def id(self) -> str:
        """Unique within the benchmark."""
        ...

    @property
    def category(self) -> str:
        """The corpus that the sample belongs to."""
        ...

    @property
    def references(self) -> tuple[str, ...]:
        """What people said about it."""
        ...

    @property
    def details(self) -> Mapping[str, Any]:
        """What the dataset adds."""
        ...


@dataclass(frozen=True, slots=True)
class Layout:
    """How samples make corpora, one a category, and how these add up.

    Attributes:
        total: What the sum is called.
        weights: What each corpus counts for; a corpus that is not named counts for nothing.
        options: Options that a corpus gives to the metrics that have them.
        clip: What is resampled as one: the clip of a sample.
        facets: Other ways to look at the samples: the name of each, and the sample's place in it.
        null: Whether a sample's references say that there is nothing to describe.
    """

    total: str
    weights: Mapping[str, float]
    options: Callable[[str], Mapping[str, str]]
    clip: Callable[[Grouped], str]
    facets: Callable[[Grouped], Mapping[str, str]]
    null: Callable[[Grouped], bool]
