"""Datasets with a column of audio as benchmarks: ``hf://datasets/ORG/NAME``, parquet, ``datasets``.

Their clips are put into a dataset folder of the user's cache once, as they are stored, and read
from there. Rows of one id are captions of one clip. A row that cannot be used is missing, with the
reason. A column that nobody named is guessed where one alone fits.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from audiocapbench import audio
from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.captioning import captioning
from audiocapbench.data import Manifest, open_folder
from audiocapbench.data.build import repository_layouts as layouts
from audiocapbench.data.build.hub import Hub, HubError, Repository, hub_library
from audiocapbench.data.build.ledger import JOURNAL, BadFieldsError, Ledger, check_audio, suffix_of
from audiocapbench.data.build.shards import shown
from audiocapbench.data.columns import fold_name, no_column, no_row, numbered, role_names
from audiocapbench.data.folder import METADATA_FILES, Folder, read_manifest
from audiocapbench.data.problems import os_errors
from audiocapbench.data.records import json_value, table_errors
from audiocapbench.data.row import captions_of
from audiocapbench.errors import (
    AudioError,
    BenchmarkError,
    DatasetError,
    NotHereError,
    did_you_mean,
)
from audiocapbench.files import cache_folder, digest, locked

_ROLES = role_names("audio")
ROLES = tuple(_ROLES)
OPTIONS = (*ROLES, "download")

_HUB_NAME = re.compile(
    r"hf://datasets/(?P<repository>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^:@]+))?(?::(?P<split>[^:]+))?"
)
_SOURCE, _COMPLETE, _COLUMNS = "made from", "complete", "columns"
"""What the manifest's origin has; the latter two when every row was read."""

_AT_A_TIME, _BUFFER = 8, 4 << 20
_SOUND = ("audio", "bytes")
_OURS = {"file_name", "position", "duration_s", *_ROLES}
_LIKE_CAPTIONS = ("caption", "description", "reference", "sentence", "text")

Row = dict[str, Any]
Columns = dict[str, list[str]]
"""Names of columns by role."""

Opened = tuple[Folder, tuple[str, str]]
"""A folder of the cache, and what is said of it: where it is from, and which column is what."""


class _AudioTable(NamedTuple):
    """Rows with a column of audio, read as far as some columns go.

    Each column is of a kind: audio, bytes, text (also lists of it, and numbers), or other.
    """

    name: str
    kinds: Mapping[str, str]
    read: Callable[[Sequence[str]], Iterator[Row]]


def open_table(target: str, options: Mapping[str, str]) -> Benchmark | None:
    """Open a dataset with a column of audio; None where the name stands for none.

    Options are columns by role, and ``download=yes``.
    """
    columns = {role: name for role, name in options.items() if role in _ROLES}
    if target.startswith("hf://"):
        how = ",".join(f"{key}={one}" for key, one in {**options, "download": "yes"}.items())
        download = options.get("download") == "yes"
        opened = open_hub(target, columns, f"{target}[{how}]", download=download)
        return captioning(opened[0].name, *opened)
    path, _, split = target.rpartition(":") if not Path(target).exists() else (target, "", "")
    place = Path(path).resolve()
    stamps = _tables(place) if path and place.exists() else {}
    if not stamps:
        return None
    label = place.name if place.is_dir() else place.stem

    def build(ledger: Ledger) -> None:
        part, table = _local_table(place, stamps, split or None)
        ledger.origin[_SOURCE] = path
        name = f"folder/{label}" + (f":{part}" if part and place.is_dir() else "")
        _build_rows(ledger, name, table, columns)

    folder = cache_place(label, str(place), split, columns, stamps)
    opened = _opened(folder) or _built(folder, build)
    return captioning(opened[0].name, *opened)


