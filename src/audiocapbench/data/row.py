"""One clip with its references: a row of metadata, or of a file of references alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from audiocapbench.data import columns, records
from audiocapbench.data.categories import UNCATEGORISED, fold_category
from audiocapbench.data.cells import is_missing, split_column, texts_of
from audiocapbench.data.columns import FILES, IDS, PREDICTIONS, REFERENCES, Reading, fold_name
from audiocapbench.data.outcome import Clip, Sample
from audiocapbench.data.problems import InvalidDataError, Problem, check_storable, problems_of
from audiocapbench.errors import DatasetError

_TEXTS = ("id", "file_name", "category", "instruction")
_ROLES = (*_TEXTS, "references")
_NAMES = {"file_name": FILES, "references": REFERENCES}
_REFERENCE_NAMES: columns.Roles = {"id": IDS, "references": REFERENCES, "file_name": FILES} | {
    name: (name,) for name in ("category", "instruction")
}
_SEED_NAMES = {"file_name": "audio_file", "references": "reference_captions"}
_SEED_SAMPLE = " samples["
_CAPTIONS = (*REFERENCES, *columns.NUMBERED)
_NOT_DETAILS = {
    *"metrics llm_judge llm_judge_error inference_time success status error position".split(),
    *("references", *PREDICTIONS, *REFERENCES, *FILES, *columns.INDEXES),
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
    fields = columns.renamed(record, _NAMES)
    if isinstance(fields.get("file_name"), dict):
        fields["file_name"] = fields["file_name"].get("path")
    if "references" not in record and (captions := captions_of(fields)):
        fields["references"] = captions
    names = _SEED_NAMES if _SEED_SAMPLE in where else {}
    return _checked(fields, where, {**names, **columns.names_by_role(record, _NAMES)})


def captions_of(fields: Mapping[str, Any]) -> list[Any]:
    """The references of a record: a list, one text, or numbered columns."""
    captions = fields.get("references")
    if captions is None:
        captions = [fields[name] for name in columns.numbered(tuple(fields)) if fields[name]]
    return captions if isinstance(captions, list) else [captions]


def _are_plain(texts: list[Any], details: Mapping[str, Any]) -> bool:
    """Whether texts are some, none of them blank, and a database keeps all that there is."""
    if {*map(type, texts)} != {str} or not all(map(str.strip, texts)):
        return False
    try:
        check_storable([*texts, details] if details else "".join(texts))
    except ValueError:
        return False
    return True


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
    if path.suffix.lower() in records.DELIMITERS:
        rows = _clips(path, problems, _NAMES, Reading(path, guesses=False))
    else:
        rows = (
            (where, {name: value for name, value in record.items() if value is not None})
            for where, record in records.read_records(path, problems, (FILES, _CAPTIONS))
        )
    for where, fields in rows:
        row = read_row(fields, where)
        if isinstance(row, MetadataRow):
            yield where, row
        else:
            problems += row


def read_references(
    path: Path, reading: Reading | None = None, *, by_row: bool = False, otherwise: str = ""
) -> list[Sample]:
    """Samples without audio, of ``id,reference`` rows or lines with ``id`` and ``references``.

    A sample of which no category is said has a blank one, or ``otherwise``. The ``reading`` may
    name columns, and tells how it went. Where predictions stand in the same rows (``by_row``),
    there may be no ids.
    """
    reading = Reading(path) if reading is None else reading
    problems: list[Problem] = []
    found: dict[str, Sample] = {}
    also: columns.Roles = {"id": IDS, "prediction": PREDICTIONS} if by_row else {}
    roles = {**also, **_REFERENCE_NAMES}
    for where, fields in _clips(path, problems, roles, reading, by_row=by_row):
        named = {name: fields[name] for name in _TEXTS if fields.get(name) not in (None, "")}
        if "id" in named:
            named.setdefault("file_name", named["id"])
        details = {
            name: value
            for name, value in fields.items()
            if name not in _ROLES and name and value != "" and fold_name(name) not in _NOT_DETAILS
        }
        captions = captions_of(fields)
        # What is plain passes: a model takes longer than all the rest.
        texts = [*named.values(), *captions] if captions and "file_name" in named else []
        if not _are_plain(texts, details):
            about = details | named | {"references": captions}
            row = _checked(about, where, {"file_name": "id"})
            if not isinstance(row, MetadataRow):
                problems += row
                continue
        file = named["file_name"]
        given = named.get("id", file)
        if (key := normalize("NFC", given)) in found:
            as_ = "" if given == found[key].id else f" as {found[key].id!a}"
            name = f"{given!a}" if as_ else f"{given!r}"
            hint = "" if "id" in reading.columns else "; a column of ids tells such rows apart"
            problems.append(Problem(where, "id", f"{name} has references above{as_}{hint}"))
        else:
            said = named.get("category", "").strip()
            category = "" if is_missing(said) else fold_category(said)
            reading.note(f"category {said!r} is read as {category}" if category != said else "")
            own = (tuple(captions), category or otherwise, len(found), details)
            found[key] = Sample(given, Clip.absent(file), named.get("instruction", ""), *own)
    if problems:
        raise InvalidDataError(path, problems)
    if not found:
        none = columns.no_row(reading.keep) if reading.keep else "holds no references"
        raise DatasetError(f"{path}: {none}")
    return list(found.values())


def _clips(
    path: Path,
    problems: list[Problem],
    roles: columns.Roles,
    reading: Reading,
    *,
    by_row: bool = False,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a file; several rows about one clip, each with a text, are captions of it.

    Of what else such rows say, that counts on which all of them agree.
    """
    of_folder = not reading.guesses
    keys = FILES if of_folder else (*IDS, *REFERENCES) if by_row else IDS
    how: Any = {"roles": roles, "reading": reading}
    every = records.read_records(path, problems, (keys, _CAPTIONS), **how)
    found: dict[object, tuple[str, dict[str, Any]]] = {}
    cells: list[dict[str, Any]] = []
    rivals: dict[str, Counter[str]] = {}
    blank: dict[object, str] = {}
    systems: dict[tuple[object, str], str] = {}
    beside: list[tuple[list[Any], Any, list[Any]]] = []
    lost = repeats = 0
    for number, (where, record) in enumerate(every, 1):
        texts, numbers = captions_of(record), columns.numbered(tuple(record))
        fields = {
            name: one
            for name, one in record.items()
            if one is not None and name not in numbers and (type(one) is not str or one.strip())
        }
        if by_row:
            fields.setdefault("id", f"row {reading.rows}")
        if isinstance(record.get("references"), list):
            texts = texts_of(texts) or texts
            found[where, number] = where, fields | {"references": texts}
            if len(texts) == 1:
                cells.append(found[where, number][1])
            continue
        texts = [one for one in texts if one is not None and str(one).strip()]
        clip = [str(fields.get(name, "")).strip() for name in ("id", "file_name", "instruction")]
        alone = not any(clip[:2]) or (of_folder and not texts)
        key = (where, number) if alone else tuple(clip)
        if not texts:
            blank.setdefault(key, where)
            lost += 1
            continue
        if key not in found:
            found[key] = where, fields | {"references": []}
            cells.append(found[key][1])
        whose = "".join(str(fields[one]) for one in fields if fold_name(one) in columns.SYSTEMS)
        own = [
            one for one in texts if not whose or systems.setdefault((key, str(one)), whose) == whose
        ]
        repeats += len(texts) - len(own)
        _add_row(found[key][1], fields, own, where, problems)
        plain, *others = [record[name] for name in numbers] or [None]
        if plain in own and any(others) and not fold_name(numbers[0])[-1:].isdecimal():
            beside.append((found[key][1]["references"], plain, others))
        for name, one in fields.items():
            if name[-3:] == "_id" or name == "file_name":
                rivals.setdefault(name, Counter())[str(one)] += 1
    _check_ids(reading, len(found), rivals)
    if repeats:
        reading.note(f"{repeats:,} references that it repeats for each system count once")
    for texts, plain, _ in beside if all(plain in others for _, plain, others in beside) else ():
        reading.note("its column without a number repeats a numbered one, and was left out")
        texts.remove(plain)
    _split_cells(path, cells, reading)
    problems += _leave_out_missing(found, blank, lost, reading)
    yield from _drained(found, cells)


