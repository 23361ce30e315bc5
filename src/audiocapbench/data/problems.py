"""Problems of a dataset: all of them at once, each with its place."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import DatasetError


class Problem(NamedTuple):
    """One thing that is wrong: where, in which field, and what."""

    where: str
    field: str
    what: str

    def __str__(self) -> str:
        return ": ".join(part for part in self if part)


class InvalidDataError(DatasetError):
    """A folder or file that cannot be used, with every reason why."""

    def __init__(self, path: Path, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = [f"{path}: {count}; nothing was done", *(f"  {problem}" for problem in problems)]
        super().__init__("\n".join(lines))
