"""One clip with its references: a row of metadata, or of a file of references alone."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from audiocapbench.data import records
from audiocapbench.data.outcome import Clip, Sample
from audiocapbench.data.problems import InvalidDataError, Problem, check_storable, problems_of
from audiocapbench.data.records import FILES, IDS, NUMBERED, REFERENCES, fold_name
from audiocapbench.errors import DatasetError

UNCATEGORISED = "other"

_TEXTS = ("id", "file_name", "category", "instruction")
_NAMES = {"file_name": FILES, "references": REFERENCES}
_REFERENCE_NAMES = {"id": IDS, "references": REFERENCES, "file_name": FILES} | {
    name: (name,) for name in ("category", "instruction")
}
_SEED_NAMES = {"file_name": "audio_file", "references": "reference_captions"}
_SEED_SAMPLE = " samples["
_NOT_DETAILS = {
    *"metrics llm_judge llm_judge_error inference_time success status error position".split(),
    *("references", *records.PREDICTIONS, *REFERENCES, *NUMBERED, *FILES),
}
"""What a file of references may say that is no detail of the clip."""

_WORDS = {"too_short": "is empty; give at least one caption"}


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank")
    return value


Text = Annotated[str, AfterValidator(_text)]


class MetadataRow(BaseModel, extra="allow", strict=True, frozen=True):
    """One clip with its references; fields that it does not name are kept as details."""

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
        return dict(self.__pydantic_extra__ or {})


def read_row(record: dict[str, Any], where: str) -> MetadataRow | list[Problem]:
    """The row of a record, under whatever names it has, or every problem of it."""
    fields = records.renamed(record, _NAMES)
    if isinstance(fields.get("file_name"), dict):
        fields["file_name"] = fields["file_name"].get("path")
    if "references" not in record and (captions := captions_of(fields)):
        fields["references"] = captions
    names = _SEED_NAMES if _SEED_SAMPLE in where else {}
    return _checked(fields, where, {**names, **records.names_by_role(record, _NAMES)})


def captions_of(fields: Mapping[str, Any]) -> list[Any]:
    """The references of a record: a list, one text, or numbered columns."""
    captions = fields.get("references")
    if captions is None:
        by_name = {fold_name(name): value for name, value in fields.items()}
        captions = [by_name[name] for name in NUMBERED if by_name.get(name)]
    return captions if isinstance(captions, list) else [captions]


def _checked(
    fields: dict[str, Any], where: str, names: Mapping[str, str]
) -> MetadataRow | list[Problem]:
    """The row of fields under our names; a problem has the name that the file has."""
    try:
        check_storable(fields)
    except ValueError:  # which of them?
        for name, value in fields.items():
            items = {"": value}
            if isinstance(value, list) and value:
                items = {f"[{at}]": item for at, item in enumerate(value)}
            for at, item in items.items():
                try:
                    check_storable([name, item])
                except ValueError as error:
                    return [Problem(where, f"{names.get(name, name)}{at}", str(error))]
    try:
        return MetadataRow.model_validate(fields)
    except ValidationError as error:
        return list(dict.fromkeys(problems_of(error, where, names, _WORDS)))


def read_metadata(path: Path, problems: list[Problem]) -> Iterator[tuple[str, MetadataRow]]:
    """The rows of a metadata file, each with its place; what is wrong goes into ``problems``."""
    is_table = path.suffix.lower() in records.DELIMITERS
    for where, fields in _clips(path, problems, _NAMES if is_table else None):
        row = read_row(fields, where)
        if isinstance(row, MetadataRow):
            yield where, row
        else:
            problems += row


def read_references(path: Path) -> list[Sample]:
    """Samples without audio, of ``id,reference`` rows or lines with ``id`` and ``references``.

    A sample of which no category is said has a blank one.
    """
    problems: list[Problem] = []
    found: dict[str, Sample] = {}
    for where, fields in _clips(path, problems, _REFERENCE_NAMES):
        named = {name: fields[name] for name in _TEXTS if fields.get(name) not in (None, "")}
        if "id" in named:
            named.setdefault("file_name", named["id"])
        details = {
            name: value
            for name, value in fields.items()
            if name and value != "" and name not in _TEXTS and fold_name(name) not in _NOT_DETAILS
        }
        about = details | named | {"references": captions_of(fields)}
        row = _checked(about, where, {"file_name": "id"})
        if not isinstance(row, MetadataRow):
            problems += row
        elif row.key in found:
            problems.append(Problem(where, "id", f"{row.key!r} has references above"))
        else:
            category = row.category if "category" in row.model_fields_set else ""
            own = (row.instruction or "", tuple(row.references), category, len(found), row.details)
            found[row.key] = Sample(row.key, Clip.absent(row.file_name), *own)
    if problems:
        raise InvalidDataError(path, problems)
    if not found:
        raise DatasetError(f"{path}: holds no references")
    return list(found.values())


def _clips(
    path: Path, problems: list[Problem], roles: records.Roles | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a file; several rows of a table about one clip are captions of it.

    Of what else such rows say, that counts on which all of them agree.
    """
    keys = IDS if roles is _REFERENCE_NAMES else FILES
    columns = (keys, (*REFERENCES, *NUMBERED))
    every = records.read_records(path, problems, columns, roles=roles)
    if path.suffix.lower() not in records.DELIMITERS:
        for where, record in every:
            yield where, {name: value for name, value in record.items() if value is not None}
        return
    found: dict[object, tuple[str, dict[str, Any]]] = {}
    for where, cells in every:
        fields: dict[str, Any] = {name: cell for name, cell in cells.items() if cell.strip()}
        if fields.get("position", "").isdecimal():
            fields["position"] = int(fields["position"])
        captions = [one for one in captions_of(fields) if one is not None]
        if not captions:
            problems.append(Problem(where, "references", "is missing or blank"))
            continue
        fields = {name: one for name, one in fields.items() if fold_name(name) not in NUMBERED}
        names = tuple(fields.get(name) for name in ("id", "file_name", "instruction"))
        clip = names if any(names[:2]) else where
        _, first = found.setdefault(clip, (where, fields | {"references": []}))
        if first.get("category") != fields.get("category"):
            problems.append(Problem(where, "category", "is another one than above"))
        first["references"] += captions
        for name in [one for one in first if one not in (*_TEXTS, "references")]:
            if first[name] != fields.get(name):
                del first[name]
    yield from found.values()