def open_hub(
    target: str,
    columns: Mapping[str, str],
    how: str,
    *,
    keep: Mapping[str, str] = {},
    needed: Sequence[str] = (),
    out: Path | None = None,
    download: bool = False,
) -> Opened:
    """A repository's split as a folder, ``out`` or one of the cache, of rows to ``keep`` alone.

    Columns that are ``needed`` must be there too; they are details as others are.
    Where it is not on this disk and no ``download`` is wished, the error says ``how`` to have it.
    """
    named = _HUB_NAME.fullmatch(target)
    if named is None:
        raise BenchmarkError(f"{target!r} is not hf://datasets/ORG/NAME@REVISION:SPLIT")
    name, revision, split = named.group("repository", "revision", "split")
    folder = out or cache_place(name, name, revision, split, columns, *([keep] if keep else []))
    if known := _opened(folder):
        return known
    if not download:
        raise not_on_disk(target, how)

    def build(ledger: Ledger) -> None:
        hub = Hub()
        files = ledger.repository(hub, name, ledger.origin.get(name, revision))
        part = layouts.one_split(name, layouts.splits_of(files), split)
        paths = layouts.split_files(files, part or "train")
        tables = [path for path in paths if path.endswith(".parquet")]
        root = folder.with_name(f"{folder.name}.download")
        hub.download(files, tables or paths, root)
        table = _parquet_table(name, [root / path for path in tables]) if tables else None
        ledger.origin[_SOURCE] = f"{name} at {files.commit}"
        title = f"hf/{name}" + (part and f":{part}")
        _build_rows(ledger, title, table or _folder_table(name, root), columns, keep, needed)
        shutil.rmtree(root, ignore_errors=True)

    return _built(folder, build)


def not_on_disk(target: str, how: str) -> NotHereError:
    return NotHereError(
        f"{target} is not on this disk as a whole, and nothing is downloaded unasked; to have it "
        f"downloaded, write '{how}'"
    )


def cache_place(label: str, *about: object) -> Path:
    key = digest(json.dumps(about, sort_keys=True))[:16]
    return cache_folder() / "datasets" / (re.sub(r"[^\w.-]+", "_", label)[-60:] + f"-{key}")


def _built(folder: Path, build: Callable[[Ledger], None]) -> Opened:
    with os_errors(folder, "written"), locked(folder):
        if (known := _opened(folder)) is None:  # nor by another process meanwhile
            build(Ledger(folder))
            known = _opened(folder)
    if known is None:
        raise DatasetError(f"{folder}: was changed while it was made; remove it")
    return known


def _opened(folder: Path) -> Opened | None:
    """A folder that was built here; None where it is not there as a whole."""
    manifest = read_manifest(folder)
    origin = (manifest.origin or {}) if isinstance(manifest, Manifest) else {}
    if _COMPLETE not in origin or (folder / JOURNAL).exists():  # the last thing to go
        return None
    found = open_folder(folder)
    about = f"{found.name}: {len(found.entries):,} clips of {origin[_SOURCE]}, in {folder}"
    return found, (about, origin[_COLUMNS])


def _tables(place: Path) -> dict[str, tuple[int, int]]:
    """The tables of a place, each with its size and time; none of a dataset folder."""
    paths = [place] if place.suffix == ".parquet" else []
    if place.is_dir():
        if any(any(place.rglob(one)) for one in METADATA_FILES):
            return {}
        kinds = ("*.parquet", "*.arrow", "dataset_info.json")  # which alone has no rows
        paths = [one for kind in kinds for one in sorted(place.rglob(kind))]
    root = place if place.is_dir() else place.parent
    stats = {one.relative_to(root).as_posix(): one.stat() for one in paths if one.is_file()}
    return {name: (one.st_size, one.st_mtime_ns) for name, one in stats.items()}


