"""What a build has so far: written down clip by clip, so that nothing is fetched twice.

While a build runs, each clip, loss and finished shard is a line of the journal; when it ends, in
whatever way that leaves time for, the journal becomes metadata.jsonl and manifest.json.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pydantic import ValidationError

from audiocapbench import audio
from audiocapbench.data import Manifest, MissingClip
from audiocapbench.data import folder as folders
from audiocapbench.data.build.hub import Hub, Repository
from audiocapbench.data.problems import os_errors
from audiocapbench.data.records import json_lines
from audiocapbench.data.row import MetadataRow, read_row
from audiocapbench.errors import AudioError, DatasetError
from audiocapbench.files import write_file

JOURNAL = "build.journal"
_PART = ".part"
_DONE = "complete, rows:"
_HEADS = {
    ".wav": rb"(RIFF|RF64).{4}WAVE",
    ".flac": rb"fLaC",
    ".ogg": rb"OggS",
    ".mp3": rb"ID3|\xff[\xe0-\xff]",
    ".aiff": rb"FORM.{4}AIF[FC]",
}


OnProgress = Callable[[str, int, int, int, int | None], None]
"""Is told of a part: clips there, clips in all, bytes received, bytes in all if they are known."""


@dataclass(frozen=True, slots=True)
class PartResult:
    """How a part ended: of the clips wanted, some were kept, others found and most of them fetched.

    ``bytes_total`` is the most that had to be downloaded, ``problem`` why the part is not there.
    """

    part: str
    repository: str
    commit: str | None
    wanted: int
    kept: int
    found: int = 0
    fetched: int = 0
    bytes_total: int = 0
    missing: tuple[MissingClip, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class BuildResult:
    """How a build ended: part by part, in the order of the benchmark."""

    name: str
    parts: tuple[PartResult, ...]

    @property
    def wanted(self) -> int:
        return sum(part.wanted for part in self.parts)

    @property
    def present(self) -> int:
        return sum(part.kept + part.fetched for part in self.parts)


class BadFieldsError(DatasetError):
    """What belongs to a clip cannot be used; the message says why."""


def suffix_of(content: bytes) -> str:
    if not content:
        raise AudioError("the repository has no audio for it")
    for suffix, head in _HEADS.items():
        if re.match(head, content, re.DOTALL):
            return suffix
    raise AudioError("its bytes are not WAV, FLAC, OGG, MP3 or AIFF")


def check_audio(content: bytes) -> None:
    with audio.open_stream(content) as stream:
        for _ in stream.blocks:
            pass


class Ledger:
    """The state of one output folder: rows of the metadata by id, and facts of their files."""

    def __init__(self, root: Path, *names: str, reuse: Path | None = None) -> None:
        """Read what earlier builds left, under one of the names if any, and keep what is intact.

        Files of the same name and bytes in the folder ``reuse`` are linked to, not written again.
        """
        self.root, self._reuse = root, reuse
        self.origin: dict[str, str] = {}
        self.missing: dict[str, MissingClip] = {}
        self._stream: IO[str] | None = None
        hash_of = cache(lambda name: _hash(root / name))
        self.clips: dict[str, dict[str, Any]] = {}
        self.files: dict[str, folders.FileFacts] = {}
        with os_errors(root, "read"):
            for row, facts in self._stored(names):
                if hash_of(row["file_name"]) == facts.sha256:
                    self.clips[row["id"]] = row
                    self.files[row["file_name"]] = facts

    def _stored(self, names: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], folders.FileFacts]]:
        """Clips of builds that came to an end, then those of one that was stopped before."""
        metadata, journal = self.root / folders.METADATA, self.root / JOURNAL
        if (self.root / folders.MANIFEST).exists() or metadata.exists():
            manifest = folders.read_manifest(self.root)
            if (
                isinstance(manifest, list)
                or not (self.root / folders.MANIFEST).exists()
                or (names and manifest.name not in names)
            ):
                raise DatasetError(f"{self.root}: holds another dataset; choose another folder")
            self.origin.update(manifest.origin or {})
            self.missing = {one.id: one for one in manifest.missing}
            for _, row in json_lines(metadata, []) if metadata.exists() else ():
                facts = manifest.files.get(str(row.get("file_name")))
                if facts is not None and _complete(row):
                    yield row, facts
        # A line that a kill cut short is left out.
        for _, line in json_lines(journal, []) if journal.exists() else ():
            with suppress(ValidationError):
                if isinstance(line.get("origin"), dict):
                    self.origin.update(line["origin"])
                elif "missing" in line:
                    lost = MissingClip.model_validate(line["missing"])
                    self.missing[lost.id] = lost
                elif isinstance(clip := line.get("row"), dict) and _complete(clip):
                    yield clip, folders.FileFacts.model_validate(line.get("facts"))

    def agree(self, name: str, value: str) -> None:
        known = self.origin.setdefault(name, value)
        if known != value:
            raise DatasetError(
                f"{self.root}: was built with {name} {known}, not {value}; choose another folder"
            )

    def repository(self, hub: Hub, name: str, revision: str | None) -> Repository:
        """A repository at a revision, at the commit that the folder began with, or the newest."""
        repository = hub.repository(name, revision or self.origin.get(name))
        self.agree(name, repository.commit)
        self._write({"origin": self.origin})
        return repository

    @contextmanager
    def building(self, name: str, missing: Callable[[], Iterable[MissingClip]]) -> Iterator[None]:
        """Write down what the body does, and put the folder together however it ends."""
        path = self.root / JOURNAL
        with os_errors(self.root, "written"):
            self.root.mkdir(parents=True, exist_ok=True)
            for left in self.root.glob(f"*/*{_PART}.*"):
                left.unlink()
            torn = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
            self._stream = path.open("a", encoding="utf-8")
            # A line that was cut short must not swallow the next one.
            self._stream.write("\n" if torn else "")
        self._write({"origin": self.origin})
        ended = False
        try:
            yield
            ended = True
        finally:
            lost = list(missing()) if ended or self.clips else None
            with os_errors(self.root, "written"):
                self._stream.close()
                self._stream = None
                if lost is not None:
                    kept = sorted(self.clips.values(), key=lambda row: int(row["position"]))
                    files = {row["file_name"]: self.files[row["file_name"]] for row in kept}
                    manifest = Manifest(name=name, files=files, missing=lost, origin=self.origin)
                    folders.write_manifest(self.root, manifest)
                    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in kept]
                    write_file(self.root / folders.METADATA, "".join(lines))
                path.unlink(missing_ok=True)
                if not any(self.root.iterdir()):
                    self.root.rmdir()

    def keep(self, row: dict[str, Any], content: bytes) -> None:
        """Put a clip into the folder and write it down; rows may share a file of the same bytes."""
        checked = read_row(row, row["id"])
        if not isinstance(checked, MetadataRow):
            raise BadFieldsError("; ".join(f"{one.field} {one.what}" for one in checked))
        digest = audio.sha256(content)
        known = self.files.get(row["file_name"])
        if known is not None and known.sha256 != digest:
            name = PurePosixPath(row["file_name"])
            row["file_name"] = str(name.with_name(f"{row['id']}{name.suffix}"))
            known = self.files.get(row["file_name"])
        facts = known or self._put(row["file_name"], content, digest)
        row["duration_s"] = facts.duration_s
        self._write({"row": row, "facts": facts.model_dump()})
        self.files[row["file_name"]] = facts
        self.clips[row["id"]] = row
        self.missing.pop(row["id"], None)

    def _put(self, name: str, content: bytes, digest: str) -> folders.FileFacts:
        path = self.root / name
        partial = path.with_name(f"{path.stem}{_PART}{path.suffix}")
        with os_errors(path, "written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.unlink(missing_ok=True)
            if self._reuse is not None and _hash(self._reuse / name) == digest:
                with suppress(OSError):  # not from another disk
                    partial.hardlink_to(self._reuse / name)
            if not partial.exists():
                partial.write_bytes(content)
            try:
                facts = folders.facts_of(partial)
            except AudioError as error:
                partial.unlink()
                raise AudioError(error.reason) from None
            partial.replace(path)
        return facts

    def note_missing(self, key: str, reason: str, category: str | None = None) -> MissingClip:
        lost = MissingClip(id=key, reason=reason, category=category)
        self.missing[key] = lost
        self._write({"missing": lost.model_dump(exclude_none=True)})
        return lost

    def note_done(self, shard: str) -> None:
        """Write down that a shard was read to its end, and how many rows it gave."""
        self.origin[shard] = self._whole(shard)
        self._write({"origin": self.origin})

    def done(self, shard: str) -> bool:
        """Whether a shard was read to its end and all that it gave is still there."""
        return self.origin.get(shard) == self._whole(shard)

    def _whole(self, shard: str) -> str:
        return f"{_DONE} {sum(row.get('shard') == shard for row in self.clips.values())}"

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._stream is not None:
            with os_errors(self.root, "written"):
                self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
                self._stream.flush()


def _hash(path: Path) -> str:
    return audio.sha256(path) if path.is_file() else ""


def _complete(row: dict[str, Any]) -> bool:
    """Whether a row has what a folder is put together from; what somebody edited may not."""
    named = isinstance(row.get("id"), str) and isinstance(row.get("file_name"), str)
    return named and isinstance(row.get("position"), int)
