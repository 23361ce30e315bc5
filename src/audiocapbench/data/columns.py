"""What people call the columns of their files, and which of ours each stands for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

FILES = ("file_name", "audio_file", "filename", "file", "fname", "audio", "path")
IDS = ("id", *FILES, "key", "__key__", "clip", "clip_id")
# A caption beside something that is surely a prediction is a reference: it comes after them.
PREDICTIONS = (
    *("prediction", "predicted_caption", "caption_predicted", "answer", "output", "response"),
    *("hypothesis", "caption", "text"),
)
REFERENCES = ("references", "reference_captions", "captions", "reference", "caption", "raw_text")
SYSTEMS = ("model", "system", "model_name", "model_id")
NUMBERED = tuple(f"{name}_{n}" for name in ("caption", "reference") for n in range(1, 21))
"""Names as people write them, ours first."""

Columns = Sequence[str | Sequence[str]]
"""Columns that a file must have, each by one name or any of several."""


def fold_name(name: str) -> str:
    """A column's name as names are compared."""
    return name.strip().casefold()


def names_of(column: str | Sequence[str]) -> Sequence[str]:
    """The names that a column may have, ours first."""
    return (column,) if isinstance(column, str) else column


def has_column(column: str | Sequence[str], names: Sequence[str]) -> bool:
    """Whether one of the names is one of the column's."""
    return bool(set(map(fold_name, names)) & set(map(fold_name, names_of(column))))


Roles = Mapping[str, Sequence[str]]
"""Our names, each with those that people give it."""


def given_names(names: Iterable[str], roles: Roles) -> dict[str, str]:
    """Which of a file's names stands for each of ours, where one does; each for one at most."""
    folded = {fold_name(name): name for name in names}
    exact = set(folded.values())
    found: dict[str, str] = {}
    for role, theirs in roles.items():
        wanted = [role] if role in exact else [folded[one] for one in theirs if one in folded]
        if left := [one for one in wanted if one not in found.values()]:
            found[role] = left[0]
    return found


def renamed(fields: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """Fields under our names, each taken from the first of the names that people give it."""
    found = dict(fields)
    for role, name in given_names(fields, roles).items():
        if role != name:
            found[role] = found.pop(name)
    return found


def renamed_texts(fields: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """The same, with whole numbers, and audio as Hugging Face has it, as text."""
    found = renamed(fields, roles)
    for name in found.keys() & roles.keys():
        value = found[name]
        if isinstance(value, dict):
            found[name] = value.get("path")
        elif isinstance(value, int) and not isinstance(value, bool):
            found[name] = str(value)
    return found
