"""A folder of audio that is no dataset yet: its clips, and what its metadata says of them."""

from collections import Counter
from collections.abc import Callable, Mapping
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.audio import EXTENSIONS, OTHER_EXTENSIONS
from audiocapbench.data.columns import FILES, REFERENCES, fold_name, renamed
from audiocapbench.data.folder import METADATA, TABLE, read_clip
from audiocapbench.data.outcome import Clip
from audiocapbench.data.problems import InvalidDataError, Problem, check_storable
from audiocapbench.data.records import read_records
from audiocapbench.data.row import captions_of
from audiocapbench.errors import DatasetError
from audiocapbench.files import digest, encodable

_MOST, _READERS = 4_000, 8
_ABSENT = "its metadata names it, and there is no such audio file"
_TOLD = ("title", "description", "source", "licence", "domain")


class SourceClip(NamedTuple):
    """A clip, by its path in the folder, and what the folder's metadata says of it."""

    id: str
    clip: Clip
    about: Mapping[str, str]
    captions: tuple[str, ...] = ()


def open_clips(
    root: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    follow_links: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[list[SourceClip], dict[str, str]]:
    """The clips of a folder by name, or some by lot, and why others cannot be read.

    A smaller draw is part of a larger one; metadata may say more of clips.
    """
    if not root.is_dir():
        raise DatasetError(f"{root}: no such folder")
    names, others = list_audio(root)
    if not names:
        what = f"; {counted_kinds(others)} are no audio that is read" if others else ""
        raise DatasetError(f"{root}: holds no audio ({', '.join(sorted(EXTENSIONS))}){what}")
    about, unreadable = _metadata(root), dict[str, str]()
    if sample is None:
        unreadable = dict.fromkeys(sorted(about.keys() - set(names)), _ABSENT)
    else:
        names = sorted(sorted(names, key=lambda name: digest(seed, name))[:sample])

    def read(name: str) -> Clip | str:
        try:
            check_storable(name)
        except ValueError as error:
            return str(error)
        return read_clip(root, name, follow_links=follow_links)

    clips = []
    with ThreadPool(_READERS) as readers:
        for done, (name, found) in enumerate(zip(names, readers.imap(read, names), strict=True), 1):
            progress(done, len(names))
            if isinstance(found, Clip):
                clips.append(_source(name, found, about.get(name, {})))
            else:
                unreadable[encodable(name)] = found
    return clips, unreadable


def _source(name: str, clip: Clip, fields: Mapping[str, Any]) -> SourceClip:
    fields = {"licence": fields.get("license"), **fields}
    told = {key: str(fields[key])[:_MOST] for key in _TOLD if fields.get(key)}
    # What people wrote of it, if anything, is for the audit, and never told to a model.
    wrote = captions_of(renamed(fields, {"references": REFERENCES}))
    captions = tuple(one for one in wrote if isinstance(one, str) and one.strip())
    return SourceClip(name, clip, told, captions)


def list_audio(root: Path) -> tuple[list[str], Counter[str]]:
    """Names of the audio files below a folder, and what else lies there, by its ending."""
    names, others = list[str](), Counter[str]()
    for path in sorted(root.rglob("*")):
        inner, ending = path.relative_to(root), path.suffix.lower()
        if any(part.startswith(".") for part in inner.parts):
            continue
        if ending in EXTENSIONS | OTHER_EXTENSIONS:
            names.append(inner.as_posix())
        elif path.is_file() and inner.as_posix() not in (METADATA, TABLE):
            others[ending or "no ending"] += 1
    return names, others


def counted_kinds(others: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} of {ending}" for ending, count in others.items())


def _metadata(root: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for name in (METADATA, TABLE):
        if not (root / name).is_file():
            continue
        for where, fields in read_records(root / name, problems, roles={"file_name": FILES}):
            row = {fold_name(key): one for key, one in fields.items()}
            file = row.get("file_name")
            if isinstance(file, str) and file not in found:
                found[file] = row
            else:
                problems.append(Problem(where, "file_name", "is missing, or stands above already"))
    if problems:
        raise InvalidDataError(root, problems)
    return found
