"""Datasets with a column of audio as benchmarks: ``hf://datasets/ORG/NAME``, parquet, ``datasets``.

Their clips are put into a dataset folder of the user's cache once, and read from there.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.captioning import captioning
from audiocapbench.data import Manifest, open_folder, read_manifest
from audiocapbench.data.build.audio_rows import (
    COLUMNS,
    COMPLETE,
    ROLES,
    AudioTable,
    build_rows,
    folder_table,
    parquet_table,
    saved_table,
)
from audiocapbench.data.build.hub import Hub, Repository, hub_library
from audiocapbench.data.build.ledger import JOURNAL, Ledger
from audiocapbench.data.build.repository_layouts import one_split, split_files, splits_of
from audiocapbench.data.folder import METADATA, PARQUET, SEED_METADATA, TABLE
from audiocapbench.data.problems import os_errors
from audiocapbench.errors import BenchmarkError, DatasetError
from audiocapbench.files import cache_folder, locked

OPTIONS = (*ROLES, "download")

_HUB_NAME = re.compile(
    r"hf://datasets/(?P<repository>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^:@]+))?(?::(?P<split>[^:]+))?"
)
_SOURCE = "made from"


def open_table(target: str, options: Mapping[str, str]) -> Benchmark | None:
    """Open a dataset with a column of audio; None where the name stands for none.

    Args:
        target: ``hf://datasets/ORG/NAME@REVISION:SPLIT``, or a parquet file or a folder of tables
            with ``:SPLIT``.
        options: Columns by role; ``download=yes`` agrees to a download.

    Raises:
        DatasetError: It cannot be read, is not on this disk, or its columns are not clear.
    """
    columns = {role: name for role, name in options.items() if role in ROLES}
    if target.startswith("hf://"):
        return _of_hub(target, options, columns)
    path, _, split = target.rpartition(":") if not Path(target).exists() else (target, "", "")
    place = Path(path).resolve()
    stamps = _tables(place) if path and place.exists() else {}
    if not stamps:
        return None
    label = place.name if place.is_dir() else place.stem
    folder = _folder(label, str(place), split, columns, stamps)
    if known := _opened(folder):
        return known
    with os_errors(folder, "written"), locked(folder):
        if known := _opened(folder):  # by now
            return known
        ledger = Ledger(folder)
        part, table = _local_table(place, stamps, split or None)
        ledger.origin[_SOURCE] = path
        name = f"folder/{label}" + (f":{part}" if part and place.is_dir() else "")
        build_rows(ledger, name, table, columns)
        return _opened(folder)


def _tables(place: Path) -> dict[str, tuple[int, int]]:
    """The tables of a place, each with its size and time; none of a dataset folder."""
    paths = [place] if place.suffix == ".parquet" else []
    if place.is_dir():
        if any(any(place.rglob(one)) for one in (METADATA, TABLE, SEED_METADATA, PARQUET)):
            return {}
        kinds = ("*.parquet", "*.arrow", "dataset_info.json")  # which alone has no rows
        paths = [one for kind in kinds for one in sorted(place.rglob(kind))]
    root = place if place.is_dir() else place.parent
    stats = {one.relative_to(root).as_posix(): one.stat() for one in paths if one.is_file()}
    return {name: (one.st_size, one.st_mtime_ns) for name, one in stats.items()}


def _local_table(
    place: Path, stamps: Mapping[str, tuple[int, int]], split: str | None
) -> tuple[str, AudioTable]:
    """The split that is meant, and its rows."""
    if any(name.endswith(".parquet") for name in stamps):
        files = Repository(Hub(), str(place), "", {name: one for name, (one, _) in stamps.items()})
        part = one_split(files.name, splits_of(files), split)
        root = place if place.is_dir() else place.parent
        paths = [root / name for name in split_files(files, part or "train")]
        return part, parquet_table(files.name, paths)
    datasets = hub_library("datasets")
    try:
        saved = datasets.load_from_disk(str(place))
    except IndexError:
        raise DatasetError(f"{place}: there are no rows in it, or in one of its splits") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{place}: 'datasets' cannot load it ({error!s:.200})") from None
    known = dict(saved) if isinstance(saved, datasets.DatasetDict) else {"": saved}
    part = one_split(str(place), [one for one in known if one], split)
    return part, saved_table(place, known.get(part, saved))


def _of_hub(target: str, options: Mapping[str, str], columns: dict[str, str]) -> Benchmark | None:
    found = _HUB_NAME.fullmatch(target)
    if found is None:
        raise BenchmarkError(f"{target!r} is not hf://datasets/ORG/NAME@REVISION:SPLIT")
    name, revision, split = found.group("repository", "revision", "split")
    folder = _folder(name, name, revision, split, columns)
    if known := _opened(folder):
        return known
    if options.get("download") != "yes":
        words = ",".join(f"{key}={one}" for key, one in {**options, "download": "yes"}.items())
        raise DatasetError(
            f"{target} is not on this disk as a whole, and nothing is downloaded unasked; to have "
            f"it downloaded, write '{target}[{words}]'"
        )
    with os_errors(folder, "written"), locked(folder):
        if known := _opened(folder):
            return known
        ledger, hub = Ledger(folder), Hub()
        files = ledger.repository(hub, name, ledger.origin.get(name, revision))
        part = one_split(name, splits_of(files), split)
        paths = split_files(files, part or "train")
        tables = [path for path in paths if path.endswith(".parquet")]
        root = folder.with_name(f"{folder.name}.download")
        hub.download(files, tables or paths, root)
        table = parquet_table(name, [root / path for path in tables]) if tables else None
        ledger.origin[_SOURCE] = f"{name} at {files.commit}"
        called = f"hf/{name}" + (part and f":{part}")
        build_rows(ledger, called, table or folder_table(name, root), columns)
        shutil.rmtree(root, ignore_errors=True)
        return _opened(folder)


def _folder(label: str, *about: object) -> Path:
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
    return cache_folder() / "datasets" / (re.sub(r"[^\w.-]+", "_", label)[-60:] + f"-{digest}")


def _opened(folder: Path) -> Benchmark | None:
    """The benchmark in a folder of the cache; None where it is not there as a whole."""
    manifest = read_manifest(folder)
    origin = (manifest.origin or {}) if isinstance(manifest, Manifest) else {}
    if COMPLETE not in origin or (folder / JOURNAL).exists():  # the last thing to go
        return None
    found = open_folder(folder)
    about = f"{found.name}: {len(found.entries):,} clips of {origin[_SOURCE]}, in {folder}"
    return captioning(found.name, found, (about, origin[COLUMNS]))
