"""One line of a dataset's metadata: metadata.jsonl, or a sample in the seed's metadata.json."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from audiocapbench.data.problems import Problem

UNCATEGORISED = "other"

# The published tool's metadata.json names two fields differently.
SEED_NAMES = {"audio_file": "file_name", "reference_captions": "references"}
_SEED_NAMES_BACK = {ours: theirs for theirs, ours in SEED_NAMES.items()}
_WORDS = {
    "missing": "is missing",
    "too_short": "is empty; give at least one caption",
    "list_type": "is not a list",
    "string_type": "is not text",
}


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank")
    return _storable(value)


def _storable(value: str) -> str:
    if "\0" in value:
        raise ValueError("holds a NUL character")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is not text") from None
    return value


Text = Annotated[str, AfterValidator(_text)]


class MetadataRow(BaseModel):
    """One clip with its references; fields that it does not name are kept as details."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    file_name: Text
    references: Annotated[list[Text], Field(min_length=1)]
    id: Text | None = None
    category: Text = UNCATEGORISED
    instruction: Text | None = None
    position: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None

    @property
    def key(self) -> str:
        """The sample id: as given, or the file name."""
        return self.id if self.id is not None else self.file_name

    @property
    def details(self) -> dict[str, Any]:
        """Fields beyond the ones that every row has."""
        return dict(self.__pydantic_extra__ or {})


def read_row(fields: object, where: str, *, seed: bool = False) -> MetadataRow | list[Problem]:
    """Check one decoded JSON value; returns the row, or every problem that it has."""
    if not isinstance(fields, dict):
        return [Problem(where, "", "is not a JSON object")]
    if seed:
        fields = {SEED_NAMES.get(name, name): value for name, value in fields.items()}
    try:
        return MetadataRow.model_validate(fields)
    except ValidationError as error:
        names = _SEED_NAMES_BACK if seed else {}
        return [_problem(where, details, names) for details in error.errors(include_url=False)]


def _problem(where: str, details: Any, names: dict[str, str]) -> Problem:
    location = [names.get(str(part), str(part)) for part in details["loc"]]
    field = location[0] + "".join(f"[{part}]" for part in location[1:])
    if details["type"] == "value_error":
        return Problem(where, field, str(details["ctx"]["error"]))
    said = str(details["msg"])
    return Problem(where, field, _WORDS.get(details["type"]) or said[:1].lower() + said[1:])
