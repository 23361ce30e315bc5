"""Builds a dataset folder from rows with a column of audio, as ``datasets`` keeps them.

Clips are taken one after the other and as they are stored. Rows of one id are captions of one clip.
A row that cannot be used is missing, with the reason. A column that nobody named is guessed where
one alone fits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from audiocapbench import audio
from audiocapbench.data.build.cutting import check_audio, suffix_of
from audiocapbench.data.build.hub import HubError, hub_library
from audiocapbench.data.build.ledger import BadFieldsError, Ledger
from audiocapbench.data.build.repository_layouts import audio_bytes
from audiocapbench.data.build.shards import shown
from audiocapbench.data.folder import open_folder
from audiocapbench.data.manifest import MissingClip
from audiocapbench.data.problems import os_errors
from audiocapbench.data.records import NUMBERED, REFERENCES, fold_name, json_value
from audiocapbench.data.row import captions_of
from audiocapbench.errors import AudioError, DatasetError, did_you_mean

ROLES: Mapping[str, tuple[str, ...]] = {
    "audio": (),
    "references": REFERENCES,
    **{name: (name,) for name in ("id", "category", "instruction")},
}
"""What a column can be, and what it is called then."""

COMPLETE, COLUMNS = "complete", "columns"
"""What the manifest's origin has when every row was read."""

_AT_A_TIME, _BUFFER = 8, 4 << 20
_OURS = {"file_name", "position", "duration_s", *ROLES}
_LIKE_CAPTIONS = ("caption", "description", "reference", "sentence", "text")

Columns = dict[str, list[str]]
Row = dict[str, Any]


class AudioTable(NamedTuple):
    """Rows with a column of audio.

    Attributes:
        kinds: What each column may hold: audio, bytes, text (also lists of it, and numbers), other.
        read: The rows, as far as some columns go.
    """

    name: str
    kinds: Mapping[str, str]
    read: Callable[[Sequence[str]], Iterator[Row]]


def parquet_table(name: str, paths: Sequence[Path]) -> AudioTable:
    """Parquet files, one after the other."""
    parquet = hub_library("pyarrow.parquet")

    def read(columns: Sequence[str]) -> Iterator[Row]:
        for path in paths:
            # Without these, a whole file of clips would be in memory at once.
            lean = {"pre_buffer": False, "buffer_size": _BUFFER}
            with _reading(path), parquet.ParquetFile(path, **lean) as table:
                for batch in table.iter_batches(_AT_A_TIME, columns=list(columns)):
                    yield from batch.to_pylist()

    with _reading(paths[0]):
        return AudioTable(name, _kinds(parquet.read_schema(paths[0])), read)


def saved_table(place: Path, saved: Any) -> AudioTable:
    """A ``datasets.Dataset``, read where it lies."""

    def read(columns: Sequence[str]) -> Iterator[Row]:
        own = saved.column_names
        names = [one if one in own else one.removesuffix(".path") for one in columns]
        with _reading(place):
            for batch in saved.select_columns(names).with_format("arrow").iter(_AT_A_TIME):
                yield from batch.to_pylist()

    return AudioTable(str(place), _kinds(saved.features.arrow_schema), read)


def folder_table(name: str, root: Path) -> AudioTable:
    """A dataset folder."""
    entries = open_folder(root).entries

    def read(columns: Sequence[str]) -> Iterator[Row]:
        for row, clip, _ in entries:
            content = audio.read_bytes(clip.path, audio.MOST_BYTES) if "audio" in columns else None
            known = {**row.details, **row.model_dump(exclude_none=True, include=set(ROLES))}
            yield known | {"audio": {"bytes": content, "path": clip.file_name}}

    names = [name for row, _, _ in entries for name in (*row.details, *row.model_fields_set)]
    return AudioTable(name, dict.fromkeys(names, "text") | {"audio": "audio"}, read)


def _kinds(schema: Any) -> dict[str, str]:
    return {one.name: _kind(one.type) for one in schema}


def _kind(of: Any) -> str:
    from pyarrow import types

    if types.is_binary(of) or types.is_large_binary(of):
        return "bytes"
    if types.is_struct(of) and {"bytes", "path"} <= {one.name for one in of}:
        return "audio"
    several = False
    while hasattr(of, "value_type"):  # lists of all sorts, and what pandas calls a category
        several = several or not types.is_dictionary(of)
        of = of.value_type
    is_text = types.is_string(of) or types.is_large_string(of)
    return "text" if is_text or (types.is_primitive(of) and not several) else "other"


