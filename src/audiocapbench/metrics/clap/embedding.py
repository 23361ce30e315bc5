"""Embeddings of clips and sentences: each made once, in batches, and kept in the store."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from audiocapbench import audio
from audiocapbench.errors import AudioError, MetricError
from audiocapbench.metrics.clap.encoder import LOADED_BY, AudioTextEncoder, identity, load_encoder
from audiocapbench.metrics.clap.reading import ClipReader
from audiocapbench.metrics.clap.windows import Cut, Cutting, View, loop_into, trimmed
from audiocapbench.metrics.encoders.encoder import DEFAULT_BATCH, Vectors, encode_distinct, in_parts
from audiocapbench.metrics.parallel import PARALLEL_MAP, Progress, spread

if TYPE_CHECKING:
    from audiocapbench.store import Store

_TEXT = "text"
_LARGEST_BATCH = 1024
_BLOCK, _BLOCK_WITHOUT_GPU = 512, 64

_Item = TypeVar("_Item")


class BatchEncoder:
    """An encoder with its batch; on a cluster its copies get blocks of whole batches.

    So embeddings are the same to the last digit on devices of one kind. Weights do not travel.
    """

    def __init__(self, encoder: AudioTextEncoder, batch: int | None = None) -> None:
        if batch is not None and not 1 <= batch <= _LARGEST_BATCH:
            raise MetricError(f"a batch holds 1 to {_LARGEST_BATCH} windows, not {batch}")
        self._encoder, self._given = encoder, batch

    def __getstate__(self) -> tuple[Any, ...]:
        known = getattr(self._encoder, LOADED_BY, None)
        return known or self._encoder, identity(self._encoder), self._given

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._encoder, self._wanted, self._given = state

    def prepare(self) -> None:
        """Load the encoder, on a machine that this was sent to."""
        if isinstance(self._encoder, tuple):
            self._encoder = load_encoder(*self._encoder)
        if (name := identity(self._encoder)) != self._wanted:
            raise MetricError(f"the encoder {self._wanted} is {name} there; install the same")

    @property
    def in_flight(self) -> int:
        """How many batches it computes while another is prepared."""
        return int(getattr(self._encoder, "in_flight", 0))

    @cached_property
    def batch(self) -> int:
        """How many windows or sentences it takes at once; fewer where memory ran out."""
        return self._given or int(getattr(self._encoder, "batch", DEFAULT_BATCH))

    def cuts(self, cuts: Iterable[Cut]) -> Iterator[Vectors]:
        """Embeddings of cuts, as many at a time as come."""
        if PARALLEL_MAP.get() is map:
            return self._cuts_here(cuts)
        return spread(self, map(list, map(trimmed, _blocks(cuts, self._block))))

    def texts(self, texts: Iterable[str]) -> Iterator[Vectors]:
        return spread(self, _blocks(texts, self._block))

    def __call__(self, block: Sequence[Cut] | Sequence[str]) -> Vectors:
        if isinstance(block[0], Cut):
            return np.concatenate(list(self._cuts_here(cast(Sequence[Cut], block))))

        def encode(texts: Sequence[str]) -> Vectors:
            return self._checked(self._encoder.encode_text(list(texts)), len(texts))

        batches = _blocks(cast(Sequence[str], block), lambda: self.batch)
        parts = (in_parts(encode, batch, identity(self._encoder)) for batch in batches)
        return np.concatenate([vectors for _, vectors in chain.from_iterable(parts)])

    def _block(self) -> int:
        """Whole batches, whatever size a device chooses: these are powers of two."""
        if PARALLEL_MAP.get() is map:
            return self.batch
        most, given = _BLOCK if self.in_flight else _BLOCK_WITHOUT_GPU, self._given or 1
        return max(1, most // given) * given

    def _cuts_here(self, cuts: Iterable[Cut]) -> Iterator[Vectors]:
        """Hand batches to the encoder; where memory is too small for one, they are halved."""
        begin = getattr(self._encoder, "begin", self._embed_rows)
        begun: deque[tuple[Sequence[Cut], Callable[[], Vectors]]] = deque()
        for batch in chain(_blocks(cuts, lambda: self.batch), [None]):
            parts = [] if batch is None else list(in_parts(begin, batch, identity(self._encoder)))
            if len(parts) > 1:
                self.batch = min(len(some) for some, _ in parts)
            begun += parts
            while len(begun) > (0 if batch is None else self.in_flight):
                some, finish = begun.popleft()
                yield self._checked(finish(), len(some))

    def _embed_rows(self, cuts: Sequence[Cut]) -> Callable[[], Vectors]:
        rows = np.empty((len(cuts), self._encoder.windows.input), dtype=np.float32)
        for row, cut in zip(rows, cuts, strict=True):
            loop_into(row, cut)
        vectors = self._encoder.encode_audio(rows)
        return lambda: vectors

    def _checked(self, vectors: object, count: int) -> Vectors:
        """Embeddings in single precision, or an error where they are not what was promised."""
        found = np.asarray(vectors, dtype=np.float32)
        wanted = (count, self._encoder.dimensions)
        wrong = f"{identity(self._encoder)} gave embeddings"
        if found.shape != wanted:
            raise MetricError(f"{wrong} of shape {found.shape}, not {wanted}")
        if not np.isfinite(found).all():
            raise MetricError(f"{wrong} that are not finite numbers")
        return found


def _blocks(items: Iterable[_Item], size: Callable[[], int]) -> Iterator[list[_Item]]:
    """Items, so many at a time as are then asked for."""
    left = iter(items)
    return iter(lambda: list(islice(left, size())), [])


class Embedder:
    """One model with one way to cut clips, and the store where its embeddings are kept.

    Batches, and what was in the store already, change embeddings by less than 1e-5.
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
        self.name = identity(encoder)
        self._batches, self._progress = BatchEncoder(encoder, batch), progress

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Embed sentences at unit length; a blank one is the zero vector."""

        def encode(texts: list[str]) -> Vectors:
            keys = [audio.sha256(text.encode()) for text in texts]
            known = self._kept(_TEXT, keys)
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            left = iter(new)
            for vectors in self._batches.texts(new.values()):
                embedded = [(_TEXT, next(left), row) for row in vectors]
                self._keep(embedded)
                known |= {key: vector for _, key, vector in embedded}
            return np.stack([known[key] for key in keys])

        return encode_distinct(sentences, self._encoder.dimensions, encode)

    def clips(self, paths: Iterable[Path]) -> tuple[dict[Path, Vectors], dict[Path, str]]:
        """Vectors of clips, of shape (embeddings, dimensions), and why some cannot be read."""
        store, size = self._store, self._encoder.dimensions
        kept = {
            setting: store.cache.embedded(self.name, setting, size) if store else set[str]()
            for setting in self._cutting.settings
        }
        heard = _Heard(list(dict.fromkeys(paths)), kept)
        begun: deque[tuple[str, View]] = deque()
        total, added = np.zeros(size), 0
        for vectors in self._batches.cuts(self._cuts(heard, begun)):
            embedded = []
            for vector in vectors:
                content, (settings, cuts) = begun[0]
                total += vector
                added += 1
                if added == len(cuts):
                    mean = (total / added).astype(np.float32)
                    embedded += [(setting, content, mean) for setting in settings]
                    begun.popleft()
                    total[:], added = 0, 0
            self._keep(embedded)
            for setting, content, mean in embedded:
                heard.vectors[setting][content] = mean
        if heard.total:
            self._progress(heard.total, heard.total)
        return self._found(heard)

    def _cuts(self, heard: "_Heard", begun: deque[tuple[str, View]]) -> Iterator[Cut]:
        """Cuts of the clips that are not in the store; ``begun`` gets their views."""
        known = set.intersection(*heard.kept.values())
        resamples = bool(getattr(self._encoder, "resamples", False))
        on_gpu = self._batches.in_flight > 0
        reader = ClipReader(self._encoder.windows.rate, known, on_gpu, resamples)
        done, seen = 0, set[str]()
        for path, content, sound in reader.clips(heard.paths):
            heard.contents[path] = content or str(path)
            if isinstance(sound, AudioError):
                heard.unread[heard.contents[path]] = str(sound)
            if not content or sound is None or content in seen:
                heard.total -= 1
                continue
            self._progress(done, heard.total)
            done += 1
            seen.add(content)
            if isinstance(sound, AudioError):
                continue
            settings = [one for one, contents in heard.kept.items() if content not in contents]
            for view in self._cutting.views(sound, content, settings):
                begun.append((content, view))
                yield from view[1]

    def _found(self, heard: "_Heard") -> tuple[dict[Path, Vectors], dict[Path, str]]:
        """What was heard now, and what was in the store."""
        missing = {
            path: heard.unread[content]
            for path, content in heard.contents.items()
            if content in heard.unread
        }
        contents = {path: one for path, one in heard.contents.items() if path not in missing}
        for setting, vectors in heard.vectors.items():
            vectors.update(self._kept(setting, sorted({*contents.values()} - {*vectors})))
            for path, content in contents.items():
                if content not in vectors:
                    missing[path] = f"{path}: what the store had of it was removed; begin again"
        whole = {path: one for path, one in contents.items() if path not in missing}
        return {
            path: np.stack([vectors[content] for vectors in heard.vectors.values()])
            for path, content in whole.items()
        }, missing

    def _kept(self, setting: str, contents: Sequence[str]) -> dict[str, Vectors]:
        if self._store is None:
            return {}
        return self._store.cache.embeddings(self.name, setting, contents, self._encoder.dimensions)

    def _keep(self, embedded: Sequence[tuple[str, str, Vectors]]) -> None:
        if self._store is not None:
            self._store.cache.add_embeddings(self.name, embedded)


class _Heard:
    """SHA-256 by path, why some contents have no embedding, embeddings, and clips to be read."""

    def __init__(self, paths: Sequence[Path], kept: dict[str, set[str]]) -> None:
        self.paths, self.kept, self.total = paths, kept, len(paths)
        self.contents, self.unread = dict[Path, str](), dict[str, str]()
        self.vectors: dict[str, dict[str, Vectors]] = {setting: {} for setting in kept}
