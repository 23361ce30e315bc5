"""The dataset folder: audio files, metadata and manifest.json, checked before use.

The metadata is metadata.jsonl, .csv or .parquet, or metadata.json as the published tool has it. The
manifest says what files should be, and why some are not there. A folder is either whole, but for
what its manifest calls missing, or refused with all its problems.
"""

import json
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Literal, NamedTuple, Unpack

from pydantic import BaseModel, Field, ValidationError

from audiocapbench import audio
from audiocapbench.asking import ClipOptions
from audiocapbench.data.outcome import Clip
from audiocapbench.data.problems import InvalidDataError, Problem, problems_of
from audiocapbench.data.row import MetadataRow, read_metadata
from audiocapbench.errors import AudioError, DatasetError
from audiocapbench.files import write_file

MANIFEST = "manifest.json"
METADATA = "metadata.jsonl"
SEED_METADATA = "metadata.json"
TABLE = "metadata.csv"
PARQUET = "metadata.parquet"
METADATA_FILES = (METADATA, TABLE, SEED_METADATA, PARQUET)
_READERS, _AT_ONCE = 8, 32

_NOT_THERE = "does not exist"
_Line = tuple[str, MetadataRow]
_LEAVE_OUT = (
    "Mend the files, go on with the {:,} other clips by `skip_missing`, or leave clips out in "
    'manifest.json: {{"missing": [{{"id": {}, "reason": "damaged"}}]}}'
)


class FileFacts(BaseModel, extra="forbid", frozen=True):
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(ge=1)]
    duration_s: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    sample_rate: Annotated[int, Field(ge=1)]
    channels: Annotated[int, Field(ge=1)]


class MissingClip(BaseModel, extra="forbid", frozen=True):
    """A clip that the benchmark has and this folder has not."""

    id: str
    reason: str
    file_name: str | None = None
    category: str | None = None


class Manifest(BaseModel, extra="forbid", frozen=True):
    """All files of a dataset folder, all that are missing, and what a builder made it from."""

    version: Literal[1] = 1
    name: str = ""
    files: dict[str, FileFacts] = {}
    missing: list[MissingClip] = []
    origin: dict[str, str] | None = None


