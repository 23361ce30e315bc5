"""Embeddings of clips and sentences: each made once, in batches, and kept in the store."""

import os
import shutil
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from audiocapbench import audio
from audiocapbench.audio import MOST_BYTES, Samples
from audiocapbench.audio.reader import hashed, open_plain
from audiocapbench.audio.waveform import WavHeader, plain_wav
from audiocapbench.errors import AudioError, MetricError
from audiocapbench.metrics.clap.encoder import LOADED_BY, AudioTextEncoder, identity, load_encoder
from audiocapbench.metrics.clap.resampling import Recorded, can_resample
from audiocapbench.metrics.clap.windows import Cut, Cutting, Sound, View, loop_into, trimmed
from audiocapbench.metrics.encoders.encoder import DEFAULT_BATCH, Vectors, encode_distinct, in_parts
from audiocapbench.metrics.parallel import PARALLEL_MAP, read_ahead, spread

if TYPE_CHECKING:
    from audiocapbench.store import Store

_TEXT = "text"
_AHEAD, _LOOKED_UP, _MANY = 512, 128, 256
_LARGEST_BATCH = 1024
_BLOCK, _BLOCK_WITHOUT_GPU = 512, 64

_TOGETHER, _TOGETHER_BYTES = 8, 1 << 24
_LONGEST_SENT, _ALIGNED = 1 << 26, 8
_SWITCH_S = 1e-4
_SHARED = Path("/dev/shm")  # noqa: S108
# What a DataLoader raises where a process ends, before or while its tensors are fetched from it.
_DIED = (RuntimeError, OSError, EOFError)

Progress = Callable[[int, int], None]
_Item = TypeVar("_Item")

WATCHER: ContextVar[Progress] = ContextVar("watcher", default=lambda _done, _total: None)
"""Who is told how many clips are embedded, of how many, where a metric embeds them."""


class ClipFile(NamedTuple):
    """A file, its SHA-256, how many bytes it has, and which of its embeddings are wanted."""

    path: Path
    sha256: str
    size: int
    settings: Sequence[str] = ()


def read_hash(path: Path) -> ClipFile | AudioError:
    """A file and its hash, or why it has none."""
    try:
        _, size, digest = hashed(path)
    except (AudioError, ValueError) as error:
        return AudioError(str(error))
    return ClipFile(path, digest, size)


def read_sound(path: Path, rate: int, *, resamples: bool = False) -> Sound | AudioError:
    """As ``read_samples``, but 16 bits of one or two channels as they lie there: at this rate, or
    where the device resamples at any from which it can."""
    try:
        with open_plain(path) as file:
            header = plain_wav(file.peek(), os.fstat(file.fileno()).st_size)
            if header and _is_sent(header, rate, resamples=resamples):
                found = np.empty((header.frames, header.channels), "<i2")
                file.seek(header.start)
                is_whole = file.readinto(found.data.cast("B")) == found.nbytes
                if is_whole and not audio.Mix.of([found], header.rate, header.channels).note:
                    return found if header.rate == rate else Recorded(found, header.rate, rate)
    except (AudioError, OSError):
        pass  # the decoder says why
    return read_samples(path, rate)


def _is_sent(header: WavHeader, rate: int, *, resamples: bool) -> bool:
    """Whether a device takes the samples of a file as they lie there."""
    if header.bits != 16 or header.channels > 2:
        return False
    if header.rate == rate:
        return header.frames <= MOST_BYTES // 4
    # Of one that is resampled all is sent with each batch that has a part of it.
    is_short = header.frames * header.channels * 2 <= _LONGEST_SENT
    return resamples and is_short and can_resample(header.rate, rate)


def read_samples(path: Path, rate: int) -> Samples | AudioError:
    """A clip as an encoder hears it, all channels mixed down, at its rate; or why it cannot."""
    try:
        with np.errstate(over="ignore"):
            samples: Samples = audio.decode(path, mono=True, rate=rate).samples[:, 0]
    except AudioError as error:
        return error
    if not np.isfinite(samples).all():
        return AudioError(f"{path}: is too loud to be mixed down; export it again")
    return samples