def _local_table(
    place: Path, stamps: Mapping[str, tuple[int, int]], split: str | None
) -> tuple[str, _AudioTable]:
    """The split that is meant, and its rows."""
    if any(name.endswith(".parquet") for name in stamps):
        files = Repository(Hub(), str(place), "", {name: one for name, (one, _) in stamps.items()})
        part = layouts.one_split(files.name, layouts.splits_of(files), split)
        root = place if place.is_dir() else place.parent
        paths = [root / name for name in layouts.split_files(files, part or "train")]
        return part, _parquet_table(files.name, paths)
    datasets = hub_library("datasets")
    try:
        saved = datasets.load_from_disk(str(place))
    except IndexError:
        raise DatasetError(f"{place}: there are no rows in it, or in one of its splits") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{place}: 'datasets' cannot load it ({error!s:.200})") from None
    known = dict(saved) if isinstance(saved, datasets.DatasetDict) else {"": saved}
    part = layouts.one_split(str(place), [one for one in known if one], split)
    rows = known.get(part, saved)

    def read(columns: Sequence[str]) -> Iterator[Row]:
        names = [one if one in rows.column_names else one.removesuffix(".path") for one in columns]
        with table_errors(place):
            for batch in rows.select_columns(names).with_format("arrow").iter(_AT_A_TIME):
                yield from batch.to_pylist()

    kinds = {one.name: _kind(one.type) for one in rows.features.arrow_schema}
    return part, _AudioTable(str(place), kinds, read)


def _parquet_table(name: str, paths: Sequence[Path]) -> _AudioTable:
    parquet = hub_library("pyarrow.parquet")

    def read(columns: Sequence[str]) -> Iterator[Row]:
        for path in paths:
            # Without these, a whole file of clips would be in memory at once.
            lean = {"pre_buffer": False, "buffer_size": _BUFFER}
            with table_errors(path), parquet.ParquetFile(path, **lean) as table:
                for batch in table.iter_batches(_AT_A_TIME, columns=list(columns)):
                    yield from batch.to_pylist()

    with table_errors(paths[0]):
        kinds = {one.name: _kind(one.type) for one in parquet.read_schema(paths[0])}
    return _AudioTable(name, kinds, read)


def _folder_table(name: str, root: Path) -> _AudioTable:
    entries = open_folder(root).entries

    def read(columns: Sequence[str]) -> Iterator[Row]:
        for row, clip, _ in entries:
            content = audio.read_bytes(clip.path, audio.MOST_BYTES) if "audio" in columns else None
            known = {**row.details, **row.model_dump(exclude_none=True, include=set(_ROLES))}
            yield known | {"audio": {"bytes": content, "path": clip.file_name}}

    names = [name for row, _, _ in entries for name in (*row.details, *row.model_fields_set)]
    return _AudioTable(name, dict.fromkeys(names, "text") | {"audio": "audio"}, read)


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


def _choose_columns(
    where: str, kinds: Mapping[str, str], named: Mapping[str, str], needed: Iterable[str]
) -> Columns:
    """The columns that the user names, and guesses for the others."""
    has = "it has " + ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
    wrong: list[str] = []
    texts = [name for name, kind in kinds.items() if kind == "text"]
    chosen: Columns = {}
    for role, names in _ROLES.items():
        wide: list[str] = []
        found = [name for name in texts if fold_name(name) in names]
        if role == "audio":
            found = [name for name, kind in kinds.items() if kind in _SOUND]
        elif role == "references" and not found:
            wide = list(numbered(tuple(texts)))
            found = [
                name for name in texts if any(one in fold_name(name) for one in _LIKE_CAPTIONS)
            ]
        if role in named:
            found = wide = named[role].split("+")
        lost = [name for name in found if name not in kinds]
        wrong += [
            f"{where}: has no column {name!r}{did_you_mean(name, kinds)}; {has}" for name in lost
        ]
        if role == "audio" and any(kinds.get(name, "audio") not in _SOUND for name in found):
            wrong.append(f"{where}: {found[0]!r} is no column of audio; {has}")
        if not found and role in ("audio", "references"):
            wrong.append(f"{where}: which column is its {role}? name it, {role}=COLUMN; {has}")
        if len(found) > 1 and not wide:
            several = " or ".join(map(repr, found))
            wrong.append(f"{where}: its {role} may be {several}; name one, {role}={found[0]}")
        chosen[role] = wide or found
    wrong += [no_column(where, name, kinds) for name in needed if name not in kinds]
    if wrong:
        raise DatasetError(*wrong)
    return chosen