def choose_columns(where: str, kinds: Mapping[str, str], given: Mapping[str, str]) -> Columns:
    """The columns that the user names, and guesses for the others.

    Raises:
        DatasetError: There is no such column, none that fits, or several that do.
    """
    has = "it has " + ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
    texts = [name for name, kind in kinds.items() if kind == "text"]
    chosen: Columns = {}
    for role, names in ROLES.items():
        numbered: list[str] = []
        found = [name for name in texts if fold_name(name) in names]
        if role == "audio":
            found = [name for name, kind in kinds.items() if kind in ("audio", "bytes")]
        elif role == "references" and not found:
            numbered = [name for name in texts if fold_name(name) in NUMBERED]
            found = [
                name for name in texts if any(one in fold_name(name) for one in _LIKE_CAPTIONS)
            ]
        if role in given:
            found = numbered = given[role].split("+")
        if lost := [name for name in found if name not in kinds]:
            raise DatasetError(
                f"{where}: has no column {lost[0]!r}{did_you_mean(lost[0], kinds)}; {has}"
            )
        if role == "audio" and any(kinds[name] not in ("audio", "bytes") for name in found):
            raise DatasetError(f"{where}: {found[0]!r} is no column of audio; {has}")
        if not found and role in ("audio", "references"):
            raise DatasetError(f"{where}: which column is its {role}? '…[{role}=COLUMN]'; {has}")
        if len(found) > 1 and not numbered:
            several, example = " or ".join(map(repr, found)), f"'…[{role}={found[0]}]'"
            raise DatasetError(f"{where}: its {role} may be {several}; say which: {example}")
        chosen[role] = numbered or found
    return chosen


def in_words(columns: Columns, given: Mapping[str, str]) -> str:
    """Which columns are read as what, and which of them were guessed."""
    found = {role: "+".join(names) for role, names in columns.items() if names}
    found.setdefault("id", "the clip's file name, or its row")
    named = [f"{role}={one}" for role, one in found.items() if role in given]
    guesses = [f"{role}={one}" for role, one in found.items() if role not in given]
    hint = "; name others in brackets: '…[references=COLUMN+COLUMN,id=COLUMN]'"
    guessed = [f"guessed: {', '.join(guesses)}{hint}"] if guesses else []
    return "; ".join([*([f"columns: {', '.join(named)}"] if named else []), *guessed])


def build_rows(ledger: Ledger, name: str, table: AudioTable, given: Mapping[str, str]) -> None:
    """Put every clip into the folder, or go on with it.

    Raises:
        DatasetError: Columns are not clear, two clips have one id, or no clip can be used.
    """
    columns = choose_columns(table.name, table.kinds, given)
    ledger.origin[COLUMNS] = in_words(columns, given)
    used = {one for names in columns.values() for one in names}
    details = [one for one, kind in table.kinds.items() if kind == "text" and one not in used]
    names = _file_names(table, columns)
    seen: dict[str, tuple[Row, str]] = {}
    number = 0
    with ledger.building(name, ledger.missing.values):
        for number, cells in enumerate(table.read([*used, *details]), start=1):
            content = audio_bytes(cells.pop(columns["audio"][0], None))
            digest = audio.sha256(content)
            named = cells.get(columns["id"][0]) if columns["id"] else next(names, None)
            key = str(named) if named is not None and str(named).strip() else f"row {number}"
            row = {"id": key, **_fields(json_value(cells), columns, details), "position": len(seen)}
            texts = row.pop("references")
            known, first = seen.setdefault(key, (row | {"references": []}, digest))
            if first != digest:
                raise DatasetError(
                    f"{table.name}: row {number} has another clip than the row before it with the "
                    f"id {shown(key)!r}; name another column for the id: '…[id=COLUMN]'"
                )
            known["references"] += texts
            try:
                _keep(ledger, known, content, digest)
            except (AudioError, BadFieldsError) as error:
                ledger.note_missing(MissingClip(id=shown(key), reason=str(error)))
        if not ledger.clips:
            reason = next((one.reason for one in ledger.missing.values()), "there are no rows")
            raise HubError(f"{table.name}: no clip can be used; of the first: {reason}")
        ledger.origin[COMPLETE] = f"{number} rows"


def _file_names(table: AudioTable, columns: Columns) -> Iterator[str]:
    """The name of each clip's file, where all have one of their own; nothing elsewhere."""
    column = columns["audio"][0]
    if columns["id"] or table.kinds[column] != "audio":
        return iter(())
    paths = [(row[column] or {}).get("path") for row in table.read([f"{column}.path"])]
    names = [PurePosixPath(one).name if isinstance(one, str) else "" for one in paths]
    return iter(names if all(names) and len(set(names)) == len(names) else ())


def _fields(cells: Row, columns: Columns, details: Sequence[str]) -> Row:
    """What a row says, under our names; references one after the other."""
    captions = [captions_of({"references": cells.get(one)}) for one in columns["references"]]
    found = {name: cells.get(name) for name in details if name not in _OURS}
    named = {name: role for role in ("category", "instruction") for name in columns[role]}
    found |= {role: str(cells[one]) for one, role in named.items() if cells.get(one) is not None}
    texts = [text for several in captions for text in several if text is not None]
    return {name: one for name, one in found.items() if one is not None} | {"references": texts}


def _keep(ledger: Ledger, row: Row, content: bytes, digest: str) -> None:
    if len(content) > audio.MOST_BYTES:
        raise AudioError(f"has {len(content):,} bytes; a clip has at most {audio.MOST_BYTES:,}")
    known, suffix = ledger.clips.get(row["id"]), suffix_of(content)
    if known is None or known.facts.sha256 != digest:
        check_audio(content)
    own = {"file_name": f"audio/{row['position']:06d}{suffix}", **row}
    ledger.keep(own | {"references": list(row["references"])}, content)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turns what pyarrow says about a damaged file into a sentence."""
    from pyarrow import ArrowException

    try:
        with os_errors(path, "read"):
            yield
    except (ArrowException, UnicodeDecodeError) as error:
        raise HubError(f"{path}: is no table that can be read ({error!s:.200})") from None
