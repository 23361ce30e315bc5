"""Embeddings of clips and sentences: each made once, in batches, and kept in the store.

The windows of all clips go through the model together. Clips are read a few ahead and let go when
they are cut, so that memory holds one batch of windows and a few clips.
"""

import os
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from audiocapbench import audio
from audiocapbench.audio import Samples
from audiocapbench.errors import AudioError, MetricError
from audiocapbench.metrics.clap.encoder import AudioTextEncoder, checked, identity
from audiocapbench.metrics.clap.windows import Cutting, loop_into
from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct
from audiocapbench.metrics.result import FloatArray

if TYPE_CHECKING:
    from audiocapbench.store import Store

DEFAULT_BATCH = 16
_LARGEST_BATCH = 1024
_TEXT = "text"
_READERS = min(8, os.cpu_count() or 1)

_Key = TypeVar("_Key", bound=Hashable)
_Read = TypeVar("_Read")

Progress = Callable[[int, int], None]

WATCHER: ContextVar[Progress] = ContextVar("watcher", default=lambda _done, _total: None)
"""Who is told how many clips are embedded, of how many, where a metric embeds them."""


class ClipEmbeddings(NamedTuple):
    """Vectors of clips that were heard, of shape (embeddings, dimensions), and why others not."""

    vectors: Mapping[Path, Vectors]
    missing: Mapping[Path, str]


