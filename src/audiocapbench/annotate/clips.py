"""The folder that is annotated: its clips, what the user knows of them, and what cannot be read."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.audio import EXTENSIONS
from audiocapbench.data import Clip, InvalidDataError, Problem, facts_of
from audiocapbench.data.folder import METADATA, TABLE, why_outside
from audiocapbench.data.json_text import check_storable
from audiocapbench.data.records import FILES, REFERENCES, read_records, renamed
from audiocapbench.data.row import captions_of
from audiocapbench.errors import AnnotationError, AudioError
from audiocapbench.metrics.read_ahead import read_ahead

_MOST = 4_000
_ABSENT = "its metadata names it, and there is no such audio file"
_TOLD = ("title", "description", "source", "licence", "license", "domain")


class SourceClip(NamedTuple):
    """A clip, by its path in the folder, and what the folder's metadata says of it."""

    id: str
    clip: Clip
    about: Mapping[str, str]
    captions: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """What it was cut from; a clip of which nobody says is a source of its own."""
        return self.about.get("source") or self.id


class ClipFolder(NamedTuple):
    """The clips of a folder in the order of their names, and why others cannot be read."""

    root: Path
    clips: tuple[SourceClip, ...]
    unreadable: Mapping[str, str]


def open_clips(
    root: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    follow_links: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> ClipFolder:
    """Read a folder, or a sample by lot, of which a smaller draw is part; metadata may say more."""
    if not root.is_dir():
        raise AnnotationError(f"{root}: no such folder")
    names = [
        path.relative_to(root).as_posix()
        for path in sorted(root.rglob("*"))
        if path.suffix.lower() in EXTENSIONS
        and not any(part.startswith(".") for part in path.relative_to(root).parts)
    ]
    if not names:
        raise AnnotationError(f"{root}: holds no audio ({', '.join(sorted(EXTENSIONS))})")
    about = _metadata(root)
    unreadable = dict.fromkeys(sorted(about.keys() - set(names)), _ABSENT) if sample is None else {}
    if sample is not None:

        def lot(name: str) -> str:
            drawn = f"{seed}\0{name}".encode("utf-8", "surrogateescape")
            return hashlib.sha256(drawn).hexdigest()

        chosen = set(sorted(names, key=lot)[:sample])
        names = [name for name in names if name in chosen]

    def read(name: str) -> Clip | str:
        try:
            check_storable(name)
            if outside := why_outside(root, name, follow_links=follow_links):
                return outside
            facts = facts_of(root / name)
        except AudioError as error:
            return error.reason
        except (ValueError, OSError, RuntimeError) as error:  # a link to itself
            return str(error)
        shape = (facts.duration_s, facts.sample_rate, facts.channels)
        return Clip(root / name, name, facts.sha256, *shape)

    clips = []
    for done, (name, found) in enumerate(read_ahead(read, names), 1):
        progress(done, len(names))
        if isinstance(found, Clip):
            fields = about.get(name, {})
            told = {key: str(fields[key])[:_MOST] for key in _TOLD if fields.get(key)}
            # What people wrote of it, if anything, is for the audit, and never told to a model.
            wrote = captions_of(renamed(fields, {"references": REFERENCES}))
            captions = tuple(one for one in wrote if isinstance(one, str) and one.strip())
            clips.append(SourceClip(name, found, told, captions))
        else:
            unreadable[name.encode("utf-8", "replace").decode()] = found
    return ClipFolder(root, tuple(clips), unreadable)


def _metadata(root: Path) -> dict[str, dict[str, Any]]:
    """What the folder's own table says of its files."""
    found: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for name in (METADATA, TABLE):
        if not (root / name).is_file():
            continue
        for where, fields in read_records(root / name, problems):
            row = {str(key).strip().lower(): one for key, one in fields.items()}
            file = renamed(row, {"file_name": FILES}).get("file_name")
            if isinstance(file, str) and file not in found:
                found[file] = row
            else:
                problems.append(Problem(where, "file_name", "is missing, or stands above already"))
    if problems:
        raise InvalidDataError(root, problems)
    return found
