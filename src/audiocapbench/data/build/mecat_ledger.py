"""What a build from shards has so far: rows that share a file, shards that are done, what is bad.

All of it is written down as it happens, so that kill -9 loses no more than the clip in hand.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from audiocapbench import audio
from audiocapbench.data.build.ledger import JOURNAL, Kept, Ledger, journal_objects
from audiocapbench.data.manifest import MissingClip

_DONE = "complete, rows:"


class ShardLedger(Ledger):
    """The state of a folder that is built from shards."""

    def __init__(self, root: Path, name: str) -> None:
        self._hashes: dict[str, str] = {}
        self._noted: dict[str, MissingClip] = {}
        super().__init__(root, frozenset({name}))
        self.missing |= self._noted
        self._files = {one.row["file_name"]: one.facts for one in self.clips.values()}

    def add(self, row: dict[str, Any], content: bytes) -> None:
        """Keep a row and its clip; a clip that is there already is not written again.

        Raises:
            AudioError: The content cannot be decoded; nothing is kept.
            DatasetError: The folder cannot be written.
        """
        name = row["file_name"]
        known = self._files.get(name)
        if known is not None and known.sha256 != audio.sha256(content):
            # Another clip of the same name: questions about one clip have the same bytes.
            row["file_name"] = name = f"{row['domain']}/{row['id']}{Path(name).suffix}"
            known = self._files.get(name)
        if known is None:
            self._files[name] = self.keep(row, content)
        else:
            row["duration_s"] = known.duration_s
            self._write({"row": row, "facts": known.model_dump()})
            self.clips[row["id"]] = Kept(row, known)
        self.missing.pop(row["id"], None)

    def note_missing(self, one: MissingClip) -> None:
        """Write down what cannot be had, and why."""
        self.missing[one.id] = one
        self._write({"missing": one.model_dump(exclude_none=True)})

    def note_done(self, shard: str, rows: int) -> None:
        """Write down that a shard was read to its end, and gave so many rows."""
        self.origin[shard] = f"{_DONE} {rows}"
        self.note_origin()

    def done(self, shard: str) -> bool:
        """Whether a shard was read to its end and all that it gave is still there."""
        noted = self.origin.get(shard, "")
        if not noted.startswith(_DONE):
            return False
        rows = sum(one.row.get("shard") == shard for one in self.clips.values())
        return noted == f"{_DONE} {rows}"

    def _journalled(self) -> Iterator[tuple[str, Kept]]:
        for line in journal_objects(self.root / JOURNAL):
            try:
                found = MissingClip.model_validate(line.get("missing"))
            except ValidationError:
                continue
            self._noted[found.id] = found
        yield from super()._journalled()

    def _intact(self, clip: Kept) -> bool:
        name = str(clip.row["file_name"])
        if name not in self._hashes:
            path = self.root / name
            self._hashes[name] = audio.sha256(path) if path.is_file() else ""
        return self._hashes[name] == clip.facts.sha256
