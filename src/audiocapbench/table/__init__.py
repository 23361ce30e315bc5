"""Tables: what is shown as rows and columns, and every form in which it is shown."""

from audiocapbench.table.result import Findings, Result
from audiocapbench.table.table import (
    Column,
    Row,
    Table,
    ValueWithInterval,
    dollars,
    shown,
    signature_notes,
)

__all__ = ["Column", "Findings", "Result", "Row", "Table", "ValueWithInterval"]
__all__ += ["dollars", "shown", "signature_notes"]
