"""Problems of a dataset: all of them at once, each with its place."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import Literal, NamedTuple

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
        self, path: PurePath, problems: Sequence[Problem], shown: int | None = None, hint: str = ""
    ) -> None:
        self.problems = tuple(problems)
        count = f"{len(problems):,} problem{'' if len(problems) == 1 else 's'}"
        lines = [f"{path}: {count}; nothing was done", *(f"  {one}" for one in problems[:shown])]
        if shown is not None and len(problems) > shown:
            lines.append(f"  … and {len(problems) - shown:,} more")
        super().__init__(*lines, *([hint] if hint else []))


@contextmanager
def os_errors(path: PurePath, what: Literal["read", "written"]) -> Iterator[None]:
    """Turns a full disk or a file without permission into a sentence about the path."""
    try:
        yield
    except OSError as error:
        raise DatasetError(f"{path}: cannot be {what} ({error.strerror or error})") from None
