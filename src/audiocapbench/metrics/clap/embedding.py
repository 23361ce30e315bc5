"""Embeddings of clips and sentences: each made once, in batches, and kept in the store.

The windows of all clips go through the model together. Clips are read ahead, up to a bound of
memory, while the model computes, and let go when their windows are embedded.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from audiocapbench import audio
from audiocapbench.audio import Samples
from audiocapbench.errors import AudioError, MetricError
from audiocapbench.metrics.clap.encoder import (
    AudioTextEncoder,
    Pipeline,
    Rows,
    checked,
    identity,
)
from audiocapbench.metrics.clap.reading import (
    ReadingProcesses,
    read_hash,
    read_samples,
    reading_processes,
)
from audiocapbench.metrics.clap.windows import Cut, Cutting
from audiocapbench.metrics.encoders.device import in_parts
from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct
from audiocapbench.metrics.read_ahead import read_ahead
from audiocapbench.metrics.result import FloatArray

if TYPE_CHECKING:
    from audiocapbench.store import Store

_LARGEST_BATCH = 1024
_TEXT = "text"
_AHEAD, _LOOKED_UP, _MANY = 512, 128, 256

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
        batch: int | None = None,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        if batch is not None and not 1 <= batch <= _LARGEST_BATCH:
            raise MetricError(f"a batch holds 1 to {_LARGEST_BATCH} windows, not {batch}")
        cut, taken = cutting.windows, encoder.windows
        if (cut.rate, cut.input) != (taken.rate, taken.input):
            raise MetricError(
                f"{identity(encoder)} takes {taken.input} samples at {taken.rate} Hz, and clips "
                f"would be cut to {cut.input} at {cut.rate} Hz"
            )
        self._encoder, self._cutting, self._store = encoder, cutting, store
        self._pipeline = encoder if isinstance(encoder, Pipeline) else Rows(encoder)
        self._given, self._progress = batch, progress
        self._processes: ReadingProcesses | None = None

    @cached_property
    def _batch(self) -> int:
        return self._given or self._pipeline.batch

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed sentences at unit length; a blank one is the zero vector."""
        return encode_distinct(texts, self._encoder.dimensions, self._encode_texts)

    def clips(self, paths: Iterable[Path]) -> ClipEmbeddings:
        """Embed clips; one that cannot be read is named with its reason."""
        distinct = list(dict.fromkeys(paths))
        many = self._pipeline.in_flight and len(distinct) >= _MANY
        self._processes = reading_processes() if many else None
        known = _Known({}, {}, {setting: {} for setting in self._cutting.settings}, len(distinct))
        unread = self._encode_clips(distinct, known)
        vectors = {}
        for path, content in known.contents.items():
            if content in unread:
                known.missing[path] = unread[content]
            else:
                vectors[path] = np.stack([one[content] for one in known.vectors.values()])
        return ClipEmbeddings(vectors, known.missing)

    def _encode_texts(self, texts: list[str]) -> Vectors:
        keys = [audio.sha256(text.encode()) for text in texts]
        known = self._kept(_TEXT, keys)
        new = [(key, text) for key, text in zip(keys, texts, strict=True) if key not in known]
        for start in range(0, len(new), self._batch):
            some = new[start : start + self._batch]
            parts = in_parts(self._encode_some, [text for _, text in some], identity(self._encoder))
            vectors = np.concatenate([vectors for _, vectors in parts])
            made = [(_TEXT, key, row) for (key, _), row in zip(some, vectors, strict=True)]
            self._keep(made)
            known |= {key: vector for _, key, vector in made}
        return np.stack([known[key] for key in keys])

    def _encode_some(self, texts: Sequence[str]) -> Vectors:
        return checked(self._encoder.encode_text(list(texts)), len(texts), self._encoder)

    def _encode_clips(self, paths: Sequence[Path], known: "_Known") -> dict[str, str]:
        """Fill ``known`` with what is wanted; returns the clips that cannot be read, and why."""
        unread: dict[str, str] = {}
        waiting: list[_Window] = []
        begun: deque[_Begun] = deque()
        read = read_ahead(self._read, self._wanted(paths, known), ahead=_AHEAD)
        for done, (clip, samples) in enumerate(read):
            self._progress(done, known.total)
            if isinstance(samples, AudioError):
                unread[clip.content] = str(samples)
                continue
            for view in self._cutting.views(samples, clip.content, clip.settings):
                total = np.zeros(self._encoder.dimensions)
                mean = _Mean(clip.content, view.settings, len(view.cuts), total)
                for cut in view.cuts:
                    waiting.append(_Window(cut, mean))
                    if len(waiting) >= self._batch:
                        begun += self._begin(waiting)
                        waiting = []
                        while len(begun) > self._pipeline.in_flight:
                            self._finish(begun.popleft(), known)
        if waiting:
            begun += self._begin(waiting)
        for one in begun:
            self._finish(one, known)
        if known.total:
            self._progress(known.total, known.total)
        return unread

    def _wanted(self, paths: Sequence[Path], known: "_Known") -> Iterator["_Clip"]:
        """Clips that are not in the store, each content once; files are hashed ahead."""
        hash_file = self._processes.hash if self._processes else read_hash
        hashes, seen = read_ahead(hash_file, paths, ahead=_AHEAD), set[str]()
        while some := list(islice(hashes, _LOOKED_UP)):
            new: dict[str, Path] = {}
            for path, content in some:
                if isinstance(content, AudioError):
                    known.missing[path] = str(content)
                    continue
                known.contents[path] = content
                if content not in seen:
                    new[content] = path
            seen.update(new)
            for setting, vectors in known.vectors.items():
                vectors.update(self._kept(setting, list(new)))
            clips = [
                _Clip(path, content, settings)
                for content, path in new.items()
                if (settings := [one for one, has in known.vectors.items() if content not in has])
            ]
            known.total += len(clips) - len(some)
            yield from clips

    def _read(self, clip: "_Clip") -> Samples | AudioError:
        rate, room = self._encoder.windows.rate, self._pipeline.room
        if self._processes:
            return self._processes.samples(clip.path, rate, room)
        samples = read_samples(clip.path, rate)
        if isinstance(samples, AudioError) or not self._pipeline.in_flight:
            return samples
        held = room(len(samples))
        held[:] = samples
        return held

    def _begin(self, windows: Sequence["_Window"]) -> list["_Begun"]:
        """Hand a batch to the encoder; where memory is too small for it, batches are halved."""

        def begin(some: Sequence[_Window]) -> Callable[[], Vectors]:
            return self._pipeline.begin([window.cut for window in some])

        parts = list(in_parts(begin, windows, identity(self._encoder)))
        if len(parts) > 1:
            self._batch = min(len(some) for some, _ in parts)
        return [_Begun(some, finish) for some, finish in parts]

    def _finish(self, begun: "_Begun", known: "_Known") -> None:
        vectors = checked(begun.finish(), len(begun.windows), self._encoder)
        made = []
        for window, vector in zip(begun.windows, vectors, strict=True):
            mean = window.mean
            whole = mean.add(vector)
            if whole is not None:
                made += [(setting, mean.content, whole) for setting in mean.settings]
        self._keep(made)
        for setting, content, vector in made:
            known.vectors[setting][content] = vector

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


class _Window(NamedTuple):
    """A cut, and the mean that its embedding belongs to."""

    cut: Cut
    mean: _Mean


class _Begun(NamedTuple):
    """Windows that are being embedded, and how their embeddings are waited for."""

    windows: Sequence[_Window]
    finish: Callable[[], Vectors]


class _Clip(NamedTuple):
    """A clip to be read, and which of its embeddings are wanted."""

    path: Path
    content: str
    settings: Sequence[str]


@dataclass(slots=True)
class _Known:
    """SHA-256 by path, why some files have none, embeddings, and how many clips are to be read."""

    contents: dict[Path, str]
    missing: dict[Path, str]
    vectors: dict[str, dict[str, Vectors]]
    total: int
