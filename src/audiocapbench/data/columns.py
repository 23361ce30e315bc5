"""What people call the columns of their files, and which of ours each stands for."""

from collections.abc import Mapping, Sequence
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


def given_names(fields: Mapping[str, Any], roles: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Which field of a record each of our names stands for, where it is there."""
    folded = {fold_name(name): name for name in fields}
    found = {
        role: role if role in fields else next((folded[one] for one in names if one in folded), "")
        for role, names in roles.items()
    }
    return {role: name for role, name in found.items() if name}


def renamed(fields: Mapping[str, Any], roles: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Fields under our names, each taken from the first of the names that people give it."""
    found = dict(fields)
    for role, name in given_names(fields, roles).items():
        found[role] = found.pop(name)
    return found


def text_in(fields: Mapping[str, Any], name: str) -> str | None:
    """A field that is text, a whole number, or audio with its path as Hugging Face has it."""
    value = fields.get(name)
    if isinstance(value, dict):
        value = value.get("path")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def captions_of(fields: Mapping[str, Any]) -> list[Any]:
    """The references of a record: a list, one text, or numbered columns."""
    given = fields.get("references")
    if given is None:
        by_name = {fold_name(name): value for name, value in fields.items()}
        given = [by_name[name] for name in NUMBERED if by_name.get(name)]
    return given if isinstance(given, list) else [given]
