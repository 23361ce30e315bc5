"""Embeddings of clips and sentences: each made once, in batches, and kept in the store.

The windows of all clips go through the model together. Clips are read ahead, up to a bound of
memory, while the model computes, and let go when their windows are embedded.
"""

import io
import json
import math
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, groupby, islice, tee
from pathlib import Path
from queue import LifoQueue
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from audiocapbench import audio
from audiocapbench.audio import MOST_BYTES, Samples
from audiocapbench.audio.files import hashed, open_plain, plain_wav
from audiocapbench.errors import AudioError, MetricError
from audiocapbench.metrics.clap.batch_encoder import BatchEncoder, blocks
from audiocapbench.metrics.clap.encoder import AudioTextEncoder, identity
from audiocapbench.metrics.clap.windows import Cut, Cutting, Sound
from audiocapbench.metrics.encoders.encoder import Vectors, encode_distinct
from audiocapbench.metrics.read_ahead import read_ahead
from audiocapbench.metrics.result import FloatArray

if TYPE_CHECKING:
    from audiocapbench.store import Store

_HEAD = struct.Struct("<QQ")
_SHORT_BYTES = 1 << 22

Room = Callable[[int], Samples]
"""Gives an array for so many samples."""


class FileHash(NamedTuple):
    """SHA-256 of a file, and whether it is plain and short, so that several may be read at once."""

    sha256: str
    short: bool


def read_hash(path: Path) -> FileHash | AudioError:
    """The hash of a file, or why it has none."""
    try:
        head, size, digest = hashed(path)
    except (AudioError, ValueError) as error:
        return AudioError(str(error))
    return FileHash(digest, size <= _SHORT_BYTES and plain_wav(head, size) is not None)


def read_sound(path: Path, rate: int) -> Sound | AudioError:
    """As ``read_samples``, but 16 bits of one or two channels at this rate as they lie there."""
    try:
        with open_plain(path) as file:
            header = plain_wav(file.peek(), os.fstat(file.fileno()).st_size)
            plain = header and (header.bits, header.rate, header.channels <= 2) == (16, rate, True)
            if header and plain and header.frames <= MOST_BYTES // 4:
                found = np.empty((header.frames, header.channels), "<i2")
                file.seek(header.start)
                if file.readinto(found.data.cast("B")) == found.nbytes:
                    return found
    except (AudioError, OSError):
        pass  # the decoder says why
    return read_samples(path, rate)


def read_samples(path: Path, rate: int) -> Samples | AudioError:
    """A clip as an encoder hears it, all channels mixed down, at its rate; or why it cannot."""
    try:
        with np.errstate(over="ignore"):
            samples: Samples = audio.decode(path, mono=True, rate=rate).samples[:, 0]
        if not np.isfinite(samples).all():
            return AudioError(f"{path}: is too loud to be mixed down; export it again")
        return samples
    except AudioError as error:
        return error


class ReadingProcesses:
    """Processes that read clips; one that dies is replaced, and its clip cannot be read."""

    def __init__(self, count: int) -> None:
        self.running: set[_Process] = set()
        self._idle: LifoQueue[_Process | None] = LifoQueue()
        for _ in range(count):
            self._idle.put(None)

    def hashes(self, paths: Sequence[Path]) -> list[FileHash | AudioError]:
        """As ``read_hash``, of several files."""
        return self._ask(paths, None, np.empty)

    def sounds(self, paths: Sequence[Path], rate: int, room: Room) -> list[Sound | AudioError]:
        """As ``read_sound``, of several files, into room that is asked for once."""
        return self._ask(paths, rate, room)

    def _ask(self, paths: Sequence[Path], rate: int | None, room: Room) -> list[Any]:
        process = self._idle.get()
        try:
            if process is None:
                process = _Process()
                self.running.add(process)
            return process.ask([rate, *map(os.fspath, paths)], room)
        except (OSError, EOFError):
            if process is not None:
                self.running.discard(process)
                process.end()
            process = None
        finally:
            self._idle.put(process)
        if len(paths) > 1:  # one of them ended it, and the others are to be had
            return [self._ask([path], rate, room)[0] for path in paths]
        return [AudioError(f"{paths[0]}: the process that decoded it died; export it again")]

    def close(self) -> None:
        """End all processes; they would end with this one too."""
        for process in self.running:
            process.end()


