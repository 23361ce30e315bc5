"""What every analysis of MECAT gives."""

from typing import Any, NamedTuple

from audiocapbench.report.exports import Heading, Page, Record

WHO = (Heading("model", "left"), Heading("from", "left"))


class Analysis(NamedTuple):
    """What an analysis found: as a JSON object, as rows for programs, as tables for people."""

    document: dict[str, Any]
    records: list[Record]
    pages: list[Page]
