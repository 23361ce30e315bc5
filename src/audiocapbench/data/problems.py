"""Problems of a dataset: all of them at once, each with its place."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, NamedTuple

from audiocapbench.errors import DatasetError

if TYPE_CHECKING:
    from pydantic import ValidationError

_WORDS = {
    "missing": "is missing",
    "list_type": "is not a list",
    "tuple_type": "is not a list",
    "string_type": "is not text",
    "model_type": "is not a JSON object",
}


class Problem(NamedTuple):
    """One thing that is wrong: where, in which field, and what."""

    where: str
    field: str
    what: str

    def __str__(self) -> str:
        return ": ".join(part for part in self if part)


def problems_of(
    error: "ValidationError",
    where: str = "",
    names: Mapping[str, str] | None = None,
    words: Mapping[str, str] | None = None,
) -> list[Problem]:
    """What pydantic found wrong, under the data's names, in our words where they are plainer."""
    problems = []
    for one in error.errors(include_url=False, include_input=False):
        parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in one["loc"]]
        field = "".join(parts).removeprefix(".")
        if one["loc"] and (own := (names or {}).get(str(one["loc"][0]))):
            field = own + "".join(parts[1:])
        said = str(one["ctx"]["error"] if one["type"] == "value_error" else one["msg"])
        what = {**_WORDS, **(words or {})}.get(one["type"]) or said[:1].lower() + said[1:]
        problems.append(Problem(where, field, what))
    return problems


class InvalidDataError(DatasetError):
    """A folder or file that cannot be used; ``problems`` has every reason why."""

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