@cache
def reading_processes() -> ReadingProcesses | None:
    """One for each core but one; they are started when needed, and end with this process."""
    # Elsewhere a socket is no file.
    return ReadingProcesses(max(1, (os.cpu_count() or 1) - 1)) if os.name == "posix" else None


class _Process(subprocess.Popen[bytes]):
    """Asked by a pipe; answers by a socket, where many bytes are waited for at once."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
        # What glibc would give back after each clip is asked for again at once, a page at a time.
        kept = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 31)}
        place = os.environ | kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.answers, theirs = socket.socketpair()
        with theirs:
            pipe, answers = subprocess.PIPE, theirs.fileno()
            super().__init__(command, env=place, bufsize=0, stdin=pipe, stdout=answers)

    def ask(self, question: list[Any], room: Room) -> list[Any]:
        cast(io.FileIO, self.stdin).write(json.dumps(question).encode() + b"\n")
        size, words = _HEAD.unpack(self._fill(bytearray(_HEAD.size)))
        found = json.loads(self._fill(bytearray(size)))
        held = self._fill(room(words)) if words else np.empty(0, np.float32)
        return [_unpacked(held, *one) for one in found]

    def _fill(self, place: Any) -> Any:
        left = memoryview(place).cast("B")
        while left:
            # A thread that woke up for each part would hold up the one that feeds the GPU.
            read = self.answers.recv_into(left, len(left), socket.MSG_WAITALL)
            if not read:
                raise EOFError
            left = left[read:]
        return place

    def end(self) -> None:
        self.kill()
        self.communicate()
        self.answers.close()


def _unpacked(held: Samples, kind: str, *found: Any) -> FileHash | Sound | AudioError:
    if kind == "error":
        return AudioError(*found)
    if kind == "hash":
        return FileHash(*found)
    start, shape = found
    sound: Sound = held[start:].view(kind)[: math.prod(shape)].reshape(shape)
    return sound


def serve() -> None:
    """Answer until nobody asks any more; what libraries print goes elsewhere."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        rate, *names = json.loads(line)
        found: list[list[Any]] = []
        contents: list[bytes | memoryview] = [b"", b""]
        words = 0
        for path in map(Path, names):
            one = read_hash(path) if rate is None else read_sound(path, rate)
            if isinstance(one, np.ndarray):
                found.append([one.dtype.str, words, one.shape])
                contents += [np.ascontiguousarray(one).data.cast("B"), bytes(-one.nbytes % 4)]
                words += -(-one.nbytes // 4)
            else:
                found.append(["hash", *one] if isinstance(one, FileHash) else ["error", str(one)])
        contents[1] = json.dumps(found).encode()
        contents[0] = _HEAD.pack(len(contents[1]), words)
        for content in contents:
            left = memoryview(content)
            while left:
                left = left[os.write(answers, left) :]


_TEXT = "text"
_AHEAD, _LOOKED_UP, _MANY = 512, 128, 256
_TOGETHER = 8

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
        self._processes: ReadingProcesses | None = None

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed sentences at unit length; a blank one is the zero vector."""
        return encode_distinct(texts, self._encoder.dimensions, self._encode_texts)

    def clips(self, paths: Iterable[Path]) -> ClipEmbeddings:
        """Embed clips; one that cannot be read is named with its reason."""
        distinct = list(dict.fromkeys(paths))
        many = self._batches.in_flight and len(distinct) >= _MANY
        self._processes = reading_processes() if many else None
        settings = self._cutting.settings
        known = _Known({}, {}, {}, {setting: {} for setting in settings}, len(distinct))
        windows, same = tee(self._windows(distinct, known))
        for vectors in self._batches.cuts(cut for cut, _ in same):
            self._add([mean for _, mean in islice(windows, len(vectors))], vectors, known)
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

    def _windows(self, paths: Sequence[Path], known: "_Known") -> Iterator[tuple[Cut, "_Mean"]]:
        """Cuts of the clips that are not in the store, and the mean that each belongs to."""
        wanted = self._wanted(paths, known)
        done = 0
        for clips, sounds in read_ahead(self._read, wanted, ahead=_AHEAD // _TOGETHER):
            self._progress(done, known.total)
            done += len(clips)
            for clip, samples in zip(clips, sounds, strict=True):
                if isinstance(samples, AudioError):
                    known.unread[clip.content] = str(samples)
                    continue
                for view in self._cutting.views(samples, clip.content, clip.settings):
                    total = np.zeros(self._encoder.dimensions)
                    mean = _Mean(clip.content, view.settings, len(view.cuts), total)
                    yield from ((cut, mean) for cut in view.cuts)

    def _wanted(self, paths: Sequence[Path], known: "_Known") -> Iterator[list["_Clip"]]:
        """Clips that are not in the store, each content once, as many as are read together."""
        size, seen = _TOGETHER if self._processes else 1, set[str]()
        parts = [paths[start : start + size] for start in range(0, len(paths), size)]
        hashes = read_ahead(self._hash, parts, ahead=_AHEAD // size)
        while some := list(islice(hashes, _LOOKED_UP // size)):
            new: dict[str, _Clip] = {}
            for path, found in chain.from_iterable(zip(*one, strict=True) for one in some):
                if isinstance(found, AudioError):
                    known.missing[path] = str(found)
                    continue
                known.contents[path] = found.sha256
                if found.sha256 not in seen:
                    new[found.sha256] = _Clip(path, *found, ())
            seen.update(new)
            for setting, vectors in known.vectors.items():
                vectors.update(self._kept(setting, list(new)))
            clips = [
                clip._replace(settings=settings)
                for content, clip in new.items()
                if (settings := [one for one, has in known.vectors.items() if content not in has])
            ]
            known.total += len(clips) - sum(len(part) for part, _ in some)
            for short, group in groupby(clips, key=lambda clip: clip.short):
                yield from blocks(group, partial(int, size if short else 1))

    def _hash(self, paths: Sequence[Path]) -> list[FileHash | AudioError]:
        return self._processes.hashes(paths) if self._processes else [*map(read_hash, paths)]

    def _read(self, clips: Sequence["_Clip"]) -> list[Sound | AudioError]:
        rate, paths = self._encoder.windows.rate, [clip.path for clip in clips]
        if self._processes:
            return self._processes.sounds(paths, rate, getattr(self._encoder, "room", np.empty))
        read = read_sound if self._batches.in_flight else read_samples
        return [read(path, rate) for path in paths]

    def _add(self, means: Sequence["_Mean"], vectors: Vectors, known: "_Known") -> None:
        made = []
        for mean, vector in zip(means, vectors, strict=True):
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
        return self._store.cache.embeddings(model, setting, contents, dimensions)

    def _keep(self, made: Sequence[tuple[str, str, Vectors]]) -> None:
        if self._store is not None:
            from audiocapbench.store.cache import Embedding

            self._store.cache.add_embeddings(
                identity(self._encoder), [Embedding(*one) for one in made]
            )


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


class _Clip(NamedTuple):
    """A clip to be read, and which of its embeddings are wanted."""

    path: Path
    content: str
    short: bool
    settings: Sequence[str]


@dataclass(slots=True)
class _Known:
    """SHA-256 by path, why some files or contents have none, embeddings, and clips to be read."""

    contents: dict[Path, str]
    missing: dict[Path, str]
    unread: dict[str, str]
    vectors: dict[str, dict[str, Vectors]]
    total: int
