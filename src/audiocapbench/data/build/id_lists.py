"""AudioCapBench's four sources and their ID lists, from a folder or downloaded and verified."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from audiocapbench.audio import sha256
from audiocapbench.data.build.download import download
from audiocapbench.data.cells import parsed
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_records
from audiocapbench.errors import DatasetError
from audiocapbench.files import cache_folder, read_lists


class ClipSource(NamedTuple):
    """One part of the benchmark, as sources.json has it.

    ``label`` is the ``source`` of its samples, ``prefix`` what their ids begin with. A clip is
    named by the list's column ``key``, and by the first of ``key_columns`` that the repository has;
    its references are all captions there where it ``gathers``. Of rows with the same key, the one
    with the list's caption is preferred where it ``confirms``.
    """

    name: str
    category: str
    label: str
    prefix: str
    repository: str
    split: str
    id_list: str
    sha256: str
    key: str
    columns: tuple[str, ...]
    key_columns: tuple[str, ...]
    gathers: bool = False
    confirms: bool = False


SOURCES = TypeAdapter(tuple[ClipSource, ...]).validate_python(
    read_lists("audiocapbench.data.build", "sources.json")
)
"""In the order of the benchmark, which decides the position of every sample."""

MUSIC, SPEECH = SOURCES[2:]


class ListedClip(NamedTuple):
    """A line of an ID list: the clip that is wanted, and its place in the full benchmark."""

    id: str
    key: str
    position: int
    fields: Mapping[str, str]

    @property
    def captions(self) -> int:
        """How many it has; 0 where the list does not say."""
        count = self.fields.get("num_captions") or ""
        return int(count) if count.isdecimal() else 0


_SPARE_S, _SPARE = 0.1, 0.02  # of lengths, which are rounded, and of MP3 include some padding
_SERIALISED = re.compile(
    r"""(?i)\s*(['"\[({]|(none|nan|null)?\s*$)|.*([\[({]\s*['"]|['"]\s*[\])}])"""
)


def aspect_list(text: str) -> list[str]:
    """The aspects of MusicCaps: written as a list, which is only ever parsed, or between commas."""
    value = parsed(text)
    if value is None and not _SERIALISED.match(text):
        value = [one.strip() for one in text.split(",") if one.strip()] or None
    if value is None:
        raise DatasetError(f"aspect_list {text[:60]!r} is not a list of texts")
    return value


def moments(wanted: Mapping[str, str]) -> tuple[float, float]:
    """The start and end of a MusicCaps clip in its video, in seconds."""

    def seconds(text: str) -> float:
        with suppress(ValueError):
            if 0 <= float(text) < 1e6:
                return float(text)
        raise DatasetError(f"{text[:60]!r} is not a number of seconds")

    return seconds(wanted["start_s"]), seconds(wanted["end_s"])


def metadata_fields(
    source: ClipSource, wanted: ListedClip, captions: Sequence[str]
) -> dict[str, Any]:
    """The references of a clip by the rule of its part, and what the part adds to its metadata."""
    fields = wanted.fields
    if source is SPEECH:
        caption = captions[0] if captions else fields["caption"]
        said = f'{caption} The speaker says: "{wanted.key}"'
        about = {"caption": fields["caption"], "transcript": wanted.key}
        return {"references": [caption, said], **about}
    if source is MUSIC:
        start_s, end_s = moments(fields)
        texts = (fields["caption"], ", ".join(aspect_list(fields["aspect_list"])))
        about = {"ytid": wanted.key, "aspect_list": fields["aspect_list"]}
        times = {"start_s": start_s, "end_s": end_s}
        return {"references": [one for one in texts if one.strip()], **about, **times}
    return {"references": [one for one in captions if one.strip()], source.key: wanted.key}


def departure(
    source: ClipSource, wanted: ListedClip, references: Sequence[str], duration_s: float
) -> str:
    """How what was found is not the clip that the list names; empty where it is."""
    if source.gathers and wanted.captions not in (0, len(references)):
        return f"it has {len(references)} captions; the ID list says {wanted.captions}"
    listed_s = math.nan
    with suppress(ValueError):
        listed_s = float(wanted.fields.get("duration_s") or listed_s)
    if source is MUSIC:  # as published, files are kept that are longer
        start_s, end_s = moments(wanted.fields)
        listed_s = max(duration_s, end_s - start_s)
    if not abs(duration_s - listed_s) > max(_SPARE_S, _SPARE * listed_s):
        return ""
    return f"it lasts {duration_s:.2f} s; the ID list says {listed_s:g} s"


COMMIT = "e2a1d3ee98ee6930c45a9dbb86780c1ce6c30337"
ADDRESS = (
    f"https://raw.githubusercontent.com/SalesforceAIResearch/AudioCapBench/{COMMIT}/eval_data_ids"
)
ADDRESS_VARIABLE = "AUDIOCAPBENCH_IDS_URL"

_LARGEST = 1 << 26


class IdList(NamedTuple):
    """The clips of one part, in order, and the fingerprint of the file that named them."""

    source: ClipSource
    entries: tuple[ListedClip, ...]
    sha256: str


def read_id_lists(ids_dir: Path | None = None, cache_dir: Path | None = None) -> list[IdList]:
    """The four lists in the order of the benchmark; without a folder, the published ones."""
    folder = ids_dir or (cache_dir or cache_folder()) / "audiocapbench-ids" / COMMIT
    lists: list[IdList] = []
    position = 0
    for source in SOURCES:
        path = folder / source.id_list
        content = _content(path, None if ids_dir else source.sha256)
        entries = _parse(source, path, content, position)
        lists.append(IdList(source, entries, sha256(content)))
        position += len(entries)
    return lists


def _content(path: Path, published: str | None) -> bytes:
    """The bytes of a list; of a published one as they were downloaded, now or before."""
    try:
        content = path.read_bytes() if published is None or path.is_file() else b""
    except OSError as error:
        names = ", ".join(source.id_list for source in SOURCES)
        raise DatasetError(
            f"{path}: cannot be read ({error.strerror}); an ID folder holds {names}"
        ) from None
    if published is None or sha256(content) == published:
        return content
    base = (os.environ.get(ADDRESS_VARIABLE) or ADDRESS).rstrip("/")
    if not base.startswith(("https://", "http://")):
        raise DatasetError(f"{ADDRESS_VARIABLE} is {base!r}, which is no http address")
    try:
        download(f"{base}/{path.name}", path, published, _LARGEST)
    except DatasetError as error:
        raise DatasetError(f"{error}; or give a folder with the four lists as --ids-dir") from None
    return path.read_bytes()


def _parse(source: ClipSource, path: Path, content: bytes, start: int) -> tuple[ListedClip, ...]:
    entries: list[ListedClip] = []
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for where, row in read_records(path, problems, source.columns, content):
        wrong = [
            Problem(where, name, "is blank") for name in source.columns if not row[name].strip()
        ]
        if not wrong and (first := seen.setdefault(row[source.key], where)) != where:
            wrong = [Problem(where, source.key, f"is already on {first}")]
        if source is MUSIC and not wrong:
            try:
                aspect_list(row["aspect_list"])
                start_s, end_s = moments(row)
                wrong = [] if start_s < end_s else [Problem(where, "end_s", "is not after start_s")]
            except DatasetError as error:
                wrong = [Problem(where, "", str(error))]
        problems += wrong
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
