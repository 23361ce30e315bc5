"""What a scorer can tell about itself beyond its choices: order of captions, seeds, lost clips."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.scorer import Choice, PairScorer

_SEEDED = "crop"


class Details(NamedTuple):
    """In words, as plain data, and how many clips or questions were lost."""

    notes: tuple[str, ...] = ()
    data: Mapping[str, Any] | None = None
    failed: int = 0


class Told(Protocol):
    """What a pairwise scorer tells."""

    def document(self) -> dict[str, Any]:
        """As plain data."""

    def lines(self) -> list[str]:
        """In words."""


@runtime_checkable
class Telling(Protocol):
    """A scorer that tells how it was asked."""

    def detail(self, pairs: Sequence[CaptionPair]) -> Told:
        """For pairs that it has chosen of."""


@runtime_checkable
class Seeded(Protocol):
    """A scorer whose choices depend on seeds."""

    def spread(
        self, pairs: Sequence[CaptionPair], measure: Callable[[Sequence[Choice]], float]
    ) -> Any:
        """Mean, sd, minimum and maximum over seeds of a measure of choices."""


def details_of(
    scorer: PairScorer,
    pairs: Sequence[CaptionPair],
    headline: str,
    measure: Callable[[Sequence[Choice]], float],
) -> Details:
    """Gather what a scorer tells after it has chosen.

    Args:
        scorer: It has chosen of these pairs.
        pairs: The pairs that count.
        headline: Name of the measure.
        measure: The measure of a list of choices, for scorers that have one list a seed.
    """
    notes: list[str] = []
    data: dict[str, Any] = {}
    failed = int(getattr(scorer, "failed", 0))
    if isinstance(scorer, Telling):
        told = scorer.detail(pairs)
        notes += told.lines()
        data |= told.document()
    if isinstance(scorer, Seeded) and scorer.signature.get("windows") == _SEEDED:
        spread = scorer.spread(pairs, measure)
        data["over_seeds"] = {headline: spread._asdict()}
        notes.append(
            f"{headline} over seeds: mean {spread.mean:.2f}, sd {spread.sd:.2f}, "
            f"{spread.minimum:.2f} to {spread.maximum:.2f}"
        )
    missing: Mapping[str, str] = getattr(scorer, "missing", {})
    if missing:
        failed += len(missing)
        data["missing_clips"] = dict(missing)
        notes.append(f"{len(missing):,} clips were not heard: {next(iter(missing.values()))}")
    return Details(tuple(notes), data or None, failed)
