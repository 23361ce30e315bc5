"""DATE by group and in total: a user's models in their places among the published ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audiocapbench.benchmarks.mecat.published import TOTAL
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Heading, Page, Record
from audiocapbench.report.mecat.beside import (
    Standing,
    comparison_notes,
    mecat_standings,
    one_benchmark,
)
from audiocapbench.report.mecat.scored import ScoredAnswers


@dataclass(frozen=True, slots=True)
class StandingsReport:
    """Everybody in their places, and how far the numbers can be held against each other."""

    benchmark: str
    standings: tuple[Standing, ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As a JSON object."""
        rows = [
            {
                "model": one.name,
                "origin": one.origin,
                "rank": one.ranks.get(TOTAL),
                "figures": dict(one.figures),
                "note": one.note,
            }
            for one in self.standings
        ]
        return {"benchmark": self.benchmark, "standings": rows, "notes": list(self.notes)}

    def records(self) -> list[Record]:
        """A row a model."""
        return [
            {
                "model": one.name,
                "origin": one.origin,
                "rank": one.ranks.get(TOTAL),
                **one.figures,
                "note": one.note,
            }
            for one in self.standings
        ]

    def pages(self) -> list[Page]:
        """A table for people."""
        columns = list(self.standings[0].figures)
        headings = (
            Heading("#"),
            Heading("model", "left"),
            Heading("from", "left"),
            *(Heading(name.replace("_", " ")) for name in columns),
        )
        rows = tuple(
            (
                _number(one.ranks.get(TOTAL), 0),
                one.name,
                one.origin,
                *(_number(one.figures.get(name), 1) for name in columns),
            )
            for one in self.standings
        )
        named = tuple(f"{one.name}: {one.note}" for one in self.standings if one.note)
        return [Page(f"{self.benchmark}: DATE in percent", headings, rows, (*self.notes, *named))]


def standings_report(
    scored: Sequence[ScoredAnswers], benchmark: str = CAPTION, *, published: bool = True
) -> StandingsReport:
    """Place models among each other.

    Args:
        scored: Models on one of the two benchmarks.
        benchmark: The one whose published models are shown where no model is given.
        published: Whether to show the published models.

    Raises:
        ReportError: There is nobody to show, or the models are scored on different benchmarks.
    """
    shown = one_benchmark(scored) or benchmark
    found = mecat_standings(scored, benchmark, published=published)
    if not found:
        raise ReportError("there is nobody to show: name a run, or allow the published")
    notes = comparison_notes(scored) if published else []
    return StandingsReport(shown, tuple(found), tuple(notes))


def _number(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:.{places}f}"
