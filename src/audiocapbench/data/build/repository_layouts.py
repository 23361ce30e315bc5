"""Where wanted clips lie in a repository: inside parquet files, or each as a file of its own.

Of parquet files, names and captions are read first, without the audio; then only the groups of rows
that hold wanted clips, page by page and no further than the last of them.
"""

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from audiocapbench.audio import EXTENSIONS
from audiocapbench.data.build.hub import HubError, OnReceived, Repository, hub_library
from audiocapbench.data.build.id_lists import ClipSource, ListedClip
from audiocapbench.data.problems import Problem
from audiocapbench.data.records import read_records
from audiocapbench.errors import DatasetError, did_you_mean

_AUDIO, _CAPTION = "audio", "caption"
_METADATA = ("metadata.csv", "metadata.jsonl")
_SPLITS = ("train", "validation", "test", "dev", "val", "eval", "evaluation", "valid")
_BUFFER = 4 << 20
_BATCH = 8


class ClipLocation(NamedTuple):
    """A clip's place: a file, and within a table the group of rows and the row in it."""

    path: str
    group: int = 0
    row: int = 0


@dataclass(slots=True)
class ClipMatch:
    """A wanted clip that the repository has."""

    place: ClipLocation
    captions: list[str] = field(default_factory=list)
    confirmed: bool = True


_Row = tuple[ClipLocation, dict[str, Any]]
_Sounds = Iterator[tuple[ClipLocation, bytes]]


def one_split(where: str, known: Sequence[str], split: str | None) -> str:
    """The split that is meant; nothing where all is one."""
    if split is None and len(known) > 1:
        raise HubError(f"{where}: has the splits {', '.join(known)}; say which: …:{known[0]}")
    if split is not None and split not in (known or ["train"]):
        raise HubError(f"{where}: has no split {split!r}{did_you_mean(split, known, 'it has')}")
    return split or (known[0] if known else "")


def splits_of(repository: Repository) -> list[str]:
    """The splits by the card or by names of files; of other configurations ``NAME/SPLIT``."""
    numbered = [re.search(r"(\w+)-\d{5}-of-\d{5}", path) for path in repository.sizes]
    named = [one[1] for one in numbered if one is not None and one[1] != "data"]
    usual = [one for one in _SPLITS if any(_names(path, one) for path in repository.sizes)]
    return list(dict.fromkeys([*_patterns(repository.configs)] or named or usual))


def split_files(repository: Repository, split: str) -> list[str]:
    """The data files of a split, in the order in which they are read."""
    hidden = re.compile(r"(.*/)?\.|README\.md$")
    paths = sorted(path for path in repository.sizes if not hidden.match(path))
    listed = _patterns(repository.configs)
    # The parts of AudioCapBench have one configuration each, whatever it is called.
    other = next((one for one in listed if one.endswith(f"/{split}")), split)
    patterns = listed.get(split, listed.get(other))
    if patterns:
        chosen = [path for path in paths if any(fnmatch.fnmatchcase(path, one) for one in patterns)]
    else:
        named = {path for path in paths if any(_names(path, one) for one in _SPLITS)}
        chosen = [path for path in paths if _names(path, split)]
        if not named and split == "train":
            chosen = paths
    if not chosen:
        raise HubError(f"{repository.name} has no files for the split {split!r}")
    return chosen


def _names(path: str, split: str) -> bool:
    word = re.escape(split.lower())
    return re.search(rf"(?:^|[^a-z0-9]){word}(?:[^a-z0-9]|$)", path.lower()) is not None


def _patterns(configs: Iterable[Any]) -> dict[str, list[str]]:
    """The patterns of each split that the card lists, those of the default configuration first."""
    known = [one for one in configs if isinstance(one, dict)]
    known.sort(key=lambda one: one.get("config_name") != "default")
    known.sort(key=lambda one: one.get("default") is not True)
    found: dict[str, list[str]] = {}
    for config in known:
        is_default = config.get("config_name") == "default" or config.get("default") is True
        prefix = "" if is_default or len(known) == 1 else f"{config.get('config_name')}/"
        data_files = config.get("data_files")
        if isinstance(data_files, dict):
            data_files = [{"split": name, "path": path} for name, path in data_files.items()]
        for one in data_files if isinstance(data_files, list) else ():
            if isinstance(one, dict) and "split" in one:
                path = one.get("path")
                given = path if isinstance(path, list) else [path]
                own = found.setdefault(f"{prefix}{one['split']}", [])
                own += [pattern for pattern in given if isinstance(pattern, str)]
    return found


def find_clips(
    layout: "ParquetTables | AudioFolder", source: ClipSource, wanted: Sequence[ListedClip]
) -> dict[str, ClipMatch]:
    """The wanted clips by key; batches after the last one that can matter are not read."""
    by_key = {one.key: one for one in wanted}
    found: dict[str, ClipMatch] = {}
    for batch in layout.batches(source.key_columns):
        for place, row in batch:
            key = next((row[name] for name in source.key_columns if row.get(name)), None)
            if not isinstance(key, str) or key not in by_key:
                continue
            caption = row.get(_CAPTION)
            confirmed = not source.confirms or caption == by_key[key].fields.get(_CAPTION)
            known = found.get(key)
            if known is None or (confirmed and not known.confirmed):
                known = found[key] = ClipMatch(place, confirmed=confirmed)
            elif not source.gathers:
                continue
            if caption and isinstance(caption, str):
                known.captions.append(caption)
        if len(found) == len(by_key) and all(
            one.confirmed
            and (not source.gathers or len(one.captions) >= max(1, by_key[key].captions))
            for key, one in found.items()
        ):
            break
    return found


