"""What every analysis of MECAT gives, and how its tables write numbers."""

from typing import Any, NamedTuple

from audiocapbench.report.exports import Heading, Page, Record

WHO = (Heading("model", "left"), Heading("from", "left"))


class Analysis(NamedTuple):
    """What an analysis found.

    Attributes:
        document: As a JSON object.
        records: Rows for other programs.
        pages: Tables for people.
    """

    document: dict[str, Any]
    records: list[Record]
    pages: list[Page]


def number(value: float | None, digits: int, *, none: str = "–") -> str:
    """A figure as tables have it, and what stands where there is none."""
    return none if value is None else f"{value:.{digits}f}"