def _drained(*found: Any) -> Iterator[Any]:
    """The values of the first, of which nothing is held any longer than until the next."""
    rows = [*found[0].values()][::-1]
    for one in found:
        one.clear()
    while rows:
        yield rows.pop()


def _leave_out_missing(
    found: dict[object, tuple[str, dict[str, Any]]],
    blank: dict[object, str],
    lost: int,
    reading: Reading,
) -> list[Problem]:
    """Leave out references that are marks of none, say how many with those ``lost`` before, and
    return a problem for each clip that has no others."""
    for key, (where, fields) in list(found.items()):
        there = [one for one in fields["references"] if not is_missing(one) and str(one).strip()]
        lost += len(fields["references"]) - len(there)
        if fields["references"] and not there:
            del found[key]
            blank[key] = where
        fields["references"] = there
    if lost:
        reading.note(f"{lost:,} references that are blank, or marks such as NA, were left out")
    empty = [where for key, where in blank.items() if key not in found]
    return [Problem(where, "references", "is missing or blank") for where in empty]


def _add_row(
    first: dict[str, Any],
    fields: dict[str, Any],
    texts: Sequence[Any],
    where: str,
    problems: list[Problem],
) -> None:
    if str(fields.get("position", "")).isdecimal():
        fields["position"] = first["position"] = int(fields["position"])
    if first.get("category") != fields.get("category"):
        problems.append(Problem(where, "category", "is another one than above"))
    first["references"] += texts
    for name in [one for one in first if one not in _ROLES]:
        if first[name] != fields.get(name):
            del first[name]


def _check_ids(reading: Reading, clips: int, rivals: Mapping[str, Counter[str]]) -> None:
    """Refuse ids of captions in the place of those of clips, unless the user names them."""
    for name, counts in rivals.items() if reading.guesses and "id" in reading.columns else ():
        if name != "file_name" and fold_name(name) not in IDS:
            continue
        few = 2 * len(counts) <= clips == counts.total() and max(counts.values()) <= 20
        if few and len(counts) > 1 and "id" not in (reading.mapped or ()):
            column, other = reading.columns["id"], reading.columns.get(name, name)
            raise DatasetError(
                f"{reading.path}: each row has an own {column!r}, but {other!r} repeats, as ids of "
                f"clips with several captions do; say which it is: `columns` id={other} or "
                f"`columns` id={column}"
            )


def _split_cells(path: Path, cells: Sequence[dict[str, Any]], reading: Reading) -> None:
    """Read cells that hold several texts, all of a file in one way."""
    cells = [one for one in cells if all(isinstance(text, str) for text in one["references"])]
    texts = [text for fields in cells for text in fields["references"]]
    column = reading.columns.get("references", "")
    form, several = reading.forms.get("references", ""), len(texts) > 1.5 * len(cells)
    try:
        named = "" if "…" in column else column
        split, note = split_column(texts, named, form, several=several)
    except DatasetError as error:
        raise DatasetError(f"{path}: {error.reason}") from None
    reading.note(note)
    parts = iter(split)
    for fields in cells if note else ():
        fields["references"] = [text for _ in fields["references"] for text in next(parts)]