class AudioFolder:
    """The audio files of one split, with or without a metadata file."""

    def __init__(self, repository: Repository, paths: Sequence[str]) -> None:
        self._repository = repository
        self._clips = [path for path in paths if PurePosixPath(path).suffix.lower() in EXTENSIONS]
        self._metadata = [path for path in paths if PurePosixPath(path).name in _METADATA]
        if not self._clips:
            raise HubError(f"{repository.name} holds neither parquet nor audio files")

    def batches(self, keys: Sequence[str]) -> Iterator[list[_Row]]:
        """Every clip by one of the keys in the metadata, or else by its file's name."""
        listed = [
            (ClipLocation(str(PurePosixPath(path).parent / str(row.get("file_name")))), row)
            for path in self._metadata
            for row in self._rows(path)
            if any(isinstance(row.get(key), str) for key in keys)
        ]
        by_name = [(ClipLocation(one), {keys[0]: PurePosixPath(one).stem}) for one in self._clips]
        clips = set(self._clips)
        yield [(place, row) for place, row in listed if place.path in clips] or by_name

    def size(self, places: Sequence[ClipLocation]) -> int:
        return sum(self._repository.sizes[path] for path in {one.path for one in places})

    def audio(self, places: Sequence[ClipLocation], received: OnReceived) -> _Sounds:
        for place in sorted(places):
            yield place, self._repository.open(place.path, received).read()

    def _rows(self, path: str) -> list[dict[str, Any]]:
        problems: list[Problem] = []
        content = self._repository.open(path).read()
        try:
            rows = [row for _, row in read_records(PurePosixPath(path), problems, content=content)]
        except DatasetError as error:
            raise HubError(f"{self._repository.name}: {error}") from None
        if problems:
            raise HubError(f"{self._repository.name}: {path} cannot be read ({problems[0]})")
        return rows


class ParquetTables:
    """The parquet files of one split, as ``datasets`` writes them."""

    def __init__(self, repository: Repository, paths: Sequence[str]) -> None:
        self._repository = repository
        self._paths = tuple(paths)
        self._footers: dict[str, Any] = {}

    def batches(self, keys: Sequence[str]) -> Iterator[list[_Row]]:
        """Keys, of which a file must have one, and captions of each group of rows."""
        for path in self._paths:
            with self._opened(path, None, pre_buffer=True) as table:
                names = table.schema_arrow.names
                if _AUDIO not in names or not set(keys) & set(names):
                    raise HubError(
                        f"{self._repository.name}: {path} has the columns {', '.join(names)}, "
                        f"but {_AUDIO} and {' or '.join(keys)} are needed"
                    )
                read = [one for one in names if one in (_CAPTION, *keys)]
                for group in range(table.num_row_groups):
                    rows = table.read_row_group(group, columns=read).to_pylist()
                    yield [(ClipLocation(path, group, at), row) for at, row in enumerate(rows)]

    def size(self, places: Sequence[ClipLocation]) -> int:
        """Bytes of the audio columns of all groups that hold one of the clips."""
        groups = [self._footers[path].row_group(at) for path, at in {one[:2] for one in places}]
        chunks = (group.column(index) for group in groups for index in range(group.num_columns))
        return sum(
            chunk.total_compressed_size
            for chunk in chunks
            if chunk.path_in_schema.split(".")[0] == _AUDIO
        )

    def audio(self, places: Sequence[ClipLocation], received: OnReceived) -> _Sounds:
        """The clips as they are stored, file by file and group by group."""
        for (path, group), members in groupby(sorted(places), key=lambda one: one[:2]):
            wanted = {one.row: one for one in members}
            with self._opened(path, received, pre_buffer=False, buffer_size=_BUFFER) as table:
                batches = table.iter_batches(
                    batch_size=_BATCH, row_groups=[group], columns=[_AUDIO], use_threads=False
                )
                cells = (cell for batch in batches for cell in batch.column(0))
                for row, cell in enumerate(islice(cells, max(wanted) + 1)):
                    if row in wanted:
                        yield wanted[row], audio_bytes(cell.as_py())

    @contextmanager
    def _opened(self, path: str, received: OnReceived | None, **options: Any) -> Iterator[Any]:
        """A file, whose footer is read once; a damaged one is a sentence."""
        parquet = hub_library("pyarrow.parquet")
        from pyarrow import ArrowException

        options["metadata"] = self._footers.get(path)
        try:
            stream = self._repository.open(path, received)
            with stream, parquet.ParquetFile(stream, **options) as table:
                self._footers[path] = table.metadata
                yield table
        except (ArrowException, OSError) as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            where = f"{self._repository.name}: {path}"
            raise HubError(f"{where} cannot be read ({reason[0]})") from None


def audio_bytes(value: Any) -> bytes:
    """The bytes of a cell, which is a struct of bytes and path, or plain bytes."""
    content = value.get("bytes") if isinstance(value, dict) else value
    return content if isinstance(content, bytes) else b""
