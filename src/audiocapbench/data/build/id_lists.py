"""The four ID lists of AudioCapBench: read from a folder, or downloaded once and verified.

The lists themselves are no part of this package; only their fingerprints are.
"""

import os
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from audiocapbench.audio import sha256
from audiocapbench.data.build.sources import (
    MUSIC,
    SOURCES,
    ClipSource,
    ListedClip,
    aspect_list,
    moments,
)
from audiocapbench.data.problems import InvalidDataError, Problem, os_errors
from audiocapbench.data.records import csv_records
from audiocapbench.errors import DatasetError
from audiocapbench.files import cache_folder, write_file
from audiocapbench.version import VERSION

COMMIT = "e2a1d3ee98ee6930c45a9dbb86780c1ce6c30337"
ADDRESS = (
    f"https://raw.githubusercontent.com/SalesforceAIResearch/AudioCapBench/{COMMIT}/eval_data_ids"
)
ADDRESS_VARIABLE = "AUDIOCAPBENCH_IDS_URL"
PUBLISHED = {source.id_list: source.sha256 for source in SOURCES}

_TIMEOUT_S = 30.0
_PAUSES_S = (0.5, 1.0, 2.0)
_LARGEST = 1 << 26


class IdList(NamedTuple):
    """The clips of one part, in order, and the fingerprint of the file that named them."""

    source: ClipSource
    entries: tuple[ListedClip, ...]
    sha256: str

    @property
    def published(self) -> bool:
        """Whether this is the list of the paper, byte for byte."""
        return self.sha256 == self.source.sha256


def read_id_lists(ids_dir: Path | None = None, cache_dir: Path | None = None) -> list[IdList]:
    """The four lists in the order of the benchmark.

    Args:
        ids_dir: A folder with the lists, the published ones or one's own; None downloads the
            published ones and keeps them in the cache folder.
        cache_dir: Where downloads are kept; None is the user's cache folder.
    """
    folder = ids_dir or (cache_dir or cache_folder()) / "audiocapbench-ids" / COMMIT
    lists: list[IdList] = []
    position = 0
    for source in SOURCES:
        path = folder / source.id_list
        content = _read(path) if ids_dir else _cached(path)
        entries = _parse(source, path, content, position)
        lists.append(IdList(source, entries, sha256(content)))
        position += len(entries)
    return lists


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"{path}: cannot be read ({error.strerror}); an ID folder holds {', '.join(PUBLISHED)}"
        ) from None


def _cached(path: Path) -> bytes:
    wanted = PUBLISHED[path.name]
    if path.is_file() and sha256(content := _read(path)) == wanted:
        return content
    content = _download(path.name)
    if sha256(content) != wanted:
        raise DatasetError(
            f"{path.name}: what was downloaded is not the published list (its SHA-256 differs); "
            "try again, or give the folder of the lists with --ids-dir"
        )
    with os_errors(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, content)
    return content


def _download(name: str) -> bytes:
    base = (os.environ.get(ADDRESS_VARIABLE) or ADDRESS).rstrip("/")
    if not base.startswith(("https://", "http://")):
        raise DatasetError(f"{ADDRESS_VARIABLE} is {base!r}, which is no http address")
    request = urllib.request.Request(  # noqa: S310  (the scheme was checked above)
        f"{base}/{name}", headers={"User-Agent": f"audiocapbench/{VERSION}"}
    )
    reason = ""
    for pause_s in (*_PAUSES_S, None):
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as reply:  # noqa: S310
                content: bytes = reply.read(_LARGEST)
                if not reply.length:
                    return content
                reason = f"{reply.length} bytes did not come"
        except urllib.error.HTTPError as error:
            reason = f"HTTP {error.code}"
            error.close()
            if error.code < 500 and error.code not in (408, 429):
                break
        except (OSError, HTTPException) as error:
            reason = str(getattr(error, "reason", "") or error or type(error).__name__)
        if pause_s is not None:
            time.sleep(pause_s)
    raise DatasetError(
        f"the ID list {name} cannot be downloaded from {base} ({reason}); check the network, or "
        "give a folder with the four lists as --ids-dir"
    )


def _parse(source: ClipSource, path: Path, content: bytes, start: int) -> tuple[ListedClip, ...]:
    entries: list[ListedClip] = []
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for where, row in csv_records(path, problems, source.columns, content):
        if found := _problems(source, row, where):
            problems += found
        elif (first := seen.setdefault(row[source.key], where)) != where:
            problems.append(Problem(where, source.key, f"is already on {first}"))
        else:
            number = len(entries)
            # A key is taken as it stands: HTML escapes and outer spaces are part of it.
            entries.append(
                ListedClip(f"{source.prefix}_{number}", row[source.key], start + number, row)
            )
    if problems:
        raise InvalidDataError(path, problems)
    if not entries:
        raise DatasetError(f"{path}: names no clips")
    return tuple(entries)


def _problems(source: ClipSource, row: dict[str, str], where: str) -> list[Problem]:
    blank = [name for name in source.columns if not row[name].strip()]
    if blank or source is not MUSIC:
        return [Problem(where, name, "is blank") for name in blank]
    try:
        aspect_list(row["aspect_list"])
        start_s, end_s = moments(row)
    except DatasetError as error:
        return [Problem(where, "", str(error))]
    return [] if start_s < end_s else [Problem(where, "end_s", "is not after start_s")]