class Embedder:
    """One model with one way to cut clips, and the store where its embeddings are kept.

    The size of a batch, and what was in the store already, change embeddings by less than 1e-5:
    that is how exactly single precision adds up.
    """

    def __init__(
        self,
        encoder: AudioTextEncoder,
        cutting: Cutting,
        *,
        store: "Store | None" = None,
        batch: int = DEFAULT_BATCH,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        if not 1 <= batch <= _LARGEST_BATCH:
            raise MetricError(f"a batch holds 1 to {_LARGEST_BATCH} windows, not {batch}")
        cut, taken = cutting.windows, encoder.windows
        if (cut.rate, cut.input) != (taken.rate, taken.input):
            raise MetricError(
                f"{identity(encoder)} takes {taken.input} samples at {taken.rate} Hz, and clips "
                f"would be cut to {cut.input} at {cut.rate} Hz"
            )
        self._encoder, self._cutting, self._store = encoder, cutting, store
        self._batch, self._progress = batch, progress

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed sentences at unit length; a blank one is the zero vector."""
        return encode_distinct(texts, self._encoder.dimensions, self._encode_texts)

    def clips(self, paths: Iterable[Path]) -> ClipEmbeddings:
        """Embed clips; one that cannot be read is named with its reason."""
        contents, missing = _hashes(dict.fromkeys(paths))
        clips = {content: path for path, content in contents.items()}
        kept = {setting: self._kept(setting, list(clips)) for setting in self._cutting.settings}
        wanted = {
            content: [setting for setting, known in kept.items() if content not in known]
            for content in clips
        }
        new = {content: clips[content] for content in clips if wanted[content]}
        unread = self._encode_clips(new, wanted, kept)
        vectors = {}
        for path, content in contents.items():
            if content in unread:
                missing[path] = unread[content]
            else:
                vectors[path] = np.stack([known[content] for known in kept.values()])
        return ClipEmbeddings(vectors, missing)

    def _encode_texts(self, texts: list[str]) -> Vectors:
        keys = [audio.sha256(text.encode()) for text in texts]
        known = self._kept(_TEXT, keys)
        new = [(key, text) for key, text in zip(keys, texts, strict=True) if key not in known]
        for start in range(0, len(new), self._batch):
            some = new[start : start + self._batch]
            found = self._encoder.encode_text([text for _, text in some])
            vectors = checked(found, len(some), self._encoder)
            made = [(_TEXT, key, row) for (key, _), row in zip(some, vectors, strict=True)]
            self._keep(made)
            known |= {key: vector for _, key, vector in made}
        return np.stack([known[key] for key in keys])

    def _encode_clips(
        self,
        clips: Mapping[str, Path],
        wanted: Mapping[str, Sequence[str]],
        kept: Mapping[str, dict[str, Vectors]],
    ) -> dict[str, str]:
        """Fill ``kept`` with what is wanted; returns the clips that cannot be read, and why."""
        unread: dict[str, str] = {}
        waiting: list[_Mean] = []
        own = self._encoder.windows
        rows = np.empty((self._batch, own.input), dtype=np.float32)
        read = read_ahead(lambda content: _samples(clips[content], own.rate), clips)
        for done, (content, samples) in enumerate(read):
            self._progress(done, len(clips))
            if isinstance(samples, AudioError):
                unread[content] = str(samples)
                continue
            for view in self._cutting.views(samples, content, wanted[content]):
                total = np.zeros(self._encoder.dimensions)
                mean = _Mean(content, view.settings, view.number, total)
                for piece in view.pieces:
                    loop_into(rows[len(waiting)], piece)
                    waiting.append(mean)
                    if len(waiting) == self._batch:
                        self._encode_rows(rows, waiting, kept)
                        waiting.clear()
        if waiting:
            self._encode_rows(rows[: len(waiting)], waiting, kept)
        if clips:
            self._progress(len(clips), len(clips))
        return unread

    def _encode_rows(
        self, rows: Samples, waiting: Sequence["_Mean"], kept: Mapping[str, dict[str, Vectors]]
    ) -> None:
        vectors = checked(self._encoder.encode_audio(rows), len(waiting), self._encoder)
        made = []
        for mean, vector in zip(waiting, vectors, strict=True):
            whole = mean.add(vector)
            if whole is not None:
                made += [(setting, mean.content, whole) for setting in mean.settings]
        self._keep(made)
        for setting, content, vector in made:
            kept[setting][content] = vector

    def _kept(self, setting: str, contents: Sequence[str]) -> dict[str, Vectors]:
        if self._store is None:
            return {}
        model, dimensions = identity(self._encoder), self._encoder.dimensions
        return self._store.embeddings(model, setting, contents, dimensions)

    def _keep(self, made: Sequence[tuple[str, str, Vectors]]) -> None:
        if self._store is not None:
            from audiocapbench.store.embeddings import Embedding

            self._store.add_embeddings(identity(self._encoder), [Embedding(*one) for one in made])


@dataclass(slots=True)
class _Mean:
    """A mean in the making, of a known number of vectors."""

    content: str
    settings: tuple[str, ...]
    count: int
    total: FloatArray
    added: int = 0

    def add(self, vector: Vectors) -> Vectors | None:
        """Add one; the mean, once this was the last."""
        self.total += vector
        self.added += 1
        return (self.total / self.count).astype(np.float32) if self.added == self.count else None


def _samples(path: Path, rate: int) -> Samples | AudioError:
    """A clip as the encoder hears it: all channels mixed down, at its rate."""
    try:
        with np.errstate(over="ignore"):
            samples = audio.decode(path, mono=True, rate=rate).samples[:, 0]
        if not np.isfinite(samples).all():
            return AudioError(f"{path}: is too loud to be mixed down; export it again")
        return samples
    except AudioError as error:
        return error


def _hashes(paths: Iterable[Path]) -> tuple[dict[Path, str], dict[Path, str]]:
    """SHA-256 by path, and why some files have none."""

    def read(path: Path) -> str | AudioError:
        try:
            return audio.sha256(path)
        except (AudioError, ValueError) as error:
            return AudioError(str(error))

    found = dict(read_ahead(read, paths))
    missing = {path: str(one) for path, one in found.items() if isinstance(one, AudioError)}
    return {path: one for path, one in found.items() if isinstance(one, str)}, missing


def read_ahead(read: Callable[[_Key], _Read], keys: Iterable[_Key]) -> Iterator[tuple[_Key, _Read]]:
    """Read a few things ahead in threads; they come out in the order of the keys."""
    waiting: deque[tuple[_Key, Future[_Read]]] = deque()
    pool = ThreadPoolExecutor(_READERS)
    try:
        left = iter(keys)
        while True:
            for key in islice(left, _READERS + 1 - len(waiting)):
                waiting.append((key, pool.submit(read, key)))
            if not waiting:
                return
            first, done = waiting.popleft()
            yield first, done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
