"""One line of a dataset's metadata: metadata.jsonl, metadata.csv, or the seed's metadata.json."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from audiocapbench.data.json_text import check_storable
from audiocapbench.data.problems import Problem
from audiocapbench.data.records import given_names, renamed
from audiocapbench.data.tables import FILES, REFERENCES, captions_of

UNCATEGORISED = "other"

_NAMES = {"file_name": FILES, "references": REFERENCES}
_SEED_NAMES = {"file_name": "audio_file", "references": "reference_captions"}
_WORDS = {
    "missing": "is missing",
    "too_short": "is empty; give at least one caption",
    "list_type": "is not a list",
    "string_type": "is not text",
}


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank")
    check_storable(value)
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


def read_row(given: object, where: str, *, seed: bool = False) -> MetadataRow | list[Problem]:
    """Check one decoded JSON value; returns the row, or every problem that it has.

    The file and its references may have the names that the published tool (``seed``) and other
    datasets give them.
    """
    if not isinstance(given, dict):
        return [Problem(where, "", "is not a JSON object")]
    fields = renamed(given, _NAMES)
    if isinstance(fields.get("file_name"), dict):
        fields["file_name"] = fields["file_name"].get("path")
    if "references" not in given and (captions := captions_of(fields)):
        fields["references"] = captions
    try:
        row = MetadataRow.model_validate(fields)
        check_storable(row.details)
    except ValidationError as error:
        names = (_SEED_NAMES if seed else {}) | given_names(given, _NAMES)
        return [_problem(where, details, names) for details in error.errors(include_url=False)]
    except ValueError as error:
        return [Problem(where, "", str(error))]
    return row


def _problem(where: str, details: Any, names: dict[str, str]) -> Problem:
    location = [names.get(str(part), str(part)) for part in details["loc"]]
    field = location[0] + "".join(f"[{part}]" for part in location[1:])
    if details["type"] == "value_error":
        return Problem(where, field, str(details["ctx"]["error"]))
    said = str(details["msg"])
    return Problem(where, field, _WORDS.get(details["type"]) or said[:1].lower() + said[1:])
