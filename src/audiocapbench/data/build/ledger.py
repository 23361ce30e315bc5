"""What a build has so far: written down clip by clip, so that nothing is fetched twice.

While a build runs, each clip is a line of the journal; when it ends, in whatever way that leaves
time for, the journal becomes metadata.jsonl and manifest.json.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic import ValidationError

from audiocapbench import audio
from audiocapbench.data.folder import METADATA
from audiocapbench.data.manifest import (
    FILE_NAME,
    FileFacts,
    Manifest,
    MissingClip,
    facts_of,
    read_manifest,
    write_manifest,
)
from audiocapbench.data.records import json_lines
from audiocapbench.errors import AudioError, DatasetError

JOURNAL = "build.journal"
_PART = ".part"


class Kept(NamedTuple):
    """A clip that is in the folder: its row of the metadata, and the facts of its file."""

    row: dict[str, Any]
    facts: FileFacts


class Ledger:
    """The state of one output folder."""

    def __init__(self, root: Path, names: frozenset[str]) -> None:
        """Read what earlier builds left, and keep what is still intact.

        Args:
            root: The folder; it need not exist.
            names: The dataset names under which the folder may have been built.

        Raises:
            DatasetError: The folder holds something else, or cannot be read.
        """
        self.root = root
        self.origin: dict[str, str] = {}
        self.missing: dict[str, MissingClip] = {}
        self._stream: IO[str] | None = None
        try:
            known = dict(self._finished(names))
            known.update(self._journalled())
            self.clips = {key: one for key, one in known.items() if self._intact(one)}
        except OSError as error:
            raise DatasetError(f"{root}: cannot be read ({error.strerror})") from None

    def agree(self, name: str, value: str) -> None:
        """Note what the folder is made of.

        Raises:
            DatasetError: It is already made of something else.
        """
        known = self.origin.get(name)
        if known is not None and known != value:
            raise DatasetError(
                f"{self.root}: was built with {name} {known}, not {value}; choose another folder"
            )
        self.origin[name] = value

    def begin(self) -> None:
        """Make ready to write."""
        with _writing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            for left in self.root.glob(f"*/*{_PART}.*"):
                left.unlink()
            whole = self._whole_lines()
            self._stream = (self.root / JOURNAL).open("a", encoding="utf-8")
            if not whole:
                # A line that was cut short must not swallow the next one.
                self._stream.write("\n")

    def note_origin(self) -> None:
        """Write down what the folder is made of, before anything of it arrives."""
        self._write({"origin": self.origin})

    def keep(self, row: dict[str, Any], content: bytes) -> FileFacts:
        """Put a clip into the folder and write it down.

        Raises:
            AudioError: The content cannot be decoded; nothing is kept.
            DatasetError: The folder cannot be written.
        """
        path = self.root / row["file_name"]
        partial = path.with_name(f"{path.stem}{_PART}{path.suffix}")
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(content)
            try:
                facts = facts_of(partial)
            except AudioError as error:
                partial.unlink()
                raise AudioError(str(error).removeprefix(f"{partial}: ")) from None
            partial.replace(path)
        row["duration_s"] = facts.duration_s
        self._write({"row": row, "facts": facts.model_dump()})
        self.clips[row["id"]] = Kept(row, facts)
        return facts

    def finish(self, name: str, missing: Iterable[MissingClip]) -> None:
        """Write the metadata and the manifest, and drop the journal."""
        kept = sorted(self.clips.values(), key=lambda one: int(one.row["position"]))
        manifest = Manifest(
            name=name,
            files={one.row["file_name"]: one.facts for one in kept},
            missing=list(missing),
            origin=self.origin,
        )
        lines = [json.dumps(one.row, ensure_ascii=False) + "\n" for one in kept]
        with _writing(self.root):
            self.close()
            write_manifest(self.root, manifest)
            partial = self.root / f"{METADATA}{_PART}"
            partial.write_text("".join(lines), encoding="utf-8", newline="\n")
            partial.replace(self.root / METADATA)
            (self.root / JOURNAL).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Leave no trace of a build that got nothing."""
        self.close()
        with _writing(self.root):
            (self.root / JOURNAL).unlink(missing_ok=True)
            if not any(self.root.iterdir()):
                self.root.rmdir()

    def close(self) -> None:
        """Let go of the journal; what it holds stays."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._stream is not None:
            with _writing(self.root):
                self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
                self._stream.flush()

    def _finished(self, names: frozenset[str]) -> Iterator[tuple[str, Kept]]:
        """Clips of builds that came to an end."""
        path = self.root / METADATA
        if not (self.root / FILE_NAME).exists():
            if path.exists():
                raise DatasetError(f"{self.root}: holds another dataset; choose another folder")
            return
        manifest = read_manifest(self.root)
        if isinstance(manifest, list) or manifest.name not in names:
            raise DatasetError(f"{self.root}: holds another dataset; choose another folder")
        self.origin.update(manifest.origin or {})
        self.missing = {one.id: one for one in manifest.missing}
        for row in journal_objects(path):
            facts = manifest.files.get(str(row.get("file_name")))
            if facts is not None and _complete(row):
                yield row["id"], Kept(row, facts)

    def _journalled(self) -> Iterator[tuple[str, Kept]]:
        """Clips of a build that was stopped before it could come to an end."""
        for line in journal_objects(self.root / JOURNAL):
            if isinstance(line.get("origin"), dict):
                self.origin.update(line["origin"])
            row = line.get("row")
            try:
                facts = FileFacts.model_validate(line.get("facts"))
            except ValidationError:
                continue
            if isinstance(row, dict) and _complete(row):
                yield row["id"], Kept(row, facts)

    def _intact(self, clip: Kept) -> bool:
        path = self.root / str(clip.row["file_name"])
        return path.is_file() and audio.sha256(path) == clip.facts.sha256

    def _whole_lines(self) -> bool:
        path = self.root / JOURNAL
        return not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")


def _complete(row: dict[str, Any]) -> bool:
    """Whether a row has what a folder is put together from; what somebody edited may not."""
    named = isinstance(row.get("id"), str) and isinstance(row.get("file_name"), str)
    return named and isinstance(row.get("position"), int)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turns a full disk or a folder without permission into a sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise DatasetError(f"{path}: cannot be written ({reason})") from None


def journal_objects(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of lines; a line that a kill cut short is left out."""
    if path.exists():
        yield from (fields for _, fields in json_lines(path, []))
