"""Repositories that keep audio inside parquet files, as ``datasets`` writes them.

Names and captions are read first, without the audio; then only the groups of rows that hold wanted
clips, page by page and no further than the last of them. (Most writers make one page of a group.)
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from typing import Any

from audiocapbench.data.build.hub import HubError, OnReceived, Repository
from audiocapbench.data.build.matches import ClipLocation, ClipMatch, Collector
from audiocapbench.data.build.sources import ClipSource, ListedClip

_AUDIO, _CAPTION = "audio", "caption"
_BUFFER = 4 << 20
_BATCH = 8


class ParquetTables:
    """The parquet files of one split."""

    def __init__(self, repository: Repository, paths: Sequence[str]) -> None:
        self._repository = repository
        self._paths = tuple(paths)
        self._footer = cache(self._read_footer)

    def find(self, source: ClipSource, wanted: Sequence[ListedClip]) -> dict[str, ClipMatch]:
        """Where the wanted clips lie, by key; files after the last wanted clip are not read."""
        collector = Collector(source, wanted)
        for path in self._paths:
            if collector.complete:
                break
            self._scan(path, source, collector)
        return collector.found

    def size(self, places: Sequence[ClipLocation]) -> int:
        """Bytes of the audio columns of all groups that hold one of the clips."""
        return sum(self._audio_size(path, group) for path, group in {one[:2] for one in places})

    def audio(
        self, places: Sequence[ClipLocation], received: OnReceived
    ) -> Iterator[tuple[ClipLocation, bytes]]:
        """The clips as they are stored, file by file and group by group."""
        for (path, group), members in groupby(sorted(places), key=lambda one: one[:2]):
            rows = {one.row: one for one in members}
            yield from self._group(path, group, rows, received)

    def _scan(self, path: str, source: ClipSource, collector: Collector) -> None:
        footer = self._footer(path)
        names = footer.schema.to_arrow_schema().names
        key = next((name for name in source.key_columns if name in names), None)
        if key is None or _AUDIO not in names:
            raise HubError(
                f"{self._repository.name}: {path} has the columns {', '.join(names)}, "
                f"but {_AUDIO} and {' or '.join(source.key_columns)} are needed"
            )
        columns = [name for name in (key, _CAPTION) if name in names]
        with self._reading(path), self._open(path, None, pre_buffer=True) as table:
            for group in range(footer.num_row_groups):
                rows = table.read_row_group(group, columns=columns).to_pylist()
                for number, row in enumerate(rows):
                    place = ClipLocation(path, group, number)
                    collector.take(row[key], place, row.get(_CAPTION))
                if collector.complete:
                    return

    def _group(
        self, path: str, group: int, rows: dict[int, ClipLocation], received: OnReceived
    ) -> Iterator[tuple[ClipLocation, bytes]]:
        start = 0
        last = max(rows)
        with self._reading(path), self._open(path, received, pre_buffer=False) as table:
            batches = table.iter_batches(
                batch_size=_BATCH, row_groups=[group], columns=[_AUDIO], use_threads=False
            )
            for batch in batches:
                column = batch.column(0)
                for row in range(start, start + len(column)):
                    if row in rows:
                        yield rows[row], _content(column[row - start].as_py())
                start += len(column)
                if start > last:
                    return

    def _open(self, path: str, received: OnReceived | None, *, pre_buffer: bool) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(
            self._repository.open(path, received),
            metadata=self._footer(path),
            pre_buffer=pre_buffer,
            buffer_size=0 if pre_buffer else _BUFFER,
        )

    def _read_footer(self, path: str) -> Any:
        try:
            from pyarrow import parquet
        except ImportError:
            raise HubError(
                "building from the Hub needs: pip install 'audiocapbench[hub]'"
            ) from None
        with self._reading(path), self._repository.open(path) as stream:
            return parquet.read_metadata(stream)

    @contextmanager
    def _reading(self, path: str) -> Iterator[None]:
        """Turns what pyarrow says about a damaged file into a sentence."""
        from pyarrow import ArrowException

        try:
            yield
        except (ArrowException, OSError) as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise HubError(
                f"{self._repository.name}: {path} cannot be read ({reason[0]})"
            ) from None

    def _audio_size(self, path: str, group: int) -> int:
        columns = self._footer(path).row_group(group)
        chunks = (columns.column(index) for index in range(columns.num_columns))
        return sum(
            chunk.total_compressed_size
            for chunk in chunks
            if chunk.path_in_schema.split(".")[0] == _AUDIO
        )


def _content(value: Any) -> bytes:
    """The bytes of a cell, which is a struct of bytes and path, or plain bytes."""
    content = value.get("bytes") if isinstance(value, dict) else value
    return content if isinstance(content, bytes) else b""