def read_by_processes(
    clips: Iterable[ClipFile], rate: int, *, resamples: bool = False
) -> Iterator[tuple[ClipFile, Sound | AudioError]]:
    """Read clips ahead, in their order; threads would hold up the one that feeds a GPU.

    Where a process dies, each clip that was being read is read again by a process of its own.
    """
    waiting: deque[list[ClipFile]] = deque()

    def groups() -> Iterator[list[ClipFile]]:
        """Clips that are read together: a process that is asked for each alone mostly waits."""
        group: list[ClipFile] = []
        for clip in chain(clips, [None]):
            size = sum(one.size for one in group) + (clip.size if clip else sys.maxsize)
            if group and (len(group) == _TOGETHER or size > _TOGETHER_BYTES):
                waiting.append(group)
                yield group
                group = []
            group += [clip] if clip else []

    # Containers often have little of the memory through which processes send tensors.
    room = shutil.disk_usage(_SHARED).free if _SHARED.is_dir() else sys.maxsize
    processes = max(1, min((os.cpu_count() or 1) - 1, room // (4 * _TOGETHER_BYTES)))
    left, files = groups(), _SoundFiles(rate, resamples=resamples)
    while True:
        try:
            for sent in _loaded(left, files, processes):
                yield from files.received(waiting.popleft(), *sent)
            return
        except _DIED as error:
            if isinstance(error, RuntimeError) and "DataLoader worker" not in str(error):
                raise
        while waiting:
            for clip in waiting.popleft():
                try:
                    [sent] = _loaded([[clip]], files, 1)
                    yield from files.received([clip], *sent)
                except _DIED:
                    died = "the process that decoded it died; export it again"
                    yield clip, AudioError(f"{clip.path}: {died}")


class _SoundFiles:
    """Files as a DataLoader's processes read them at a rate, and send them."""

    def __init__(self, rate: int, *, resamples: bool) -> None:
        self._rate, self._resamples = rate, resamples

    def __getitem__(self, clip: ClipFile) -> Any:
        if clip.size > _LONGEST_SENT:
            return None  # several of these would not fit into memory
        sound = read_sound(clip.path, self._rate, resamples=self._resamples)
        return str(sound) if isinstance(sound, AudioError) else sound

    def packed(self, sounds: list[Any]) -> tuple[Any, list[Any]]:
        """The samples of all as one tensor, as each that is sent takes a connection of its own, and
        of each clip how they lie there; or None, or the words of an error."""
        import torch

        told, parts, size = list[Any](), list[tuple[int, Any]](), 0
        for sound in sounds:
            if sound is None or isinstance(sound, str):
                told.append(sound)
                continue
            frames, source = sound, None
            if isinstance(sound, Recorded):
                frames, source = sound.frames, sound.source
            told.append((size, frames.dtype.str, frames.shape, source))
            parts.append((size, frames))
            size += frames.nbytes + -frames.nbytes % _ALIGNED
        flat = np.empty(size, np.uint8)
        for at, frames in parts:
            np.ndarray(frames.shape, frames.dtype, flat, at)[:] = frames
        return torch.from_numpy(flat), told

    def received(
        self, clips: Sequence[ClipFile], flat: Any, told: Sequence[Any]
    ) -> Iterator[tuple[ClipFile, Sound | AudioError]]:
        for clip, one in zip(clips, told, strict=True):
            if one is None:
                yield clip, read_sound(clip.path, self._rate, resamples=self._resamples)
            elif isinstance(one, str):
                yield clip, AudioError(one)
            else:
                at, kind, shape, source = one
                frames: Any = np.ndarray(tuple(shape), kind, flat.numpy(), at)
                yield clip, frames if source is None else Recorded(frames, source, self._rate)


def _loaded(
    groups: Iterable[list[ClipFile]], files: _SoundFiles, processes: int
) -> Iterator[list[Any]]:
    import torch
    from torch.utils.data import DataLoader

    sampling: Any = {"dataset": files, "batch_sampler": groups, "collate_fn": files.packed}
    # Who fetches a tensor waits for a thread of the process that is reading the next ones.
    sampling["worker_init_fn"] = lambda _: sys.setswitchinterval(_SWITCH_S)
    loader: Any = DataLoader(
        **sampling, num_workers=processes, pin_memory=torch.cuda.is_available()
    )
    # Begun in another thread, it leaves this process's signals alone.
    with ThreadPoolExecutor(1) as other:
        batches: Iterator[list[Any]] = other.submit(iter, loader).result()
    return batches


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
        distinct = list(dict.fromkeys(paths))
        known = _Known({}, {}, {one: {} for one in self._cutting.settings}, len(distinct))
        begun: deque[tuple[str, View]] = deque()
        total, added = np.zeros(self._encoder.dimensions), 0
        for vectors in self._batches.cuts(self._cuts(distinct, known, begun)):
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
                known.vectors[setting][content] = mean
        if known.total:
            self._progress(known.total, known.total)
        heard, missing = {}, {}
        for path, content in known.contents.items():
            if content in known.unread:
                missing[path] = known.unread[content]
            else:
                heard[path] = np.stack([vectors[content] for vectors in known.vectors.values()])
        return heard, missing

    def _cuts(
        self, paths: Sequence[Path], known: "_Known", begun: deque[tuple[str, View]]
    ) -> Iterator[Cut]:
        """Cuts of the clips that are not in the store; ``begun`` gets their views."""
        rate, on_gpu = self._encoder.windows.rate, self._batches.in_flight > 0
        how: dict[str, Any] = {"resamples": bool(getattr(self._encoder, "resamples", False))}
        clips = self._wanted(paths, known)
        read: Callable[..., Sound | AudioError] = read_samples
        if on_gpu:
            read = partial(read_sound, **how)
        sounds: Iterator[tuple[ClipFile, Sound | AudioError]]
        if on_gpu and len(paths) >= _MANY and hasattr(os, "fork"):
            sounds = read_by_processes(clips, rate, **how)
        else:
            sounds = read_ahead(lambda clip: read(clip.path, rate), clips, ahead=_AHEAD)
        for done, (clip, samples) in enumerate(sounds):
            self._progress(done, known.total)
            if isinstance(samples, AudioError):
                known.unread[clip.sha256] = str(samples)
                continue
            for view in self._cutting.views(samples, clip.sha256, clip.settings):
                begun.append((clip.sha256, view))
                yield from view[1]

    def _wanted(self, paths: Sequence[Path], known: "_Known") -> Iterator[ClipFile]:
        """Clips that are not in the store, each content once."""
        seen = set[str]()
        hashes = read_ahead(read_hash, paths, ahead=_AHEAD)
        while some := list(islice(hashes, _LOOKED_UP)):
            new: dict[str, ClipFile] = {}
            for path, clip in some:
                known.contents[path] = str(path) if isinstance(clip, AudioError) else clip.sha256
                if isinstance(clip, AudioError):
                    known.unread[str(path)] = str(clip)
                elif clip.sha256 not in seen:
                    new[clip.sha256] = clip
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
        size = self._encoder.dimensions
        return self._store.cache.embeddings(self.name, setting, contents, size)

    def _keep(self, embedded: Sequence[tuple[str, str, Vectors]]) -> None:
        if self._store is not None:
            self._store.cache.add_embeddings(self.name, embedded)


@dataclass(slots=True)
class _Known:
    """SHA-256 by path, why some contents have no embedding, embeddings, and clips to be read."""

    contents: dict[Path, str]
    unread: dict[str, str]
    vectors: dict[str, dict[str, Vectors]]
    total: int
