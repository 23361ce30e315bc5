"""Embeddings of clips and sentences: each made once, in batches, and kept in the store.

The windows of all clips go through the model together. Clips are read ahead, up to a bound of
memory, while the model computes, and let go when their windows are embedded.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from audiocapbench import audio
from audiocapbench.errors import AudioError, MetricError
from audiocapbench.metrics.clap.batch_encoder import BatchEncoder
from audiocapbench.metrics.clap.encoder import AudioTextEncoder, identity
from audiocapbench.metrics.clap.reading import (
    ClipFile,
    read_by_processes,
    read_by_threads,
    read_hash,
    read_samples,
    read_sound,
)
from audiocapbench.metrics.clap.windows import Cut, Cutting, Sound, View
from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct
from audiocapbench.metrics.read_ahead import read_ahead

if TYPE_CHECKING:
    from audiocapbench.store import Store

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
        cut, taken = cutting.windows, encoder.windows
        if (cut.rate, cut.input) != (taken.rate, taken.input):
            raise MetricError(
                f"{identity(encoder)} takes {taken.input} samples at {taken.rate} Hz, and clips "
                f"would be cut to {cut.input} at {cut.rate} Hz"
            )
        self._encoder, self._cutting, self._store = encoder, cutting, store
        self._batches, self._progress = BatchEncoder(encoder, batch), progress

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed sentences at unit length; a blank one is the zero vector."""
        return encode_distinct(texts, self._encoder.dimensions, self._encode_texts)

    def clips(self, paths: Iterable[Path]) -> ClipEmbeddings:
        """Embed clips; one that cannot be read is named with its reason."""
        distinct = list(dict.fromkeys(paths))
        settings = self._cutting.settings
        known = _Known({}, {}, {}, {setting: {} for setting in settings}, len(distinct))
        begun: deque[tuple[str, View]] = deque()
        total, added = np.zeros(self._encoder.dimensions), 0
        for vectors in self._batches.cuts(self._cuts(distinct, known, begun)):
            made = []
            for vector in vectors:
                content, view = begun[0]
                total += vector
                added += 1
                if added == len(view.cuts):
                    mean = (total / added).astype(np.float32)
                    made += [(setting, content, mean) for setting in view.settings]
                    begun.popleft()
                    total[:], added = 0, 0
            self._keep(made)
            for setting, content, mean in made:
                known.vectors[setting][content] = mean
        if known.total:
            self._progress(known.total, known.total)
        vectors_of = {}
        for path, content in known.contents.items():
            if content in known.unread:
                known.missing[path] = known.unread[content]
            else:
                vectors_of[path] = np.stack([one[content] for one in known.vectors.values()])
        return ClipEmbeddings(vectors_of, known.missing)

    def _encode_texts(self, texts: list[str]) -> Vectors:
        keys = [audio.sha256(text.encode()) for text in texts]
        known = self._kept(_TEXT, keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        left = iter(new)
        for vectors in self._batches.texts(new.values()):
            made = [(_TEXT, next(left), row) for row in vectors]
            self._keep(made)
            known |= {key: vector for _, key, vector in made}
        return np.stack([known[key] for key in keys])

    def _cuts(
        self, paths: Sequence[Path], known: "_Known", begun: deque[tuple[str, View]]
    ) -> Iterator[Cut]:
        """Cuts of the clips that are not in the store; ``begun`` gets their views."""
        for done, (clip, samples) in enumerate(self._read(self._wanted(paths, known), len(paths))):
            self._progress(done, known.total)
            if isinstance(samples, AudioError):
                known.unread[clip.sha256] = str(samples)
                continue
            for view in self._cutting.views(samples, clip.sha256, clip.settings):
                begun.append((clip.sha256, view))
                yield from view.cuts

    def _read(
        self, clips: Iterable[ClipFile], count: int
    ) -> Iterator[tuple[ClipFile, Sound | AudioError]]:
        rate, on_gpu = self._encoder.windows.rate, self._batches.in_flight > 0
        if on_gpu and count >= _MANY and hasattr(os, "fork"):
            return read_by_processes(clips, rate)
        read = read_sound if on_gpu else read_samples
        return read_by_threads(clips, lambda path: read(path, rate))

    def _wanted(self, paths: Sequence[Path], known: "_Known") -> Iterator[ClipFile]:
        """Clips that are not in the store, each content once."""
        seen = set[str]()
        hashes = read_ahead(read_hash, paths, ahead=_AHEAD)
        while some := list(islice(hashes, _LOOKED_UP)):
            new: dict[str, ClipFile] = {}
            for path, found in some:
                if isinstance(found, AudioError):
                    known.missing[path] = str(found)
                    continue
                known.contents[path] = found.sha256
                if found.sha256 not in seen:
                    new[found.sha256] = found
            seen.update(new)
            for setting, vectors in known.vectors.items():
                vectors.update(self._kept(setting, list(new)))
            clips = [
                clip._replace(settings=settings)
                for content, clip in new.items()
                if (settings := [one for one, has in known.vectors.items() if content not in has])
            ]
            known.total += len(clips) - len(some)
            yield from clips

    def _kept(self, setting: str, contents: Sequence[str]) -> dict[str, Vectors]:
        if self._store is None:
            return {}
        model, dimensions = identity(self._encoder), self._encoder.dimensions
        return self._store.cache.embeddings(model, setting, contents, dimensions)

    def _keep(self, made: Sequence[tuple[str, str, Vectors]]) -> None:
        if self._store is not None:
            from audiocapbench.store.cache import Embedding

            self._store.cache.add_embeddings(
                identity(self._encoder), [Embedding(*one) for one in made]
            )


@dataclass(slots=True)
class _Known:
    """SHA-256 by path, why some files or contents have none, embeddings, and clips to be read."""

    contents: dict[Path, str]
    missing: dict[Path, str]
    unread: dict[str, str]
    vectors: dict[str, dict[str, Vectors]]
    total: int
