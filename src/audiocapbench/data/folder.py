"""The dataset folder: audio files, metadata.jsonl and manifest.json, checked before use.

A folder is either whole, with whatever its manifest calls missing, or it is refused with every
problem that it has.
"""

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.data.links import why_outside
from audiocapbench.data.manifest import Manifest, MissingClip, facts_of, read_manifest
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import json_lines, read_json
from audiocapbench.data.row import MetadataRow, read_row
from audiocapbench.data.sample import Clip
from audiocapbench.errors import AudioError, DatasetError

METADATA = "metadata.jsonl"
SEED_METADATA = "metadata.json"
_READERS = 8


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


def open_folder(root: Path, *, follow_links: bool = False) -> Folder:
    """Read and check a dataset folder.

    Args:
        follow_links: Whether clips may be links that lead out of the folder, as a Hugging Face
            cache has them.

    Raises:
        InvalidDataError: The folder has problems; all of them are listed.
        DatasetError: There is no such folder, or it has no metadata.
    """
    lines, problems = _read_metadata(root)
    manifest = read_manifest(root)
    if isinstance(manifest, list):
        problems += manifest
        manifest = Manifest()
    problems += _repetitions(lines)
    absent = {one.file_name for one in manifest.missing} | {one.id for one in manifest.missing}
    present = [line for line in lines if not {line.row.file_name, line.row.key} & absent]
    found = _in_threads(lambda line: _clip(root, line, manifest, follow_links), present)
    problems += [one for one in found if isinstance(one, Problem)]
    if not problems and not lines:
        problems.append(Problem(str(root), "", "its metadata holds no samples"))
    if problems:
        raise InvalidDataError(root, sorted(problems, key=_place))
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


def _read_metadata(root: Path) -> tuple[list[_MetadataLine], list[Problem]]:
    if not root.is_dir():
        raise DatasetError(f"{root}: no such folder")
    problems: list[Problem] = []
    seed = not (root / METADATA).is_file()
    if not seed:
        records: Iterable[tuple[str, Any]] = json_lines(root / METADATA, problems)
    elif (root / SEED_METADATA).is_file():
        records = _seed_samples(root / SEED_METADATA, problems)
    else:
        raise DatasetError(
            f"{root}: has no {METADATA}. Write one line a clip, such as "
            '{"file_name": "dog.wav", "references": ["A dog barks twice."]}'
        )
    lines = []
    for index, (where, fields) in enumerate(records):
        row = read_row(fields, where, seed=seed)
        if isinstance(row, MetadataRow):
            position = index if row.position is None else row.position
            lines.append(_MetadataLine(where, row, position))
        else:
            problems += row
    return lines, problems


def _seed_samples(path: Path, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    value = read_json(path)
    samples = value.get("samples") if isinstance(value, dict) else None
    if isinstance(samples, list):
        for index, sample in enumerate(samples):
            yield f"{path.name} samples[{index}]", sample
    else:
        wrong = value if isinstance(value, Problem) else None
        problems.append(wrong or Problem(path.name, "samples", "is not a list of samples"))


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
    root: Path, line: _MetadataLine, manifest: Manifest, follow_links: bool
) -> Clip | Problem:
    name = line.row.file_name
    path = root / name
    try:
        outside = why_outside(root, name, follow_links=follow_links)
        if outside:
            return Problem(line.where, "file_name", f"{name!r} {outside}")
        if not path.exists():
            return Problem(line.where, "file_name", f"{name!r} does not exist")
        facts = facts_of(path)
    except AudioError as error:
        return Problem(line.where, "file_name", str(error).removeprefix(f"{root}/"))
    except Exception as error:
        # A link to itself, a name that no file system takes: nothing may end a reader silently.
        reason = getattr(error, "strerror", None) or type(error).__name__
        return Problem(line.where, "file_name", f"{name[:80]!r} cannot be reached ({reason})")
    expected = manifest.files.get(name)
    if expected is not None and expected.sha256 != facts.sha256:
        what = f"{name!r} has another SHA-256 than in manifest.json"
        return Problem(line.where, "file_name", what)
    return Clip(path, name, facts.sha256, facts.duration_s, facts.sample_rate, facts.channels)