class FolderEntry(NamedTuple):
    row: MetadataRow
    clip: Clip
    position: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A dataset folder that has passed every check."""

    root: Path
    name: str
    entries: tuple[FolderEntry, ...]
    missing: tuple[MissingClip, ...]


def open_folder(
    root: Path,
    *,
    metadata: Path | None = None,
    rows: Sequence[MetadataRow] | None = None,
    **how: Unpack[ClipOptions],
) -> Folder:
    """Read and check a dataset folder, by a file of metadata in it or elsewhere, or by ``rows``
    of other ids each.

    With ``follow_links`` clips may be links that lead out of it, as a Hugging Face cache has them;
    with ``skip_missing`` those that cannot be used are missing, as if its manifest said so.
    """
    problems = list[Problem]()
    if rows is None:
        lines, problems = _read_metadata(root, metadata)
        problems += _repetitions(lines)
    else:
        lines = [(f"sample {row.key!r}", row) for row in rows]
    manifest = read_manifest(root)
    if isinstance(manifest, list):
        problems += manifest
        manifest = Manifest()
    absent = {name for clip in manifest.missing for name in (clip.file_name, clip.id)}
    present = [(where, row) for where, row in lines if not {row.file_name, row.key} & absent]
    positions = {where: at for at, (where, _) in enumerate(lines)}
    parts = [present[at : at + _AT_ONCE] for at in range(0, len(present), _AT_ONCE)]
    readers = ThreadPoolExecutor(_READERS)
    try:
        found = readers.map(partial(_clips, root, manifest, how), parts)
        clips = [clip for part in found for clip in part]
    finally:
        readers.shutdown(wait=False, cancel_futures=True)
    entries, bad = [], []
    for (where, row), clip in zip(present, clips, strict=True):
        if isinstance(clip, Clip):
            position = positions[where] if row.position is None else row.position
            entries.append(FolderEntry(row, clip, position))
        else:
            bad.append((where, row, clip))
    missing, hint = [*manifest.missing], ""
    if how.get("skip_missing"):
        missing += [
            MissingClip(
                id=row.key,
                reason="no such file" if why == _NOT_THERE else why,
                file_name=row.file_name,
                category=row.category,
            )
            for _, row, why in bad
        ]
    elif bad:
        if entries and not problems:
            whole = sum(not audio.why_cut(one.clip.path) for one in entries)
            hint = _LEAVE_OUT.format(whole, json.dumps(bad[0][1].key))
        problems += [
            Problem(where, "file_name", f"{row.file_name[:80]!r} {why}") for where, row, why in bad
        ]
    if not problems and not lines:
        problems.append(Problem(str(root), "", "its metadata holds no samples"))
    if problems:
        raise InvalidDataError(root, sorted(problems, key=_place), hint=hint)
    return Folder(root, manifest.name or root.resolve().name, tuple(entries), tuple(missing))


def _read_metadata(root: Path, metadata: Path | None) -> tuple[list[_Line], list[Problem]]:
    """What the folder's metadata says, or that of its folders, as Hugging Face's audiofolder."""
    if not root.is_dir():
        raise DatasetError(f"{root}: no such folder")
    if metadata is not None and not metadata.is_file():
        raise DatasetError(f"{metadata}: no such file")
    own = [metadata] if metadata is not None else [root / name for name in METADATA_FILES]
    paths = [path for path in own if path.is_file()][:1]
    if not paths:
        below = (path for name in (METADATA, TABLE, PARQUET) for path in root.rglob(name))
        paths = sorted(path for path in below if path.is_file())
    if not paths:
        raise DatasetError(
            f"{root}: has no {METADATA}. Write one line a clip, such as "
            '{"file_name": "dog.wav", "references": ["A dog barks twice."]}; or a metadata.csv '
            "with the columns file_name and caption"
        )
    problems: list[Problem] = []
    lines: list[_Line] = []
    for path in paths:
        inner = path.parent.relative_to(root).as_posix() if path not in own else "."
        for where, row in read_metadata(path, problems):
            if inner == ".":
                lines.append((where, row))
            else:
                moved = row.model_copy(update={"file_name": f"{inner}/{row.file_name}"})
                lines.append((f"{inner}/{where}", moved))
    return lines, problems


def _place(problem: Problem) -> tuple[bool, int]:
    """Sort key: line by line, then what concerns the folder as a whole."""
    number = re.search(r"(\d+)\]?$", problem.where)
    return (number is None, int(number[1]) if number else 0)


def _repetitions(lines: list[_Line]) -> list[Problem]:
    """Two lines that claim the same id, the same place, or ask the same about one file."""
    problems = []
    seen: dict[tuple[object, ...], str] = {}
    for where, row in lines:
        file = os.path.normpath(row.file_name)
        claims: list[tuple[object, ...]] = [("id", row.key)]
        claims.append(("file_name", file, row.instruction, row.category))
        if row.position is not None:
            claims.append(("position", row.position))
        for claim in claims:
            first = seen.setdefault(claim, where)
            if first is not where:
                what = f"{claim[1]!r} is already used by {first}"
                problems.append(Problem(where, str(claim[0]), what))
                break
    return problems


def _clips(
    root: Path, manifest: Manifest, how: ClipOptions, lines: list[_Line]
) -> list[Clip | str]:
    found, inside = list[Clip | str](), set[str]()
    for _, row in lines:
        name = row.file_name
        clip = read_clip(root, name, follow_links=how.get("follow_links", False), inside=inside)
        expected = manifest.files.get(name)
        if isinstance(clip, Clip) and expected is not None and expected.sha256 != clip.sha256:
            clip = "has another SHA-256 than in manifest.json"
        if how.get("skip_missing") and isinstance(clip, Clip):
            clip = audio.why_cut(clip.path) or clip
        found.append(clip)
    return found


def read_clip(
    root: Path, name: str, *, follow_links: bool, inside: set[str] | None = None
) -> Clip | str:
    """A clip of a folder, or why it cannot be used."""
    path = root / name
    try:
        if outside := why_outside(root, name, follow_links=follow_links, inside=inside):
            return outside
        try:
            facts = facts_of(path)
        except AudioError:
            if path.exists():
                raise
            return _NOT_THERE
    except AudioError as error:
        return error.reason
    except Exception as error:
        # A link to itself, a name that no file system takes: nothing may end a reader silently.
        return f"cannot be reached ({getattr(error, 'strerror', None) or type(error).__name__})"
    return Clip(path, name, facts.sha256, facts.duration_s, facts.sample_rate, facts.channels)


def read_manifest(root: Path) -> Manifest | list[Problem]:
    """Read a folder's manifest; an absent one is an empty one."""
    path = root / MANIFEST
    if not path.exists():
        return Manifest()
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        return [Problem(MANIFEST, "", f"cannot be read ({error.strerror})")]
    except ValidationError as error:
        return problems_of(error, MANIFEST)


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Write a manifest beside the metadata, replacing the old one at once."""
    text = json.dumps(manifest.model_dump(exclude_none=True), indent=1, ensure_ascii=False)
    write_file(root / MANIFEST, text + "\n")


def facts_of(path: Path) -> FileFacts:
    info, size, digest = audio.probe_and_hash(path)
    return FileFacts(
        sha256=digest,
        bytes=size,
        duration_s=round(info.duration_s, 6) or info.duration_s,
        sample_rate=info.rate,
        channels=info.channels,
    )


_LAST = re.compile(r"(?!\.\.?$)[^/\\:\0]+$")


def why_outside(
    root: Path, name: str, *, follow_links: bool, inside: set[str] | None = None
) -> str:
    """Why a file lies outside of its folder and is not to be read; empty where it may be.

    ``follow_links`` allows links that lead out, never a name that does; ``inside`` learns folders.
    """
    last = _LAST.search(name)
    folder = name[: last.start()] if last else ""
    if inside is not None and last and folder in inside and not os.path.islink(f"{root}/{name}"):
        return ""
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute():
        return "leads out of the folder"
    try:
        target = (root / name).resolve()
    except (OSError, RuntimeError) as error:  # the latter of links that lead in a circle
        return f"cannot be reached ({getattr(error, 'strerror', None) or 'links in a circle'})"
    if target.is_relative_to(root.resolve()):
        if inside is not None and last and target == (root / folder).resolve() / last[0]:
            inside.add(folder)
        return ""
    if ".." in re.split(r"[/\\]", name):
        return "leads out of the folder"
    if follow_links:
        return ""
    return f"is a link that leads out of the folder, to {target}; `follow_links` reads such links"
