"""The dataset folder: audio files, metadata and manifest.json, checked before use.

The metadata is metadata.jsonl, .csv or .parquet, or metadata.json as the published tool has it; a
JSON document may also be a list of samples, or have one for each id.

A folder is either whole, with whatever its manifest calls missing, or it is refused with every
problem that it has.
"""

import json
import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from audiocapbench.data.manifest import Manifest, MissingClip, facts_of, read_manifest
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.row import MetadataRow, read_metadata
from audiocapbench.data.sample import Clip
from audiocapbench.errors import AudioError, DatasetError

METADATA = "metadata.jsonl"
SEED_METADATA = "metadata.json"
TABLE = "metadata.csv"
PARQUET = "metadata.parquet"
_FILES = (METADATA, TABLE, SEED_METADATA, PARQUET)
_READERS = 8

_LEAVE_OUT = (
    "Mend the files, or leave clips out in manifest.json: "
    '{{"missing": [{{"id": {}, "reason": "damaged"}}]}}'
)


class FolderEntry(NamedTuple):
    """A row of the metadata with its clip."""

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


class _MetadataLine(NamedTuple):
    where: str
    row: MetadataRow
    position: int


def open_folder(root: Path, *, follow_links: bool = False, metadata: Path | None = None) -> Folder:
    """Read and check a dataset folder.

    Args:
        metadata: The file that says what is in the folder, where it is not one of its own.
        follow_links: Whether clips may be links that lead out of the folder, as a Hugging Face
            cache has them.

    Raises:
        InvalidDataError: The folder has problems; all of them are listed.
        DatasetError: There is no such folder, or it has no metadata.
    """
    lines, problems = _read_metadata(root, metadata)
    manifest = read_manifest(root)
    if isinstance(manifest, list):
        problems += manifest
        manifest = Manifest()
    problems += _repetitions(lines)
    absent = {one.file_name for one in manifest.missing} | {one.id for one in manifest.missing}
    present = [line for line in lines if not {line.row.file_name, line.row.key} & absent]
    inside: set[str] = set()
    found = _in_threads(lambda line: _clip(root, line, manifest, follow_links, inside), present)
    bad = [
        line.row.key for line, one in zip(present, found, strict=True) if isinstance(one, Problem)
    ]
    leave_out = "" if problems or not bad else _LEAVE_OUT.format(json.dumps(bad[0]))
    problems += [one for one in found if isinstance(one, Problem)]
    if not problems and not lines:
        problems.append(Problem(str(root), "", "its metadata holds no samples"))
    if problems:
        raise InvalidDataError(root, sorted(problems, key=_place), hint=leave_out)
    entries = tuple(
        FolderEntry(line.row, clip, line.position)
        for line, clip in zip(present, found, strict=True)
        if isinstance(clip, Clip)
    )
    return Folder(root, manifest.name or root.resolve().name, entries, tuple(manifest.missing))


def _in_threads(
    read: Callable[[_MetadataLine], Clip | Problem], lines: list[_MetadataLine]
) -> list[Any]:
    """Read many files at once; Ctrl-C ends the program without waiting for the readers."""
    found: list[Any] = [None] * len(lines)
    left = iter(enumerate(lines))

    def work() -> None:
        for index, line in left:
            found[index] = read(line)

    readers = [threading.Thread(target=work, daemon=True) for _ in range(_READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return found


def _read_metadata(root: Path, metadata: Path | None) -> tuple[list[_MetadataLine], list[Problem]]:
    """What the folder's metadata says, or that of its folders, as Hugging Face's audiofolder."""
    if not root.is_dir():
        raise DatasetError(f"{root}: no such folder")
    if metadata is not None and not metadata.is_file():
        raise DatasetError(f"{metadata}: no such file")
    own = [metadata] if metadata is not None else [root / name for name in _FILES]
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
    lines: list[_MetadataLine] = []
    for path in paths:
        inner = path.parent.relative_to(root).as_posix() if path not in own else "."
        for where, row in read_metadata(path, problems):
            position = len(lines) if row.position is None else row.position
            line = _MetadataLine(where, row, position)
            if inner != ".":
                moved = row.model_copy(update={"file_name": f"{inner}/{row.file_name}"})
                line = _MetadataLine(f"{inner}/{where}", moved, position)
            lines.append(line)
    return lines, problems


def _place(problem: Problem) -> tuple[bool, int]:
    """Sort key: line by line, then what concerns the folder as a whole."""
    number = re.search(r"(\d+)\]?$", problem.where)
    return (number is None, int(number[1]) if number else 0)


def _repetitions(lines: list[_MetadataLine]) -> list[Problem]:
    """Two lines that claim the same id, the same place, or ask the same about one file."""
    problems = []
    seen: dict[tuple[str, object], str] = {}
    for where, row, _ in lines:
        claims: list[tuple[str, object]] = [("id", row.key)]
        file = os.path.normpath(row.file_name)
        claims.append(("file_name", (file, row.instruction, row.category)))
        if row.position is not None:
            claims.append(("position", row.position))
        for field, value in claims:
            first = seen.setdefault((field, value), where)
            if first is not where:
                shown = value[0] if isinstance(value, tuple) else value
                problems.append(Problem(where, field, f"{shown!r} is already used by {first}"))
                break
    return problems


def _clip(
    root: Path, line: _MetadataLine, manifest: Manifest, follow_links: bool, inside: set[str]
) -> Clip | Problem:
    name = line.row.file_name
    path = root / name
    try:
        outside = why_outside(root, name, follow_links=follow_links, inside=inside)
        if outside:
            return Problem(line.where, "file_name", f"{name!r} {outside}")
        try:
            facts = facts_of(path)
        except AudioError:
            if path.exists():
                raise
            return Problem(line.where, "file_name", f"{name!r} does not exist")
    except AudioError as error:
        return Problem(line.where, "file_name", f"{name}: {error.reason}")
    except Exception as error:
        # A link to itself, a name that no file system takes: nothing may end a reader silently.
        reason = getattr(error, "strerror", None) or type(error).__name__
        return Problem(line.where, "file_name", f"{name[:80]!r} cannot be reached ({reason})")
    expected = manifest.files.get(name)
    if expected is not None and expected.sha256 != facts.sha256:
        what = f"{name!r} has another SHA-256 than in manifest.json"
        return Problem(line.where, "file_name", what)
    return Clip(path, name, facts.sha256, facts.duration_s, facts.sample_rate, facts.channels)


_LAST = re.compile(r"(?!\.\.?$)[^/\\:\0]+$")


def why_outside(
    root: Path, name: str, *, follow_links: bool, inside: set[str] | None = None
) -> str:
    """Why a file is not to be read because it lies outside of its folder; nothing where it may.

    A link may lead out where the user says so, as links in a Hugging Face cache do. A name that
    leads out by itself never may.

    Args:
        inside: Folders below the root that are known to lie in it; grows as more are seen.
    """
    last = _LAST.search(name)
    folder, file = (name[: last.start()], last[0]) if last else (name, "")
    if inside is not None and folder in inside and not os.path.islink(f"{root}/{name}"):
        return ""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if posix.is_absolute() or windows.is_absolute():
        return "leads out of the folder"
    target = (root / name).resolve()
    if target.is_relative_to(root.resolve()):
        if inside is not None and file and target == (root / folder).resolve() / file:
            inside.add(folder)
        return ""
    if ".." in posix.parts + windows.parts:
        return "leads out of the folder"
    if follow_links:
        return ""
    return f"is a link that leads out of the folder, to {target}; `follow_links` reads such links"