def _column_note(columns: Columns, named: Mapping[str, str]) -> str:
    """Which columns are read as what, and which of them were guessed."""
    chosen = {role: "+".join(names) for role, names in columns.items() if names}
    chosen.setdefault("id", "the clip's file name, or its row")
    told = ", ".join(f"{role}={one}" for role, one in chosen.items() if role in named)
    guessed = ", ".join(f"{role}={one}" for role, one in chosen.items() if role not in named)
    hint = "; others can be named: references=COLUMN+COLUMN,id=COLUMN"
    notes = [f"columns: {told}" if told else "", f"guessed: {guessed}{hint}" if guessed else ""]
    return "; ".join(filter(None, notes))


def _build_rows(
    ledger: Ledger,
    name: str,
    table: _AudioTable,
    named: Mapping[str, str],
    keep: Mapping[str, str] = {},
    needed: Sequence[str] = (),
) -> None:
    """Put every clip of the rows to keep into the folder, or go on with it."""
    columns = _choose_columns(table.name, table.kinds, named, (*keep, *needed))
    ledger.origin[_COLUMNS] = _column_note(columns, named)
    used = {one for names in columns.values() for one in names}
    details = [one for one, kind in table.kinds.items() if kind == "text" and one not in used]
    names = _file_names(table, columns)
    seen: dict[str, tuple[Row, str]] = {}
    number = 0
    with ledger.building(name, ledger.missing.values):
        wanted = list(dict.fromkeys([*used, *details, *keep]))
        for number, cells in enumerate(table.read(wanted), start=1):
            if any(str(cells[column]) != value for column, value in keep.items()):
                next(names, None)
                continue
            content = layouts.audio_bytes(cells.pop(columns["audio"][0], None))
            digest = audio.sha256(content)
            given_id = cells.get(columns["id"][0]) if columns["id"] else next(names, None)
            has_id = given_id is not None and str(given_id).strip()
            key = str(given_id) if has_id else f"row {number}"
            row = {"id": key, **_fields(json_value(cells), columns, details), "position": len(seen)}
            texts = row.pop("references")
            known, first = seen.setdefault(key, (row | {"references": []}, digest))
            if first != digest:
                raise DatasetError(
                    f"{table.name}: row {number} has another clip than the row before it with the "
                    f"id {shown(key)!r}; name another column for it, id=COLUMN"
                )
            known["references"] += texts
            try:
                _keep(ledger, known, content, digest)
            except (AudioError, BadFieldsError) as error:
                ledger.note_missing(shown(key), str(error))
        if not ledger.clips:
            reason = next((one.reason for one in ledger.missing.values()), no_row(keep))
            raise HubError(f"{table.name}: no clip can be used; of the first: {reason}")
        ledger.origin[_COMPLETE] = f"{number} rows"


def _file_names(table: _AudioTable, columns: Columns) -> Iterator[str]:
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
    own = ("category", "instruction", "transcript")
    named = {name: role for role in own for name in columns[role]}
    found |= {role: str(cells[one]) for one, role in named.items() if cells.get(one) is not None}
    texts = [text for several in captions for text in several if text is not None]
    return {name: one for name, one in found.items() if one is not None} | {"references": texts}


def _keep(ledger: Ledger, row: Row, content: bytes, digest: str) -> None:
    if len(content) > audio.MOST_BYTES:
        raise AudioError(f"has {len(content):,} bytes; a clip has at most {audio.MOST_BYTES:,}")
    known, suffix = ledger.clips.get(row["id"]), suffix_of(content)
    if known is None or ledger.files[known["file_name"]].sha256 != digest:
        check_audio(content)
    file_name = f"audio/{row['position']:06d}{suffix}"
    ledger.keep({"file_name": file_name, **row, "references": list(row["references"])}, content)
