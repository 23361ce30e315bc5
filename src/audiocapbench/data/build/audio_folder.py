"""Repositories that keep each clip as a file of its own, with or without a metadata file."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from audiocapbench.audio import EXTENSIONS
from audiocapbench.data.build.hub import HubError, OnReceived, Repository
from audiocapbench.data.build.matches import ClipLocation, ClipMatch, Collector
from audiocapbench.data.build.sources import ClipSource, ListedClip
from audiocapbench.data.problems import Problem
from audiocapbench.data.records import read_records
from audiocapbench.errors import DatasetError

_METADATA = ("metadata.csv", "metadata.jsonl")


class AudioFolder:
    """The audio files of one split."""

    def __init__(self, repository: Repository, paths: Sequence[str]) -> None:
        self._repository = repository
        self._clips = [path for path in paths if PurePosixPath(path).suffix.lower() in EXTENSIONS]
        self._metadata = [path for path in paths if PurePosixPath(path).name in _METADATA]
        if not self._clips:
            raise HubError(f"{repository.name} holds neither parquet nor audio files")

    def find(self, source: ClipSource, wanted: Sequence[ListedClip]) -> dict[str, ClipMatch]:
        """Where the wanted clips lie, by key: as the metadata says, or by the files' own names."""
        collector = Collector(source, wanted)
        clips = set(self._clips)
        listed = False
        for path in self._metadata:
            for row in self._rows(path):
                key = next((row[name] for name in source.key_columns if row.get(name)), None)
                clip = str(PurePosixPath(path).parent / str(row.get("file_name")))
                if isinstance(key, str) and clip in clips:
                    listed = True
                    caption = row.get("caption")
                    text = caption if isinstance(caption, str) else None
                    collector.take(key, ClipLocation(clip), text)
        if not listed:
            for clip in self._clips:
                collector.take(PurePosixPath(clip).stem, ClipLocation(clip))
        return collector.found

    def size(self, places: Sequence[ClipLocation]) -> int:
        """Bytes of the files."""
        return sum(self._repository.sizes[path] for path in {one.path for one in places})

    def audio(
        self, places: Sequence[ClipLocation], received: OnReceived
    ) -> Iterator[tuple[ClipLocation, bytes]]:
        """The clips, a file each."""
        for place in sorted(places):
            yield place, self._repository.read(place.path, received)

    def _rows(self, path: str) -> list[dict[str, Any]]:
        problems: list[Problem] = []
        content = self._repository.read(path)
        try:
            rows = [row for _, row in read_records(PurePosixPath(path), problems, content=content)]
        except DatasetError as error:
            raise HubError(f"{self._repository.name}: {error}") from None
        if problems:
            raise HubError(f"{self._repository.name}: {path} cannot be read ({problems[0]})")
        return rows
