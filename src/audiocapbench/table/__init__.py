"""Tables, every form in which they are shown, and results, which are shown as tables."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from audiocapbench.errors import ReportError
from audiocapbench.table.forms import (
    Column,
    Row,
    Table,
    ValueWithInterval,
    dollars,
    html_text,
    p_words,
    shown,
    signature_notes,
)
from audiocapbench.table.terminal import text_of

__all__ = ["Column", "Findings", "Result", "Row", "Table", "ValueWithInterval"]
__all__ += ["dollars", "p_words", "shown", "signature_notes"]


class Result(ABC):
    """The answer to a call of the library, or to a command."""

    __slots__ = ()

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """As tables for people."""

    def print_tables(self) -> Sequence[Table]:
        """As tables for a paper, which has less room."""
        return self.tables()

    @abstractmethod
    def records(self) -> Sequence[Row]:
        """As rows for programs, all with the same columns."""

    def tests(self) -> Sequence[Row]:
        """Tests between what the rows are about, which have a file of their own."""
        return ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As the JSON object that the command line prints."""

    def to_frame(self) -> Any:
        """The rows as a pandas data frame, or a polars one where pandas is not installed."""
        records = self.records()
        for package in ("pandas", "polars"):
            try:
                library = import_module(package)
            except ImportError:
                continue
            names = list(records[0]) if records else []
            return library.DataFrame({name: [row.get(name) for row in records] for name in names})
        raise ReportError("a data frame needs pandas or polars: pip install pandas")

    def __str__(self) -> str:
        return text_of(self.tables(), width=100)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(map(html_text, self.tables()))


@dataclass(frozen=True, repr=False)
class Findings(Result):
    """What an analysis found: tables, of which those with rows are shown, and facts beside them."""

    found: Sequence[Table]
    facts: dict[str, Any] = field(default_factory=dict)
    rows: Sequence[Row] | None = None

    def tables(self) -> list[Table]:
        return [one for one in self.found if one.rows]

    def records(self) -> Sequence[Row]:
        return self.found[0].records() if self.rows is None else self.rows

    def to_dict(self) -> dict[str, Any]:
        return self.facts | {one.name: one.objects() for one in self.found if one.name}
