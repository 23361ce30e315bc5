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
    """A folder or file that cannot be used: ``problems`` has every reason why.

    The message lists them all, or so many as are to be shown, and what else may help.
    """

    def __init__(
        self, path: Path, problems: Sequence[Problem], shown: int | None = None, hint: str = ""
    ) -> None:
        self.problems = tuple(problems)
        count = f"{len(problems):,} problem{'' if len(problems) == 1 else 's'}"
        lines = [f"{path}: {count}; nothing was done", *(f"  {one}" for one in problems[:shown])]
        if shown is not None and len(problems) > shown:
            lines.append(f"  … and {len(problems) - shown:,} more")
        super().__init__("\n".join([*lines, hint] if hint else lines))
